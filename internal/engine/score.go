package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// syncScores brings scores and totals up to date. It is called only while two
// nodes or more are feasible: with fewer, nothing is scored.
//
// Invariant (afterwards): the tree has the total of every feasible node, and the
// class is calm if the next decision can do without all this, see finish.
func (c *class) syncScores(src Source, l *divisions, live *framework.Cycle) bool {
	if !c.base.scored && !c.base.bindScores(src, (*feasibleSet)(c)) {
		return false
	}
	if !c.scored {
		c.firstScores()
	}
	var scorers []Scorer
	if c.outsideScorers {
		var ok bool
		if scorers, ok = src.BindScorers(live, true, (*feasibleSet)(c)); !ok {
			return false
		}
	}
	if c.calm = c.calm && len(scorers) == 0; c.calm {
		return true
	}
	c.adoptLive(scorers)
	if c.division == nil || c.columnsWant() {
		if c.shared {
			c.unshare()
		}
		c.divide(l)
		c.updateAll()
		c.syncGroups()
	}
	for i := range c.columns {
		if col := &c.columns[i]; col.active && col.kept < 0 {
			col.refresh(c)
		}
	}
	c.finish()
	return true
}

// firstScores takes over the scores of the base.
func (c *class) firstScores() {
	for i := range c.columns {
		c.columns[i].active = false
	}
	for i := range c.base.kept {
		c.adopt(c.base.kept[i].scorer, i)
	}
	c.scored, c.retotal = true, true
	c.pending = c.pending[:0]
	for _, slot := range c.base.order.slots {
		if c.own(slot) == feasible {
			c.enter(slot, false)
		}
	}
}

// adoptLive takes over the freshly bound live scorers. One that was skipped
// this time takes no part.
func (c *class) adoptLive(scorers []Scorer) {
	for i := range c.columns {
		col := &c.columns[i]
		if col.kept >= 0 || !col.active {
			continue
		}
		if !slices.ContainsFunc(scorers, func(s Scorer) bool { return s.At == col.scorer.At }) {
			col.active, c.retotal = false, true
		}
	}
	for _, s := range scorers {
		c.adopt(s, -1)
	}
}

// enter brings the columns up to date with a feasible node that changed; was
// tells whether it was feasible before.
func (c *class) enter(slot int32, was bool) {
	for i := range c.columns {
		if col := &c.columns[i]; col.active {
			col.enter(c, slot, was)
		}
	}
}

// leave takes a node that is no longer feasible out of the columns.
func (c *class) leave(slot int32) {
	for i := range c.columns {
		if col := &c.columns[i]; col.active {
			col.leave(slot)
		}
	}
}

// refresh renews the raw scores of a live scorer: those that changed, or all.
func (col *column) refresh(c *class) {
	all := col.changed(c) || !col.known
	switch {
	case col.grouped:
		// A group that had no feasible node may have one now.
		if all || col.since != c.feasibleVersion {
			col.askGroups(c)
		}
	case all:
		for _, slot := range c.base.order.slots {
			if c.isFeasible(slot) {
				col.ask(c, slot)
			}
		}
		col.stale, c.retotal = true, true
	default:
		for _, slot := range col.touched {
			if c.base.order.has(slot) && c.isFeasible(slot) {
				col.ask(c, slot)
				c.wait(slot)
			}
		}
	}
	col.known, col.since, col.touched = true, c.feasibleVersion, col.touched[:0]
	col.objects, col.now = c.base.snapshot.Objects(), c.base.snapshot.Now()
}

// changed asks the scorer which nodes' answers changed since the last decision,
// and reports whether all may have.
func (col *column) changed(c *class) bool {
	tracker, ok := col.scorer.Scorer.(framework.DomainTracker)
	if !ok {
		reads, s := col.scorer.Reads, c.base.snapshot
		return reads&(framework.ReadsDomain|framework.ReadsCluster) != 0 || col.since != c.feasibleVersion ||
			reads&framework.ReadsObjects != 0 && col.objects != s.Objects() ||
			reads&framework.ReadsTime != 0 && !col.now.Equal(s.Now())
	}
	version := tracker.Version()
	was := col.version
	col.version = version
	if !col.known || version == was {
		return false
	}
	if col.grouped {
		return true
	}
	c.tracking = col
	return !tracker.Changed(was, c.dirty)
}

// ask asks the scorer about a feasible node.
func (col *column) ask(c *class, slot int32) {
	raw := col.scorer.Scorer.Score(c.live, c.base.snapshot.AtSlot(int(slot)))
	if col.scorer.ByRange != nil {
		col.place(c, slot, raw)
		return
	}
	if col.scorer.ByNodes == nil && uint64(raw) > uint64(framework.MaxNodeScore) {
		c.broken = true
	}
	col.raw[slot], col.stale = raw, true
}

// askGroups asks the scorer about one node of every group that has feasible
// nodes.
func (col *column) askGroups(c *class) {
	groups := c.division.count
	col.values, col.out = resize(col.values, groups), resize(col.out, groups)
	for g := range groups {
		if c.tree.feasibleIn(g) > 0 {
			slot := c.division.slots[g][0]
			col.values[g] = col.scorer.Scorer.Score(c.live, c.base.snapshot.AtSlot(int(slot)))
			col.out[g] = col.excludes(c, slot)
		}
	}
}
