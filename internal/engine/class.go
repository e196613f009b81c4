package engine

import (
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// A class keeps the answers for all pods with one key.
//
//	base     by slot           verdicts and scores by plugins that read one node; shared
//	gates    by slot or group  verdicts of the other filters
//	columns  by slot or group  raw scores that are normalized, or not kept in rows
//	tree     by place          totals of feasible nodes
//
// Where live plugins cannot tell the nodes of a topology domain apart, the
// nodes are divided into groups, and those plugins are asked about one node of
// each: their verdicts shut a group of the tree, and their scores are its offset.
//
// Invariant (after sync): the own reason of a node is its first rejection by its
// row and by gates that tell nodes apart, and shut[g] the first of group g by
// gates that do not; of the two, the one that comes first in the profile is
// final. The leaf of a place is the total of its node, or, if its own reason is
// not feasible, the complement of that. counts[i][g] is how many nodes of group g have
// the own reason i.
type class struct {
	key    string
	number int // see Ref
	base   *base
	live   *framework.PodInfo // the pod of this decision
	epoch  uint64             // of the base
	seen   uint64             // entries of the base's log

	outsideFilters, outsideScorers bool // see Source.Outside

	counts   [][]int32
	division *division // nil when it has to be found
	shut     []int32   // by group
	gates    []gate
	columns  []column
	tree     tree
	scored   bool    // all totals are right but for pending ones
	changed  []int32 // slots whose rows were evaluated
	touched  []int32 // slots that the gates have to be asked about
	steady   bool    // no gate reads the pods of the node that it is asked about
	pending  []int32 // slots whose totals have to be added up
	constant int64   // what columns add to every total
	varying  []int   // columns that add something else for each node

	touch    func(slot int) // appends to touched
	dirty    func(slot int) // appends to tracking.touched
	tracking *column

	feasibleVersion uint64 // counts changes of the set of feasible nodes
	reasonsVersion  uint64 // counts changes of the nodes' final reasons
	failure         any    // what the caller keeps while reasonsVersion stays failed
	failed          uint64

	nodes  []*framework.NodeInfo
	scores []int64
	groups []framework.Groups
	used   uint64 // engine clock of the last use
	bytes  int

	shared    bool   // the tree is the base's, see share.go
	calm      bool   // see finish
	alike     int    // decisions in a row in which it could have been
	turned    uint64 // of the base
	turnsSeen uint64 // entries of the base's turns

	sink     uint64 // see warm
	building bool   // totals go to leaves only; the tree is built afterwards
	broken   bool   // a plugin broke its bounds: take the plain road
	declined bool   // a live PreFilter rejected the pod of this decision; the class is as it was
	retotal  bool   // all totals have to be added up again
}

func newClass() *class {
	c := new(class)
	c.touch = func(slot int) { c.touched = append(c.touched, int32(slot)) }
	c.dirty = func(slot int) { c.tracking.touched = append(c.tracking.touched, int32(slot)) }
	return c
}

// reset makes an empty class over a base.
func (c *class) reset(b *base) {
	c.base, c.epoch, c.division = b, 0, nil
	c.gates, c.columns = c.gates[:0], c.columns[:0]
	c.scored, c.broken, c.failure = false, false, nil
	if c.shared {
		c.tree, c.shared = tree{}, false
	}
}

// sync brings the class up to date with its base, which is up to date with the
// snapshot. live is the cycle of this decision.
func (c *class) sync(src Source, l *divisions, live *framework.Cycle) bool {
	c.live = live.Pod
	c.outsideFilters, c.outsideScorers = src.Outside()
	all := c.epoch != c.base.epoch
	c.calm = c.calm && !all && c.turned == c.base.turned
	if all || c.shared && !c.followTurns() {
		c.restart()
		all = true
	}
	if c.calm && src.Idle(live) {
		return true
	}
	var gates []Filter
	if c.outsideFilters {
		var ok bool
		if gates, ok = src.BindFilters(live, true); !ok {
			c.declined = true
			return false
		}
	}
	if c.calm = c.calm && len(gates) == 0; !c.calm && !c.syncVerdicts(l, gates, all) {
		return false
	}
	if c.tree.feasible() > 1 && !c.syncScores(src, l, live) {
		return false
	}
	return !c.broken && !c.base.broken
}

// syncVerdicts brings the reasons up to date, with freshly bound filters; all
// tells that none are known.
func (c *class) syncVerdicts(l *divisions, filters []Filter, all bool) bool {
	all = c.adoptGates(filters) || all
	if c.shared && (all || !c.sharing()) {
		c.unshare()
		all = true
	}
	if c.division == nil || c.gatesWant() {
		c.divide(l)
		all = true
	}
	if !c.shared {
		if all = !c.gather() || all; all {
			c.updateAll()
		} else {
			c.updateTouched()
		}
	}
	c.syncGroups()
	return !c.broken && !c.base.broken
}

// restart forgets what belongs to another snapshot or to other nodes.
func (c *class) restart() {
	c.epoch, c.division, c.scored = c.base.epoch, nil, false
	c.seen = c.base.log.end()
	c.pending = c.pending[:0]
	for i := range c.gates {
		c.gates[i].known = false // a tracker knows one snapshot, and the same nodes
	}
	for i := range c.columns {
		c.columns[i].active = false
	}
	if c.shared {
		c.tree, c.shared = tree{}, false
	}
	c.alike = 0
	c.tree.empty()
}

// divide divides the nodes by the groups of gates and columns, as far as there
// are not too many. Everything by group has to be found anew.
func (c *class) divide(l *divisions) {
	o := c.base.order
	c.groups = c.groups[:0]
	c.division = l.find(o, nil)
	add := func(g framework.Groups) {
		if g.Count <= 1 || c.division.knows(g) {
			return
		}
		c.groups = append(c.groups, g)
		if finer := l.find(o, c.groups); finer != nil {
			c.division = finer
		} else {
			c.groups = c.groups[:len(c.groups)-1]
		}
	}
	for i := range c.gates {
		if g := &c.gates[i]; g.active {
			add(g.groups)
		}
	}
	for i := range c.columns {
		if col := &c.columns[i]; col.active {
			add(col.groups)
		}
	}
	for i := range c.gates {
		c.gates[i].divided(c.division)
	}
	for i := range c.columns {
		c.columns[i].divided(c)
	}
	c.openAll()
	c.shut = append(c.shut[:0], make([]int32, c.division.count)...)
	for i := range c.counts {
		c.counts[i] = append(c.counts[i][:0], c.shut...)
	}
}

// verdict is the first rejection of the node by its row and by gates that tell
// nodes apart.
func (c *class) verdict(slot int32) int32 {
	first := c.base.row(slot).reason()
	for i := range c.gates {
		g := &c.gates[i]
		if !g.active || g.grouped || c.base.reasons.list[first].at < g.filter.At {
			continue
		}
		if status := g.filter.Filter.Filter(c.live, c.base.snapshot.AtSlot(int(slot))); !status.IsSuccess() {
			first = c.base.reject(g.filter.At, status)
		}
	}
	return first
}

// count counts the node among those with the own reason.
func (c *class) count(slot int32, reason, by int32) {
	if reason <= feasible {
		return
	}
	for len(c.counts) <= int(reason) {
		c.counts = append(c.counts, make([]int32, c.division.count))
	}
	c.counts[reason][c.division.of[slot]] += by
}

// counted is how many nodes of a group have the own reason.
func (c *class) counted(reason, group int) int {
	switch {
	case c.shared && reason < len(c.base.counts):
		return int(c.base.counts[reason])
	case !c.shared && reason < len(c.counts):
		return int(c.counts[reason][group])
	}
	return 0
}

// final is the reason that decides about a node with the own reason in the
// group: the one that comes first in the profile.
func (c *class) final(own int32, group int) int32 {
	shut := c.shut[group]
	if shut == feasible || own != feasible && c.base.reasons.list[own].at < c.base.reasons.list[shut].at {
		return own
	}
	return shut
}

// put changes the leaf of a node.
func (c *class) put(slot int32, total int32) {
	place := int(c.base.order.place[slot])
	if c.building {
		c.tree.leaves[place] = total
		return
	}
	c.tree.set(place, total)
}

// isFeasible reports whether the node is feasible.
func (c *class) isFeasible(slot int32) bool {
	return c.own(slot) == feasible && c.shut[c.division.of[slot]] == feasible
}

// feasibleNodes lists the feasible nodes in order. The list is valid until the
// next call.
func (c *class) feasibleNodes() []*framework.NodeInfo {
	c.nodes = c.nodes[:0]
	for _, slot := range c.base.order.slots {
		if c.isFeasible(slot) {
			c.nodes = append(c.nodes, c.base.snapshot.AtSlot(int(slot)))
		}
	}
	return c.nodes
}

// size is the memory that the class holds, but for what it shares.
func (c *class) size() int {
	n := int(unsafe.Sizeof(*c)) + len(c.key)
	if !c.shared {
		n += c.tree.bytes()
	}
	n += 4*(cap(c.touched)+cap(c.pending)+cap(c.shut)) + 8*(cap(c.nodes)+cap(c.scores))
	for i := range c.counts {
		n += 24 + 4*cap(c.counts[i])
	}
	for i := range c.columns {
		n += c.columns[i].size()
	}
	return n
}
