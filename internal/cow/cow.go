// Package cow holds lists and maps that forks share until one of them changes a part:
// copy on write.
package cow

// An Owner marks the pages that one side of a fork may write to; every other page is
// shared and copied first. A fork gives both sides new owners. It has a size so
// that every owner has its own address.
type Owner struct{ _ byte }

// PageSize is how many neighbouring values are copied together.
const PageSize = 64

// A Page holds neighbouring values.
type Page[T any] struct {
	owner  *Owner
	Values [PageSize]T
}

// Pages is a list of values by index; values that were never written are zero. A
// clone of the slice is a fork: it costs O(len/PageSize), and shares the pages until
// they are written to by a new owner. A page without values is nil.
type Pages[T any] []*Page[T]

// At returns a value; the zero value beyond the end.
func (p Pages[T]) At(i int) (v T) {
	if k := uint(i) / PageSize; k < uint(len(p)) && p[k] != nil {
		return p[k].Values[uint(i)%PageSize]
	}
	return v
}

// Each calls f for all values that are not zero, in order, as isZero says.
func (p Pages[T]) Each(isZero func(T) bool, f func(i int)) {
	for k, page := range p {
		if page == nil {
			continue
		}
		for i := range page.Values {
			if !isZero(page.Values[i]) {
				f(k*PageSize + i)
			}
		}
	}
}

// Own returns the place of a value for writing by the owner, i >= 0. It is valid
// until the next fork.
func (p *Pages[T]) Own(o *Owner, i int) *T {
	k := uint(i) / PageSize
	if k >= uint(len(*p)) || (*p)[k] == nil || (*p)[k].owner != o {
		p.copy(o, int(k))
	}
	return &(*p)[k].Values[uint(i)%PageSize]
}

// copy makes page k the owner's.
func (p *Pages[T]) copy(o *Owner, k int) {
	for len(*p) <= k {
		*p = append(*p, nil)
	}
	page := &Page[T]{owner: o}
	if old := (*p)[k]; old != nil {
		page.Values = old.Values
	}
	(*p)[k] = page
}
