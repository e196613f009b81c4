package resource

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// table is the growing part of a [Schema]: an append-only hash table from names to
// dense numbers. Readers take no lock and may run beside one writer. They find a
// name through the slot that points at it, and the writer sets a slot only after
// the name is in place:
//
//	slots  [ 0 | 2 | 0 | 0 | 1 | 0 | 0 | 0 ]   number + 1; 0 is free
//	names  [ example.com/gpu | hugepages-2Mi |   |   ]
//	count  2
//
// It never fills more than half of its slots. A table of twice the size replaces a
// full one. Readers that still hold the old table miss only names that are being
// added at that moment.
//
// A copied map would do for the few names of ordinary clusters. The table keeps the
// time linear if a hostile object brings a hundred thousand names.
type table struct {
	seed  maphash.Seed // shows only in the order of slots, never in a result
	slots []atomic.Uint32
	names []Name
	count atomic.Uint32
}

// firstNames is the capacity of the first table.
const firstNames = 16

// newTable returns an empty table for up to n names; n is a power of two.
func newTable(n int) *table {
	return &table{
		seed:  maphash.MakeSeed(),
		slots: make([]atomic.Uint32, 2*n),
		names: make([]Name, n),
	}
}

// len returns the number of names in t. A nil table has none.
func (t *table) len() int {
	if t == nil {
		return 0
	}
	return int(t.count.Load())
}

// find returns the number of n and whether t has it.
func (t *table) find(n Name) (int, bool) {
	if t == nil {
		return 0, false
	}
	for i := t.home(n); ; i = t.next(i) {
		switch at := t.slots[i].Load(); {
		case at == 0:
			return 0, false
		case t.names[at-1] == n:
			return int(at - 1), true
		}
	}
}

// full reports whether t must grow before a name is added.
func (t *table) full() bool {
	return t == nil || t.len() == len(t.names)
}

// grown returns a table with the names of t and twice its capacity.
func (t *table) grown() *table {
	if t == nil {
		return newTable(firstNames)
	}
	g := newTable(2 * len(t.names))
	for _, n := range t.names {
		g.add(n)
	}
	return g
}

// tableOf returns a table in which names[i] has the number i; an empty name has none.
func tableOf(names []Name) *table {
	size := firstNames
	for size < len(names) {
		size *= 2
	}
	t := newTable(size)
	for at, n := range names {
		if t.names[at] = n; n != "" {
			t.point(n, at)
		}
	}
	t.count.Store(uint32(len(names)))
	return t
}

// with returns a copy of t in which n has a number that no name has.
func (t *table) with(at int, n Name) *table {
	names := slices.Clone(t.names[:t.len()])
	names[at] = n
	return tableOf(names)
}

// add gives n the next number. t must not have n and must not be full, and only one
// goroutine may add at a time.
func (t *table) add(n Name) int {
	at := t.count.Load()
	t.names[at] = n
	t.count.Store(at + 1)
	t.point(n, int(at))
	return int(at)
}

// point makes a free slot point at the name, which is in place.
func (t *table) point(n Name, at int) {
	i := t.home(n)
	for t.slots[i].Load() != 0 {
		i = t.next(i)
	}
	t.slots[i].Store(uint32(at + 1))
}

// home returns the first slot to probe for n; next returns the one after slot i.
func (t *table) home(n Name) int {
	return int(maphash.String(t.seed, string(n)) & uint64(len(t.slots)-1))
}

func (t *table) next(i int) int {
	return (i + 1) & (len(t.slots) - 1)
}
