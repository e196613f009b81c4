package tree

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// plainSummary is what a Summary says, counted one by one.
func plainSummary(totals []int32) Summary {
	s := Summary{Best: None}
	for _, x := range totals {
		if x < 0 {
			continue
		}
		s.Feasible++
		if x > s.Best {
			s.Best, s.Count = x, 0
		}
		if x == s.Best {
			s.Count++
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
		total := rapid.Int32Range(None-1, 3)
		n := rapid.SampledFrom([]int{1, 5, Fan, Fan + 1, Fan*arity + 3, 700, 1500}).Draw(t, "places")
		own := rapid.SliceOfN(total, n, n).Draw(t, "totals")
		groups := rapid.IntRange(1, 3).Draw(t, "groups")
		of := make([]uint8, (len(own)+Fan-1)/Fan*Fan)
		for i := range own {
			of[i] = uint8(i * i % groups)
		}
		totals := make([]int32, len(own)) // with offsets, and without groups that are shut
		var tr Tree
		tr.Reset(len(own), groups, of)
		copy(tr.Leaves, own)
		tr.Build()
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				i := rapid.IntRange(0, len(own)-1).Draw(t, "place")
				own[i] = total.Draw(t, "total")
				tr.Set(i, own[i])
			},
			"group": func(t *rapid.T) {
				g := rapid.IntRange(0, groups-1).Draw(t, "group")
				tr.Offset[g] = rapid.Int64Range(0, 3).Draw(t, "offset")
				tr.Shut[g] = rapid.Bool().Draw(t, "shut")
			},
			"": func(t *rapid.T) {
				for i, x := range own {
					if totals[i] = None; x >= 0 && !tr.Shut[of[i]] {
						totals[i] = x + int32(tr.Offset[of[i]])
					}
				}
				if err := tr.Check(); err != nil {
					t.Fatal(err)
				}
				root := plainSummary(totals)
				if got := tr.Root(); got != root {
					t.Fatalf("Root() = %+v, want %+v", got, root)
				}
				for _, k := range some(t, int(root.Count)) {
					if got, want := tr.KthBest(root.Best, k), kth(totals, k, func(x int32) bool { return x == root.Best }); got != want {
						t.Fatalf("KthBest(%d) = %d, want %d", k, got, want)
					}
				}
				for _, k := range some(t, int(root.Feasible)) {
					if got, want := tr.KthFeasible(k), kth(totals, k, func(x int32) bool { return x >= 0 }); got != want {
						t.Fatalf("KthFeasible(%d) = %d, want %d", k, got, want)
					}
				}
				lo := rapid.IntRange(0, len(totals)).Draw(t, "lo")
				hi := rapid.IntRange(lo, len(totals)).Draw(t, "hi")
				part := plainSummary(totals[lo:hi])
				if got := tr.Between(lo, hi); got != part {
					t.Fatalf("Between(%d, %d) = %+v, want %+v", lo, hi, got, part)
				}
				if got, want := tr.Rank(hi), int(plainSummary(totals[:hi]).Feasible); got != want {
					t.Fatalf("Rank(%d) = %d, want %d", hi, got, want)
				}
				for _, k := range some(t, int(part.Count)) {
					want := lo + kth(totals[lo:hi], k, func(x int32) bool { return x == part.Best })
					if got, _ := tr.KthBetween(lo, hi, part.Best, k); got != want {
						t.Fatalf("KthBetween(%d, %d, %d, %d) = %d, want %d", lo, hi, part.Best, k, got, want)
					}
				}
				if part.Feasible > 0 {
					want := lo + kth(totals[lo:hi], 0, func(x int32) bool { return x == part.Best })
					passed := int(plainSummary(totals[lo:want]).Feasible)
					if got, n := tr.NextBest(lo, hi, part.Best, passed); got != want || n != passed {
						t.Fatalf("NextBest(%d, %d, %d) = %d, %d, want %d, %d", lo, hi, part.Best, got, n, want, passed)
					}
					if got, n := tr.NextBest(lo, want, part.Best, len(totals)); got != -1 || n != passed {
						t.Fatalf("NextBest(%d, %d, %d) = %d, %d, want -1, %d", lo, want, part.Best, got, n, passed)
					}
				}
				if place, rest := tr.KthBetween(lo, hi, part.Best, int(part.Count)+2); part.Feasible > 0 && (place != -1 || rest != 2) {
					t.Fatalf("kthBetween beyond the end = %d, %d, want -1, 2", place, rest)
				}
			},
		})
	})
}

// TestSetOfSparseTrees: where few places are feasible, the best total of a node changes on
// some levels and stays on those above. All of them are brought up to date.
func TestSetOfSparseTrees(t *testing.T) {
	const n = 2*Fan*arity*arity*arity + 5
	r := rand.New(rand.NewPCG(1, 2))
	for groups := range 3 {
		groups++
		of := make([]uint8, (n+Fan-1)/Fan*Fan)
		for place := range of {
			of[place] = uint8(place % groups)
		}
		var tr Tree
		tr.Reset(n, groups, of)
		tr.Build()
		for step := range 600 {
			place := r.IntN(3)
			for size := Fan; size < n; size *= arity {
				place += r.IntN(2) * size // next to each other on any level
			}
			tr.Set(place, r.Int32N(4)-1)
			if err := tr.Check(); err != nil {
				t.Fatalf("%d groups, step %d: %v", groups, step, err)
			}
		}
	}
}

// TestNextBestOfLongRuns: long runs of places without the best total, over which NextBest
// goes by whole nodes of each level, are counted like single places.
func TestNextBestOfLongRuns(t *testing.T) {
	const n = Fan * arity * arity * 3
	for _, groups := range []int{1, 2} {
		of := make([]uint8, n)
		for place := range of {
			of[place] = uint8(place % groups)
		}
		for _, best := range []int{5, Fan*arity + 1, n / 3, n/2 + 7, n - 2, n} { // n: there is none
			var tr Tree
			tr.Reset(n, groups, of)
			for place := range tr.Leaves {
				switch {
				case place == best:
					tr.Leaves[place] = 9
				case place%5 > 0:
					tr.Leaves[place] = int32(place % 3)
				}
			}
			tr.Build()
			for _, lo := range []int{0, 3, Fan, Fan * arity, Fan*arity + 5, n / 3, n - Fan} {
				want, passed := -1, 0
				for place := lo; place < n && want < 0; place++ {
					switch x := tr.Leaves[place]; {
					case x == 9:
						want = place
					case x >= 0:
						passed++
					}
				}
				if got, k := tr.NextBest(lo, n, 9, n); got != want || k != passed {
					t.Errorf("%d groups: NextBest(%d, %d) = %d after %d, want %d after %d", groups, lo, n, got, k, want, passed)
				}
			}
		}
	}
}

func BenchmarkTreeSet(b *testing.B) {
	var tr Tree
	tr.Reset(5000, 1, nil)
	tr.Build()
	i := 0
	for b.Loop() {
		i = (i*2654435761 + 12345) & (1<<30 - 1)
		tr.Set(i%5000, int32(i%400))
	}
}

// TestShare checks that a tree that shares answers like the other one, but for its own
// offset and whether it is shut, and that it can be changed once it owns its leaves.
func TestShare(t *testing.T) {
	var a, b Tree
	a.Reset(100, 1, nil)
	for i := range 100 {
		a.Leaves[i] = int32(i % 7)
	}
	a.Build()
	b.Reset(3, 1, nil)
	b.Offset[0] = 5
	b.Share(&a)
	a.Set(50, 9)
	if got, want := b.Root(), (Summary{14, 1, 100}); got != want {
		t.Errorf("Root() = %+v, want %+v", got, want)
	}
	b.Own(100, &a)
	b.Build()
	b.Set(50, 1)
	if got, want := a.Root(), (Summary{9, 1, 100}); got != want {
		t.Errorf("after a change of the copy, Root() = %+v, want %+v", got, want)
	}
	if got := b.Root().Best; got != 11 {
		t.Errorf("best of the copy = %d, want 11", got)
	}
	b.Shut[0] = true
	if got := b.Feasible(); got != 0 {
		t.Errorf("Feasible() of a shut group = %d, want 0", got)
	}
}

// A tree that shares follows the other one through Reset once it shares again, also if only
// the groups are others.
func TestShareAgain(t *testing.T) {
	var a, b Tree
	for _, size := range []struct{ places, groups int }{{100, 1}, {100, 1}, {1000, 1}, {1000, 2}, {100, 2}} {
		of := make([]uint8, (size.places+Fan-1)/Fan*Fan)
		of[7] = uint8(size.groups - 1)
		a.Empty()
		a.Reset(size.places, size.groups, of)
		for i := range size.places {
			a.Leaves[i] = int32(i % 7)
		}
		a.Build()
		b.Share(&a)
		b.Share(&a)
		a.Set(7, 9)
		if got, want := b.Root(), (Summary{9, 1, int32(size.places)}); got != want || b.FeasibleIn(size.groups-1) == 0 {
			t.Errorf("%+v: Root() = %+v, want %+v; %d places in the last group", size, got, want, b.FeasibleIn(size.groups-1))
		}
	}
}

// TestCheckFindsFaults plants a fault in each part of a tree.
func TestCheckFindsFaults(t *testing.T) {
	for name, plant := range map[string]func(*Tree){
		"leaf":     func(t *Tree) { t.Leaves[20] = 77 },
		"best":     func(t *Tree) { t.levels[0][3].Best++ },
		"count":    func(t *Tree) { t.levels[1][0].Count++ },
		"feasible": func(t *Tree) { t.levels[len(t.levels)-1][0].Feasible-- },
	} {
		var tr Tree
		tr.Reset(300, 2, make([]uint8, 304))
		for i := range 300 {
			tr.Leaves[i] = int32(i % 5)
		}
		tr.Build()
		if err := tr.Check(); err != nil {
			t.Fatal(err)
		}
		if plant(&tr); tr.Check() == nil {
			t.Errorf("%s: Check() finds nothing", name)
		}
	}
}
