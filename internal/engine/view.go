package engine

import (
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/tree"
)

// A View is what a class knows for one query: the feasible nodes that the reference
// path would find, in the order in which it would find them, and the best of them.
//
// The nodes it covers are one or two runs of places: from the start of the search to
// the last node it visits, around the end of the list.
//
// Invariant: best is the highest total in parts and how many places have it. Totals are
// those of explicit, or of the class's tree if explicit is empty.
type View struct {
	class *class
	parts [2]part

	// Evaluated is how many nodes the search visits, and Feasible how many of
	// them are feasible.
	Evaluated, Feasible int
	all                 int // feasible nodes, see AllFeasible
	best                best

	// explicit holds the totals of a sample whose ranges differ from those of all
	// nodes, or of the nodes left by narrow, in their order; empty if the tree's totals
	// hold.
	explicit []int32

	// The feasible nodes of the search, once they are listed.
	listed   bool
	listing  listing
	places   []int32
	nodes    []*framework.NodeInfo
	slots    []int
	nameList []string

	names names

	raw      []int64 // memory of sample
	excluded []bool  // from the range of the scorer at hand
	wanted   []bool  // by reason, see Rejected
	counts   []int   // by reason, see Rejections
	rejected []Rejection
}

// part is a run of places lo <= place < hi.
type part struct{ lo, hi int }

// best is a highest total and how many places have it.
type best struct{ total, count int32 }

// add takes count places with a total into account.
func (b *best) add(total, count int32) {
	switch {
	case total > b.total:
		b.total, b.count = total, count
	case total == b.total:
		b.count += count
	}
}

// search finds the nodes that the search of the reference path visits. false means that
// the reference path must be taken.
func (v *View) search(c *class, q *Query) bool {
	n, t := len(c.order().Slots), &c.totals.tree
	root := t.Root()
	all := int(root.Feasible)
	v.all, v.class, v.explicit, v.listed = all, c, v.explicit[:0], false
	start := q.Start
	if start >= n {
		start %= n
	}
	if all < q.Want || q.Want >= n {
		v.parts = [2]part{{start, n}, {0, start}}
		v.Evaluated, v.Feasible = n, all
		v.best = best{root.Best, root.Count}
		return true
	}
	v.Feasible = q.Want
	before := t.Rank(start)
	after := all - before
	if q.Want <= after {
		v.parts = [2]part{{start, t.KthFeasible(before+q.Want-1) + 1}, {}}
	} else {
		v.parts = [2]part{{start, n}, {0, t.KthFeasible(q.Want-after-1) + 1}}
	}
	// The search goes on to the next feasible node, which it does not count.
	switch {
	case q.Want < after:
		v.Evaluated = t.KthFeasible(before+q.Want) - start
	case q.Want < all:
		v.Evaluated = n - start + t.KthFeasible(q.Want-after)
	default:
		v.Evaluated = n
	}
	if v.Feasible < all && c.state >= totaled && v.Feasible > 1 {
		if same, ok := v.sample(); !same || !ok {
			return ok
		}
	}
	v.best = v.bestOfParts()
	return true
}

// bestOfParts asks the tree for the best total.
func (v *View) bestOfParts() best {
	b := best{total: tree.None}
	for _, p := range v.parts {
		s := v.class.totals.tree.Between(p.lo, p.hi)
		b.add(s.Best, s.Count)
	}
	return b
}

func (v *View) node(place int) *framework.NodeInfo { return v.class.base.tracker.Node(place) }

// First returns the first feasible node of the search.
func (v *View) First() *framework.NodeInfo {
	t := &v.class.totals.tree
	for _, p := range v.parts {
		if k := t.Rank(p.lo); k < t.Rank(p.hi) {
			return v.node(t.KthFeasible(k))
		}
	}
	return nil
}

// Nodes lists the feasible nodes in the order of the search. The list is valid as long
// as the view is.
func (v *View) Nodes() []*framework.NodeInfo {
	v.list()
	return v.nodes
}

// Listed lists the nodes of [View.Nodes] with their slots and names. The lists are valid as
// long as the view is.
func (v *View) Listed() (nodes []*framework.NodeInfo, slots []int, names []string) {
	v.list()
	if !v.listing.named {
		v.listing.named = true
		v.slots, v.nameList = v.slots[:0], v.nameList[:0]
		for k, place := range v.places {
			v.slots, v.nameList = append(v.slots, int(v.class.order().Slots[place])), append(v.nameList, v.nodes[k].Name())
		}
	}
	return v.nodes, v.slots, v.nameList
}

// Visits reports whether the search visits the node at a place.
func (v *View) Visits(place int) bool {
	if place -= v.parts[0].lo; place < 0 {
		place += len(v.class.order().Slots)
	}
	return place < v.Evaluated
}

// Best returns the highest total and how many nodes have it.
func (v *View) Best() (total int64, tied int) { return int64(v.best.total), int(v.best.count) }

// Tied returns the k-th node with the highest total, in the order of the search.
func (v *View) Tied(k int) *framework.NodeInfo {
	if len(v.explicit) > 0 {
		for i, t := range v.explicit {
			if t == v.best.total {
				if k == 0 {
					return v.node(int(v.places[i]))
				}
				k--
			}
		}
	}
	t := &v.class.totals.tree
	if v.parts[0] == (part{0, len(v.class.order().Slots)}) {
		return v.node(t.KthBest(v.best.total, k))
	}
	for _, p := range v.parts {
		place, rest := t.KthBetween(p.lo, p.hi, v.best.total, k)
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

// Totals calls f for every feasible node in the order of the search, until f returns
// false.
func (v *View) Totals(f func(n *framework.NodeInfo, total int64) bool) {
	v.class.base.walked += int64(v.Feasible)
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
			if t := v.class.totalAt(place); t >= 0 && !f(v.node(place), int64(t)) {
				return
			}
		}
	}
}

// A Rejection is why nodes are not feasible, and how many.
type Rejection struct {
	At     int // place of the filter in the profile
	Status framework.Status
	Text   string // the message of Status
	Nodes  int
}

// Rejections lists the reasons of all nodes that are not feasible. The list is valid until
// the next call.
func (v *View) Rejections() []Rejection {
	c := v.class
	reasons := c.base.reasons.list
	nodes := v.counters() // by final reason
	for g, slots := range c.groups.division.slots {
		passed := len(slots) // those without a reason of their own
		for own := 1; own < len(reasons); own++ {
			if n := c.counted(own, g); n > 0 {
				passed -= n
				nodes[c.finalReason(int32(own), g)] += n
			}
		}
		nodes[c.finalReason(feasible, g)] += passed
	}
	return v.listCounted()
}

// counters returns zeros, one for each reason.
func (v *View) counters() []int {
	v.counts = append(v.counts[:0], make([]int, len(v.class.base.reasons.list))...)
	return v.counts
}

// listCounted lists the reasons that were counted.
func (v *View) listCounted() []Rejection {
	v.rejected = v.rejected[:0]
	reasons := &v.class.base.reasons
	for i, nodes := range v.counts {
		if r := &reasons.list[i]; i != int(feasible) && nodes > 0 && !r.overrides {
			v.rejected = append(v.rejected, Rejection{r.at, r.status, reasons.text(i), nodes})
		}
	}
	for i, nodes := range v.counts {
		if reasons.list[i].overrides && nodes > 0 {
			v.addOverride(i, nodes)
		}
	}
	return v.rejected
}

// addOverride adds the reason of an override, which may be like another reason.
func (v *View) addOverride(number, nodes int) {
	reasons := &v.class.base.reasons
	r := &reasons.list[number]
	for i := range v.rejected {
		if x := &v.rejected[i]; x.At == r.at && x.Status.Same(r.status) {
			x.Nodes += nodes
			return
		}
	}
	v.rejected = append(v.rejected, Rejection{r.at, r.status, reasons.text(number), nodes})
}

// Kept returns what Keep stored, or nil if any node's reason has changed since. The
// caller keeps there what it made of the Rejections.
func (v *View) Kept() any {
	if c := v.class; c.memo.when == c.versions.reasons {
		return c.memo.value
	}
	return nil
}

// Keep stores a value for Kept.
func (v *View) Keep(x any) { v.class.memo.value, v.class.memo.when = x, v.class.versions.reasons }

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
	slot := c.order().Slots[place]
	if r := c.finalReason(c.ownReason(slot), int(c.groups.division.of[slot])); r != feasible {
		return NodeState{At: c.base.reasons.list[r].at, Status: c.base.reasons.list[r].status}
	}
	return NodeState{Feasible: true, Total: int64(c.totalAt(place))}
}

// Place returns the place of a slot in the order, false if it has none.
func (v *View) Place(slot int) (int, bool) {
	if o := v.class.order(); o.Has(int32(slot)) {
		return int(o.Place[slot]), true
	}
	return 0, false
}

// Rejected appends the slots of the nodes that are rejected with the code, in order. It
// reads four bytes for each node.
func (v *View) Rejected(code framework.Code, slots []int) []int {
	c := v.class
	v.wanted = v.wanted[:0]
	for i, r := range c.base.reasons.list {
		v.wanted = append(v.wanted, i != int(feasible) && r.status.Code() == code)
	}
	for place, slot := range c.order().Slots {
		own := row(c.totals.tree.Leaves[place]).reason()
		if v.wanted[c.finalReason(own, int(c.groups.division.of[slot]))] {
			slots = append(slots, int(slot))
		}
	}
	return slots
}

// AllFeasible is how many nodes are feasible in all, sampled or not.
func (v *View) AllFeasible() int { return v.all }

// Found are feasible nodes in the order of a search.
type Found struct {
	Slots []int
	// Totals are those among these nodes, if Scored is set. Otherwise see [View.TotalsAmong].
	Totals []int64
	Scored bool
}

// Within finds the feasible nodes among the slots, as a search finds them that begins at
// place start of slots and ends after want of them. It also returns how many nodes the search
// visits. The query's Want must be the number of all nodes. The memory of found is used again.
//
// It reads four bytes for each node.
func (v *View) Within(slots []int, start, want int, found Found) (list Found, evaluated int) {
	c, t := v.class, &v.class.totals.tree
	list = Found{found.Slots[:0], found.Totals[:0], false}
	if c.totalsStand() && c.totalsInTree() && t.Groups() == 1 && !t.Shut[0] {
		list.Scored = true
		list, evaluated = v.withinTree(slots[start:], want, list)
		if evaluated == len(slots)-start {
			var more int
			list, more = v.withinTree(slots[:start], want, list)
			evaluated += more
		}
		return list, evaluated
	}
	open := !c.someShut()
	for _, part := range [2][]int{slots[start:], slots[:start]} {
		for _, slot := range part {
			if t.Leaves[c.order().Place[slot]] >= 0 && (open || c.isFeasible(int32(slot))) {
				if len(list.Slots) == want {
					return list, evaluated
				}
				list.Slots = append(list.Slots, slot)
			}
			evaluated++
		}
	}
	return list, evaluated
}

// withinTree is Within, without a start, for a class whose tree has the totals.
func (v *View) withinTree(slots []int, want int, found Found) (list Found, evaluated int) {
	t, places := &v.class.totals.tree, v.class.order().Place
	leaves, offset := t.Leaves, int64(t.Offset[0])
	n := len(found.Slots)
	room := min(want, n+len(slots))
	list = Found{slices.Grow(found.Slots, room-n)[:room], slices.Grow(found.Totals, room-n)[:room], found.Scored}
	for k, slot := range slots {
		leaf := leaves[places[slot]]
		if leaf < 0 {
			continue
		}
		if n == want {
			list.Slots, list.Totals = list.Slots[:n], list.Totals[:n]
			return list, k
		}
		list.Slots[n], list.Totals[n] = slot, int64(leaf)+offset
		n++
	}
	list.Slots, list.Totals = list.Slots[:n], list.Totals[:n]
	return list, len(slots)
}

// RejectionsWithin lists the reasons of the given nodes that are not feasible. The list is
// valid until the next call.
func (v *View) RejectionsWithin(slots []int) []Rejection {
	c, nodes := v.class, v.counters()
	for _, slot := range slots {
		nodes[c.finalReason(c.ownReason(int32(slot)), int(c.groups.division.of[slot]))]++
	}
	return v.listCounted()
}

// fewTied is up to how many tied nodes are found one by one.
const fewTied = 64

// About how many nanoseconds it takes to find one tied node, to look at one node for its
// total or name, and to sort one.
const (
	tiedCost = 100
	lookCost = 5
	sortCost = 400
)

// ByName returns the best node with the smallest name. The tree has the places laid out
// by name, once comparing names has cost as much as that, and as to sort them for all classes.
func (v *View) ByName() *framework.NodeInfo {
	o, t := v.class.order(), &v.class.totals.tree
	if len(v.explicit) > 0 || v.Feasible < v.AllFeasible() {
		return v.leastName()
	}
	cost := tiedCost * int(v.best.count)
	if v.best.count > fewTied {
		cost = lookCost * len(o.Slots)
	}
	if v.names.order != o {
		if v.names.debt += cost; v.names.debt <= sortCost*len(o.Slots) {
			return v.leastName()
		}
		v.names.sort(o, v.class.base.tracker.Nodes())
	} else if place, ok := t.FirstOf(v.names.places); ok {
		return v.node(place)
	}
	if !t.Owe(cost) {
		return v.leastName()
	}
	t.LayOut(v.names.places)
	place, _ := t.FirstOf(v.names.places)
	return v.node(place)
}

// leastName compares the names of the tied nodes.
func (v *View) leastName() *framework.NodeInfo {
	var least *framework.NodeInfo
	take := func(n *framework.NodeInfo) {
		if least == nil || strings.Compare(n.Node.Name, least.Node.Name) < 0 {
			least = n
		}
	}
	if len(v.explicit) == 0 && v.best.count <= fewTied {
		for k := range int(v.best.count) {
			take(v.Tied(k))
		}
		return least
	}
	v.Totals(func(n *framework.NodeInfo, total int64) bool {
		if total == int64(v.best.total) {
			take(n)
		}
		return true
	})
	return least
}
