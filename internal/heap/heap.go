// Package heap keeps elements by order and tells each element its place, so that one
// anywhere in the heap can be changed or removed.
//
// A heap has four children at each place. It is flatter than a binary heap, and faster
// for many elements. Elements are values: keep the sort key inside of them, so that
// comparisons read neighbouring memory.
package heap

// A Heap holds elements; the one that is before all others is on top. Make one with
// [New]. It must be used by one goroutine at a time.
//
// Invariant: no element is before its parent, and placed was last called with the
// present place of each element.
type Heap[T any] struct {
	items  []T
	before func(a, b *T) bool
	placed func(x *T, place int)
}

const arity = 4

// New returns an empty heap. before is a strict weak order. placed is called whenever
// an element comes to a place, and with -1 when it leaves the heap.
func New[T any](before func(a, b *T) bool, placed func(x *T, place int)) Heap[T] {
	return Heap[T]{before: before, placed: placed}
}

// Len returns the number of elements.
func (h *Heap[T]) Len() int { return len(h.items) }

// Cap returns the number of elements that there is memory for.
func (h *Heap[T]) Cap() int { return cap(h.items) }

// Top returns the first element, nil if there is none. It may be read until the heap
// changes.
func (h *Heap[T]) Top() *T { return h.At(0) }

// At returns the element at a place, nil if there is none.
func (h *Heap[T]) At(place int) *T {
	if uint(place) >= uint(len(h.items)) {
		return nil
	}
	return &h.items[place]
}

// Push adds an element.
func (h *Heap[T]) Push(x T) {
	h.items = append(h.items, x)
	h.up(len(h.items) - 1)
}

// Remove takes the element at a place out of the heap and returns it.
func (h *Heap[T]) Remove(place int) T {
	last := len(h.items) - 1
	h.items[place], h.items[last] = h.items[last], h.items[place]
	h.placed(&h.items[last], -1)
	x := h.items[last]
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	if place < last && !h.up(place) {
		h.down(place)
	}
	return x
}

// Set replaces the element at a place.
func (h *Heap[T]) Set(place int, x T) {
	h.items[place] = x
	if !h.up(place) {
		h.down(place)
	}
}

// DeleteFunc takes all elements out of the heap for which drop returns true. It is called once for each
// element, in any order, and must not read the heap. It costs O(n).
func (h *Heap[T]) DeleteFunc(drop func(x *T) bool) {
	kept := 0
	for i := range h.items {
		if drop(&h.items[i]) {
			h.placed(&h.items[i], -1)
			continue
		}
		h.items[kept] = h.items[i]
		kept++
	}
	clear(h.items[kept:])
	h.items = h.items[:kept]
	for place := kept - 1; place >= 0; place-- {
		h.down(place) // which tells its place
	}
}

// Clear takes all elements out of the heap and keeps the memory.
func (h *Heap[T]) Clear() {
	for i := range h.items {
		h.placed(&h.items[i], -1)
	}
	clear(h.items)
	h.items = h.items[:0]
}

// up moves the element at a place nearer to the top, as far as it belongs. It reports
// whether the element moved. Elements stay in the list: a copy on the stack, handed to
// before, would be an allocation.
func (h *Heap[T]) up(place int) bool {
	start := place
	for place > 0 {
		parent := (place - 1) / arity
		if !h.before(&h.items[place], &h.items[parent]) {
			break
		}
		h.swap(place, parent)
		place = parent
	}
	h.placed(&h.items[place], place)
	return place != start
}

// down moves the element at a place further from the top, as far as it belongs.
func (h *Heap[T]) down(place int) {
	n := len(h.items)
	for {
		first := arity*place + 1
		if first >= n {
			break
		}
		best := first
		for k := first + 1; k < min(first+arity, n); k++ {
			if h.before(&h.items[k], &h.items[best]) {
				best = k
			}
		}
		if !h.before(&h.items[best], &h.items[place]) {
			break
		}
		h.swap(place, best)
		place = best
	}
	h.placed(&h.items[place], place)
}

// swap exchanges the element at a place, whose own place is told later, with another.
func (h *Heap[T]) swap(place, other int) {
	h.items[place], h.items[other] = h.items[other], h.items[place]
	h.placed(&h.items[place], place)
}

// Check returns the first place whose element is before its parent, -1 if there is
// none. It is for tests.
func (h *Heap[T]) Check() int {
	for i := 1; i < len(h.items); i++ {
		if h.before(&h.items[i], &h.items[(i-1)/arity]) {
			return i
		}
	}
	return -1
}
