package nodelog

import "github.com/berth-sched/berth/framework"

// An Order maps the places of a snapshot's node order to slots and back.
//
// Invariant: Slots are those of list; Place[Slots[p]] == p for every place p, and -1
// for every other slot.
type Order struct {
	// Slots is by place and Place by slot; -1 stands for no place.
	Slots, Place []int32

	list []int // the snapshot's own, which never changes
}

// OrderOf returns the snapshot's order, the old one if it still holds.
func OrderOf(s *framework.Snapshot, old *Order) *Order {
	list := s.Slots()
	if old != nil && sameList(old.list, list) {
		return old
	}
	o := &Order{list: list, Slots: make([]int32, len(list)), Place: make([]int32, s.SlotLimit())}
	for slot := range o.Place {
		o.Place[slot] = -1
	}
	for place, slot := range list {
		o.Slots[place], o.Place[slot] = int32(slot), int32(place)
	}
	return o
}

// Has reports whether the slot has a place.
func (o *Order) Has(slot int32) bool { return uint(slot) < uint(len(o.Place)) && o.Place[slot] >= 0 }

// sameList reports whether two slices are one. The list of a snapshot's order never
// changes and the old one is kept alive, so the address decides.
func sameList(a, b []int) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
