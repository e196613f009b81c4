package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-sched/berth/internal/engine/nodelog"
)

// TestPutMany: whatever rows become, the tree answers like one that is made of them.
func TestPutMany(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for round := range 200 {
		n := 1 + r.IntN(400)
		o := &nodelog.Order{Slots: make([]int32, n), Place: make([]int32, n)}
		for place, slot := range r.Perm(n) {
			o.Slots[place], o.Place[slot] = int32(slot), int32(place)
		}
		var b rows
		b.reset(o)
		want := make([]row, n) // by slot
		for slot := range want {
			want[slot] = row(r.IntN(8) - 3) // also rejected for some reason
			b.tree.Leaves[o.Place[slot]] = int32(want[slot])
		}
		b.index()
		for range 20 {
			slots := make([]int32, r.IntN(n+1))
			scores := make([]int64, len(slots))
			for i, slot := range r.Perm(n)[:len(slots)] {
				slots[i], scores[i] = int32(slot), int64(r.IntN(6))
				want[slot] = row(scores[i]) + 2
			}
			b.putMany(slots, scores, 2)
			if slot := r.IntN(n); r.IntN(2) == 0 { // a node is full again
				want[slot] = rejected(1)
				b.put(int32(slot), want[slot])
			}
			var fresh rows
			fresh.reset(o)
			for slot, x := range want {
				fresh.tree.Leaves[o.Place[slot]] = int32(x)
			}
			fresh.index()
			if !slices.Equal(b.tree.Leaves, fresh.tree.Leaves) || b.tree.Root() != fresh.tree.Root() {
				t.Fatalf("round %d: the tree says %+v, one made of the same rows %+v", round, b.tree.Root(), fresh.tree.Root())
			}
			if err := b.check(); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			for reason, count := range fresh.counts {
				if b.counts[reason] != count {
					t.Fatalf("round %d: %d rows have the reason %d, want %d", round, b.counts[reason], reason, count)
				}
			}
		}
	}
}
