package volumes

import "slices"

// distinct is a list of different values.
type distinct[T comparable] struct {
	list  []T
	known map[T]struct{} // what the list has, if that is much
}

// fewDistinct is up to how many values are compared one by one.
const fewDistinct = 32

func (d distinct[T]) has(x T) bool {
	if d.known == nil {
		return slices.Contains(d.list, x)
	}
	_, ok := d.known[x]
	return ok
}

// with returns the list with a value, which may be there already. The list itself is of no more use: its memory
// is taken over, which may be on the stack.
func (d distinct[T]) with(x T) distinct[T] {
	if d.has(x) {
		return d
	}
	d.list = append(d.list, x)
	switch {
	case d.known != nil:
		d.known[x] = struct{}{}
	case len(d.list) > fewDistinct:
		d.known = make(map[T]struct{}, 2*len(d.list))
		for _, x := range d.list {
			d.known[x] = struct{}{}
		}
	}
	return d
}
