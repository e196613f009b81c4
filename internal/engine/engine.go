package engine

import (
	"fmt"
	"runtime/debug"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/guard"
	"github.com/berth-sched/berth/internal/engine/nodelog"
	"github.com/berth-sched/berth/internal/engine/tree"
	"github.com/berth-sched/berth/resource"
)

// How many bytes of answers an engine keeps by default: 64 MiB or, for more than 2,048
// nodes, 32 KiB a node.
const (
	DefaultBudget        = 64 << 20
	DefaultBudgetPerNode = 32 << 10
)

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
	budget int              // in bytes
	fixed  int              // budget, 0 if it grows with the cluster
	schema *resource.Schema // of the snapshots that all below is about
	turns  turns

	classes    map[string]*class
	numbered   []*class // those kept, and some dropped: class i has the number i+1
	bases      map[string]*base
	barred     map[string]int    // classes that broke, and how many decisions they sit out
	asked      map[string]uint64 // classes that were not admitted, and when they were asked for
	typical    int               // bytes of the last class that was built
	spare      []*class          // dropped; their memory is used again
	spareBases []*base

	visits    visits
	order     *nodelog.Order
	divisions divisions
	sightings sightings
	recency   recency

	inherited  *legacy // of the engine that it started from, nil if it did not
	bequeathed *legacy // for those that start from it, nil if it has been used since

	tracker *nodelog.Tracker // of the snapshot used last; shared by bases
	lists   *lists
	guard   *guard.Guard // shared by bases and classes
	clock   uint64
	stats   Stats
	fault   *Fault // the last one, until it is taken
	view    View
}

// Stats counts what an engine did.
type Stats struct {
	Hits      uint64 // decisions for a class that was kept
	Misses    uint64 // decisions for which a class was built
	Bypassed  uint64 // decisions left to the reference path, such as the first of a base
	Evictions uint64 // classes dropped to stay within the budget
	Faults    uint64 // failures of the engine itself
	Looks     uint64 // about how many: questions to a plugin about a node, and nodes listed or added up
	Classes   int    // kept now
	Bytes     int    // that they hold
}

// New returns an engine with a budget in bytes; 0 means the default.
func New(source Source, budget int) *Engine {
	return &Engine{
		source: source, budget: budget, fixed: budget, classes: map[string]*class{}, bases: map[string]*base{},
		barred: map[string]int{}, asked: map[string]uint64{}, lists: new(lists), guard: new(guard.Guard),
		tracker: nodelog.NewTracker(),
	}
}

// Stats returns the counts so far.
func (e *Engine) Stats() Stats {
	s := e.stats
	s.Classes = len(e.classes)
	s.Looks = uint64(e.lists.evaluated + e.lists.walked)
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

	// Overrides hold in place of what the class knows of these nodes, in ascending order
	// of the slots, each once. The slots have nodes.
	Overrides []Override
}

// Find answers the query, or returns false if the reference path must be taken. The
// view is valid until the snapshot changes or the next call.
//
// A panic of a plugin costs its class; the reference path finds it again and reports it.
// A panic of the engine itself is a fault: see TakeFault.
func (e *Engine) Find(q *Query) (v *View, ok bool) {
	if len(e.barred) > 0 && e.sitsOut(q.Key) {
		return nil, false
	}
	var c *class
	defer func() {
		if ok { // nothing panicked: recover is not free
			return
		}
		p := recover()
		switch {
		case p == nil:
		case !e.guard.InPlugin():
			e.Fail(p)
		case c != nil:
			e.giveUp(c)
		}
		e.guard.Leave()
		e.heedTouched(c, q.Snapshot)
		e.stats.Bypassed++
		v, ok = nil, false
	}()
	if !e.isAbout(q.Snapshot) {
		return nil, false
	}
	e.clock++
	e.bequeathed = nil
	if e.fixed == 0 {
		e.budget = max(DefaultBudget, DefaultBudgetPerNode*q.Snapshot.SlotLimit())
	}
	e.order = nodelog.OrderOf(q.Snapshot, e.order)
	if t := e.latestTracker(); t != e.tracker {
		*e.tracker = *t.Clone()
	}
	if e.tracker.Snapshot != q.Snapshot {
		e.lists.evaluated += 2 * moveCost
	}
	if e.visits.list[0].snapshot != q.Snapshot {
		e.visits.begin(q.Snapshot)
	}
	e.lists.evaluated += int64(e.tracker.Follow(q.Snapshot, e.order)) // half a node each
	count := &e.stats.Hits
	if c = e.lookUp(q); c == nil {
		if c = e.newClass(q); c == nil {
			return nil, false
		}
		count = &e.stats.Misses
	}
	e.sightings.seeAgain(c.base, q.Cycle.Pod)
	if !e.bringUpToDate(c, q) || !e.tracker.IsCurrent() { // see heedTouched
		return nil, false
	}
	e.account(c)
	if !e.view.search(c, q) {
		e.dropFailed(c)
		return nil, false
	}
	if !e.tracker.IsCurrent() {
		return nil, false
	}
	*count++
	return &e.view, true
}

// sitsOut counts a decision that a class which broke sits out.
func (e *Engine) sitsOut(key string) bool {
	if e.barred[key] == 0 {
		return false
	}
	e.barred[key]--
	e.stats.Bypassed++
	return true
}

// heedTouched follows the snapshot again if a plugin touched its nodes while it was bound or asked:
// what the tracker has read since would be taken for that of forks whose nodes are as they were before.
// So would the rows of the class, which are dropped with its base.
func (e *Engine) heedTouched(c *class, s *framework.Snapshot) {
	if e.tracker.Snapshot != s || e.tracker.IsCurrent() {
		return
	}
	if c != nil {
		e.dropBase(c.base)
	}
	e.tracker.Follow(s, e.order)
}

// Evaluated is how many nodes the engine has evaluated so far, in half nodes. Where it does less for a
// node than the reference path, as a class does that looks at all rows of its base, it counts for a part.
func (e *Engine) Evaluated() (halves int64) { return e.lists.evaluated }

// Place returns the place of a slot in the snapshot's order, -1 if it has no node. It costs
// O(N) after nodes have come or gone.
func (e *Engine) Place(s *framework.Snapshot, slot int) int {
	if e.order = nodelog.OrderOf(s, e.order); !e.order.Has(int32(slot)) {
		return -1
	}
	return int(e.order.Place[slot])
}

// bringUpToDate makes the class answer for the query's snapshot and pod. false means
// that the reference path must be taken; then the class is dropped, unless a live
// PreFilter rejected the pod.
func (e *Engine) bringUpToDate(c *class, q *Query) bool {
	c.used, c.base.used, c.base.copy = e.clock, e.clock, nil
	e.recency.use(c)
	synced := c.base.sync(e.source)
	e.visits.bound(c.base)
	if !synced {
		e.dropFailed(c)
		return false
	}
	switch c.sync(e.source, &e.divisions, q) {
	case answered:
		return true
	case failed:
		e.dropFailed(c)
	}
	return false
}

// clear forgets all that is kept, but for the counts.
func (e *Engine) clear() {
	was := *e
	*e = *New(was.source, was.fixed)
	e.clock, e.stats, e.fault = was.clock, was.stats, was.fault
	e.lists.evaluated, e.lists.walked = was.lists.evaluated, was.lists.walked
	e.stats.Bytes = 0
}

// View returns the view of the last Find; for checks.
func (e *Engine) View() *View { return &e.view }

// A Fault is a panic of the engine itself, or an invariant that does not hold. It is a
// defect of this module, never of a plugin.
type Fault struct {
	// What says what went wrong.
	What string
	// Stack says where, if it was a panic.
	Stack string
}

// Error says what went wrong.
func (f *Fault) Error() string { return f.What }

// Fail counts a fault and forgets all that is kept, because any of it may be half
// written. p is the recovered value.
func (e *Engine) Fail(p any) {
	e.note(&Fault{What: fmt.Sprint("panic: ", p), Stack: string(debug.Stack())})
}

func (e *Engine) note(f *Fault) {
	e.clear()
	e.stats.Faults++
	e.fault = f
}

// TakeFault returns the last fault since the call before, nil if there was none.
func (e *Engine) TakeFault() *Fault {
	f := e.fault
	e.fault = nil
	return f
}

// CheckInvariants checks all that the engine keeps. It must be called right after Find.
// A violation is a fault, which TakeFault returns. A plugin that panics, asked again, ends the check.
func (e *Engine) CheckInvariants() {
	defer func() {
		switch p := recover(); {
		case p == nil:
		case e.guard.InPlugin():
			e.guard.Leave()
		default:
			e.Fail(p)
		}
	}()
	if err := checkEngine(e); err != nil {
		e.note(&Fault{What: err.Error()})
	}
}
