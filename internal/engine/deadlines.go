package engine

import (
	"fmt"
	"time"
	"unsafe"
)

// deadlines is a binary heap of the rows that hold only up to a time, the earliest
// first.
//
// Invariant: no deadline is earlier than its parent's, place[heap[i].slot] == i+1
// for all i, and place is 0 for slots that are not in the heap; slots beyond place are
// not in it.
type deadlines struct {
	heap  []deadline
	place []int32 // by slot
}

type deadline struct {
	at   time.Time
	slot int32
}

// reset forgets all deadlines.
func (d *deadlines) reset() {
	d.heap = d.heap[:0]
	clear(d.place)
}

// set gives the row of a slot a deadline; the zero time removes it.
func (d *deadlines) set(slot int32, at time.Time) {
	i := -1
	if int(slot) < len(d.place) {
		i = int(d.place[slot]) - 1
	}
	switch {
	case i < 0 && at.IsZero():
		return
	case i < 0:
		d.heap = append(d.heap, deadline{at, slot})
		i = len(d.heap) - 1
		d.place = resize(d.place, int(slot)+1)
		d.place[slot] = int32(i + 1)
	case at.IsZero():
		last := len(d.heap) - 1
		d.swap(i, last)
		d.place[slot] = 0
		d.heap = d.heap[:last]
		if i == last {
			return
		}
	default:
		d.heap[i].at = at
	}
	d.down(d.up(i))
}

func (d *deadlines) remove(slot int32) { d.set(slot, time.Time{}) }

// due returns a slot whose deadline has come, -1 if there is none.
func (d *deadlines) due(now time.Time) int32 {
	if len(d.heap) == 0 || d.heap[0].at.After(now) {
		return -1
	}
	return d.heap[0].slot
}

func (d *deadlines) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if !d.heap[i].at.Before(d.heap[parent].at) {
			break
		}
		d.swap(i, parent)
		i = parent
	}
	return i
}

func (d *deadlines) down(i int) {
	for {
		least := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(d.heap) && d.heap[child].at.Before(d.heap[least].at) {
				least = child
			}
		}
		if least == i {
			return
		}
		d.swap(i, least)
		i = least
	}
}

func (d *deadlines) swap(i, j int) {
	d.heap[i], d.heap[j] = d.heap[j], d.heap[i]
	d.place[d.heap[i].slot] = int32(i + 1)
	d.place[d.heap[j].slot] = int32(j + 1)
}

// of is the deadline of a slot, the zero time if it has none.
func (d *deadlines) of(slot int32) time.Time {
	if int(slot) >= len(d.place) || d.place[slot] == 0 {
		return time.Time{}
	}
	return d.heap[d.place[slot]-1].at
}

// bytes is the memory that the deadlines hold.
func (d *deadlines) bytes() int {
	return 4*cap(d.place) + cap(d.heap)*int(unsafe.Sizeof(deadline{}))
}

// check returns what does not hold of the heap, nil if all does.
func (d *deadlines) check() error {
	placed := 0
	for _, p := range d.place {
		if p != 0 {
			placed++
		}
	}
	if placed != len(d.heap) {
		return fmt.Errorf("deadlines: %d slots have a place, but the heap has %d", placed, len(d.heap))
	}
	for i, x := range d.heap {
		if d.place[x.slot] != int32(i+1) {
			return fmt.Errorf("deadlines: slot %d has place %d, want %d", x.slot, d.place[x.slot], i+1)
		}
		if parent := (i - 1) / 2; i > 0 && x.at.Before(d.heap[parent].at) {
			return fmt.Errorf("deadlines: %d is earlier than its parent %d", i, parent)
		}
	}
	return nil
}
