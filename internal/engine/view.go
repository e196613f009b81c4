package engine

import (
	"math/bits"

	"github.com/berth-sched/berth/framework"
)

// A View is what a class knows for one query: the feasible nodes that the
// plain road would have found, in the order in which it would have found them,
// and the best of them.
//
// The nodes it covers are one or two runs of places: from the start of the
// search to the last node it visits, around the end of the list.
//
// Invariant: best is the highest total in parts, and in how many places it is:
// by explicit, if that is not empty, by the class's tree otherwise.
type View struct {
	class *class
	parts [2]part

	// Evaluated is how many nodes the search visits, and Feasible how many of
	// them are feasible.
	Evaluated, Feasible int
	best                summary

	// explicit holds the totals of a part of the nodes whose ranges differ from
	// those of all nodes, in the order of the search; empty where the tree's hold.
	explicit []int32

	// The feasible nodes of the search, where they are listed.
	listed bool
	places []int32
	nodes  []*framework.NodeInfo
	raw    []int64

	wanted []bool // by reason, see Rejected
	sink   uint64 // see kthTied
}

// part is a run of places lo <= place < hi.
type part struct{ lo, hi int }

// of finds the nodes that the search visits. false: only the plain road knows.
func (v *View) of(c *class, src Source, q Query) (*View, bool) {
	n := len(c.base.order.slots)
	all := c.tree.feasible()
	v.class, v.explicit, v.listed = c, v.explicit[:0], false
	start := q.Start % n
	if all < q.Want || q.Want >= n {
		v.parts = [2]part{{start, n}, {0, start}}
		v.Evaluated, v.Feasible = n, all
		v.best = c.tree.root()
		return v, true
	}
	v.Feasible = q.Want
	before := c.tree.rank(start)
	if after := all - before; q.Want <= after {
		v.parts = [2]part{{start, c.tree.kthFeasible(before+q.Want-1) + 1}, {}}
	} else {
		v.parts = [2]part{{start, n}, {0, c.tree.kthFeasible(q.Want-after-1) + 1}}
	}
	// The search goes on to the next feasible node, which it does not count.
	switch after := all - before; {
	case q.Want < after:
		v.Evaluated = c.tree.kthFeasible(before+q.Want) - start
	case q.Want < all:
		v.Evaluated = n - start + c.tree.kthFeasible(q.Want-after)
	default:
		v.Evaluated = n
	}
	if v.Feasible < all && c.scored && v.Feasible > 1 {
		if same, ok := v.sample(src, q.Cycle); !same || !ok {
			return v, ok
		}
	}
	v.best = join(c.tree.between(v.parts[0].lo, v.parts[0].hi), c.tree.between(v.parts[1].lo, v.parts[1].hi))
	return v, true
}

func (v *View) node(place int) *framework.NodeInfo {
	return v.class.base.time.at[place]
}

// kthTied returns the node with the k-th of the highest totals, for a view of all
// places from 0 on. In a large cluster what it reads comes from far away, each load
// waiting for the one before; together they take no longer than one of them. So it
// touches what tells the nodes of a block before it looks for the place there; and
// of the node, to which the pod most likely comes, what counting the pod there, and
// renewing the row after that, will read.
func (v *View) kthTied(k int) *framework.NodeInfo {
	t, b := &v.class.tree, v.class.base
	if t.groups > 1 {
		return v.node(t.kthBest(k))
	}
	block, rest := t.blockOfBest(k)
	first, at := block*fan, b.time.at
	if at[first] == nil || at[min(first+fan/2, len(at)-1)] == nil || b.order.slots[first] < 0 {
		v.sink = 0 // never: the comparisons are there for their loads
	}
	place := t.inBlock(block, rest)
	n, slot := at[place], b.order.slots[place]
	v.sink = n.Generation() + uint64(n.NonZeroRequested[0]) + uint64(b.order.place[slot]) + b.snapshot.AtSlot(int(slot)).Generation()
	return n
}

// First returns the first feasible node of the search.
func (v *View) First() *framework.NodeInfo {
	for _, p := range v.parts {
		if k := v.class.tree.rank(p.lo); k < v.class.tree.rank(p.hi) {
			return v.node(v.class.tree.kthFeasible(k))
		}
	}
	return nil
}

// Best returns the highest total and how many nodes have it.
func (v *View) Best() (total int64, tied int) { return int64(v.best.best), int(v.best.count) }

// Tied returns the k-th node with the highest total, in the order of the
// search.
func (v *View) Tied(k int) *framework.NodeInfo {
	if len(v.explicit) > 0 {
		for i, t := range v.explicit {
			if t == v.best.best {
				if k == 0 {
					return v.node(int(v.places[i]))
				}
				k--
			}
		}
	}
	if v.parts[0].lo == 0 && v.parts[0].hi == len(v.class.base.order.slots) {
		return v.kthTied(k)
	}
	for _, p := range v.parts {
		place, rest := v.class.tree.kthBetween(p.lo, p.hi, v.best.best, k)
		if place >= 0 {
			return v.node(place)
		}
		k = rest
	}
	return nil
}

// AllTied lists the nodes with the highest total in the order of the search.
func (v *View) AllTied() []*framework.NodeInfo {
	list := make([]*framework.NodeInfo, v.best.count)
	for k := range list {
		list[k] = v.Tied(k)
	}
	return list
}

// Totals calls f for every feasible node in the order of the search, until it
// returns false.
func (v *View) Totals(f func(n *framework.NodeInfo, total int64) bool) {
	if len(v.explicit) > 0 {
		for i, t := range v.explicit {
			if !f(v.node(int(v.places[i])), int64(t)) {
				return
			}
		}
		return
	}
	for _, p := range v.parts {
		for place := p.lo; place < p.hi; place++ {
			if t := v.class.tree.total(place); t >= 0 && !f(v.node(place), int64(t)) {
				return
			}
		}
	}
}

// fewTied is up to how many tied nodes are looked at one by one.
const fewTied = 64

// Heap returns the node at the root of the implicit binary heap over the
// feasible nodes in the order of the search, where equal totals never swap: of
// the tied nodes, the first in pre-order. Few tied nodes are compared with each
// other; towards many, a way leads down from the root.
func (v *View) Heap() *framework.NodeInfo {
	switch {
	case len(v.explicit) > 0:
		return v.heapWalk(0)
	case v.best.count > fewTied:
		return v.heapDescent()
	}
	var first *framework.NodeInfo
	best := -1
	for k := range int(v.best.count) {
		n := v.Tied(k)
		if r := v.rank(int(v.class.base.order.place[n.Slot()])); best < 0 || beforeInHeap(r, best) {
			first, best = n, r
		}
	}
	return first
}

// rank is the node's number among the feasible nodes of the search.
func (v *View) rank(place int) int {
	t, p := &v.class.tree, v.parts[0]
	if place >= p.lo {
		return t.rank(place) - t.rank(p.lo)
	}
	return t.rank(p.hi) - t.rank(p.lo) + t.rank(place)
}

// at returns the feasible node of that rank and its total.
func (v *View) at(rank int) (*framework.NodeInfo, int32) {
	if len(v.explicit) > 0 {
		return v.node(int(v.places[rank])), v.explicit[rank]
	}
	t, p := &v.class.tree, v.parts[0]
	k := t.rank(p.lo) + rank
	if all := t.rank(p.hi); k >= all {
		k -= all
	}
	place := t.kthFeasible(k)
	return v.node(place), t.total(place)
}

// heapDescent goes down from the root of the heap, to the left where a tied node
// is below, in O((log N)^3).
func (v *View) heapDescent() *framework.NodeInfo {
	for rank := 0; ; {
		n, total := v.at(rank)
		if total == v.best.best {
			return n
		}
		if rank = 2*rank + 1; !v.tiedBelow(rank) {
			rank++
		}
	}
}

// tiedBelow reports whether an element of the implicit heap, or one below it, is
// tied. Those of one level are neighbours in the order of the search.
func (v *View) tiedBelow(rank int) bool {
	t, o := &v.class.tree, v.class.base.order
	for lo, hi := rank, rank; lo < v.Feasible; lo, hi = 2*lo+1, 2*hi+2 {
		a, _ := v.at(lo)
		b, _ := v.at(min(hi, v.Feasible-1))
		from, to := int(o.place[a.Slot()]), int(o.place[b.Slot()])+1
		best := none
		if from < to {
			best = t.between(from, to).best
		} else { // around the end of the list
			best = max(t.between(from, len(o.slots)).best, t.between(0, to).best)
		}
		if best == v.best.best {
			return true
		}
	}
	return false
}

func (v *View) heapWalk(rank int) *framework.NodeInfo {
	if rank >= v.Feasible {
		return nil
	}
	n, total := v.at(rank)
	if total == v.best.best {
		return n
	}
	if n := v.heapWalk(2*rank + 1); n != nil {
		return n
	}
	return v.heapWalk(2*rank + 2)
}

// beforeInHeap reports whether element a of an implicit binary heap comes
// before b in pre-order.
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

// A Rejection is why nodes are not feasible, and how many.
type Rejection struct {
	At     int // place of the filter in the profile
	Status framework.Status
	Nodes  int
}

// Rejections lists the reasons of all nodes that are not feasible.
func (v *View) Rejections() []Rejection {
	c := v.class
	nodes := make([]int, len(c.base.reasons.list)) // by final reason
	for g, slots := range c.division.slots {
		passed := len(slots) // of these, nodes without a reason of their own
		for own := 1; own < len(c.base.reasons.list); own++ {
			if n := c.counted(own, g); n > 0 {
				passed -= n
				nodes[c.final(int32(own), g)] += n
			}
		}
		nodes[c.final(feasible, g)] += passed
	}
	var list []Rejection
	for i, r := range c.base.reasons.list {
		if i != int(feasible) && nodes[i] > 0 {
			list = append(list, Rejection{r.at, r.status, nodes[i]})
		}
	}
	return list
}

// Kept returns what Keep stored, as long as no node's reason has changed since;
// otherwise nil. The caller keeps there what it made of the Rejections.
func (v *View) Kept() any {
	if v.class.failed == v.class.reasonsVersion {
		return v.class.failure
	}
	return nil
}

// Keep stores a value for Kept.
func (v *View) Keep(x any) { v.class.failure, v.class.failed = x, v.class.reasonsVersion }

// A NodeState is what a class knows of one node.
type NodeState struct {
	Feasible bool
	At       int // of the filter that rejected the node
	Status   framework.Status
	Total    int64
}

// State returns what the class knows of the node at a place.
func (v *View) State(place int) NodeState {
	c := v.class
	slot := c.base.order.slots[place]
	if r := c.final(c.own(slot), int(c.division.of[slot])); r != feasible {
		return NodeState{At: c.base.reasons.list[r].at, Status: c.base.reasons.list[r].status}
	}
	return NodeState{Feasible: true, Total: int64(c.tree.total(place))}
}

// Place returns the place of a slot in the order, false if it has none.
func (v *View) Place(slot int) (int, bool) {
	if o := v.class.base.order; o.has(int32(slot)) {
		return int(o.place[slot]), true
	}
	return 0, false
}

// Rejected appends the slots of the nodes that are rejected with the code, in
// order. It reads four bytes for each node.
func (v *View) Rejected(code framework.Code, slots []int) []int {
	c := v.class
	v.wanted = v.wanted[:0]
	for i, r := range c.base.reasons.list {
		v.wanted = append(v.wanted, i != int(feasible) && r.status.Code() == code)
	}
	for place, slot := range c.base.order.slots {
		own := row(c.tree.leaves[place]).reason()
		if v.wanted[c.final(own, int(c.division.of[slot]))] {
			slots = append(slots, int(slot))
		}
	}
	return slots
}

// AllFeasible is how many nodes are feasible in all, sampled or not.
func (v *View) AllFeasible() int { return v.class.tree.feasible() }

// View returns the view of the last Find; for checks.
func (e *Engine) View() *View { return &e.view }
