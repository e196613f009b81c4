package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// An Override is a rejection of one node that holds for one query, whatever the class
// knows of the node: pods nominated to the node may leave no room there.
type Override struct {
	Slot   int
	At     int // place of the filter in the profile
	Status framework.Status
}

// overrides are those that a class has taken into account.
//
// Invariant (after sync): list has the overrides of the query, by number of the reason,
// in ascending order of the slots. The own reason of such a node is the override's, and
// it is final. Outside of sync, changed is empty unless a live PreFilter rejected the pod.
type overrides struct {
	list, before []override
	changed      []int32 // slots whose own reason must be found again
}

type override struct{ slot, reason int32 }

// adopt takes over the overrides of a query.
func (o *overrides) adopt(c *class, given []Override) {
	if len(given) == 0 && len(o.list) == 0 {
		return
	}
	o.before, o.list = o.list, o.before[:0]
	for _, x := range given {
		why := reason{at: x.At, status: x.Status, overrides: true}
		o.list = append(o.list, override{int32(x.Slot), c.base.reasons.number(why)})
	}
	if slices.Equal(o.list, o.before) {
		return
	}
	for _, list := range [...][]override{o.before, o.list} {
		for _, x := range list {
			o.changed = append(o.changed, x.slot)
		}
	}
}

// forget makes the class have none.
func (o *overrides) forget() { o.list, o.changed = o.list[:0], o.changed[:0] }

// of returns the reason that holds in place of all others.
func (o *overrides) of(slot int32) (reason int32, ok bool) {
	if len(o.list) == 0 {
		return feasible, false
	}
	i, ok := slices.BinarySearchFunc(o.list, slot, func(x override, slot int32) int { return int(x.slot - slot) })
	if !ok {
		return feasible, false
	}
	return o.list[i].reason, true
}

func (o *overrides) bytes() int {
	return 8*(cap(o.list)+cap(o.before)) + 4*cap(o.changed)
}
