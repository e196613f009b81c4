package engine

import (
	"math/bits"

	"github.com/berth-sched/berth/framework"
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
//
// On one level, pre-order is the order of the ranks. So the first tied element of each
// level is enough to look at, and there are log N levels.

// Heap returns the node that the heap tie rule takes. As long as the same nodes are
// feasible, the tree has them laid out as the heap. Otherwise it is found level by level.
// Once that has cost as much as laying out would, it is done.
func (v *View) Heap() *framework.NodeInfo {
	if len(v.explicit) > 0 {
		return v.heapOfExplicit()
	}
	t, start := &v.class.totals.tree, v.parts[0].lo
	if v.Feasible < v.all {
		return v.heapByLevels()
	}
	place, ok := t.FirstByRank(start)
	if !ok {
		if !t.Owe(levelsCost) {
			return v.heapByLevels()
		}
		t.LayOutByRank(start)
		place, _ = t.FirstByRank(start)
	}
	return v.node(place)
}

// levelsCost is about how many nanoseconds heapByLevels takes.
const levelsCost = 400

// The elements of the upper levels are looked at one by one, unless they are scattered
// among too many places.
const (
	upperElements = 15
	upperPlaces   = 64
)

// heapByLevels finds the first tied element of each level, and of these the first in
// pre-order. It costs O(log N) questions to the tree, and mostly few: below the leftmost
// element of a level none comes first.
func (v *View) heapByLevels() *framework.NodeInfo {
	first, next := none, none // next is the first tied element from some level on
	level := v.heapOfUpper(&first)
	if 1<<level > v.Feasible || first.leftmost() {
		return v.node(first.place)
	}
	begin := v.beginOfLevels()
	for ; 1<<level <= v.Feasible && !first.leftmost(); level++ {
		if next.rank < 1<<level-1 {
			next = v.nextTied(begin(level), 1<<level-1, first.before(level, v.Feasible))
		}
		if next != none && next.rank < 2<<level-1 { // it is on this level
			first.take(next)
		}
	}
	return v.node(first.place)
}

// beginOfLevels returns a function that finds the place of the first element of a level.
// As long as the search visits all feasible nodes, the tree remembers these places.
func (v *View) beginOfLevels() func(level int) int {
	t, p := &v.class.totals.tree, v.parts[0]
	if v.Feasible == v.all {
		return t.LevelsOf(p.lo).Place
	}
	before, all := t.Rank(p.lo), t.Rank(p.hi)
	return func(level int) int {
		k := before + 1<<level - 1
		if k >= all {
			k -= all
		}
		return t.KthFeasible(k)
	}
}

// found is a tied element of the heap, or none.
type found struct{ rank, place int }

var none = found{-1, -1}

// take replaces the element by another one if that comes earlier in pre-order.
func (f *found) take(other found) {
	if *f == none || beforeInHeap(other.rank, f.rank) {
		*f = other
	}
}

// leftmost reports whether the element is the first of its level. Then none below that
// level comes earlier.
func (f *found) leftmost() bool { return f.rank >= 0 && f.rank&(f.rank+1) == 0 }

// before is how many elements of a level below come earlier in pre-order; all of them if
// there is no element.
func (f *found) before(level, all int) int {
	if *f == none {
		return all
	}
	return (f.rank+1)<<(level+1-bits.Len(uint(f.rank)+1)) - 1<<level
}

// heapOfUpper looks at elements one by one from the root on. It returns the first level
// that it has not seen all of.
func (v *View) heapOfUpper(first *found) (level int) {
	t, rank, left := &v.class.totals.tree, 0, upperPlaces
	for _, p := range v.parts {
		for place := p.lo; place < min(p.hi, p.lo+left) && rank < upperElements; place++ {
			switch x := t.Total(place); {
			case x == v.best.total:
				first.take(found{rank, place})
				rank++
			case x >= 0:
				rank++
			}
		}
		left -= p.hi - p.lo
	}
	return bits.Len(uint(rank)+1) - 1
}

// heapOfExplicit looks at the totals of all nodes of a sample.
func (v *View) heapOfExplicit() *framework.NodeInfo {
	first := none
	for rank, x := range v.explicit {
		if x == v.best.total {
			first.take(found{rank, int(v.places[rank])})
		}
	}
	return v.node(first.place)
}

// nextTied returns the first tied element from a place on, where the element of that rank
// is. If more than most elements come before it, it may return none.
func (v *View) nextTied(place, rank, most int) found {
	t, total := &v.class.totals.tree, v.best.total
	p, rest := v.parts[0], v.parts[1]
	if place >= p.lo {
		switch tied, passed := t.NextBest(place, p.hi, total, most); {
		case tied >= 0:
			return found{rank + passed, tied}
		case passed > most:
			return none // the rest of the part has not been looked at
		default:
			place, rank, most = rest.lo, rank+passed, most-passed
		}
	}
	if tied, passed := t.NextBest(place, rest.hi, total, most); tied >= 0 {
		return found{rank + passed, tied}
	}
	return none
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
	return x < y // they are on one level now, whose order is that of the ranks
}
