package engine

import (
	"math/bits"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/tree"
)

// The heap tie rule. Feasible nodes, in the order of the search, form an implicit
// binary heap by total in which equal totals never swap. The rule takes its root: of
// the tied nodes, the first in pre-order. Elements are numbered by rank, from 0 on:
//
//	        0
//	      /   \
//	    1       2        pre-order: 0 1 3 4 2 5 6
//	   / \     / \
//	  3   4   5   6

// fewTied is up to how many tied nodes are compared one by one.
const fewTied = 64

// Heap returns the node that the heap tie rule takes. As long as the same nodes are
// feasible, the tree has them laid out as the heap. Otherwise few tied nodes are compared
// with each other; to reach many, a descent from the root is shorter. Once these have
// cost as much as laying out would, it is done.
func (v *View) Heap() *framework.NodeInfo {
	if len(v.explicit) > 0 {
		return v.heapWalk(0)
	}
	t, start := &v.class.totals.tree, v.parts[0].lo
	all := v.Feasible == v.AllFeasible()
	if all {
		if place, ok := t.FirstByRank(start); ok {
			return v.node(place)
		}
	}
	depth := bits.Len(uint(v.Feasible))
	cost := tiedCost * int(v.best.count)
	if v.best.count > fewTied {
		cost = tiedBelowCost * depth * depth * depth
	}
	if all && t.Owe(cost, 0) {
		t.LayOutByRank(start)
		place, _ := t.FirstByRank(start)
		return v.node(place)
	}
	if v.best.count > fewTied {
		return v.heapDescent()
	}
	return v.heapAmongTied()
}

// About how many nanoseconds it takes to compare one tied node, and for one step of
// tiedBelow.
const (
	tiedCost      = 100
	tiedBelowCost = 8
)

// heapAmongTied compares the tied nodes by their ranks.
func (v *View) heapAmongTied() *framework.NodeInfo {
	var first *framework.NodeInfo
	least := -1
	for k := range int(v.best.count) {
		n := v.Tied(k)
		if r := v.rank(int(v.class.order().Place[n.Slot()])); least < 0 || beforeInHeap(r, least) {
			first, least = n, r
		}
	}
	return first
}

// rank is the number of a place among the feasible nodes of the search.
func (v *View) rank(place int) int {
	t, p := &v.class.totals.tree, v.parts[0]
	if place >= p.lo {
		return t.Rank(place) - t.Rank(p.lo)
	}
	return t.Rank(p.hi) - t.Rank(p.lo) + t.Rank(place)
}

// at returns the place of the feasible node of that rank, and its total.
func (v *View) at(rank int) (place int, total int32) {
	if len(v.explicit) > 0 {
		return int(v.places[rank]), v.explicit[rank]
	}
	t, p := &v.class.totals.tree, v.parts[0]
	k := t.Rank(p.lo) + rank
	if all := t.Rank(p.hi); k >= all {
		k -= all
	}
	place = t.KthFeasible(k)
	return place, t.Total(place)
}

// heapDescent goes down from the root of the heap, to the left if a tied node is below,
// in O((log N)^3).
func (v *View) heapDescent() *framework.NodeInfo {
	for rank := 0; ; {
		place, total := v.at(rank)
		if total == v.best.total {
			return v.node(place)
		}
		if rank = 2*rank + 1; !v.tiedBelow(rank) {
			rank++
		}
	}
}

// tiedBelow reports whether an element of the heap, or one below it, is tied. Those of
// one level are neighbours in the order of the search.
func (v *View) tiedBelow(rank int) bool {
	t, n := &v.class.totals.tree, len(v.class.order().Slots)
	for lo, hi := rank, rank; lo < v.Feasible; lo, hi = 2*lo+1, 2*hi+2 {
		from, _ := v.at(lo)
		to, _ := v.at(min(hi, v.Feasible-1))
		most := tree.None
		if from <= to {
			most = t.Between(from, to+1).Best
		} else { // around the end of the list
			most = max(t.Between(from, n).Best, t.Between(0, to+1).Best)
		}
		if most == v.best.total {
			return true
		}
	}
	return false
}

// heapWalk looks through an element and those below it in pre-order.
func (v *View) heapWalk(rank int) *framework.NodeInfo {
	if rank >= v.Feasible {
		return nil
	}
	place, total := v.at(rank)
	if total == v.best.total {
		return v.node(place)
	}
	if n := v.heapWalk(2*rank + 1); n != nil {
		return n
	}
	return v.heapWalk(2*rank + 2)
}

// beforeInHeap reports whether element a comes before b in pre-order.
func beforeInHeap(a, b int) bool {
	x, y := uint(a)+1, uint(b)+1
	// Lift the deeper one to the level of the other.
	if d := bits.Len(x) - bits.Len(y); d > 0 {
		x >>= d
	} else {
		y >>= -d
	}
	if x == y {
		return a < b // one is an ancestor of the other
	}
	for x>>1 != y>>1 {
		x, y = x>>1, y>>1
	}
	return x < y
}
