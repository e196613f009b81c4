package tree

import (
	"fmt"
	"slices"
)

// A heap lays places out as an implicit binary heap: the elements below element i are
// 2i+1 and 2i+2. It knows the best total of every element and those below it, so it
// finds the first of the best places in pre-order in one descent:
//
//	      0
//	    /   \
//	  1       2        pre-order: 0 1 3 4 2 5 6
//	 / \     / \
//	3   4   5   6
//
// Invariant (while it stands): element[places[i]] == i, own[i] is the leaf of that place,
// None if it is not feasible, and of[i] its group, if there are several.
// best[g*len(places)+i] is the highest leaf of group g among element i and those below it,
// None if no leaf is feasible. A way up or down reads lists by element only, and those of
// best are of one group each, so it meets few cache lines. A heap of feasible places has all
// of them in order, from start on around the end, but for groups that were shut; a heap of
// all places does not depend on that.
type heap struct {
	stands bool
	debt   int // what questions have cost since it fell, see Tree.Owe

	ranked  bool    // it is of feasible places
	start   int     // of a heap of feasible places, as asked for last
	shut    []bool  // by group, when it was asked for
	list    []int32 // of a heap of all places: what it was laid out from
	places  []int32 // by element
	element []int32 // by place, -1 for none
	own     []int32 // by element
	of      []uint8 // by element
	best    []int32 // by group and element
}

// heapGroupsMost is for how many groups a heap is worth its memory.
const heapGroupsMost = 16

// FirstByRank returns the first of the best places in pre-order of the heap of all
// feasible places, which are in order from start on around the end. It is not ok if that
// heap does not stand. A heap for another start, or for other shut groups, falls.
func (t *Tree) FirstByRank(start int) (place int, ok bool) {
	h := t.owner().heap
	switch {
	case h == nil:
		return -1, false
	case !h.ranked || h.start != start || !slices.Equal(h.shut, t.Shut):
		h.fall()
		h.ranked, h.start, h.shut = true, start, append(h.shut[:0], t.Shut...)
		return -1, false
	case !h.stands:
		return -1, false
	}
	return h.first(t), true
}

// FirstOf returns the first of the best places in the order of the list, which has all
// places. It is not ok if they are not laid out so; the address of the list decides.
func (t *Tree) FirstOf(list []int32) (place int, ok bool) {
	h := t.owner().heap
	if h == nil || !h.stands || h.ranked || len(h.list) != len(list) || &h.list[0] != &list[0] {
		return -1, false
	}
	return h.first(t), true
}

// LayOutByRank makes FirstByRank ok, until a place becomes feasible or ceases to be, a
// group is shut or opened, or Build is called.
func (t *Tree) LayOutByRank(start int) {
	t.layOut(func(h *heap) {
		h.ranked, h.start = true, start
		h.shut = append(h.shut[:0], t.Shut...)
		h.places = h.places[:0]
		for _, part := range [...][2]int{{start, len(t.Leaves)}, {0, start}} {
			for place := part[0]; place < part[1]; place++ {
				if t.Total(place) >= 0 {
					h.places = append(h.places, int32(place))
				}
			}
		}
	})
}

// LayOut makes FirstOf ok for the list, which must not change, until Build is called.
func (t *Tree) LayOut(list []int32) {
	t.layOut(func(h *heap) {
		h.ranked, h.list = false, list
		h.places = slices.Grow(h.places[:0], len(list))[:len(list)]
		next := 0
		var visit func(i int)
		visit = func(i int) {
			if i < len(list) {
				h.places[i] = list[next]
				next++
				visit(2*i + 1)
				visit(2*i + 2)
			}
		}
		visit(0)
	})
}

func (t *Tree) layOut(places func(h *heap)) {
	o := t.owner()
	if o.heap == nil {
		o.heap = new(heap)
	}
	places(o.heap)
	o.heap.build(o)
}

// Owe notes the cost, in nanoseconds, of a question that a heap would have answered. It
// reports whether a heap is worth laying out: the costs since the last one fell exceed
// its own.
func (t *Tree) Owe(cost int) bool {
	o := t.owner()
	if o.groups > heapGroupsMost {
		return false
	}
	if o.heap == nil {
		o.heap = new(heap)
	}
	o.heap.debt += cost
	return o.heap.debt > len(o.Leaves)*(placeCost+groupCost*o.groups)
}

// About how many nanoseconds it takes to lay out one place, without groups and for each
// group.
const (
	placeCost = 4
	groupCost = 2
)

// build finds all that follows from the places.
func (h *heap) build(t *Tree) {
	h.stands, h.debt = true, 0
	n := len(h.places)
	h.element = slices.Grow(h.element[:0], len(t.Leaves))[:len(t.Leaves)]
	for i := range h.element {
		h.element[i] = -1
	}
	h.best = slices.Grow(h.best[:0], n*t.groups)[:n*t.groups]
	h.own, h.of = slices.Grow(h.own[:0], n)[:n], h.of[:0]
	if t.groups > 1 {
		h.of = slices.Grow(h.of, n)[:n]
	}
	for i := n - 1; i >= 0; i-- {
		place := h.places[i]
		h.element[place], h.own[i] = int32(i), max(t.Leaves[place], None)
		if t.groups > 1 {
			h.of[i] = t.of[place]
		}
		for g := range t.groups {
			row := h.row(g)
			row[i] = below(row, i)
		}
		best := &h.row(t.group(int(place)))[i]
		*best = max(*best, h.own[i])
	}
}

// row is the part of best of a group, by element.
func (h *heap) row(group int) []int32 { return h.best[group*len(h.places):][:len(h.places)] }

// below is the best total of a group below an element. row is that of the group.
func below(row []int32, i int) int32 {
	best, left, right := None, 2*i+1, 2*i+2
	if left < len(row) {
		best = row[left]
	}
	if right < len(row) {
		best = max(best, row[right])
	}
	return best
}

// fall notes that nothing of the heap is right any more.
func (h *heap) fall() { h.stands, h.debt = false, 0 }

// set follows the change of a leaf from old to now.
func (h *heap) set(t *Tree, place int, old, now int32) {
	if h.ranked && (old < 0) != (now < 0) {
		h.fall()
		return
	}
	if !h.stands {
		return
	}
	old, now = max(old, None), max(now, None) // below, the values are the caller's
	i := int(h.element[place])
	if i < 0 {
		return
	}
	h.own[i] = now
	if t.groups == 1 {
		h.setSingle(i, old, now)
		return
	}
	g := t.of[place]
	row := h.row(int(g))
	own, of := h.own[:len(row)], h.of[:len(row)]
	for ; i >= 0; i = (i+1)/2 - 1 {
		best := now
		switch was := row[i]; {
		case now > was:
		case now == was || old < was:
			return // another leaf is the best, or as good
		default:
			if best = max(best, below(row, i)); best == was {
				return
			}
			if of[i] == g {
				if best = max(best, own[i]); best == was {
					return
				}
			}
		}
		row[i] = best
	}
}

// setSingle is the rest of set, from an element on, where there is one group.
func (h *heap) setSingle(i int, old, now int32) {
	best := h.best
	own := h.own[:len(best)]
	for ; i >= 0; i = (i+1)/2 - 1 {
		was, to := best[i], now
		switch {
		case now > was:
		case now == was || old < was:
			return
		default:
			if to = max(to, below(best, i)); to == was {
				return
			}
			if to = max(to, own[i]); to == was {
				return
			}
		}
		best[i] = to
	}
}

// first returns the first of the best places in pre-order, as the asking tree sees them.
// There must be one.
func (h *heap) first(t *Tree) int {
	if t.groups == 1 {
		return h.firstSingle(t.levels[t.top()][0].Best)
	}
	var memory [heapGroupsMost]bestGroup
	groups := t.bestGroups(memory[:0])
	var leaves [heapGroupsMost]int32 // of the best places, by group: one more than that, 0 for none
	for _, x := range groups {
		leaves[x.group] = x.leaf + 1
	}
	i := 0
	for len(groups) > 1 {
		if x := h.own[i] + 1; x > 0 && x == leaves[h.of[i]%heapGroupsMost] {
			return int(h.places[i])
		}
		i = 2*i + 1
		switch rest := h.reaching(i, groups); {
		case len(rest) > 0:
			groups = rest
		default:
			i++
		}
	}
	return h.firstOfGroup(i, groups[0])
}

// A bestGroup is a group that has some of the best places, and their leaf.
type bestGroup struct{ group, leaf int32 }

// bestGroups appends the groups that have some of the best places.
func (t *Tree) bestGroups(list []bestGroup) []bestGroup {
	best := None
	row := t.summaries(t.top(), 0)
	offset, shut := t.Offset[:len(row)], t.Shut[:len(row)]
	for g := range row {
		leaf := row[g].Best
		if leaf < 0 || shut[g] {
			continue
		}
		switch x := leaf + int32(offset[g]); {
		case x > best:
			best, list = x, append(list[:0], bestGroup{int32(g), leaf})
		case x == best:
			list = append(list, bestGroup{int32(g), leaf})
		}
	}
	return list
}

// firstOfGroup is the rest of first, from an element on, where one group has all of the best
// places.
func (h *heap) firstOfGroup(i int, x bestGroup) int {
	row := h.row(int(x.group))
	own, of := h.own[:len(row)], h.of[:len(row)]
	for {
		if own[i] == x.leaf && int32(of[i]) == x.group {
			return int(h.places[i])
		}
		if i = 2*i + 1; row[i] != x.leaf {
			i++
		}
	}
}

// firstSingle is first where there is one group, without its offset.
func (h *heap) firstSingle(best int32) int {
	own := h.own[:len(h.best)]
	for i := 0; ; {
		if own[i] == best {
			return int(h.places[i])
		}
		if i = 2*i + 1; h.best[i] != best {
			i++
		}
	}
}

// reaching returns the groups from the first one on that has one of its best places at an
// element or below it. The groups before it have none there.
func (h *heap) reaching(i int, groups []bestGroup) []bestGroup {
	for len(groups) > 0 && h.best[int(groups[0].group)*len(h.places)+i] != groups[0].leaf {
		groups = groups[1:]
	}
	return groups
}

// bytes is the memory that the heap holds.
func (h *heap) bytes() int {
	if h == nil {
		return 0
	}
	return 4*(cap(h.places)+cap(h.element)+cap(h.own)+cap(h.best)) + cap(h.of) + cap(h.shut)
}

// check returns what does not follow from the places, nil if all does.
func (h *heap) check(t *Tree) error {
	if h == nil || !h.stands {
		return nil
	}
	feasible := 0
	for place, x := range t.Leaves {
		if x >= 0 && h.ranked && !h.shut[t.group(place)] {
			feasible++
		}
	}
	if h.ranked && feasible != len(h.places) {
		return fmt.Errorf("heap: %d places are laid out by rank, but %d are feasible", len(h.places), feasible)
	}
	for i, place := range h.places {
		if h.element[place] != int32(i) {
			return fmt.Errorf("heap: place %d is element %d, want %d", place, h.element[place], i)
		}
		x, own := max(t.Leaves[place], None), t.group(int(place))
		if h.own[i] != x || t.groups > 1 && int(h.of[i]) != own {
			return fmt.Errorf("heap: element %d has the leaf %d, want %d of group %d", i, h.own[i], x, own)
		}
		for g := range t.groups {
			want := below(h.row(g), i)
			if g == own {
				want = max(want, x)
			}
			if got := h.row(g)[i]; got != want {
				return fmt.Errorf("heap: the best total of group %d from element %d on is %d, want %d", g, i, got, want)
			}
		}
	}
	return nil
}
