package volumes

import "slices"

// distinct is a list of different values.
type distinct[T comparable] struct {
	list  []T
	known map[T]int // where the list has them, if they are many
}

// fewDistinct is up to how many values are compared one by one.
const fewDistinct = 32

// at returns where the list has a value, -1 if it does not.
func (d distinct[T]) at(x T) int {
	if d.known == nil {
		return slices.Index(d.list, x)
	}
	if i, ok := d.known[x]; ok {
		return i
	}
	return -1
}

func (d distinct[T]) has(x T) bool { return d.at(x) >= 0 }

// with returns the list with a value, which may be there already. The list itself is of no more use: its memory
// is taken over, which may be on the stack.
func (d distinct[T]) with(x T) distinct[T] {
	if d.has(x) {
		return d
	}
	d.list = append(d.list, x)
	switch {
	case d.known != nil:
		d.known[x] = len(d.list) - 1
	case len(d.list) > fewDistinct:
		d.known = make(map[T]int, 2*len(d.list))
		for i, x := range d.list {
			d.known[x] = i
		}
	}
	return d
}
