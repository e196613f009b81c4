package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework/incremental"
)

// anchors are states in which a live plugin gave the answers of now, except about some nodes, which are listed. When a
// class goes to a fork of the snapshot, back, or to a sibling, it takes the newest of them from which the tracker there
// can tell what has changed, and asks about few nodes. A base that has known one snapshot only has none: to note a state
// costs something in each decision, and who never forks has no use for it.
//
// Invariant: what is known is right for the state now, if there is one. It is right for the state of list[i],
// too, but for the slots in away of list[i] and of those after it, and for nodes that have changed themselves.
type anchors struct {
	now  []byte
	list []anchor // oldest first
}

// An anchor is a state, and the slots whose answers may differ in the next one of the list or, for the
// last one, now.
type anchor struct {
	state []byte
	away  []int32
}

// anchorsMost is how many anchors there are: so deep may forks of forks be asked in turn.
const anchorsMost = 4

// A changedFrom calls ChangedFrom of a tracker. It returns the slots that were called. since are the anchors from that
// of the state on.
type changedFrom func(state []byte, since []anchor) (slots []int32, ok bool)

// forget makes no state known.
func (x *anchors) forget() { x.now, x.list = x.now[:0], x.list[:0] }

// begin makes all that is known right for now, after every node was asked about. The first anchor is the
// state in which the snapshot was forked, unless more than most nodes have changed since.
func (x *anchors) begin(a *asker, t incremental.ForkTracker, changed changedFrom, most int) {
	x.list = x.list[:0]
	if x.now = a.origin(t, x.now[:0]); len(x.now) > 0 {
		if away, ok := changed(x.now, nil); ok && len(away) <= most {
			x.push(away)
		}
	}
	x.now = a.state(t, x.now[:0])
}

// push makes the present state the last anchor, from which some slots differ.
func (x *anchors) push(away []int32) {
	if len(x.list) == anchorsMost {
		oldest := x.list[0]
		copy(x.list, x.list[1:])
		x.list[anchorsMost-1] = oldest // for its memory
	} else {
		x.list = slices.Grow(x.list, 1)[:len(x.list)+1]
	}
	last := &x.list[len(x.list)-1]
	last.state, last.away = append(last.state[:0], x.now...), append(last.away[:0], away...)
}

// stay goes on to another state of the same snapshot, in which the answers about some slots differ. There
// are no anchors any more if the last one differs in more than most.
func (x *anchors) stay(a *asker, t incremental.ForkTracker, slots []int32, most int) {
	x.now = a.state(t, x.now[:0])
	if len(x.list) == 0 {
		return
	}
	last := &x.list[len(x.list)-1]
	if last.away = append(last.away, slots...); len(last.away) > most {
		x.list = x.list[:0]
	}
}

// move goes to the state of another snapshot. It calls touch with the slots whose answers may differ,
// besides those that changed does; false if nothing is known.
func (x *anchors) move(a *asker, t incremental.ForkTracker, changed changedFrom, touch func(slot int)) bool {
	if len(x.now) == 0 {
		return false
	}
	if away, ok := changed(x.now, nil); ok {
		x.push(away)
		x.now = a.state(t, x.now[:0])
		return true
	}
	for i := len(x.list) - 1; i >= 0; i-- {
		away, ok := changed(x.list[i].state, x.list[i:])
		if !ok {
			continue
		}
		here := slices.Clone(away) // touch may move them
		for k := range x.list[i:] {
			for _, slot := range x.list[i+k].away {
				touch(int(slot))
			}
		}
		x.list = x.list[:i+1]
		x.list[i].away = append(x.list[i].away[:0], here...)
		x.now = a.state(t, x.now[:0])
		return true
	}
	return false
}

func (x *anchors) size() int {
	n := cap(x.now)
	for i := range x.list[:cap(x.list)] {
		y := &x.list[:cap(x.list)][i]
		n += 48 + cap(y.state) + 4*cap(y.away)
	}
	return n
}
