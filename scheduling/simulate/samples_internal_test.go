package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSamples: however many samples are taken, few are kept: those at equal distances, the last
// one, and the first with the greatest value of each number.
func TestSamples(t *testing.T) {
	const most = 100
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s samples
		var all []Sample
		for i := range 1 + rng.IntN(20*most) {
			x := Sample{At: float64(i), Nodes: rng.IntN(5), Running: i / 3, Waiting: rng.IntN(1 + i), CPU: rng.Float64(), Memory: 1 / float64(1+i%50), Fragmented: float64(rng.IntN(3))}
			s.add(x, most)
			all = append(all, x)
			if len(s.list) > most || s.stride > 1 && s.stride*most > 5*len(all) || s.stride == 1 && len(s.list) < len(all) {
				t.Fatalf("seed %d: of %d samples %d are kept, one in %d, want at most %d", seed, len(all), len(s.list), s.stride, most)
			}
		}
		list := s.all()
		if !slices.IsSortedFunc(s.list, func(a, b Sample) int { return int(a.At - b.At) }) || len(list) > most {
			t.Errorf("seed %d: the samples are more than %d or not in the order of time: %v", seed, most, list)
		}
		for k, x := range all {
			want := k%s.stride == 0 || k == len(all)-1 || isFirstMost(all, k)
			if got := slices.Contains(list, x); got != want {
				t.Errorf("seed %d: of %d samples, of which one in %d is kept, %d is kept: %v, want %v", seed, len(all), s.stride, k, got, want)
			}
		}
	}
}

// isFirstMost reports whether a sample is the first with the greatest value of some number.
func isFirstMost(all []Sample, k int) bool {
	for m, v := range all[k].measured() {
		first := slices.IndexFunc(all, func(x Sample) bool { return x.measured()[m] >= v })
		if first == k && !slices.ContainsFunc(all, func(x Sample) bool { return x.measured()[m] > v }) {
			return true
		}
	}
	return false
}
