package engine

import (
	"math"

	"github.com/berth-sched/berth/framework"
)

// finish normalizes what changed and adds up the totals that changed with it.
//
// Invariant (afterwards): a leaf is class.total of its node, no column is stale,
// and nothing is pending. While the class is calm, it shares the tree of its base
// and nothing live takes part: until a row turns, the base moves, or a live plugin
// has something to do, it stands as it is.
func (c *class) finish() {
	clear(c.tree.offset)
	moved := len(c.pending)
	for i := range c.columns {
		col := &c.columns[i]
		switch {
		case !col.active:
		case col.grouped:
			col.share(c)
		case col.scorer.ByRange != nil:
			if col.stale {
				n, ok := col.buckets.settle(col.scorer.ByRange, c.shut)
				moved += n
				c.broken = c.broken || !ok
			}
			col.stale = false
		case col.scorer.ByNodes != nil && (col.stale || c.retotal):
			col.renormalize(c)
			col.stale, c.retotal = false, true
		}
	}
	c.simplify()
	c.settle()
	if c.shared {
		c.tree.offset[0] += c.constant
	} else if c.retotal || moved > len(c.base.order.slots)/8 {
		c.totals()
	} else {
		c.totalsOfMoved()
	}
	for i := range c.columns {
		if col := &c.columns[i]; col.active && col.byValue() {
			col.buckets.settled()
		}
	}
	c.pending, c.retotal = c.pending[:0], false
	c.calm = c.shared && !c.lively()
}

// lively reports whether a gate or a live column takes part.
func (c *class) lively() bool {
	for i := range c.gates {
		if c.gates[i].active {
			return true
		}
	}
	for i := range c.columns {
		if col := &c.columns[i]; col.active && col.kept < 0 {
			return true
		}
	}
	return false
}

// share adds to the offset of each group what its nodes get.
func (col *column) share(c *class) {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for g := range c.shut {
		if c.tree.feasibleIn(g) > 0 && !col.out[g] {
			low, high = min(low, col.values[g]), max(high, col.values[g])
		}
	}
	for g := range c.shut {
		if c.tree.feasibleIn(g) == 0 || col.out[g] {
			continue
		}
		x := col.values[g]
		if col.scorer.ByRange != nil {
			x = col.scorer.ByRange.NormalizeScore(x, low, high)
		}
		if uint64(x) > uint64(framework.MaxNodeScore) {
			c.broken = true
		}
		c.tree.offset[g] += x * col.scorer.Weight
	}
}

// renormalize asks the scorer's own normalization about all feasible nodes.
func (col *column) renormalize(c *class) {
	nodes := c.feasibleNodes()
	c.scores = resize(c.scores, len(nodes))
	scores := c.scores[:len(nodes)]
	raw := col.raw
	if col.kept >= 0 {
		raw = c.base.kept[col.kept].raw
	}
	for i, n := range nodes {
		scores[i] = raw[n.Slot()]
	}
	col.scorer.ByNodes.NormalizeScores(nodes, scores)
	for i, n := range nodes {
		if uint64(scores[i]) > uint64(framework.MaxNodeScore) {
			c.broken = true
		}
		col.norm[n.Slot()] = scores[i]
	}
}

// simplify tells the columns in which all nodes have one score from the others.
func (c *class) simplify() {
	c.constant, c.varying = 0, c.varying[:0]
	for i := range c.columns {
		col := &c.columns[i]
		if !col.active || col.grouped {
			continue
		}
		if col.byValue() {
			if norm, ok := col.buckets.constant(); ok {
				c.constant += norm * col.scorer.Weight
				continue
			}
		}
		c.varying = append(c.varying, i)
	}
}

// total adds up the weighted, normalized scores of a node, but for those of its
// group.
func (c *class) total(slot int32) int32 {
	t := int64(c.base.row(slot)) + c.constant
	for _, i := range c.varying {
		t += c.columns[i].score(slot)
	}
	return int32(t)
}

// totals adds up all totals and builds the tree.
func (c *class) totals() {
	for place, slot := range c.base.order.slots {
		if c.tree.leaves[place] >= 0 {
			c.tree.leaves[place] = c.total(slot)
		}
	}
	c.tree.build()
}

// totalsOfMoved adds up the totals of nodes that changed or whose normalized
// scores did.
func (c *class) totalsOfMoved() {
	places := c.base.order.place
	add := func(slot int32) {
		if place := int(places[slot]); place >= 0 && c.tree.leaves[place] >= 0 {
			c.tree.set(place, c.total(slot))
		}
	}
	for i := range c.columns {
		if col := &c.columns[i]; col.active && col.byValue() {
			col.buckets.eachMoved(add)
		}
	}
	for _, slot := range c.pending {
		add(slot)
	}
}
