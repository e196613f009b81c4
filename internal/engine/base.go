package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/changelog"
	"github.com/berth-sched/berth/internal/engine/guard"
	"github.com/berth-sched/berth/internal/engine/nodelog"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// A base keeps the answers of all plugins that read one node only, for all pods with
// one base key. Classes share it if their pods differ only in what the other plugins
// read, such as what they demand of other pods.
type base struct {
	key   string
	users int  // classes
	first bool // it was built for its first pod, and has had no other
	bytes int
	state baseState

	guard   *guard.Guard     // of the engine
	tracker *nodelog.Tracker // of the engine; after sync, its order lists what the rows list
	*lists

	pod      *framework.PodInfo // the first of its pods: bound plugins saw it
	podBytes int                // about the memory that the pod alone holds
	cycle    framework.Cycle    // holds the state of bound plugins
	plugins  basePlugins
	rows     rows
	reasons  reasons
	due      deadlines
	grouped  groupings
	guess    guess
	at       basePosition
	epoch    uint64               // changes if a class has to read every row
	bound    uint64               // changes if plugins were bound again
	moves    uint64               // how often that was to another snapshot
	log      changelog.Log[int32] // of rows that were evaluated

	used   uint64             // engine clock of the last use
	visits [visitsMost]uint64 // in which it is listed; see visits
	copy   *base              // for others, nil if the base has been used since
}

// A baseState is how much of a base is right. A state includes those before it, but
// for broken.
//
//	               build, move                  bindScores
//	unbound ────────────────────────▶ filtered ────────────▶ scored ──┐
//	   ▲          a PreFilter fails      │ ▲                    │ ▲   │ move, if the
//	   └─────────────────────────────────┘ └──move, otherwise───┘ └───┘ scores stand
//
//	any state ──a plugin leaves its bounds──▶ broken: the base is dropped
type baseState uint8

const (
	unbound  baseState = iota // filters must be bound before the next question
	filtered                  // rows have their reasons
	scored                    // feasible rows have their scores
	broken                    // nothing can be trusted
)

// basePlugins are the bound plugins of a base. They are nodeOnly if they read no pods.
type basePlugins struct {
	filters                  []Filter
	nodeFilters, podFilters  []Filter        // the same, by what they read
	nodeScorers, podScorers  []Scorer        // scorers that need no normalization
	normalized               []rawList       // scorers that do
	timed                    bool            // some of them reads the time
	filterReads, scorerReads framework.Reads // of all plugins of the base, bound or not
}

// A rawList holds the raw scores, by slot, of a scorer that normalizes them.
type rawList struct {
	scorer   Scorer
	nodeOnly bool // they stand while only a node's pods change
	raw      []int64

	same  bool // all that were found since the base was scored are value
	value int64
}

// A basePosition is the moment that rows are about. deadlines are later than now.
type basePosition struct {
	snapshot *framework.Snapshot
	entry    uint64 // of the tracker, the first that the rows do not know of
	nodeSet  uint64
	objects  framework.ObjectVersions
	now      time.Time
}

// build binds the plugins and evaluates every node. false means that the reference
// path must be taken.
func (b *base) build(src Source) bool {
	s, o := b.tracker.Snapshot, b.tracker.Order
	if _, ok := b.bind(src, s); !ok {
		return false
	}
	b.plugins.forgetScorers()
	b.at = basePosition{s, b.tracker.End(), s.NodeSet(), s.ObjectVersions(), s.Now()}
	b.plugins.filterReads, b.plugins.scorerReads = src.Kept()
	b.reasons.reset()
	b.due.reset()
	b.grow(s.SlotLimit())
	b.rows.uniform = false
	b.rows.reset(o)
	b.epoch++
	b.listAll(b.tracker.Nodes(), o.Slots)
	b.askMany(b.plugins.nodeFilters)
	for k, slot := range b.slots {
		b.rows.nodes[slot].setReason(b.verdicts[k])
	}
	b.askMany(b.plugins.podFilters)
	if b.plugins.timed {
		b.schedule(b.nodes...)
	}
	for place, reason := range b.verdicts { // all nodes are listed, by place
		if reason != feasible {
			b.rows.tree.Leaves[place] = int32(rejected(reason))
		} else {
			b.rows.tree.Leaves[place] = 0
		}
	}
	return b.state != broken
}

// bind runs the PreFilters and takes over the filters. same reports whether they are as
// many as before, at the same places. The PreFilters overwrite the state of filters bound
// earlier. If one of them rejects the pod, rows stay right, but filters must be bound
// again before any is asked.
func (b *base) bind(src Source, s *framework.Snapshot) (same, ok bool) {
	b.state = unbound
	b.cycle.Reset(b.pod, s, 0, 0)
	b.guard.Enter()
	filters, ok := src.BindKeptFilters(&b.cycle)
	b.guard.Returned()
	if ok {
		same = b.plugins.adopt(filters)
		b.state = filtered
		b.bound++
	}
	return same, ok
}

// adopt sorts the filters by what they read, and reports whether their places are those
// of the filters before.
func (p *basePlugins) adopt(filters []Filter) (same bool) {
	same = slices.EqualFunc(p.filters, filters, func(a, b Filter) bool { return a.At == b.At && a.Reads == b.Reads })
	p.filters, p.nodeFilters, p.podFilters = append(p.filters[:0], filters...), p.nodeFilters[:0], p.podFilters[:0]
	for _, f := range filters {
		if nodeOnly(f.Reads) {
			p.nodeFilters = append(p.nodeFilters, f)
		} else {
			p.podFilters = append(p.podFilters, f)
		}
	}
	p.timed = slices.ContainsFunc(filters, func(f Filter) bool { return f.Reads&framework.ReadsTime != 0 })
	return same
}

// grow makes room for slots.
func (b *base) grow(slots int) {
	b.rows.nodes = slotlist.AtLeast(b.rows.nodes, slots)
	for i := range b.plugins.normalized {
		b.plugins.normalized[i].raw = slotlist.AtLeast(b.plugins.normalized[i].raw, slots)
	}
}

// put changes the row of a node. Nothing asks for the rows of a broken base, and a
// score out of bounds could make a row that looks like a rejection.
func (b *base) put(slot int32, r row) {
	if b.state != broken {
		b.rows.put(slot, r)
	}
}

// sync brings the rows up to date with the snapshot of the tracker. false means that the
// reference path must be taken.
func (b *base) sync(src Source) bool {
	s, at, reads := b.tracker.Snapshot, &b.at, b.plugins.filterReads|b.plugins.scorerReads
	before := at.now
	at.now = s.Now()
	ok := true
	switch {
	case len(b.reasons.list) > reasonsMost+len(b.tracker.Order.Slots):
		ok = b.build(src) // most of the reasons are nobody's any more
	case b.state == unbound || at.snapshot != s || at.nodeSet != s.NodeSet() || at.objects.Differ(s.ObjectVersions())&reads != 0:
		ok = b.move(src)
	default:
		b.follow(s)
	}
	if !ok {
		at.now = before
		return false
	}
	if b.plugins.timed || b.due.some() {
		b.expire(s, before)
	}
	return b.state != broken
}

// few is how many nodes are not worth more than one loop.
const few = 4

// follow evaluates the nodes that changed since the last use.
func (b *base) follow(s *framework.Snapshot) {
	b.slots = b.tracker.Since(b.at.entry, b.slots[:0])
	b.at.entry = b.tracker.End()
	b.evaluateListed(s)
}

// evaluateListed renews what depends on pods, or on time, of the nodes whose slots are in slots.
func (b *base) evaluateListed(s *framework.Snapshot) {
	if len(b.slots) < few {
		for _, slot := range b.slots {
			b.evaluateChanged(s.AtSlot(int(slot)))
		}
		return
	}
	b.listDirty()
	b.log.AddAll(b.slots)
	if b.plugins.timed {
		b.schedule(b.nodes...)
	}
	b.askMany(b.plugins.podFilters)
	b.evaluated += int64(2 * len(b.slots)) // what follows costs as much again
	b.recordVerdicts()
	if b.state == scored {
		b.scoreMany()
	}
}

// expire evaluates the nodes whose answers have run out. If the clock has gone back,
// all answers are renewed.
func (b *base) expire(s *framework.Snapshot, before time.Time) {
	if b.at.now.Before(before) && b.plugins.timed {
		b.slots = append(b.slots[:0], b.rows.order.Slots...)
	} else {
		b.slots = b.due.take(b.at.now, b.slots[:0])
	}
	b.evaluated += int64(2 * len(b.slots)) // new deadlines cost as much again
	b.evaluateListed(s)
}

// expired is about how many rows a later or earlier time renews.
func (b *base) expired(now time.Time) int {
	if now.Before(b.at.now) && b.plugins.timed {
		return len(b.rows.order.Slots)
	}
	return b.due.about(now)
}

// size is the memory that the base holds, but for what it shares.
func (b *base) size() int {
	n := b.rows.size() + b.reasons.bytes() + b.log.Bytes() + b.due.bytes() + len(b.key) + b.podBytes
	for i := range b.plugins.normalized {
		n += 8 * cap(b.plugins.normalized[i].raw)
	}
	return n + b.grouped.bytes()
}

// move goes to another snapshot, or to the same one with other nodes or objects. All
// plugins are bound anew, because they may have kept the snapshot. A row stands if the
// generation of its node does: generations identify content across forks.
//
// Scores stand as well, unless a plugin reads what differs between the snapshots besides
// nodes, or is skipped now and was not before.
func (b *base) move(src Source) bool {
	s, o, at, p := b.tracker.Snapshot, b.tracker.Order, &b.at, &b.plugins
	was := b.state
	same, ok := b.bind(src, s)
	if !ok {
		return false
	}
	var differs framework.Reads // of all that the whole snapshot has
	if at.nodeSet != s.NodeSet() {
		differs |= framework.ReadsNodeSet
	}
	differs |= at.objects.Differ(s.ObjectVersions())
	if at.snapshot != s {
		b.moves++
	}
	at.snapshot, at.nodeSet, at.objects = s, s.NodeSet(), s.ObjectVersions()
	b.grow(s.SlotLimit())
	b.arrange()
	verdicts := same && differs&p.filterReads == 0
	if was == scored && verdicts && differs&p.scorerReads == 0 && b.bindScorersAgain(src) {
		b.state = scored
	} else {
		p.forgetScorers()
		b.rows.uniform = false
		b.epoch++
	}
	switch {
	case !verdicts:
		b.evaluateAll(o.Slots)
		at.entry = b.tracker.End()
	case differs&framework.ReadsNodeSet == 0:
		b.follow(s)
	default:
		b.epoch++ // classes rely on what stands while only the pods of nodes change
		b.slots = b.tracker.Since(at.entry, b.slots[:0])
		at.entry = b.tracker.End()
		b.rows.uniform = false // until nodes that are new, or changed, have scores
		b.evaluateAll(b.slots)
		b.rows.uniform = b.state == scored && b.isUniform()
	}
	return true
}

// arrange gives the rows the order of the tracker. Rows of nodes that are new or changed
// are evaluated next.
func (b *base) arrange() {
	o := b.tracker.Order
	if b.rows.order == o {
		return
	}
	for _, slot := range b.rows.order.Slots {
		if !o.Has(slot) {
			b.due.remove(slot)
			b.rows.nodes[slot] = nodeRow{}
		}
	}
	b.carried = b.rows.carry(o, b.carried)
	b.epoch++
}

// evaluateAll renews all that the rows keep of the nodes of some slots.
func (b *base) evaluateAll(slots []int32) {
	for _, slot := range slots {
		b.evaluate(b.at.snapshot.AtSlot(int(slot)))
	}
}

// clone returns a base of the same rows, of another engine and of no snapshot yet: what
// it has bound is bound again before anything is asked.
func (b *base) clone() *base {
	c := &base{key: b.key, state: b.state, pod: b.pod, podBytes: b.podBytes, plugins: b.plugins.clone(), epoch: 1}
	c.rows.copy(&b.rows)
	c.reasons = reasons{list: slices.Clone(b.reasons.list), numbers: maps.Clone(b.reasons.numbers)}
	c.due.copy(&b.due)
	c.at = b.at
	c.letGo()
	return c
}

// clone returns a copy with raw scores of its own.
func (p *basePlugins) clone() basePlugins {
	c := *p
	c.filters, c.nodeFilters, c.podFilters = slices.Clone(p.filters), slices.Clone(p.nodeFilters), slices.Clone(p.podFilters)
	c.nodeScorers, c.podScorers, c.normalized = slices.Clone(p.nodeScorers), slices.Clone(p.podScorers), slices.Clone(p.normalized)
	for i := range c.normalized {
		c.normalized[i].raw = slices.Clone(c.normalized[i].raw)
	}
	return c
}
