package engine

import "github.com/berth-sched/berth/internal/engine/tree"

// How a class adds up totals, and when it shares a tree of its base.
//
// Invariant: while the class shares, leaves and levels of its tree are those of the
// base's tree, which is indexed, or those of a grouping; offset and shut are its own.

// totals hold what a class knows of each node.
type totals struct {
	tree    tree.Tree
	counts  [][]int32 // own reasons by reason and group; while sharing, the base counts
	todo    todo
	pending []int32 // slots whose totals must be added up
}

// A todo says which totals must be added up.
type todo uint8

const (
	pendingTotals todo = iota // those of pending, and of nodes whose scores moved
	allTotals
	rebuilding // all; leaves are written directly, and the tree is built afterwards
)

// need makes sure that at least so many totals are added up.
func (t *totals) need(what todo) { t.todo = max(t.todo, what) }

// postpone notes that the total of the node must be added up. While nothing is scored the
// list must not grow forever.
func (t *totals) postpone(slot int32) {
	if len(t.pending) > len(t.tree.Leaves) {
		t.pending = t.pending[:0]
		t.need(allTotals)
	}
	t.pending = append(t.pending, slot)
}

// firstScores takes over the scores of the base.
func (c *class) firstScores() {
	c.columns.rest()
	c.base.evaluated += int64(2 * len(c.order().Slots))
	for i := range c.base.plugins.normalized {
		c.columns.adopt(c, &c.base.plugins.normalized[i].scorer, i)
	}
	c.state = totaled
	c.totals.need(allTotals)
	c.totals.pending = c.totals.pending[:0]
	for _, slot := range c.order().Slots {
		if c.ownReason(slot) == feasible {
			c.columns.enter(c, slot)
		}
	}
}

// finish normalizes what changed and adds up the totals that changed with it.
//
// Invariant (afterwards): a leaf is class.total of its node, no column is stale, and
// nothing is pending.
func (c *class) finish() {
	t := &c.totals
	clear(t.tree.Offset)
	moved := len(t.pending) + c.columns.normalize(c)
	c.base.walked += int64(moved)
	if !c.usable() {
		return
	}
	c.chooseTree()
	switch {
	case c.shares():
		for g := range t.tree.Offset {
			t.tree.Offset[g] += c.columns.constant
		}
		if c.grouping != nil {
			c.grouping.raise(c)
			c.base.guess.learn(c)
		}
	case t.todo >= allTotals || moved > len(c.order().Slots)/8:
		c.addUpAll()
	default:
		c.addUpMoved()
	}
	c.columns.settled()
	t.pending, t.todo = t.pending[:0], pendingTotals
	if c.shares() && c.grouping == nil && !c.gates.live() && !c.columns.live() {
		c.state = idle
	}
}

// total adds up the weighted, normalized scores of a node, but for those of its group.
func (c *class) total(slot int32) int32 {
	t := int64(c.base.rows.of(slot)) + c.columns.constant
	for _, i := range c.columns.varying {
		t += c.columns.list[i].score(slot)
	}
	for _, i := range c.columns.excepting {
		t += c.columns.list[i].score(slot)
	}
	return int32(t)
}

// totalsInTree reports whether the tree has all totals as they are.
func (c *class) totalsInTree() bool { return c.grouping == nil || c.grouping.headroom == 0 }

// totalAt is the total of the node at a place, tree.None if it is not feasible.
func (c *class) totalAt(place int) int32 {
	x := c.totals.tree.Total(place)
	if g := c.grouping; x >= 0 && !c.totalsInTree() {
		slot := c.order().Slots[place]
		x += c.columns.excess(slot) - g.raised[slot]
	}
	return x
}

// addUpAll adds up all totals and builds the tree.
func (c *class) addUpAll() {
	leaves := c.totals.tree.Leaves
	c.base.walked += int64(len(leaves))
	for place, slot := range c.order().Slots {
		if leaves[place] >= 0 {
			leaves[place] = c.total(slot)
		}
	}
	c.totals.tree.Build()
}

// addUpMoved adds up the totals of nodes that changed or whose normalized scores did.
func (c *class) addUpMoved() {
	c.columns.addUpMoved()
	places, t := c.order().Place, &c.totals.tree
	for _, slot := range c.totals.pending {
		if place := int(places[slot]); place >= 0 && t.Leaves[place] >= 0 {
			t.Set(place, c.total(slot))
		}
	}
}

// addUp adds up the total of a node, if it is feasible and still there.
func (c *class) addUp(slot int32) {
	if place := int(c.order().Place[slot]); place >= 0 && c.totals.tree.Leaves[place] >= 0 {
		c.totals.tree.Set(place, c.total(slot))
	}
}

// mayShare reports whether nothing but the base, groups and exceptions to them tells nodes
// apart, as far as is known before scores are normalized.
func (c *class) mayShare() bool {
	return c.state >= totaled && c.base.state == scored && c.groups.division != nil &&
		!c.columns.follow(c.base) && c.gatesShare()
}

// gatesShare reports whether nothing but the base and groups tells apart which nodes are
// feasible.
func (c *class) gatesShare() bool { return !c.gates.perNode() && len(c.overrides.list) == 0 }

// scoreBase scores the base of a blank class without live plugins before the class looks at
// any node, so it may share at once. Otherwise scores wait for the verdicts of the class.
func (c *class) scoreBase() {
	if c.base.state != filtered || c.ask.liveFilters || c.ask.liveScorers || !c.gatesShare() {
		return
	}
	if shown := c.base.firstTwo(); shown.count == len(shown.nodes) {
		c.base.bindScores(c.ask.source, shown) // if this fails, syncScores meets it again
	}
}

// mayStart reports whether a blank class may share at once, without a look at any node:
// each kept scorer that normalizes has one raw score for all nodes.
func (c *class) mayStart() bool {
	if c.base.state != scored || !c.gatesShare() {
		return false
	}
	for i := range c.base.plugins.normalized {
		if l := &c.base.plugins.normalized[i]; !l.same || !l.nodeOnly || l.scorer.ByRange == nil || l.scorer.Except != nil {
			return false
		}
	}
	return true
}

// start makes a blank class ready to share.
func (c *class) start() {
	c.columns.rest()
	c.base.evaluated += int64(2 * len(c.order().Slots))
	for i := range c.base.plugins.normalized {
		l := &c.base.plugins.normalized[i]
		c.columns.adopt(c, &l.scorer, i)
		c.columns.of(l.scorer.At).scores.(*valueScores).start(l.value)
	}
	c.totals.pending = c.totals.pending[:0]
	c.share()
}

// shareAfter is in how many decisions in a row a class must have been able to share a
// tree, once it could not, before it does again: to cease costs a look at every node.
const shareAfter = 8

// chooseTree gives the class the tree that fits, after scores are normalized.
func (c *class) chooseTree() {
	share := len(c.columns.varying) == 0 && c.mayShare()
	switch {
	case share && c.shares():
		if g := c.grouping; g == nil && c.columns.headroom() > 0 || g != nil && g.headroom != c.columns.headroom() {
			c.join() // there are exceptions now, or no longer
		}
	case share:
		if c.shareable++; c.shareable > shareAfter {
			c.share()
		}
	case c.shares():
		c.unshare()
		c.recount()
		c.totals.need(allTotals)
	default:
		c.shareable = 0
	}
}

// share makes the class ask a tree of its base.
func (c *class) share() {
	c.base.rows.follow()
	c.state, c.shownAs.version = sharing, 0
	c.at.flips, c.at.log = c.base.rows.flips, c.base.rows.flipLog.End()
	c.join()
}

// join finds the tree of the base that a class that shares has to ask, and brings it up to
// date.
func (c *class) join() {
	t, d, b := &c.totals.tree, c.groups.division, c.base
	c.grouping = nil
	if headroom := c.columns.headroom(); d.count == 1 && headroom == 0 {
		b.rows.index()
		t.Share(&b.rows.tree)
	} else {
		c.grouping = b.grouped.find(b, d, headroom)
		t.Share(&c.grouping.tree)
	}
	for g, reason := range c.groups.shut {
		t.Shut[g] = reason != feasible
	}
}

// unshare gives the class a tree of its own with the base's leaves. Nothing else of it
// is right yet, and neither is counts.
func (c *class) unshare() {
	c.totals.tree.Own(len(c.order().Slots), &c.base.rows.tree)
	c.state, c.shareable, c.grouping = totaled, 0, nil
	c.at.rows, c.totals.pending = c.base.log.End(), c.totals.pending[:0]
}

// recount counts the own reasons.
func (c *class) recount() {
	for i := range c.totals.counts {
		clear(c.totals.counts[i])
	}
	for _, slot := range c.order().Slots {
		c.count(slot, c.ownReason(slot), 1)
	}
}

// followFlips brings a class that shares up to date with nodes that became feasible or
// ceased to be; false if the base no longer knows which.
func (c *class) followFlips() bool {
	r := &c.base.rows
	if c.at.flips == r.flips {
		return true
	}
	if c.grouping != nil {
		c.join() // columns look at all nodes that are feasible now
	}
	slots, ok := r.flipLog.Since(c.at.log)
	c.at.flips, c.at.log = r.flips, r.flipLog.End()
	c.versions.reasons++
	if len(slots) > 0 || !ok {
		c.versions.feasible++
	}
	if len(c.columns.list) == 0 {
		return ok
	}
	for _, slot := range slots {
		if r.of(slot) >= 0 {
			c.columns.enter(c, slot)
		} else {
			c.columns.leave(slot)
		}
	}
	return ok
}
