package engine

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/engine/nodelog"
)

// heapView is a view of a search that visits all nodes; those of the ranks are
// tied. Every ninth place has no feasible node; ranks count the others.
func heapView(tb testing.TB, places int) (view func(start int, ranks ...int) *View, feasible int) {
	tb.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for i := range places {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
			tb.Fatal(err)
		}
	}
	order := nodelog.OrderOf(s, nil)
	tracker := nodelog.NewTracker()
	tracker.Follow(s, order)
	c := &class{base: &base{tracker: tracker, lists: new(lists)}, state: sharing}
	c.base.rows.order = order
	t := &c.totals.tree
	of := make([]uint8, (places+63)/64*64)
	return func(start int, ranks ...int) *View {
		t.Reset(places, 1, of)
		rank := 0
		for k := range places {
			place := (start + k) % places
			if t.Leaves[place] = -1; place%9 != 8 {
				t.Leaves[place] = 5
				for _, tied := range ranks {
					if tied == rank {
						t.Leaves[place] = 7
					}
				}
				rank++
			}
		}
		t.Build()
		var v View
		v.search(c, &Query{Start: start, Want: places})
		return &v
	}, places - places/9
}

// TestHeapByLevels: the first of two tied nodes in pre-order, in searches of all nodes that
// begin anywhere. The levels that are looked at go around the end of the list, and the
// search on a level is bounded.
func TestHeapByLevels(t *testing.T) {
	view, feasible := heapView(t, 230)
	for _, tt := range []struct {
		name        string
		start       int
		ranks, want []int
	}{
		{"ahead of it one level below", 0, []int{40, 75}, []int{75}},
		{"behind it one level below", 0, []int{40, 85}, []int{40}},
		{"ahead, around the end", 150, []int{40, 75}, []int{75}},
		{"behind, around the end", 150, []int{40, 85}, []int{40}},
		{"two levels below, around the end", 150, []int{40, 150}, []int{150}},
		{"two levels below, behind", 150, []int{40, 170}, []int{40}},
		{"the level begins beyond the end", 200, []int{33, 68}, []int{33}},
		{"the leftmost of its level", 100, []int{31, 63}, []int{31}},
	} {
		v := view(tt.start, tt.ranks...)
		if got, want := v.heapByLevels(), v.Nodes()[tt.want[0]]; got != want {
			t.Errorf("%s: %s, want %s", tt.name, got.Name(), want.Name())
		}
	}
	totals := make([]int64, feasible)
	for _, start := range []int{0, 1, 63, 64, 100, 150, 229} {
		for a := 0; a < feasible; a += 3 {
			for b := a + 1; b < feasible; b += 5 {
				v := view(start, a, b)
				totals[a], totals[b] = 1, 1
				if got, want := v.heapByLevels(), v.Nodes()[heapRoot(totals)]; got != want {
					t.Fatalf("start %d, ranks %d and %d: %s, want %s", start, a, b, got.Name(), want.Name())
				}
				totals[a], totals[b] = 0, 0
			}
		}
	}
}
