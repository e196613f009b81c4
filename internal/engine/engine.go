package engine

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/guard"
	"github.com/berth-sched/berth/internal/engine/nodelog"
	"github.com/berth-sched/berth/internal/engine/tree"
	"github.com/berth-sched/berth/resource"
)

// DefaultBudget is how many bytes of answers an engine keeps by default: 64 MiB.
const DefaultBudget = 64 << 20

// MaxTotal is the largest total of a node on the incremental path. A profile whose
// weights allow more must take the reference path.
const MaxTotal = tree.MaxTotal

// An Engine keeps the answers of one profile for several classes of pods. It must be
// used by one goroutine at a time.
//
// Invariant: what it keeps belongs to snapshots with the schema. Every class of classes
// has a base of bases, whose users counts its classes. stats.Bytes is the sum of their
// bytes. numbered[c.number-1] == c for every class that is kept or spare.
type Engine struct {
	source Source
	budget int
	schema *resource.Schema // of the snapshots that all below is about

	classes    map[string]*class
	numbered   []*class // those kept, and some dropped: class i has the number i+1
	bases      map[string]*base
	seen       map[string]bool // bases that were asked for once
	barred     map[string]int  // classes that broke, and how many decisions they sit out
	spare      []*class        // dropped; their memory is used again
	spareBases []*base

	order     *nodelog.Order
	divisions divisions
	recency   recency
	trackers  nodelog.Recent
	lists     *lists
	guard     *guard.Guard // shared by bases and classes
	clock     uint64
	stats     Stats
	fault     *Fault // the last one, until it is taken
	view      View
}

// Stats counts what an engine did.
type Stats struct {
	Hits      uint64 // decisions for a class that was kept
	Misses    uint64 // decisions for which a class was built
	Bypassed  uint64 // decisions left to the reference path, such as the first of each base
	Evictions uint64 // classes dropped to stay within the budget
	Faults    uint64 // failures of the engine itself
	Classes   int    // kept now
	Bytes     int    // that they hold
}

// New returns an engine with a budget in bytes.
func New(source Source, budget int) *Engine {
	return &Engine{
		source: source, budget: budget, classes: map[string]*class{}, bases: map[string]*base{},
		seen: map[string]bool{}, barred: map[string]int{}, lists: new(lists), guard: new(guard.Guard),
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

// Find answers the query, or returns false if the reference path must be taken. The
// view is valid until the snapshot changes or the next call.
//
// A panic of a plugin costs its class; the reference path finds it again and reports it.
// A panic of the engine itself is a fault: see TakeFault.
func (e *Engine) Find(q Query) (v *View, ok bool) {
	if len(e.barred) > 0 && e.barred[q.Key] > 0 {
		e.barred[q.Key]--
		e.stats.Bypassed++
		return nil, false
	}
	var c *class
	defer func() {
		p := recover()
		if ok && p == nil {
			return
		}
		switch {
		case p == nil:
		case !e.guard.InPlugin():
			e.Fail(p)
		case c != nil:
			e.giveUp(c)
		}
		e.guard.Leave()
		e.stats.Bypassed++
		v, ok = nil, false
	}()
	e.clock++
	e.adoptOrigin(q.Snapshot)
	e.order = nodelog.OrderOf(q.Snapshot, e.order)
	count := &e.stats.Hits
	if c = e.lookUp(&q); c == nil {
		if c = e.newClass(q); c == nil {
			return nil, false
		}
		count = &e.stats.Misses
	}
	if !e.bringUpToDate(c, &q) {
		return nil, false
	}
	e.account(c)
	if v, ok = e.view.of(c, &q); ok {
		*count++
	} else {
		e.dropFailed(c)
	}
	return v, ok
}

// bringUpToDate makes the class answer for the query's snapshot and pod. false means
// that the reference path must be taken; then the class is dropped, unless a live
// PreFilter rejected the pod.
func (e *Engine) bringUpToDate(c *class, q *Query) bool {
	c.used = e.clock
	e.recency.use(c)
	if !c.base.sync(e.source, e.trackers.Of(q.Snapshot, e.order, e.clock), e.order) {
		e.dropFailed(c)
		return false
	}
	switch c.sync(e.source, &e.divisions, q.Cycle) {
	case answered:
		return true
	case failed:
		e.dropFailed(c)
	}
	return false
}

// adoptOrigin forgets everything if the snapshot is no fork of the last one. Keys,
// generations and versions distinguish only what belongs to snapshots of one origin,
// which share a schema.
func (e *Engine) adoptOrigin(s *framework.Snapshot) {
	if e.schema != s.Schema() {
		e.clear()
		e.schema = s.Schema()
	}
}

// clear forgets all that is kept, but for the counts.
func (e *Engine) clear() {
	was := *e
	*e = *New(was.source, was.budget)
	e.clock, e.stats, e.fault = was.clock, was.stats, was.fault
	e.stats.Bytes = 0
}

// View returns the view of the last Find; for checks.
func (e *Engine) View() *View { return &e.view }
