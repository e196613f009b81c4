package engine

import "slices"

// How a class with a tree of its own follows its base and its gates.
//
// Invariant: see class; pending holds the nodes whose leaves are not their totals
// yet.

// gather lists the nodes that have to be looked at; false if all of them.
func (c *class) gather() bool {
	slots, ok := c.base.log.since(c.seen)
	c.seen = c.base.log.end()
	c.changed, c.touched, c.steady = slots, c.touched[:0], true
	for i := range c.gates {
		g := &c.gates[i]
		if !g.active || g.grouped {
			continue
		}
		c.steady = c.steady && ofNode(g.filter.Reads)
		ok = g.track(c) && ok
	}
	return ok
}

// updateAll looks at all nodes and builds the tree anew.
func (c *class) updateAll() {
	o := c.base.order
	c.tree.reset(len(o.slots), c.division.count, c.division.places)
	for i := range c.counts {
		clear(c.counts[i])
	}
	c.openAll()
	for i := range c.gates {
		if g := &c.gates[i]; g.grouped {
			g.known = false
		}
	}
	c.reasonsVersion++
	c.feasibleVersion++
	c.retotal = true
	c.building = true
	for _, slot := range o.slots {
		c.become(slot, c.verdict(slot))
	}
	c.building = false
	c.tree.build()
}

// openAll opens all groups, until syncGroups shuts some again.
func (c *class) openAll() {
	for i := range c.columns {
		c.columns[i].stale = true
	}
	if slices.ContainsFunc(c.shut, func(r int32) bool { return r != feasible }) {
		clear(c.shut)
		for i := range c.columns {
			c.columns[i].known = false // live scorers were not asked about nodes of shut groups
		}
	}
}

// updateTouched looks at the nodes that were gathered.
func (c *class) updateTouched() {
	c.warm()
	rows, places, follows := c.base.tree.leaves, c.base.order.place, c.follows()
	for _, slot := range c.changed {
		place := places[slot]
		switch passed := c.steady && c.tree.leaves[place] >= 0; {
		case !passed:
			c.become(slot, c.verdict(slot))
		case rows[place] < 0 || !c.scored:
			c.become(slot, row(rows[place]).reason()) // the gates let it pass, and still do
		default:
			if follows {
				c.enter(slot, true)
			}
			c.wait(slot)
		}
	}
	for _, slot := range c.touched {
		if c.base.order.has(slot) {
			c.become(slot, c.verdict(slot))
		}
	}
}

// follows reports whether a column has to know of nodes that stay feasible.
func (c *class) follows() bool {
	for i := range c.columns {
		if col := &c.columns[i]; col.active && !col.grouped && (col.kept < 0 || !c.base.kept[col.kept].fixed) {
			return true
		}
	}
	return false
}

// warm touches what looking at the nodes will read, as base.listDirty does.
func (c *class) warm() {
	if len(c.changed) < few {
		return
	}
	var x uint64
	for _, slot := range c.changed {
		place := c.base.order.place[slot]
		x += uint64(c.tree.leaves[place]) + uint64(c.tree.row(0, int(place)>>fanBits)[0].best)
	}
	c.sink = x
}

// become sets the node's own reason. A node that is no longer feasible leaves
// the columns and the tree.
func (c *class) become(slot int32, now int32) {
	was := c.own(slot)
	switch {
	case c.building:
		c.count(slot, now, 1)
	case was != now:
		c.count(slot, was, -1)
		c.count(slot, now, 1)
		c.reasonsVersion++
		if was == feasible || now == feasible {
			c.feasibleVersion++
		}
	}
	switch {
	case now != feasible:
		if was == feasible && c.scored {
			c.leave(slot)
		}
		c.put(slot, ^now)
	case !c.scored:
		c.put(slot, 0)
	default:
		c.enter(slot, was == feasible)
		if was != feasible || c.building {
			c.put(slot, 0) // feasible; the total follows
		}
		c.wait(slot)
	}
}

// own is the own reason of a node, feasible where it was never evaluated.
func (c *class) own(slot int32) int32 {
	return row(c.tree.leaves[c.base.order.place[slot]]).reason()
}

// wait notes that the total of the node has to be added up. While nothing is
// scored the list must not grow forever.
func (c *class) wait(slot int32) {
	if len(c.pending) > len(c.tree.leaves) {
		c.pending, c.retotal = c.pending[:0], true
	}
	c.pending = append(c.pending, slot)
}
