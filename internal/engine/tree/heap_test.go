package tree

import (
	"testing"

	"pgregory.net/rapid"
)

// preOrder lists the elements of an implicit heap of n in pre-order.
func preOrder(n int) (list []int) {
	var visit func(i int)
	visit = func(i int) {
		if i < n {
			list = append(list, i)
			visit(2*i + 1)
			visit(2*i + 2)
		}
	}
	visit(0)
	return list
}

// TestHeapAgreesWithPreOrder walks over the implicit heap, or over the list, while leaves
// and groups change.
func TestHeapAgreesWithPreOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 5, Fan, 40, 300}).Draw(t, "places")
		groups := rapid.IntRange(1, 3).Draw(t, "groups")
		byRank := rapid.Bool().Draw(t, "by rank")
		start := rapid.IntRange(0, n-1).Draw(t, "start")
		total := rapid.Int32Range(rapid.SampledFrom([]int32{-2, 0}).Draw(t, "least"), 3)
		list := rapid.Permutation(count(n)).Draw(t, "list")
		of := make([]uint8, (n+Fan-1)/Fan*Fan)
		for i := range of {
			of[i] = uint8(i * i % groups)
		}
		var tr Tree
		tr.Reset(n, groups, of)
		for i := range n {
			tr.Leaves[i] = total.Draw(t, "total")
		}
		tr.Build()
		share := Tree{Offset: []int64{7}, Shut: []bool{false}}
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				tr.Set(rapid.IntRange(0, n-1).Draw(t, "place"), total.Draw(t, "total"))
			},
			"group": func(t *rapid.T) {
				g := rapid.IntRange(0, groups-1).Draw(t, "group")
				tr.Offset[g] = rapid.Int64Range(0, 3).Draw(t, "offset")
				tr.Shut[g] = rapid.IntRange(0, 3).Draw(t, "shut") == 0
			},
			"build": func(t *rapid.T) {
				tr.Leaves[0] = total.Draw(t, "total")
				tr.Build()
			},
			"": func(t *rapid.T) {
				if err := tr.Check(); err != nil {
					t.Fatal(err)
				}
				if tr.Feasible() == 0 {
					return
				}
				asked := []*Tree{&tr}
				if groups == 1 {
					share.Share(&tr)
					asked = append(asked, &share)
				}
				for _, a := range asked {
					var got, want int
					var ok bool
					if byRank {
						checkLevels(t, a, start)
						want = firstInHeap(a, start)
						got, ok = a.FirstByRank(start)
					} else {
						want = firstInList(a, list)
						got, ok = a.FirstOf(list)
					}
					if ok && got != want {
						t.Fatalf("the first is place %d, want %d", got, want)
					}
					switch {
					case ok || !a.Owe(1000):
					case byRank:
						a.LayOutByRank(start)
						if got, ok = a.FirstByRank(start); !ok || got != want {
							t.Fatalf("laid out anew, the first is place %d, want %d", got, want)
						}
					default:
						a.LayOut(list)
						if got, ok = a.FirstOf(list); !ok || got != want {
							t.Fatalf("laid out anew, the first is place %d, want %d", got, want)
						}
					}
				}
			},
		})
	})
}

// checkLevels asks for the first element of every level of the heap, twice.
func checkLevels(t *rapid.T, tr *Tree, start int) {
	places := fromStart(tr, start)
	for range 2 {
		levels := tr.LevelsOf(start)
		for level := 0; 1<<level <= len(places); level++ {
			if got, want := levels.Place(level), places[1<<level-1]; got != want {
				t.Fatalf("LevelsOf(%d).Place(%d) = %d, want %d", start, level, got, want)
			}
		}
	}
}

// fromStart lists the feasible places, from start on around the end.
func fromStart(t *Tree, start int) (places []int) {
	for i := range t.Leaves {
		if place := (start + i) % len(t.Leaves); t.Total(place) >= 0 {
			places = append(places, place)
		}
	}
	return places
}

// count lists the numbers below n.
func count(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// firstInHeap makes the heap of feasible places and walks over it.
func firstInHeap(t *Tree, start int) int {
	places := fromStart(t, start)
	for _, i := range preOrder(len(places)) {
		if t.Total(places[i]) == t.Root().Best {
			return places[i]
		}
	}
	return -1
}

func firstInList(t *Tree, list []int32) int {
	for _, place := range list {
		if t.Total(int(place)) == t.Root().Best {
			return int(place)
		}
	}
	return -1
}

// TestHeapStands: as long as the same places are feasible, a heap is laid out once.
func TestHeapStands(t *testing.T) {
	var tr Tree
	tr.Reset(100, 2, make([]uint8, 112))
	for i := range 100 {
		tr.Leaves[i] = int32(i % 7)
	}
	tr.Build()
	tr.LayOutByRank(3)
	for i := range 100 {
		tr.Set(i, int32(i%5))
		tr.Offset[1] = int64(i)
		if _, ok := tr.FirstByRank(3); !ok {
			t.Fatalf("change %d: the heap fell", i)
		}
	}
	tr.Set(6, -1)
	for what, change := range map[string]func(){
		"another start":                func() {},
		"a group is shut":              func() { tr.Shut[1] = true },
		"a place is feasible no more":  func() { tr.Set(5, -2) },
		"a place has become feasible":  func() { tr.Set(6, 2) },
		"leaves were written directly": tr.Build,
	} {
		start := 3
		tr.LayOutByRank(start)
		if change(); what == "another start" {
			start++
		}
		if _, ok := tr.FirstByRank(start); ok {
			t.Errorf("%s: the heap stands", what)
		}
		tr.Shut[1] = false
		tr.Set(5, 2)
		tr.Set(6, -1)
	}
}

// TestOweWhilePlacesFlip: a heap of all places is laid out although with each question a place ceases to be
// feasible, as where no two pods of an app may meet; one of feasible places is not, as it would fall.
func TestOweWhilePlacesFlip(t *testing.T) {
	for _, byRank := range []bool{false, true} {
		var tr Tree
		tr.Reset(1000, 1, nil)
		for i := range 1000 {
			tr.Leaves[i] = 1
		}
		tr.Build()
		list := make([]int32, 1000)
		for i := range list {
			list[i] = int32(999 - i)
		}
		worth := false
		for i := 0; i < 100 && !worth; i++ {
			if byRank {
				tr.FirstByRank(0)
			} else {
				tr.FirstOf(list)
			}
			worth = tr.Owe(1000)
			tr.Set(i, -1)
		}
		if worth == byRank {
			t.Errorf("by rank: %v; a heap is worth laying out: %v", byRank, worth)
		}
		if byRank {
			continue
		}
		tr.LayOut(list)
		for place := 999; place > 900; place-- {
			if first, ok := tr.FirstOf(list); !ok || first != place {
				t.Fatalf("the first is place %d, want %d (the heap stands: %v)", first, place, ok)
			}
			tr.Set(place, -1)
		}
	}
}

// TestHeapOfTooManyGroups: with many groups a heap would hold too much memory.
func TestHeapOfTooManyGroups(t *testing.T) {
	var tr Tree
	tr.Reset(20, heapGroupsMost+1, make([]uint8, 32))
	tr.Build()
	if before := tr.Bytes(); tr.Owe(1<<30) || tr.Bytes() != before {
		t.Errorf("Owe() says that a heap of %d groups is worth it", heapGroupsMost+1)
	}
}

// TestLevelsOfManyGroups: a word has not enough bits for the groups.
func TestLevelsOfManyGroups(t *testing.T) {
	var tr Tree
	of := make([]uint8, 112)
	for i := range of {
		of[i] = uint8(i % (levelsGroupsMost + 2))
	}
	tr.Reset(100, levelsGroupsMost+2, of)
	for i := range 100 {
		tr.Leaves[i] = 1
	}
	tr.Build()
	for g := levelsGroupsMost; g < levelsGroupsMost+2; g++ {
		tr.Shut[g] = true
		if got, want := tr.LevelsOf(60).Place(3), fromStart(&tr, 60)[7]; got != want {
			t.Errorf("LevelsOf(60).Place(3) = %d, want %d", got, want)
		}
		tr.Shut[g] = false
	}
	if err := tr.Check(); err != nil {
		t.Error(err)
	}
}

// TestLevelsCheckFindsFaults plants a fault in each part of the levels.
func TestLevelsCheckFindsFaults(t *testing.T) {
	for name, plant := range map[string]func(*levels){
		"place": func(ls *levels) { ls.kept[0].places[3]++ },
		"start": func(ls *levels) { ls.kept[0].start++ },
		"shut":  func(ls *levels) { ls.kept[0].shut = 2 },
	} {
		var tr Tree
		of := make([]uint8, 112)
		for i := range of {
			of[i] = uint8(i % 2)
		}
		tr.Reset(100, 2, of)
		for i := range 100 {
			tr.Leaves[i] = int32(i % 5)
		}
		tr.Build()
		tr.LevelsOf(0).Place(3)
		if err := tr.Check(); err != nil {
			t.Fatal(err)
		}
		if plant(&tr.heaps); tr.Check() == nil {
			t.Errorf("%s: Check() finds nothing", name)
		}
	}
}

// TestHeapCheckFindsFaults plants a fault in each part of a heap.
func TestHeapCheckFindsFaults(t *testing.T) {
	for name, plant := range map[string]func(*heap){
		"best":    func(h *heap) { h.best[3]++ },
		"element": func(h *heap) { h.element[9]++ },
		"places":  func(h *heap) { h.places = h.places[:99] },
		"shut":    func(h *heap) { h.shut[0] = true },
	} {
		var tr Tree
		tr.Reset(100, 1, nil)
		for i := range 100 {
			tr.Leaves[i] = int32(i % 5)
		}
		tr.Build()
		tr.LayOutByRank(0)
		if err := tr.Check(); err != nil {
			t.Fatal(err)
		}
		if plant(tr.heap); tr.Check() == nil {
			t.Errorf("%s: Check() finds nothing", name)
		}
	}
}
