package engine

import "github.com/berth-sched/berth/framework"

// order maps the places of a snapshot's order to slots and back. Classes that
// are used with one snapshot share it.
//
// Invariant: slots are those of list; place[slots[p]] == p for every place p, and
// -1 for other slots.
type order struct {
	list  []int   // the snapshot's own, which never changes
	slots []int32 // by place
	place []int32
}

// orderOf returns the snapshot's order, the old one if it still holds.
func orderOf(s *framework.Snapshot, old *order) *order {
	list := s.Slots()
	if old != nil && sameList(old.list, list) {
		return old
	}
	o := &order{list: list, slots: make([]int32, len(list)), place: make([]int32, s.SlotLimit())}
	for slot := range o.place {
		o.place[slot] = -1
	}
	for place, slot := range list {
		o.slots[place], o.place[slot] = int32(slot), int32(place)
	}
	return o
}

// has reports whether the slot has a place.
func (o *order) has(slot int32) bool { return int(slot) < len(o.place) && o.place[slot] >= 0 }

// sameList reports whether two slices are one. Lists of a snapshot's order are
// never changed, and the old one is kept alive, so the address tells.
func sameList(a, b []int) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
