package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPutMany: whatever rows become, the tree says what one says that is made of them.
func TestPutMany(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for round := range 200 {
		n := 1 + r.IntN(400)
		o := &order{slots: make([]int32, n), place: make([]int32, n)}
		for place, slot := range r.Perm(n) {
			o.slots[place], o.place[slot] = int32(slot), int32(place)
		}
		b := &base{order: o}
		b.tree.reset(n, 1, nil)
		rows := make([]row, n) // by slot
		for slot := range rows {
			rows[slot] = row(r.IntN(8) - 3) // also rejected for some reason
			b.tree.leaves[o.place[slot]] = int32(rows[slot])
		}
		b.index()
		for range 20 {
			slots := make([]int32, r.IntN(n+1))
			scores := make([]int64, len(slots))
			for i, slot := range r.Perm(n)[:len(slots)] {
				slots[i], scores[i] = int32(slot), int64(r.IntN(6))
				rows[slot] = row(scores[i]) + 2
			}
			b.putMany(slots, scores, 2)
			if slot := r.IntN(n); r.IntN(2) == 0 { // a node is full again
				rows[slot] = rejected(1)
				b.put(int32(slot), rows[slot])
			}
			want := &base{order: o}
			want.tree.reset(n, 1, nil)
			for slot, x := range rows {
				want.tree.leaves[o.place[slot]] = int32(x)
			}
			want.index()
			if !slices.Equal(b.tree.leaves, want.tree.leaves) || !slices.Equal(b.tree.nodes, want.tree.nodes) {
				t.Fatalf("round %d: the tree says %+v, one made of the same rows %+v", round, b.tree.root(), want.tree.root())
			}
			for reason, count := range want.counts {
				if b.counts[reason] != count {
					t.Fatalf("round %d: %d rows have the reason %d, want %d", round, b.counts[reason], reason, count)
				}
			}
		}
	}
}
