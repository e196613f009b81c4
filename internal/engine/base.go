package engine

import (
	"slices"
	"time"
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// feasible is the reason of nodes that no filter rejects.
const feasible int32 = 0

// kept holds the raw scores, by slot, of a scorer that normalizes them.
type kept struct {
	scorer Scorer
	fixed  bool // they stand while only a node's pods change
	raw    []int64
}

// A base keeps the answers of all plugins that read one node only, for all pods
// with one base key. Classes whose pods differ only in what the other plugins
// read share it: in what they demand of other pods, for example.
type base struct {
	key   string
	pod   *framework.PodInfo // the first: bound plugins saw it
	cycle framework.Cycle    // holds the state of bound plugins
	users int                // classes

	filters       []Filter
	fixed         []Filter // those of filters that read no pods
	moving        []Filter // the others
	fixedScorers  []Scorer // not normalized; they read no pods
	movingScorers []Scorer // the same; they read pods
	kept          []kept
	scored        bool            // the scorers are bound, and feasible rows scored
	timed         bool            // some bound plugin reads the time
	filterReads   framework.Reads // by all filters of the base, bound or not
	scorerReads   framework.Reads
	broken        bool // a plugin broke its bounds: take the plain road

	tree    tree       // its leaves are the rows, by place
	indexed bool       // the rest of the tree, and counts, are right
	counts  []int32    // rows by reason
	turned  uint64     // counts changes of reasons while indexed
	turns   rowLog     // of nodes that became feasible or ceased to be, while indexed
	fixedly []fixedRow // what of the rows is fixed, by slot
	even    bool       // all nodes are scored, alike as far as that is fixed, and kept scores are fixed, too
	evenly  int32
	reasons reasons
	due     deadlines
	*lists

	bound    bool // the filters are those of time, nodeSet and objects
	snapshot *framework.Snapshot
	time     *timeline // after sync, its order lists what order lists
	entry    uint64    // of time, the first that the rows do not know of
	nodeSet  uint64
	objects  uint64
	now      time.Time // of the snapshot; deadlines are later
	order    *order
	epoch    uint64 // changes when a class has to look at every row
	log      rowLog
	sink     int32 // see listDirty
	fresh    bool  // built for the decision that is being made
	bytes    int
}

// build binds the plugins and evaluates every node. false means that the plain
// road has to be taken.
func (b *base) build(src Source, t *timeline, o *order) bool {
	s := t.snapshot
	filters, ok := b.bind(src, s)
	if !ok {
		return false
	}
	b.adoptFilters(filters)
	b.scored, b.even, b.broken = false, false, false
	b.time, b.entry = t, t.end()
	b.snapshot, b.order, b.now, b.nodeSet, b.objects = s, o, s.Now(), s.NodeSet(), s.Objects()
	b.filterReads, b.scorerReads = src.Kept()
	b.reasons.reset()
	b.due.reset()
	b.grow(s.SlotLimit())
	b.indexed = false
	b.tree.empty()
	b.tree.reset(len(o.slots), 1, nil)
	b.epoch++
	b.listNone()
	for _, slot := range o.slots {
		b.list(s.AtSlot(int(slot)), slot, feasible)
	}
	b.askMany(b.fixed)
	for k, slot := range b.at {
		b.fixedly[slot].set(b.said[k], false)
	}
	b.askMany(b.moving)
	if b.timed {
		for _, n := range b.nodes {
			b.schedule(n)
		}
	}
	b.listen()
	return !b.broken
}

// bind runs the PreFilters. They write over what the filters know that were bound
// before: where one rejects the pod, the rows stay right, but nothing may be asked
// until they are bound again, be it to the snapshot of the rows.
func (b *base) bind(src Source, s *framework.Snapshot) ([]Filter, bool) {
	b.bound = false
	b.cycle.Reset(b.pod, s, 0, 0)
	filters, ok := src.BindFilters(&b.cycle, false)
	b.bound = ok
	return filters, ok
}

// row returns the row of a node.
func (b *base) row(slot int32) row { return row(b.tree.leaves[b.order.place[slot]]) }

// listen takes over what was said about the listed nodes, and strikes those that
// are not feasible from the list. The others are scored next, if the base is.
func (b *base) listen() {
	if b.scored && !b.refused {
		return
	}
	k := 0
	for i, slot := range b.at {
		if reason := b.said[i]; reason != feasible {
			b.put(slot, rejected(reason))
			continue
		}
		if !b.scored {
			b.put(slot, 0)
		}
		b.nodes[k], b.at[k] = b.nodes[i], slot
		k++
	}
	b.nodes, b.at = b.nodes[:k], b.at[:k]
}

// adoptFilters sorts the filters by what they read. The scorers are bound later.
func (b *base) adoptFilters(filters []Filter) {
	b.fixedScorers, b.movingScorers, b.kept = b.fixedScorers[:0], b.movingScorers[:0], b.kept[:0]
	b.filters, b.fixed, b.moving = b.filters[:0], b.fixed[:0], b.moving[:0]
	for _, f := range filters {
		b.filters = append(b.filters, f)
		if ofNode(f.Reads) {
			b.fixed = append(b.fixed, f)
		} else {
			b.moving = append(b.moving, f)
		}
	}
	b.timed = slices.ContainsFunc(filters, func(f Filter) bool { return f.Reads&framework.ReadsTime != 0 })
}

// grow makes room for slots.
func (b *base) grow(slots int) {
	b.fixedly = resize(b.fixedly, slots)
	for i := range b.kept {
		b.kept[i].raw = resize(b.kept[i].raw, slots)
	}
}

func resize[T any](list []T, n int) []T {
	if len(list) >= n {
		return list
	}
	return append(list, make([]T, n-len(list))...)
}

// sync brings the rows up to date with the snapshot.
func (b *base) sync(src Source, t *timeline, o *order) bool {
	s := t.snapshot
	before := b.now
	b.now = s.Now()
	ok := true
	switch {
	case len(b.reasons.list) > reasonsMost+len(o.slots):
		ok = b.build(src, t, o) // most of the reasons are nobody's any more
	case !b.bound || b.time != t || b.nodeSet != s.NodeSet() || b.objects != s.Objects() && (b.filterReads|b.scorerReads)&framework.ReadsObjects != 0:
		ok = b.move(src, t, o)
	default:
		b.follow(s)
	}
	if !ok {
		b.now = before
		return false
	}
	b.expire(s, before)
	return !b.broken
}

// follow evaluates the nodes that changed since the last use.
func (b *base) follow(s *framework.Snapshot) {
	b.at = b.time.since(b.entry, b.order, b.at[:0])
	b.entry = b.time.end()
	if len(b.at) < few {
		for _, slot := range b.at {
			b.evaluate(s.AtSlot(int(slot)), false)
		}
		return
	}
	b.listDirty()
	b.log.addAll(b.at)
	if b.timed {
		for _, n := range b.nodes {
			b.schedule(n)
		}
	}
	b.askMany(b.moving)
	b.listen()
	if b.scored {
		b.scoreMany()
	}
}

// listDirty lists the nodes whose slots are in at, and touches what renewing
// their rows will read and write. The loads of a short loop overlap, those of a
// long one do not.
func (b *base) listDirty() {
	b.nodes, b.said = resize(b.nodes, len(b.at))[:len(b.at)], resize(b.said, len(b.at))[:len(b.at)]
	b.refused = false
	clear(b.said)
	leaves, blocks, places, x := b.tree.leaves, b.tree.levels[0], b.order.place, int32(0)
	at, nodes := b.time.at, b.nodes[:len(b.at)]
	for i, slot := range b.at {
		place := places[slot]
		nodes[i] = at[place]
		x += leaves[place] + blocks[place>>fanBits].count
	}
	b.sink = x
	if b.even {
		return
	}
	for k, slot := range b.at {
		if reason := b.fixedly[slot].reason(); reason != feasible {
			b.said[k], b.refused = reason, true
		}
	}
}

// few is how many nodes are not worth more than one loop.
const few = 4

// move turns to another snapshot, or to the same one with other nodes. Rows
// stand where the generation does: it identifies the content across forks.
func (b *base) move(src Source, t *timeline, o *order) bool {
	s := t.snapshot
	filters, ok := b.bind(src, s)
	if !ok {
		return false
	}
	b.adoptFilters(filters)
	// A filter that was bound before may be skipped now, or the other way round.
	all := b.nodeSet != s.NodeSet() && b.filterReads&framework.ReadsNodeSet != 0 ||
		b.objects != s.Objects() && b.filterReads&framework.ReadsObjects != 0
	b.snapshot, b.nodeSet, b.objects = s, s.NodeSet(), s.Objects()
	b.grow(s.SlotLimit())
	for _, slot := range b.order.slots {
		if !o.has(slot) {
			b.due.remove(slot)
			b.fixedly[slot] = fixedRow{}
		}
	}
	b.carry(o)
	b.scored, b.even = false, false // the scorers are bound anew, and all nodes scored
	b.epoch++
	for _, slot := range o.slots {
		if n := s.AtSlot(int(slot)); all || !b.time.stood(slot, n.Generation(), b.entry) {
			b.evaluate(n, true)
		}
	}
	b.time, b.entry = t, t.end()
	return true
}

// expire evaluates the nodes whose answers have run out. Should the clock have
// gone back since the time before, all answers are renewed.
func (b *base) expire(s *framework.Snapshot, before time.Time) {
	if b.now.Before(before) && b.timed {
		for _, slot := range b.order.slots {
			b.evaluate(s.AtSlot(int(slot)), false)
		}
	}
	for slot := b.due.due(b.now); slot >= 0 && !b.broken; slot = b.due.due(b.now) {
		b.due.remove(slot)
		b.evaluate(s.AtSlot(int(slot)), false)
	}
}

// size is the memory that the base holds, but for what it shares.
func (b *base) size() int {
	n := b.tree.bytes() + b.reasons.bytes() + cap(b.fixedly)*int(unsafe.Sizeof(fixedRow{})) + len(b.key)
	n += 4*(cap(b.counts)+cap(b.turns.slots)+cap(b.log.slots)+cap(b.due.place)) + 32*cap(b.due.heap)
	for i := range b.kept {
		n += 8 * cap(b.kept[i].raw)
	}
	return n
}
