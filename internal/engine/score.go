package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// syncScores brings scores and totals up to date. It is called only while two
// nodes or more are feasible: with fewer, nothing is scored.
func (c *class) syncScores(src Source, live *framework.Cycle) bool {
	if !c.scored && !c.firstScores(src) {
		return false
	}
	if c.outsideScorers {
		scorers, ok := src.BindScorers(live, true, (*feasibleSet)(c))
		if !ok {
			return false
		}
		c.adoptOutside(scorers)
	}
	for i := range c.columns {
		if col := &c.columns[i]; !local(col.scorer.Reads) {
			col.refresh(c)
		}
	}
	if c.retotal {
		c.totals()
	}
	return true
}

// firstScores binds the scorers that are kept and scores every feasible node,
// one scorer after the other.
func (c *class) firstScores(src Source) bool {
	c.cycle.Reset(c.pod, c.snapshot, 0, 0)
	c.feasibleNodes()
	scorers, ok := src.BindScorers(&c.cycle, false, (*feasibleSet)(c))
	if !ok {
		return false
	}
	c.fixedScorers, c.movingScorers = c.fixedScorers[:0], c.movingScorers[:0]
	for i := range c.columns {
		c.columns[i].active = false
	}
	for _, s := range scorers {
		switch {
		case !local(s.Reads):
		case s.ByRange != nil || s.ByNodes != nil:
			c.adopt(s)
		case ofNode(s.Reads):
			c.fixedScorers = append(c.fixedScorers, s)
		default:
			c.movingScorers = append(c.movingScorers, s)
		}
	}
	c.timed = c.reads(framework.ReadsTime)
	if !c.fresh {
		for i := range c.rows {
			c.rows[i].fixedStale = true // also of nodes that become feasible later
		}
	}
	fixed, moving := c.sums(c.fixedScorers, 0), c.sums(c.movingScorers, 1)
	for k, n := range c.nodes {
		r := &c.rows[n.Slot()]
		r.fixedScore, r.movingScore = fixed[k], moving[k]
		r.inRange, r.fixedStale, r.scoreStale = true, false, false
	}
	for i := range c.columns {
		col := &c.columns[i]
		if !col.active {
			continue
		}
		col.stale = true // the range is found when all is scored
		if local(col.scorer.Reads) {
			for _, n := range c.nodes {
				col.raw[n.Slot()] = col.scorer.Scorer.Score(c.pod, n)
			}
		}
	}
	if c.timed {
		for _, n := range c.nodes {
			c.schedule(n)
		}
	}
	c.scored, c.retotal = true, true
	return true
}

// sums adds up the weighted scores of the feasible nodes, one scorer after the
// other, in one of two buffers.
func (c *class) sums(scorers []Scorer, buffer int) []int64 {
	sum := resize(c.buffers[buffer], len(c.nodes))[:len(c.nodes)]
	c.buffers[buffer] = sum
	clear(sum)
	for i := range scorers {
		scorer, weight := scorers[i].Scorer, scorers[i].Weight
		for k, n := range c.nodes {
			x := scorer.Score(c.pod, n)
			if uint64(x) > uint64(framework.MaxNodeScore) {
				c.broken = true
			}
			sum[k] += x * weight
		}
	}
	return sum
}

// adopt gives the scorer its column, a new one if need be.
func (c *class) adopt(s Scorer) *column {
	i := slices.IndexFunc(c.columns, func(col column) bool { return col.scorer.At == s.At })
	if i < 0 {
		i = len(c.columns)
		c.columns = slices.Grow(c.columns, 1)[:i+1] // with the memory of an earlier class
		c.columns[i].active = false
	}
	col := &c.columns[i]
	col.scorer, col.fixed = s, ofNode(s.Reads)
	col.grow(len(c.rows))
	if !col.active {
		col.active, col.known, col.stale, c.retotal = true, false, true, true
	}
	return col
}

// adoptOutside takes over the freshly bound scorers whose answers are not kept
// with the rows. One that was skipped this time takes no part.
func (c *class) adoptOutside(scorers []Scorer) {
	for i := range c.columns {
		col := &c.columns[i]
		if local(col.scorer.Reads) || !col.active {
			continue
		}
		if !slices.ContainsFunc(scorers, func(s Scorer) bool { return s.At == col.scorer.At }) {
			col.active, c.retotal = false, true
		}
	}
	for _, s := range scorers {
		if !local(s.Reads) {
			c.adopt(s)
		}
	}
}

// refresh renews the answers of a scorer that reads more than class and node:
// those that changed, or all.
func (col *column) refresh(c *class) {
	if !col.active {
		return
	}
	all := !col.known
	if tracker, ok := col.scorer.Scorer.(framework.DomainTracker); ok {
		version := tracker.Version()
		if !all && version != col.version {
			all = !tracker.Changed(col.version, func(slot int) { col.touched = append(col.touched, slot) })
		}
		col.version = version
	} else if col.scorer.Reads&(framework.ReadsDomain|framework.ReadsCluster) != 0 || col.feasible != c.feasibleVersion {
		all = true
	}
	col.known, col.feasible = true, c.feasibleVersion
	if !all {
		for _, slot := range col.touched {
			col.dirty(c, slot)
		}
		col.touched = col.touched[:0]
		return
	}
	col.touched = col.touched[:0]
	for _, slot := range c.order.slots {
		if c.rows[slot].inRange {
			col.raw[slot] = col.scorer.Scorer.Score(c.live, c.snapshot.AtSlot(slot))
		}
	}
	col.stale, c.retotal = true, true
}

// dirty renews one answer.
func (col *column) dirty(c *class, slot int) {
	if slot >= len(c.rows) || !c.rows[slot].inRange {
		return
	}
	col.renew(c, c.snapshot.AtSlot(slot), true)
	if !c.retotal {
		c.addColumns(slot)
		c.put(slot, c.total(slot))
	}
}

// totals adds up all totals again and builds the tree.
func (c *class) totals() {
	c.retotal = false
	for i := range c.columns {
		col := &c.columns[i]
		if !col.active {
			continue
		}
		if col.scorer.ByRange != nil && col.stale {
			col.rescan(c)
		}
		if col.scorer.ByNodes != nil {
			nodes := c.feasibleNodes()
			c.buffers[0] = resize(c.buffers[0], len(nodes))
			col.renormalize(c, nodes, c.buffers[0][:len(nodes)])
		}
	}
	for i := range c.rows {
		c.rows[i].columnScore = 0
	}
	for i := range c.columns {
		if c.columns[i].active {
			c.columns[i].addAll(c)
		}
	}
	for place, slot := range c.order.slots {
		if c.rows[slot].final == feasible {
			c.tree.leaves[place] = c.total(slot)
		} else {
			c.tree.leaves[place] = none
		}
	}
	c.tree.build()
}

// addAll adds the column to the totals of all feasible nodes. Neighbours in
// range often have the same raw score, and so the same normalized one.
func (col *column) addAll(c *class) {
	var last, x int64
	known := false
	for _, slot := range c.order.slots {
		r := &c.rows[slot]
		if r.final != feasible {
			continue
		}
		if raw := col.raw[slot]; !known || raw != last || col.scorer.ByRange == nil {
			known, last, x = true, raw, col.normalized(slot)
			if uint64(x) > uint64(framework.MaxNodeScore) {
				c.broken = true
			}
		}
		r.columnScore += x * col.scorer.Weight
	}
}

// feasibleNodes lists the feasible nodes in order. The list is valid until the
// next call.
func (c *class) feasibleNodes() []*framework.NodeInfo {
	c.nodes = c.nodes[:0]
	for _, slot := range c.order.slots {
		if c.rows[slot].final == feasible {
			c.nodes = append(c.nodes, c.snapshot.AtSlot(slot))
		}
	}
	return c.nodes
}

// feasibleSet shows the feasible nodes of a class.
type feasibleSet class

func (s *feasibleSet) List() []*framework.NodeInfo { return (*class)(s).feasibleNodes() }

func (s *feasibleSet) Groups(int) framework.FeasibleNodes { return s }

func (s *feasibleSet) Len() int { return int(s.tree.root().feasible) }

func (s *feasibleSet) Each(f func(node *framework.NodeInfo, nodes int)) {
	for _, n := range s.List() {
		f(n, 1)
	}
}
