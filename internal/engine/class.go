package engine

import (
	"unsafe"

	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/nodelog"
)

// A class keeps the answers for all pods with one key.
//
//	base     by slot           verdicts and scores by plugins that read one node; shared
//	gates    by slot or group  verdicts of the other filters
//	columns  by slot or group  raw scores that are normalized, or not kept in rows
//	totals   by place          totals of feasible nodes, in a tree
//
// If live plugins treat the nodes of a topology domain alike, the nodes are divided
// into groups, and those plugins are asked about one node of each: their verdicts shut
// a group of the tree, and their scores are its offset.
//
// Invariant (after sync): the own reason of a node is its first rejection by its row
// and by gates that tell nodes apart, or its override; shut[g] is the first of group g by gates that do
// not. The one that comes first in the profile is final, but an override always is. The leaf of a place is the
// total of its node, or the complement of its own reason unless that is feasible.
// counts[i][g] is how many nodes of group g have the own reason i.
type class struct {
	key         string
	number      int    // see Ref
	used        uint64 // engine clock of the last use
	bytes       int
	unaccounted int // decisions since bytes was found

	accountedShared bool // it shared a tree then

	newer, older *class // in the engine's recency

	base  *base
	state state
	at    classPosition
	ask   asker

	gates     gates
	overrides overrides
	columns   columns
	groups    groups
	totals    totals
	grouping  *grouping // whose tree it asks while it shares; nil: that of the rows

	versions versions
	shownAs  struct{ feasible, version uint64 } // the set with versions.feasible has this version of the snapshot
	memo     struct {                           // what the caller keeps while versions.reasons stays
		value any
		when  uint64
	}
	shareable int // decisions in a row in which the class could have shared, since it could not
}

// A state is how much of a class is right, and which tree it asks. A state includes
// those before it, but for unusable.
//
//	  ┌──────────start: nothing tells nodes apart but the base and groups────┐
//	  │                                                                      ▼
//	blank ──verdicts──▶ judged ──scores──▶ totaled ──chooseTree──────────▶ sharing
//	                                          ▲                          │  │  ▲
//	                                          └───nodes are told apart───┘  │  │
//	                                                                nothing │  │ rows flip,
//	                                                                   live │  │ or something
//	                                                                        ▼  │ is live
//	                                                                        idle
//	any state ──the base moves──────────────▶ blank
//	any state ──a plugin leaves its bounds──▶ unusable: the class is dropped
type state uint8

const (
	blank    state = iota // nothing is known
	judged                // nodes have their reasons
	totaled               // feasible nodes have their totals, but for pending ones
	sharing               // the same, in a tree of the base
	idle                  // the same, and nothing live takes part: there is nothing to do
	unusable              // nothing can be trusted
)

// String is the name of the state.
func (s state) String() string {
	return [...]string{"blank", "judged", "totaled", "sharing", "idle", "unusable"}[s]
}

// shares reports whether the class asks a tree of its base.
func (c *class) shares() bool { return c.state == sharing || c.state == idle }

// A classPosition is how far a class has followed its base.
type classPosition struct {
	epoch uint64
	bound uint64 // the last binding to a snapshot that the class knows of
	moves uint64 // the last one to another snapshot
	rows  uint64 // entries of the base's log
	flips uint64 // of the base's rows, and the entries of their log
	log   uint64
}

// versions count what changes, so that others notice.
type versions struct {
	feasible uint64 // the set of feasible nodes
	reasons  uint64 // the nodes' final reasons
}

// groups divide the nodes of a class.
type groups struct {
	division *division            // nil if it must be found
	shut     []int32              // final reason of a group, feasible if it is open
	sources  []incremental.Groups // memory to find the division
}

// An outcome is how a class was brought up to date.
type outcome uint8

const (
	answered outcome = iota
	declined         // a live PreFilter rejected the pod; the class is as it was
	failed           // the class must be dropped
)

func newClass() *class {
	c := new(class)
	c.gates.touch = func(slot int) { c.gates.touched = append(c.gates.touched, int32(slot)) }
	c.columns.touch = func(slot int) {
		c.columns.tracking.touched = append(c.columns.tracking.touched, int32(slot))
	}
	c.columns.addUp = c.addUp
	return c
}

// reset makes an empty class over a base.
func (c *class) reset(b *base) {
	if c.totals.tree.Shared() {
		c.totals.tree.Release()
	}
	c.base, c.state, c.at = b, blank, classPosition{}
	c.ask.guard, c.ask.base = b.guard, b
	c.groups.division, c.grouping, c.shareable = nil, nil, shareAfter
	c.gates.list, c.columns.list = c.gates.list[:0], c.columns.list[:0]
	c.gates.failed = false
	c.overrides.forget()
	c.memo.value = nil
	c.shownAs.version = 0
}

// release lets go of the base and of what belongs to one decision.
func (c *class) release() {
	c.base, c.grouping, c.bytes = nil, nil, 0
	c.ask.base, c.ask.source, c.ask.cycle = nil, nil, nil
}

func (c *class) order() *nodelog.Order { return c.base.rows.order }

// sync brings the class up to date with its base, which is up to date with the
// snapshot, for a query.
func (c *class) sync(src Source, l *divisions, q *Query) outcome {
	c.ask.begin(src, q.Cycle)
	moved := c.at.epoch != c.base.epoch
	if c.state == idle && (moved || c.at.flips != c.base.rows.flips) {
		c.state = sharing
	}
	if moved || c.shares() && !c.followFlips() {
		c.restart()
	}
	if c.at.bound != c.base.bound {
		c.rebind()
	}
	c.overrides.adopt(c, q.Overrides)
	if c.state == idle && len(c.overrides.list) > 0 {
		c.state = sharing
	}
	if c.state == idle && c.ask.quiet() {
		return answered
	}
	filters, ok := c.ask.bindFilters()
	if !ok {
		return declined
	}
	if c.state == idle && len(filters) > 0 {
		c.state = sharing
	}
	if c.state != idle {
		c.syncVerdicts(l, filters)
	}
	switch {
	case !c.usable():
	case c.totals.tree.Feasible() <= 1:
		clear(c.totals.tree.Offset) // of scores; a leaf that was not scored is 0
	case !c.syncScores(l):
		return failed
	}
	if !c.usable() {
		return failed
	}
	return answered
}

// usable reports whether no plugin has left its bounds.
func (c *class) usable() bool {
	return c.state != unusable && !c.gates.failed && c.base.state != broken
}

// restart forgets what belongs to another snapshot or to other nodes.
func (c *class) restart() {
	if c.totals.tree.Shared() {
		c.totals.tree.Release()
	}
	c.state = blank
	c.at.epoch, c.at.rows = c.base.epoch, c.base.log.End()
	c.groups.division, c.grouping, c.totals.pending = nil, nil, c.totals.pending[:0]
	c.gates.forget()
	c.overrides.forget()
	c.columns.rest()
	c.shareable = shareAfter
	c.totals.tree.Empty()
	c.shownAs.version = 0
}

// rebind takes over the kept scorers, which the base has bound anew. What live plugins said was about
// another fork then, or is unknown: the base binds again for one snapshot if its nodes or objects have changed.
func (c *class) rebind() {
	elsewhere := c.at.moves != c.base.moves
	c.at.bound, c.at.moves = c.base.bound, c.base.moves
	if c.state >= totaled {
		c.columns.rebind(c.base)
	}
	if elsewhere {
		c.gates.move()
		c.columns.move()
	} else {
		c.gates.forget()
		c.columns.forget()
	}
}

// syncVerdicts brings the reasons up to date, with freshly bound filters.
func (c *class) syncVerdicts(l *divisions, filters []Filter) {
	all := c.gates.adopt(c, filters) || c.state == blank
	if d := c.groups.division; d == nil || c.gates.want(d) || d.count > 1 && !c.gates.grouped() && !c.columns.grouped() {
		if c.state != blank || !c.divideByGuess() {
			c.divide(l)
		}
		all = true
	}
	if c.state == blank {
		c.scoreBase()
	}
	if c.state == blank && c.mayStart() {
		c.start()
	}
	switch {
	case c.shares() && c.mayShare():
		if all {
			c.forgetGroups()
		}
		c.join()
	case c.shares():
		c.unshare()
		all = true
		fallthrough
	default:
		known := c.gather()
		if !known { // as in the next decision, too
			c.ask.asked += 3 * len(c.order().Slots)
		}
		if all = !known || all; all {
			c.updateAll()
		} else {
			c.updateTouched()
		}
	}
	if c.state == blank {
		c.state = judged
	}
	c.syncGroups()
}

// syncScores brings scores and totals up to date. It is called only while two nodes or
// more are feasible: with fewer, nothing is scored. false means that the class must be
// dropped.
//
// Invariant (afterwards): the tree has the total of every feasible node.
func (c *class) syncScores(l *divisions) bool {
	if c.base.state < scored && !c.base.bindScores(c.ask.source, (*feasibleSet)(c)) {
		return false
	}
	if c.state < totaled {
		c.firstScores()
	}
	scorers, ok := c.bindScorers()
	if !ok {
		return false
	}
	if c.state == idle {
		if len(scorers) == 0 {
			return true
		}
		c.state = sharing
	}
	c.columns.adoptLive(c, scorers)
	if c.groups.division == nil || c.columns.want(c.groups.division) {
		c.divide(l)
		if c.shares() && c.mayShare() {
			c.join()
		} else {
			if c.shares() {
				c.unshare()
			}
			c.updateAll()
		}
		c.syncGroups()
	}
	for i := range c.columns.list {
		if col := &c.columns.list[i]; col.role != absent && col.isLive() {
			col.refresh(c)
		}
	}
	if c.usable() {
		c.finish()
	}
	return c.usable()
}

// divide divides the nodes by the groups of gates and columns, as far as there are not
// too many. Everything by group must be found anew.
func (c *class) divide(l *divisions) {
	o, g := c.order(), &c.groups
	g.sources = g.sources[:0]
	g.division = l.find(o, nil)
	add := func(by incremental.Groups) {
		if by.Count <= 1 || g.division.knows(by) {
			return
		}
		g.sources = append(g.sources, by)
		if finer := l.find(o, g.sources); finer != nil {
			g.division = finer
		} else {
			g.sources = g.sources[:len(g.sources)-1]
		}
	}
	for i := range c.gates.list {
		if x := &c.gates.list[i]; x.role != absent {
			add(x.groups)
		}
	}
	for i := range c.columns.list {
		if col := &c.columns.list[i]; col.mayGroup() {
			add(col.groups)
		}
	}
	c.divided()
}

// divided adapts all to another division.
func (c *class) divided() {
	g := &c.groups
	for i := range c.gates.list {
		c.gates.list[i].divided(g.division)
	}
	for i := range c.columns.list {
		c.columns.list[i].divided(c)
	}
	c.openAll()
	g.shut = append(g.shut[:0], make([]int32, g.division.count)...)
	for i := range c.totals.counts {
		c.totals.counts[i] = append(c.totals.counts[i][:0], g.shut...)
	}
}

// divideByGuess divides the nodes of a class that is new like those of another class of
// the base; false if that may be too coarse.
func (c *class) divideByGuess() bool {
	d := c.base.guess.division
	if c.ask.quietScorers || d == nil || d.order != c.order() {
		return false
	}
	for i := range c.gates.list {
		if x := &c.gates.list[i]; x.role != absent && x.groups.Count > 1 && !d.knows(x.groups) {
			return false
		}
	}
	c.groups.division = d
	c.divided()
	return true
}

// bindScorers binds the live scorers; not ok if the class must be dropped.
func (c *class) bindScorers() (scorers []Scorer, ok bool) {
	g := &c.base.guess
	g.trying, g.shown = true, g.shown[:0]
	scorers, ok = c.ask.bindScorers((*feasibleSet)(c))
	g.trying = false
	if ok && !g.right(&c.ask, scorers) {
		c.shownAs.version = 0 // what was shown may have been too coarse
		scorers, ok = c.ask.bindScorers((*feasibleSet)(c))
	}
	return scorers, ok
}

// size is the memory that the class holds, but for what it shares.
func (c *class) size() int {
	n := int(unsafe.Sizeof(*c)) + len(c.key) + c.columns.size() + c.gates.size() + c.overrides.bytes()
	if !c.shares() {
		n += c.totals.tree.Bytes()
	}
	n += 4 * (cap(c.totals.pending) + cap(c.groups.shut))
	for i := range c.totals.counts {
		n += 24 + 4*cap(c.totals.counts[i])
	}
	return n
}
