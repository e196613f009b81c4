package engine

import "github.com/berth-sched/berth/framework"

// order maps the places of a snapshot's order to slots and back. Classes that
// are used with one snapshot share it.
//
// Invariant: place[slots[p]] == p for every place p, and -1 for other slots.
type order struct {
	slots []int // by place; the snapshot's own list, which never changes
	place []int32
}

// orderOf returns the snapshot's order, the old one if it still holds.
func orderOf(s *framework.Snapshot, old *order) *order {
	slots := s.Order()
	if old != nil && sameList(old.slots, slots) {
		return old
	}
	o := &order{slots: slots, place: make([]int32, s.Slots())}
	for slot := range o.place {
		o.place[slot] = -1
	}
	for place, slot := range slots {
		o.place[slot] = int32(place)
	}
	return o
}

// has reports whether the slot has a place.
func (o *order) has(slot int) bool { return slot < len(o.place) && o.place[slot] >= 0 }

// sameList reports whether two slices are one. Lists of a snapshot's order are
// never changed, and the old one is kept alive, so the address tells.
func sameList(a, b []int) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
