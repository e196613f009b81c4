package engine

import (
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// DefaultBudget is how many bytes of kept answers an engine holds if nothing
// else is said: 64 MiB.
const DefaultBudget = 64 << 20

// An Engine keeps the answers of one profile for several classes of pods. It
// must be used by one goroutine at a time.
type Engine struct {
	source Source
	budget int

	classes map[string]*class
	seen    map[string]bool // classes that were asked for once
	barred  map[string]int  // classes that broke, and how many decisions they sit out
	spare   []*class        // evicted; their memory is used again
	order   *order
	clock   uint64
	stats   Stats
	view    View
}

// Stats counts what an engine did.
type Stats struct {
	Hits      uint64 // decisions for a class that was kept
	Misses    uint64 // decisions for which a class was built
	Declined  uint64 // decisions left to the plain road, the first of each class among them
	Evictions uint64 // classes given up for room
	Classes   int    // kept now
	Bytes     int    // that they hold
}

// New returns an engine with a budget in bytes.
func New(source Source, budget int) *Engine {
	return &Engine{source: source, budget: budget, classes: map[string]*class{}, seen: map[string]bool{}, barred: map[string]int{}}
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
	Start    int              // place where the search begins
	Want     int              // feasible nodes that end it
}

// Find answers the query, or returns false when the plain road has to be taken.
// The view is valid until the snapshot changes or the next call.
func (e *Engine) Find(q Query) (v *View, ok bool) {
	if e.barred[q.Key] > 0 {
		e.barred[q.Key]--
		e.stats.Declined++
		return nil, false
	}
	c := e.classes[q.Key]
	if c == nil && !e.again(q.Key) {
		e.stats.Declined++
		return nil, false
	}
	defer func() {
		// A plugin that panics, or whatever else goes wrong here, must not cost
		// more than speed: the plain road tells what it was.
		if p := recover(); p != nil || !ok {
			e.drop(q.Key)
			e.stats.Declined++
			v, ok = nil, false
		}
	}()
	e.clock++
	e.order = orderOf(q.Snapshot, e.order)
	if c == nil {
		if e.rowBytes()*q.Snapshot.Slots() > e.budget {
			return nil, false
		}
		c = e.newClass(q)
		if !c.build(e.source, q.Snapshot, e.order) {
			return nil, false
		}
		e.stats.Misses++
	} else {
		e.stats.Hits++
	}
	c.used = e.clock
	if !c.sync(e.source, q.Snapshot, e.order, q.Cycle) {
		if c.broken {
			e.bar(q.Key)
		}
		return nil, false
	}
	e.account(c)
	return e.view.of(c, q)
}

const seenMost = 4096

// again reports whether the class was asked for before. A class is built when
// its second pod comes: for a pod that is alone in its class, keeping answers
// would cost half as much again as finding them.
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

// newClass makes an empty class, from the memory of an evicted one if there is
// any.
func (e *Engine) newClass(q Query) *class {
	var c *class
	if k := len(e.spare); k > 0 {
		c, e.spare = e.spare[k-1], e.spare[:k-1]
	} else {
		c = new(class)
	}
	c.key, c.pod, c.live = q.Key, q.Cycle.Pod, q.Cycle.Pod
	e.classes[q.Key] = c
	return c
}

// drop gives up a class and keeps its memory for another.
func (e *Engine) drop(key string) {
	c := e.classes[key]
	if c == nil {
		return
	}
	delete(e.classes, key)
	e.stats.Bytes -= c.bytes
	c.bytes = 0
	c.pod, c.live, c.snapshot = nil, nil, nil
	if len(e.spare) < 4 {
		e.spare = append(e.spare, c)
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

func (e *Engine) rowBytes() int { return int(unsafe.Sizeof(row{})) + 16 }

// account brings the class's share of the budget up to date, and gives up the
// classes used longest ago until all fit.
func (e *Engine) account(c *class) {
	bytes := c.size()
	e.stats.Bytes += bytes - c.bytes
	c.bytes = bytes
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
		e.drop(oldest.key)
		e.stats.Evictions++
	}
}

// size is the memory that the class holds, but for what it shares.
func (c *class) size() int {
	n := cap(c.rows)*int(unsafe.Sizeof(row{})) + c.tree.bytes() + len(c.key)
	n += 8*(cap(c.nodes)+cap(c.buffers[0])+cap(c.buffers[1])+cap(c.touched)) + 32*cap(c.due.heap)
	for i := range c.gates {
		n += 4 * cap(c.gates[i].reasons)
	}
	for i := range c.columns {
		n += 8 * (cap(c.columns[i].raw) + cap(c.columns[i].norm) + cap(c.columns[i].touched))
	}
	return n
}
