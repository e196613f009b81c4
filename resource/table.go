package resource

import (
	"hash/maphash"
	"sync/atomic"
)

// table is the growing part of a [Schema]: a hash table from names to dense
// numbers to which names are only ever added. Readers take no lock and may run
// beside one writer. They find a name through the slot that points at it, and a
// slot is set after the name is in place:
//
//	slots  [ 0 | 2 | 0 | 0 | 1 | 0 | 0 | 0 ]   number + 1; 0 is free
//	names  [ example.com/gpu | hugepages-2Mi |   |   ]
//	count  2
//
// It never fills more than half of its slots. A full table is replaced by one
// of twice the size, and readers that still hold the old one miss only names
// that are being added at that moment.
//
// A copied map would do for the few names that clusters have; the table keeps
// the time linear when a hostile object brings a hundred thousand.
type table struct {
	seed  maphash.Seed // its randomness shows in the order of slots only
	slots []atomic.Uint32
	names []Name
	count atomic.Uint32
}

// firstNames is the number of names that the first table takes.
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

// grown returns a table with the names of t and room for as many more.
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

// add gives n, which t must not have, the next number. t must not be full, and
// only one goroutine may add at a time.
func (t *table) add(n Name) int {
	i := t.home(n)
	for t.slots[i].Load() != 0 {
		i = t.next(i)
	}
	at := t.count.Load()
	t.names[at] = n
	t.count.Store(at + 1)
	t.slots[i].Store(at + 1)
	return int(at)
}

// home returns the first slot to look into for n, next the one after slot i.
func (t *table) home(n Name) int {
	return int(maphash.String(t.seed, string(n)) & uint64(len(t.slots)-1))
}

func (t *table) next(i int) int {
	return (i + 1) & (len(t.slots) - 1)
}
