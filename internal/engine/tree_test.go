package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// plainSummary is what a summary says, counted one by one.
func plainSummary(totals []int32) summary {
	s := summary{best: none}
	for _, x := range totals {
		if x < 0 {
			continue
		}
		s.feasible++
		if x > s.best {
			s.best, s.count = x, 0
		}
		if x == s.best {
			s.count++
		}
	}
	return s
}

// kth returns the place of the k-th total that satisfies ok, or -1.
func kth(totals []int32, k int, ok func(int32) bool) int {
	for i, x := range totals {
		if ok(x) {
			if k == 0 {
				return i
			}
			k--
		}
	}
	return -1
}

// some returns some of the numbers below n, the first and the last among them.
func some(t *rapid.T, n int) []int {
	if n == 0 {
		return nil
	}
	return append(rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "some"), 0, n-1)
}

func TestTreeAgreesWithCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int32Range(none-1, 3)
		n := rapid.SampledFrom([]int{1, 5, fan, fan + 1, fan*arity + 3, 700, 1500}).Draw(t, "places")
		own := rapid.SliceOfN(total, n, n).Draw(t, "totals")
		groups := rapid.IntRange(1, 3).Draw(t, "groups")
		of := make([]uint8, (len(own)+fan-1)/fan*fan)
		for i := range own {
			of[i] = uint8(i * i % groups)
		}
		totals := make([]int32, len(own)) // with offsets, and without groups that are shut
		var tr tree
		tr.reset(len(own), groups, of)
		copy(tr.leaves, own)
		tr.build()
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				i := rapid.IntRange(0, len(own)-1).Draw(t, "place")
				own[i] = total.Draw(t, "total")
				tr.set(i, own[i])
			},
			"group": func(t *rapid.T) {
				g := rapid.IntRange(0, groups-1).Draw(t, "group")
				tr.offset[g] = rapid.Int64Range(0, 3).Draw(t, "offset")
				tr.shut[g] = rapid.Bool().Draw(t, "shut")
			},
			"": func(t *rapid.T) {
				for i, x := range own {
					if totals[i] = none; x >= 0 && !tr.shut[of[i]] {
						totals[i] = x + int32(tr.offset[of[i]])
					}
				}
				root := plainSummary(totals)
				if got := tr.root(); got != root {
					t.Fatalf("root() = %+v, want %+v", got, root)
				}
				for _, k := range some(t, int(root.count)) {
					if got, want := tr.kthBest(k), kth(totals, k, func(x int32) bool { return x == root.best }); got != want {
						t.Fatalf("kthBest(%d) = %d, want %d", k, got, want)
					}
				}
				for _, k := range some(t, int(root.feasible)) {
					if got, want := tr.kthFeasible(k), kth(totals, k, func(x int32) bool { return x >= 0 }); got != want {
						t.Fatalf("kthFeasible(%d) = %d, want %d", k, got, want)
					}
				}
				lo := rapid.IntRange(0, len(totals)).Draw(t, "lo")
				hi := rapid.IntRange(lo, len(totals)).Draw(t, "hi")
				part := plainSummary(totals[lo:hi])
				if got := tr.between(lo, hi); got != part {
					t.Fatalf("between(%d, %d) = %+v, want %+v", lo, hi, got, part)
				}
				if got, want := tr.rank(hi), int(plainSummary(totals[:hi]).feasible); got != want {
					t.Fatalf("rank(%d) = %d, want %d", hi, got, want)
				}
				for _, k := range some(t, int(part.count)) {
					want := lo + kth(totals[lo:hi], k, func(x int32) bool { return x == part.best })
					if got, _ := tr.kthBetween(lo, hi, part.best, k); got != want {
						t.Fatalf("kthBetween(%d, %d, %d, %d) = %d, want %d", lo, hi, part.best, k, got, want)
					}
				}
				if place, rest := tr.kthBetween(lo, hi, part.best, int(part.count)+2); part.feasible > 0 && (place != -1 || rest != 2) {
					t.Fatalf("kthBetween beyond the end = %d, %d, want -1, 2", place, rest)
				}
			},
		})
	})
}

func BenchmarkTreeSet(b *testing.B) {
	var tr tree
	tr.reset(5000, 1, nil)
	tr.build()
	i := 0
	for b.Loop() {
		i = (i*2654435761 + 12345) & (1<<30 - 1)
		tr.set(i%5000, int32(i%400))
	}
}
