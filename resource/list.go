package resource

import (
	"maps"
	"slices"
)

// List is a set of quantities by resource name.
type List map[Name]Quantity

// Names returns the names in sorted order.
func (l List) Names() []Name { return slices.Sorted(maps.Keys(l)) }

// Clone returns a copy.
func (l List) Clone() List { return maps.Clone(l) }

// Add returns the sum.
func (l List) Add(o List) List {
	r := l.Clone()
	if r == nil {
		r = List{}
	}
	for n, q := range o {
		r[n] = r[n].Add(q)
	}
	return r
}

// Max returns the greater of each.
func (l List) Max(o List) List {
	r := l.Clone()
	if r == nil {
		r = List{}
	}
	for n, q := range o {
		if have, ok := r[n]; !ok || have.Cmp(q) < 0 {
			r[n] = q
		}
	}
	return r
}
