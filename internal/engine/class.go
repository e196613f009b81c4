package engine

import (
	"time"

	"github.com/berth-sched/berth/framework"
)

// A Filter is a filter bound for a class, with what its answers read.
type Filter struct {
	At     int // place in the profile: the first filter that says no decides
	Filter framework.NodeFilter
	Reads  framework.Reads
}

// A Scorer is a scorer bound for a class. At most one of ByRange and ByNodes
// is set: how its scores are normalized.
type Scorer struct {
	At      int
	Scorer  framework.NodeScorer
	Reads   framework.Reads
	Weight  int64
	ByRange framework.RangeNormalizer
	ByNodes framework.ScoreNormalizer
}

// A Source binds the plugins of a profile to the pod of the decision that is
// being made. Live plugins are those that read more than the pod and one node:
// they are bound for every decision, even if they had nothing to do in the last
// one. The answers of the others are kept.
type Source interface {
	// Outside reports whether some filters, or some scorers, are live.
	Outside() (filters, scorers bool)
	// BindFilters runs the PreFilters. false says that the fast road has
	// nothing to offer for this pod: a PreFilter rejected it, restricted the
	// nodes, or failed.
	BindFilters(c *framework.Cycle, live bool) ([]Filter, bool)
	// BindScorers runs the PreScores over the feasible nodes; false when one
	// failed.
	BindScorers(c *framework.Cycle, live bool, feasible Feasible) ([]Scorer, bool)
}

// Feasible is the set of feasible nodes that PreScore plugins see.
type Feasible interface {
	// List lists them in the snapshot's order.
	List() []*framework.NodeInfo
	// Groups shows them to the scorer of that place in the profile as if nodes
	// of one group were one; nil when it has to see the list.
	Groups(at int) framework.FeasibleNodes
}

// local reports whether an answer depends on the class and one node only, so
// that it can be kept in the node's row.
func local(r framework.Reads) bool {
	return r&(framework.ReadsCluster|framework.ReadsDomain|framework.ReadsFeasible) == 0
}

// ofNode reports whether an answer stands while only the node's pods change.
func ofNode(r framework.Reads) bool {
	return r&(framework.ReadsPods|framework.ReadsTime) == 0
}

// A row holds what a class keeps of one node.
//
// Invariant: where generation equals the node's, everything in the row is what
// the bound plugins would answer now; where only node equals the node's
// NodeGeneration, fixedFilter and fixedScore are.
type row struct {
	generation  uint64
	node        uint64
	fixedScore  int64 // weighted scores that do not depend on the node's pods
	movingScore int64 // those that do
	columnScore int64 // weighted, normalized scores of all columns
	fixedReason int32 // the first rejection by a filter that reads no pods
	reason      int32 // the first rejection by a filter kept in rows
	final       int32 // the first rejection by any filter; 0: feasible
	until       int32 // place of the row in the class's deadlines, 0 for none
	inRange     bool  // its scores are known and count in the columns' ranges
	fixedStale  bool  // fixedScore has to be renewed before it is used
	scoreStale  bool  // score, and the columns, too
}

// feasible is the reason of nodes that no filter rejects.
const feasible int32 = 0

// reason is one rejection and how many nodes it is final for.
type reason struct {
	at     int // place of the filter
	status framework.Status
	nodes  int
}

// A class keeps the answers for all pods with one key.
//
//	rows    by slot    verdict and scores of each node, and their generation
//	gates   by slot    verdicts of filters that are not kept in rows
//	columns by slot    raw scores that are normalized, or not kept in rows
//	tree    by place   totals of feasible nodes
//
// Invariant (after sync): tree.leaves[place] is the total of the node at that
// place of the snapshot's order, or none if its row's final reason is not
// feasible; reasons[i].nodes counts the rows whose final reason is i; every
// column's range is that of the feasible nodes.
type class struct {
	key   string
	pod   *framework.PodInfo // the first of the class: bound plugins saw it
	live  *framework.PodInfo // the pod of this decision
	cycle framework.Cycle    // holds the state of bound plugins

	filters       []Filter // kept in rows
	fixed         []Filter // those of filters that read no pods
	moving        []Filter // the others
	gates         []gate
	fixedScorers  []Scorer // kept in rows, not normalized; they read no pods
	movingScorers []Scorer // the same; they read pods
	columns       []column
	scored        bool // the scorers are bound and all totals are right

	outsideFilters, outsideScorers bool // see Source.Outside
	timed                          bool // some plugin reads the time

	rows    []row
	reasons []reason
	tree    tree
	order   *order
	touched []int // slots that the gates have to be asked about
	due     deadlines

	snapshot *framework.Snapshot
	version  uint64 // of the snapshot's journal
	nodeSet  uint64
	objects  uint64
	now      time.Time

	feasibleVersion uint64 // counts changes of the set of feasible nodes
	nodes           []*framework.NodeInfo
	buffers         [2][]int64
	used            uint64 // engine clock of the last use
	bytes           int
	counts          uint64 // counts changes of reasons[].nodes
	failure         any    // what the caller keeps while counts stays failed
	failed          uint64

	sink     uint64 // see warm
	fresh    bool   // just built: all rows were evaluated a moment ago
	building bool   // totals go to leaves only; the tree is built afterwards
	broken   bool   // a plugin panicked or broke its bounds: take the plain road
	retotal  bool   // a range moved: all totals have to be added up again
}

// total adds up the node's weighted, normalized scores.
func (c *class) total(slot int) int64 {
	r := &c.rows[slot]
	return r.fixedScore + r.movingScore + r.columnScore
}

// addColumns adds up the columns' part of the node's total.
func (c *class) addColumns(slot int) {
	var t int64
	for i := range c.columns {
		col := &c.columns[i]
		if !col.active {
			continue
		}
		x := col.normalized(slot)
		if uint64(x) > uint64(framework.MaxNodeScore) {
			c.broken = true
		}
		t += x * col.scorer.Weight
	}
	c.rows[slot].columnScore = t
}

// evaluate renews what the row keeps of the node. What follows from it is
// brought up to date at once or, where gates have a say that has to be asked
// for in this decision, by syncGates.
func (c *class) evaluate(n *framework.NodeInfo) {
	slot := n.Slot()
	r := &c.rows[slot]
	if r.node != n.NodeGeneration() {
		r.node, r.fixedStale = n.NodeGeneration(), true
		r.fixedReason = c.ask(c.fixed, n, maxPlace)
	}
	r.reason = c.ask(c.moving, n, c.place(r.fixedReason))
	if r.reason == feasible {
		r.reason = r.fixedReason
	}
	r.generation, r.scoreStale = n.Generation(), true
	if c.outsideFilters {
		c.touched = append(c.touched, slot)
	} else {
		c.settle(n, r.reason)
	}
	c.schedule(n)
}

// regate asks the gates about the node; the row stands.
func (c *class) regate(n *framework.NodeInfo) {
	final := c.rows[n.Slot()].reason
	for i := range c.gates {
		if c.gates[i].active {
			final = c.gates[i].renew(c, n, final)
		}
	}
	c.settle(n, final)
}

// settle records the node's final reason and scores it if need be. A node that
// is no longer feasible leaves the ranges and the tree.
func (c *class) settle(n *framework.NodeInfo, final int32) {
	slot := n.Slot()
	r := &c.rows[slot]
	was := r.final
	if was != final {
		c.count(was, -1)
		c.count(final, 1)
		r.final = final
		if was == feasible || final == feasible {
			c.feasibleVersion++
		}
	}
	switch {
	case final != feasible:
		c.leave(slot)
		c.put(slot, none)
	case !c.scored:
		c.put(slot, 0)
	case r.scoreStale || !r.inRange:
		c.score(n)
	}
}

// score renews the scores of a feasible node.
func (c *class) score(n *framework.NodeInfo) {
	slot := n.Slot()
	r := &c.rows[slot]
	if r.fixedStale {
		r.fixedScore = c.askScores(c.fixedScorers, n)
	}
	r.movingScore = c.askScores(c.movingScorers, n)
	columns := false
	for i := range c.columns {
		col := &c.columns[i]
		switch {
		case !col.active:
		case !local(col.scorer.Reads):
			// Its scorer is bound later in this decision; see column.refresh.
			col.touched = append(col.touched, slot)
			if !r.inRange {
				col.stale, c.retotal = true, true
			}
		case !col.fixed || r.fixedStale || !r.inRange:
			col.renew(c, n, r.inRange)
			columns = true
		}
	}
	r.fixedStale, r.scoreStale = false, false
	if c.retotal {
		if !r.inRange {
			c.put(slot, 0) // feasible; the total follows
		}
	} else {
		if columns {
			c.addColumns(slot)
		}
		c.put(slot, c.total(slot))
	}
	r.inRange = true
}

// askScores adds up the weighted scores of a node.
func (c *class) askScores(scorers []Scorer, n *framework.NodeInfo) (sum int64) {
	for i := range scorers {
		x := scorers[i].Scorer.Score(c.pod, n)
		if uint64(x) > uint64(framework.MaxNodeScore) {
			c.broken = true
		}
		sum += x * scorers[i].Weight
	}
	return sum
}

// leave takes a node that is no longer feasible out of all ranges.
func (c *class) leave(slot int) {
	r := &c.rows[slot]
	if !r.inRange {
		return
	}
	r.inRange = false
	for i := range c.columns {
		if c.columns[i].active {
			c.columns[i].drop(c, c.columns[i].raw[slot])
		}
	}
}

func (c *class) put(slot int, total int64) {
	place := int(c.order.place[slot])
	if c.building {
		c.tree.leaves[place] = total
		return
	}
	c.tree.set(place, total)
}

const maxPlace = int(^uint(0) >> 1)

// ask returns the first rejection among filters before the given place of the
// profile.
func (c *class) ask(filters []Filter, n *framework.NodeInfo, before int) int32 {
	for i := range filters {
		if filters[i].At > before {
			break
		}
		if status := filters[i].Filter.Filter(c.pod, n); !status.IsSuccess() {
			return c.reject(filters[i].At, status)
		}
	}
	return feasible
}

// place returns the profile's place of the filter behind a reason.
func (c *class) place(reason int32) int {
	if reason == feasible {
		return maxPlace
	}
	return c.reasons[reason].at
}

// reject returns the number of a reason, a new one if need be.
func (c *class) reject(at int, status framework.Status) int32 {
	if !status.IsRejected() {
		c.broken = true
	}
	for i := 1; i < len(c.reasons); i++ {
		if r := &c.reasons[i]; r.at == at && r.status.Same(status) {
			return int32(i)
		}
	}
	if len(c.reasons) == 0 {
		c.reasons = append(c.reasons, reason{at: maxPlace})
	}
	c.reasons = append(c.reasons, reason{at: at, status: status})
	return int32(len(c.reasons) - 1)
}

func (c *class) count(reason int32, by int) {
	if reason > feasible {
		c.counts++
		c.reasons[reason].nodes += by
	}
}

// schedule notes until when the row's answers hold.
func (c *class) schedule(n *framework.NodeInfo) {
	if !c.timed {
		return
	}
	var until time.Time
	note := func(v any, reads framework.Reads) {
		if reads&framework.ReadsTime == 0 {
			return
		}
		e, ok := v.(framework.Expirer)
		if !ok {
			c.broken = true
			return
		}
		t := e.ValidUntil(c.pod, n)
		if t.IsZero() {
			return
		}
		if until.IsZero() || t.Before(until) {
			until = t
		}
		if !t.After(c.now) {
			c.broken = true // it says that its answer does not hold even now
		}
	}
	for i := range c.filters {
		note(c.filters[i].Filter, c.filters[i].Reads)
	}
	for _, list := range [...][]Scorer{c.fixedScorers, c.movingScorers} {
		for i := range list {
			note(list[i].Scorer, list[i].Reads)
		}
	}
	for i := range c.columns {
		if local(c.columns[i].scorer.Reads) {
			note(c.columns[i].scorer.Scorer, c.columns[i].scorer.Reads)
		}
	}
	c.due.set(c.rows, n.Slot(), until)
}
