package engine

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/berth-sched/berth/internal/engine/slotlist"
	"github.com/berth-sched/berth/internal/heap"
)

// deadlines is a heap of the rows that hold only up to a time, the earliest first.
// Call reset before anything else.
//
// Invariant: place[x.slot] is one more than the place of each deadline x in the heap,
// and 0 for all other slots.
type deadlines struct {
	heap  heap.Heap[deadline]
	place []int32 // by slot
}

type deadline struct {
	at   time.Time
	slot int32
}

func earlier(a, b *deadline) bool { return a.at.Before(b.at) }

// reset forgets all deadlines.
func (d *deadlines) reset() {
	if d.place == nil {
		d.heap = heap.New(earlier, func(x *deadline, place int) { d.place[x.slot] = int32(place + 1) })
		d.place = []int32{}
		return
	}
	d.heap.Clear()
}

// set gives the row of a slot a deadline; the zero time removes it.
func (d *deadlines) set(slot int32, at time.Time) {
	place := -1
	if int(slot) < len(d.place) {
		place = int(d.place[slot]) - 1
	}
	switch {
	case at.IsZero():
		if place >= 0 {
			d.heap.Remove(place)
		}
	case place < 0:
		d.place = slotlist.AtLeast(d.place, int(slot)+1)
		d.heap.Push(deadline{at, slot})
	default:
		d.heap.Set(place, deadline{at, slot})
	}
}

func (d *deadlines) remove(slot int32) { d.set(slot, time.Time{}) }

// some reports whether there are deadlines.
func (d *deadlines) some() bool { return d.heap.Len() > 0 }

// sampled is how many deadlines about looks at.
const sampled = 32

// about is about how many deadlines have come, 0 only if none has.
func (d *deadlines) about(now time.Time) int {
	n, come := d.heap.Len(), 0
	for i := range min(n, sampled) {
		if !d.heap.At(i * n / min(n, sampled)).at.After(now) {
			come++
		} else if i == 0 { // no other is earlier
			break
		}
	}
	return come * n / max(1, min(n, sampled))
}

// take removes the deadlines that have come, and appends their slots. It costs O(log N) for each, or
// O(N) if they are many.
func (d *deadlines) take(now time.Time, slots []int32) []int32 {
	for most := d.heap.Len() / 16; ; most-- {
		first := d.heap.Top()
		if first == nil || first.at.After(now) {
			return slots
		}
		if most == 0 {
			break
		}
		slots = append(slots, first.slot)
		d.heap.Remove(0)
	}
	d.heap.DeleteFunc(func(x *deadline) bool {
		if x.at.After(now) {
			return false
		}
		slots = append(slots, x.slot)
		return true
	})
	return slots
}

// of is the deadline of a slot, the zero time if it has none.
func (d *deadlines) of(slot int32) time.Time {
	if int(slot) >= len(d.place) || d.place[slot] == 0 {
		return time.Time{}
	}
	return d.heap.At(int(d.place[slot]) - 1).at
}

// bytes is the memory that the deadlines hold.
func (d *deadlines) bytes() int {
	return 4*cap(d.place) + d.heap.Cap()*int(unsafe.Sizeof(deadline{}))
}

// check returns what does not hold of the heap, nil if all does.
func (d *deadlines) check() error {
	placed := 0
	for _, p := range d.place {
		if p != 0 {
			placed++
		}
	}
	if placed != d.heap.Len() {
		return fmt.Errorf("deadlines: %d slots have a place, but the heap has %d", placed, d.heap.Len())
	}
	for i := range d.heap.Len() {
		if x := d.heap.At(i); d.place[x.slot] != int32(i+1) {
			return fmt.Errorf("deadlines: slot %d has place %d, want %d", x.slot, d.place[x.slot], i+1)
		}
	}
	if i := d.heap.Check(); i >= 0 {
		return fmt.Errorf("deadlines: %d is earlier than its parent", i)
	}
	return nil
}

// copy makes d, which is zero, the same deadlines as others.
func (d *deadlines) copy(others *deadlines) {
	d.reset()
	for i := range others.heap.Len() {
		x := others.heap.At(i)
		d.set(x.slot, x.at)
	}
}
