package engine

import (
	"unsafe"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// DefaultBudget is how many bytes of kept answers an engine holds if nothing
// else is said: 64 MiB.
const DefaultBudget = 64 << 20

// An Engine keeps the answers of one profile for several classes of pods. It
// must be used by one goroutine at a time.
//
// Invariant: what it keeps belongs to snapshots with the schema; every class of
// classes has a base of bases, whose users counts its classes; stats.Bytes is the
// sum of their bytes; and numbered[c.number-1] == c for those and for spare ones.
type Engine struct {
	source Source
	budget int
	schema *resource.Schema // of the snapshots that all below is about

	classes    map[string]*class
	numbered   []*class // those kept, and some given up: class i has the number i+1
	bases      map[string]*base
	seen       map[string]bool // bases that were asked for once
	barred     map[string]int  // classes that broke, and how many decisions they sit out
	spare      []*class        // given up; their memory is used again
	spareBases []*base
	order      *order
	divisions  divisions
	timelines  []*timeline
	lists      *lists
	clock      uint64
	stats      Stats
	view       View
}

// Stats counts what an engine did.
type Stats struct {
	Hits      uint64 // decisions for a class that was kept
	Misses    uint64 // decisions for which a class was built
	Declined  uint64 // decisions left to the plain road, the first of each base among them
	Evictions uint64 // classes given up for room
	Classes   int    // kept now
	Bytes     int    // that they hold
}

// New returns an engine with a budget in bytes.
func New(source Source, budget int) *Engine {
	return &Engine{
		source: source, budget: budget, classes: map[string]*class{}, bases: map[string]*base{},
		seen: map[string]bool{}, barred: map[string]int{}, lists: new(lists),
	}
}

// Stats returns the counts so far.
func (e *Engine) Stats() Stats {
	s := e.stats
	s.Classes = len(e.classes)
	return s
}

// A Query asks where a pod could go.
type Query struct {
	Snapshot *framework.Snapshot
	Cycle    *framework.Cycle // of this decision
	Key      string           // of the pod's class
	Ref      *Ref             // finds the class again; may be nil
	Start    int              // place where the search begins
	Want     int              // feasible nodes that end it
}

// Find answers the query, or returns false when the plain road has to be taken.
// The view is valid until the snapshot changes or the next call.
func (e *Engine) Find(q Query) (v *View, ok bool) {
	if len(e.barred) > 0 && e.barred[q.Key] > 0 {
		e.barred[q.Key]--
		e.stats.Declined++
		return nil, false
	}
	e.clock++
	e.turnTo(q.Snapshot)
	e.order = orderOf(q.Snapshot, e.order)
	c := e.lookUp(q)
	known := &e.stats.Hits
	if c == nil {
		if c = e.newClass(q); c == nil {
			e.stats.Declined++
			return nil, false
		}
		known = &e.stats.Misses
	}
	defer func() {
		// A plugin that panics, or whatever else goes wrong here, must not cost
		// more than speed: the plain road tells what it was.
		switch p := recover(); {
		case ok && p == nil:
			*known++
			return
		case p != nil || !c.declined:
			e.giveUp(c, p != nil)
		}
		e.stats.Declined++
		v, ok = nil, false
	}()
	c.declined = false
	c.used = e.clock
	if !c.base.fresh && !c.base.sync(e.source, e.timelineOf(q.Snapshot, e.order), e.order) {
		return nil, false
	}
	c.base.fresh = false
	if !c.sync(e.source, &e.divisions, q.Cycle) {
		return nil, false
	}
	e.account(c)
	return e.view.of(c, e.source, q)
}

// turnTo forgets everything if the snapshot is no fork of the last one. Keys,
// generations and versions tell apart only what belongs to snapshots of one origin,
// which share a schema.
func (e *Engine) turnTo(s *framework.Snapshot) {
	if e.schema == s.Schema() {
		return
	}
	was := *e
	*e = *New(was.source, was.budget)
	e.schema, e.clock, e.stats = s.Schema(), was.clock, was.stats
	e.stats.Bytes = 0
}

// A Ref remembers where the class of a key is, so that asking again for pods of
// the class looks nothing up. The zero Ref remembers nothing. It keeps no class
// alive.
type Ref struct{ at int } // place in numbered, from 1 on

// lookUp finds the class, nil if it is not kept.
func (e *Engine) lookUp(q Query) *class {
	if q.Ref == nil {
		return e.classes[q.Key]
	}
	if i := q.Ref.at - 1; i >= 0 && i < len(e.numbered) {
		if c := e.numbered[i]; c.base != nil && c.key == q.Key {
			return c
		}
	}
	c := e.classes[q.Key]
	if c != nil {
		q.Ref.at = c.number
	}
	return c
}

const seenMost = 4096

// again reports whether the base was asked for before. A base is built when its
// second pod comes: for a pod that is alone with its base, keeping answers would
// cost half as much again as finding them.
func (e *Engine) again(key string) bool {
	if e.seen[key] {
		delete(e.seen, key)
		return true
	}
	if len(e.seen) >= seenMost {
		clear(e.seen)
	}
	e.seen[key] = true
	return false
}

// newClass makes an empty class over its base, which is built if need be; nil
// when the plain road has to be taken.
func (e *Engine) newClass(q Query) *class {
	key := e.source.BaseKey(q.Cycle.Pod)
	b := e.bases[key]
	if b == nil {
		if b = e.newBase(key, q); b == nil {
			return nil
		}
	}
	var c *class
	if k := len(e.spare); k > 0 {
		c, e.spare = e.spare[k-1], e.spare[:k-1]
	} else {
		c = newClass()
		e.number(c)
	}
	c.key = q.Key
	c.reset(b)
	b.users++
	e.classes[q.Key] = c
	return c
}

// number gives the class a number of its own.
func (e *Engine) number(c *class) {
	e.numbered = append(e.numbered, c)
	c.number = len(e.numbered)
}

// forget takes the class's number away: the last class gets it.
func (e *Engine) forget(c *class) {
	last := len(e.numbered) - 1
	e.numbered[last].number = c.number
	e.numbered[c.number-1] = e.numbered[last]
	e.numbered[last] = nil
	e.numbered = e.numbered[:last]
}

// newBase builds a base; nil when the plain road has to be taken.
func (e *Engine) newBase(key string, q Query) (built *base) {
	if !e.again(key) || rowBytes*q.Snapshot.SlotLimit() > e.budget {
		return nil
	}
	var b *base
	if k := len(e.spareBases); k > 0 {
		b, e.spareBases = e.spareBases[k-1], e.spareBases[:k-1]
	} else {
		b = &base{lists: e.lists}
	}
	defer func() {
		if recover() != nil {
			built = nil // see Find
		}
	}()
	b.key, b.pod, b.users = key, q.Cycle.Pod, 0
	if !b.build(e.source, e.timelineOf(q.Snapshot, e.order), e.order) {
		return nil
	}
	b.fresh = true
	e.bases[key] = b
	return b
}

// giveUp drops a class that could not answer. If its plugins broke their
// contract, it is left to the plain road for a while, and nothing that shares
// its base is trusted any more.
func (e *Engine) giveUp(c *class, panicked bool) {
	b := c.base
	if !c.broken && !b.broken && !panicked {
		e.drop(c)
		return
	}
	if c.broken || b.broken {
		e.bar(c.key)
	}
	for _, other := range e.classes {
		if other.base == b {
			e.drop(other)
		}
	}
}

// drop gives up a class, and with the last one its base, and keeps the memory
// for others.
func (e *Engine) drop(c *class) {
	b := c.base
	delete(e.classes, c.key)
	e.stats.Bytes -= c.bytes
	c.bytes, c.base, c.live = 0, nil, nil
	if len(e.spare) < 4 {
		e.spare = append(e.spare, c)
	} else {
		e.forget(c)
	}
	if b.users--; b.users > 0 {
		return
	}
	delete(e.bases, b.key)
	e.stats.Bytes -= b.bytes
	b.bytes, b.pod, b.snapshot, b.time = 0, nil, nil, nil
	if len(e.spareBases) < 2 {
		e.spareBases = append(e.spareBases, b)
	}
}

const (
	barFor  = 256
	barMost = 1024
)

// bar leaves a class whose plugins broke their contract to the plain road for
// a while.
func (e *Engine) bar(key string) {
	if len(e.barred) >= barMost {
		clear(e.barred)
	}
	e.barred[key] = barFor
}

// rowBytes is about how many bytes of a base and a class belong to one node.
const rowBytes = int(unsafe.Sizeof(row(0))+unsafe.Sizeof(fixedRow{})) + 32

// account brings the class's share of the budget up to date, and gives up the
// classes used longest ago until all fit.
func (e *Engine) account(c *class) {
	bytes, shared := c.size(), c.base.size()
	e.stats.Bytes += bytes - c.bytes + shared - c.base.bytes
	c.bytes, c.base.bytes = bytes, shared
	for e.stats.Bytes > e.budget && len(e.classes) > 1 {
		oldest := c
		for _, other := range e.classes {
			if other.used < oldest.used {
				oldest = other
			}
		}
		if oldest == c {
			return
		}
		e.drop(oldest)
		e.stats.Evictions++
	}
}
