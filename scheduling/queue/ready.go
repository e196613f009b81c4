package queue

import (
	"cmp"
	"slices"
)

// ready holds the items that can be tried. Most items of one priority leave in the
// order in which they come, so each priority has a lane. Adding to and taking from a
// lane costs O(1) and touches no items but the neighbours. A heap holds the other
// items: those out of order, those beyond the 64th priority, and all items if a
// plugin sorts.
//
// Invariant: no item in a lane sorts before the one in front of it.
type ready struct {
	plain bool    // a plugin sorts, so there are no lanes
	lanes []*lane // in the order of creation; an item's index is ^place
	order []*lane // the highest priority first
	laned int     // items in lanes
	heap  sorted
}

// lane holds the items of one priority.
type lane struct {
	priority int32
	place    int // in ready.lanes
	list     list
}

const lanesMost = 64

func (r *ready) len() int { return r.laned + r.heap.len() }

// top returns the first item, nil if there is none.
func (r *ready) top() *Item {
	it := r.heap.top()
	if r.laned == 0 {
		return it
	}
	for _, l := range r.order {
		if first := l.list.first; first != nil {
			if it == nil || r.before(first, it) {
				return first
			}
			break
		}
	}
	return it
}

func (r *ready) push(it *Item) {
	if l := r.lane(it.Pod.Priority); l != nil && (l.list.last == nil || !r.before(it, l.list.last)) {
		l.list.insertAfter(it, l.list.last)
		it.index = ^l.place
		r.laned++
		return
	}
	r.heap.push(it)
}

func (r *ready) remove(it *Item) {
	if it.index >= 0 {
		r.heap.remove(it)
		return
	}
	r.lanes[^it.index].list.remove(it)
	r.laned--
}

// fix restores the order after the item has changed.
func (r *ready) fix(it *Item) {
	if r.plain {
		r.heap.fix(it)
		return
	}
	r.remove(it)
	r.push(it)
}

// all calls f with every item.
func (r *ready) all(f func(*Item)) {
	r.heap.all(f)
	for _, l := range r.lanes {
		for it := l.list.first; it != nil; it = it.next {
			f(it)
		}
	}
}

// before compares like PrioritySort, then by arrival.
func (r *ready) before(a, b *Item) bool {
	if a.Pod.Priority != b.Pod.Priority {
		return a.Pod.Priority > b.Pod.Priority
	}
	if c := a.Timestamp.Compare(b.Timestamp); c != 0 {
		return c < 0
	}
	return a.serial < b.serial
}

// lane returns the lane of a priority, nil if there is none.
func (r *ready) lane(priority int32) *lane {
	if r.plain {
		return nil
	}
	i, found := slices.BinarySearchFunc(r.order, priority, func(l *lane, p int32) int { return cmp.Compare(p, l.priority) })
	switch {
	case found:
		return r.order[i]
	case len(r.lanes) == lanesMost:
		return nil
	}
	l := &lane{priority: priority, place: len(r.lanes)}
	r.lanes, r.order = append(r.lanes, l), slices.Insert(r.order, i, l)
	return l
}
