package pick

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// maxHeap is what kube-scheduler builds: equal totals are never swapped.
type maxHeap []scored

type scored struct {
	place int
	total int64
}

func (h maxHeap) Len() int           { return len(h) }
func (h maxHeap) Less(i, j int) bool { return h[i].total > h[j].total }
func (h maxHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *maxHeap) Push(x any)        { *h = append(*h, x.(scored)) }
func (h *maxHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// popHeap is the definition: container/heap over the list, one Pop.
func popHeap(totals []int64) int {
	var h maxHeap
	for i, t := range totals {
		h = append(h, scored{i, t})
	}
	heap.Init(&h)
	return heap.Pop(&h).(scored).place
}

func TestHeapPick(t *testing.T) {
	// Measured with kube-scheduler 1.37.1.
	for _, tt := range []struct {
		totals []int64
		want   int
	}{
		{[]int64{5, 5, 5, 5}, 0},
		{[]int64{1, 5, 5, 5}, 1},
		{[]int64{3, 5, 5, 5, 5}, 1},
		{[]int64{1, 2, 5, 5, 5}, 3},
		{[]int64{1, 2, 3, 5, 5, 5, 5}, 3},
		{[]int64{5, 1, 5, 5, 5, 1, 5}, 0},
	} {
		if got := Heap(largest(tt.totals)); got != tt.want {
			t.Errorf("Heap(%v) = %d, want %d", tt.totals, got, tt.want)
		}
	}
}

// largest lists the places of the largest total.
func largest(totals []int64) (tied []int) {
	most := slices.Max(totals)
	for i, t := range totals {
		if t == most {
			tied = append(tied, i)
		}
	}
	return tied
}

func TestHeapPickIsThatOfContainerHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		totals := rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 70).Draw(t, "totals")
		if got, want := Heap(largest(totals)), popHeap(totals); got != want {
			t.Fatalf("Heap(%v) = %d, want %d", totals, got, want)
		}
	})
}

// chiSquare999 holds the 99.9 % quantiles of the chi-square distribution by
// degrees of freedom.
var chiSquare999 = map[int]float64{2: 13.82, 6: 22.46, 9: 27.88}

func TestTiesAreUniform(t *testing.T) {
	const draws = 70_000
	totals := []int64{3, 9, 9, 1, 9, 9, 9, 0, 9, 9} // seven tied
	var tied []int
	for i, x := range totals {
		if x == 9 {
			tied = append(tied, i)
		}
	}
	rules := map[string]func(seed uint64) int{
		"Random":    func(seed uint64) int { return tied[Draw(seed, len(tied))] },
		"Reservoir": func(seed uint64) int { return Reservoir(totals, seed) },
	}
	for name, choose := range rules {
		t.Run(name, func(t *testing.T) {
			counts := map[int]int{}
			for n := range uint64(draws) {
				counts[choose(Seed(42, n))]++
			}
			expected := float64(draws) / float64(len(tied))
			var chi float64
			seen := 0
			for _, i := range tied {
				d := float64(counts[i]) - expected
				chi += d * d / expected
				seen += counts[i]
			}
			if seen != draws {
				t.Errorf("%d of %d draws chose a node that is not tied", draws-seen, draws)
			}
			if limit := chiSquare999[len(tied)-1]; chi > limit {
				t.Errorf("chi-square of %v = %.1f, want at most %.1f", counts, chi, limit)
			}
		})
	}
}

func TestDrawCoversAll(t *testing.T) {
	for _, tt := range []struct {
		word uint64
		n    int
		want int
	}{
		{0, 3, 0}, {1 << 63, 3, 1}, {1<<64 - 1, 3, 2}, {1<<64 - 1, 1, 0}, {1 << 62, 4, 1},
	} {
		if got := Draw(tt.word, tt.n); got != tt.want {
			t.Errorf("Draw(%#x, %d) = %d, want %d", tt.word, tt.n, got, tt.want)
		}
	}
}

func TestDecisionSeedsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(50) {
		for n := range uint64(500) {
			s, id := Seed(seed, n), fmt.Sprintf("seed %d, decision %d", seed, n)
			if other, ok := seen[s]; ok {
				t.Fatalf("%s and %s have the same random word", id, other)
			}
			seen[s] = id
		}
	}
}

// TestReservoirDrawForDraw compares with selectHost of kube-scheduler 1.22, fed by
// the same generator. One draw too many or too few, or in another place, would show
// in the later draws.
func TestReservoirDrawForDraw(t *testing.T) {
	selectHost := func(totals []int64, intn func(int) int) int {
		largest, selected, count := totals[0], 0, 1
		for i, total := range totals[1:] {
			if total > largest {
				largest, selected, count = total, i+1, 1
			} else if total == largest {
				if count++; intn(count) == 0 {
					selected = i + 1
				}
			}
		}
		return selected
	}
	rapid.Check(t, func(t *rapid.T) {
		totals := rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 70).Draw(t, "totals")
		seed := rapid.Uint64().Draw(t, "seed")
		want := selectHost(totals, rand.New(rand.NewPCG(seed, 0)).IntN)
		if got := Reservoir(totals, seed); got != want {
			t.Fatalf("Reservoir(%v, %d) = %d, want %d", totals, seed, got, want)
		}
	})
}

func TestSample(t *testing.T) {
	// Measured with kube-scheduler's formula at percentage 0 (adaptive).
	adaptive := map[int]int{
		99: 99, 100: 100, 125: 100, 500: 230, 1000: 420, 2000: 680, 5000: 500, 5625: 281, 6000: 300, 10000: 500, 15000: 750,
	}
	got := map[int]int{}
	for n := range adaptive {
		got[n] = Sample(n, Adaptive)
	}
	if diff := cmp.Diff(adaptive, got); diff != "" {
		t.Errorf("Sample(n, Adaptive) (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		n, percentage, want int
	}{
		{5000, AllNodes, 5000},
		{5000, 100, 5000},
		{5000, 40, 2000},
		{150, 40, 100},
		{50, 1, 50},
		{0, Adaptive, 0},
		{1<<31 - 1, 30, 644245094},
	} {
		if got := Sample(tt.n, tt.percentage); got != tt.want {
			t.Errorf("Sample(%d, %d) = %d, want %d", tt.n, tt.percentage, got, tt.want)
		}
	}
	for n, want := range map[int]int{5000: 1, 0: 0} {
		if got := Any(n); got != want {
			t.Errorf("Any(%d) = %d, want %d", n, got, want)
		}
	}
}
