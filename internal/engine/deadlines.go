package engine

import "time"

// deadlines is a binary heap of the rows whose answers hold only up to a time,
// the earliest first.
//
// Invariant: rows[heap[i].slot].until == i+1 for all i, and 0 for rows that
// are not in the heap.
type deadlines struct {
	heap []deadline
}

type deadline struct {
	at   time.Time
	slot int
}

// set gives the row a deadline, the zero time for none.
func (d *deadlines) set(rows []row, slot int, at time.Time) {
	i := int(rows[slot].until) - 1
	switch {
	case i < 0 && at.IsZero():
		return
	case i < 0:
		d.heap = append(d.heap, deadline{at, slot})
		i = len(d.heap) - 1
		rows[slot].until = int32(i + 1)
	case at.IsZero():
		last := len(d.heap) - 1
		d.swap(rows, i, last)
		rows[slot].until = 0
		d.heap = d.heap[:last]
		if i == last {
			return
		}
	default:
		d.heap[i].at = at
	}
	d.down(rows, d.up(rows, i))
}

func (d *deadlines) remove(rows []row, slot int) { d.set(rows, slot, time.Time{}) }

// due returns the slot of a row whose deadline has come, -1 if there is none.
func (d *deadlines) due(now time.Time) int {
	if len(d.heap) == 0 || d.heap[0].at.After(now) {
		return -1
	}
	return d.heap[0].slot
}

func (d *deadlines) up(rows []row, i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if !d.heap[i].at.Before(d.heap[parent].at) {
			break
		}
		d.swap(rows, i, parent)
		i = parent
	}
	return i
}

func (d *deadlines) down(rows []row, i int) {
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
		d.swap(rows, i, least)
		i = least
	}
}

func (d *deadlines) swap(rows []row, i, j int) {
	d.heap[i], d.heap[j] = d.heap[j], d.heap[i]
	rows[d.heap[i].slot].until = int32(i + 1)
	rows[d.heap[j].slot].until = int32(j + 1)
}
