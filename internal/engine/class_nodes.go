package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// How a class with a tree of its own follows the nodes of its base, and how it shuts
// groups.

// gather lists the nodes that must be looked at; false if all must.
func (c *class) gather() bool {
	_, ok := c.base.log.Since(c.at.rows)
	return c.gates.track(&c.ask, c.anchored()) && ok
}

// anchored is in how many nodes an anchor may differ: beyond that, it saves little.
func (c *class) anchored() int { return len(c.order().Slots) / 2 }

// updateAll looks at all nodes and builds the tree anew.
func (c *class) updateAll() {
	o, t := c.order(), &c.totals
	c.base.evaluated += int64(2*refreshCost + 3*len(o.Slots)) // one and a half for each
	c.at.rows = c.base.log.End()
	t.tree.Reset(len(o.Slots), c.groups.division.count, c.groups.division.places)
	for i := range t.counts {
		clear(t.counts[i])
	}
	c.forgetGroups()
	t.todo = rebuilding
	c.overrides.changed = c.overrides.changed[:0]
	for _, slot := range o.Slots {
		c.update(slot, c.verdict(slot))
	}
	t.todo = allTotals
	t.tree.Build()
}

// forgetGroups makes what is known of groups unknown.
func (c *class) forgetGroups() {
	c.openAll()
	c.gates.forgetGroups()
	c.versions.reasons++
	c.versions.feasible++
}

// openAll opens all groups, until syncGroups shuts some again.
func (c *class) openAll() {
	shut := slices.ContainsFunc(c.groups.shut, func(r int32) bool { return r != feasible })
	for i := range c.columns.list {
		col := &c.columns.list[i]
		col.stale = true
		if shut {
			col.role.forget() // live scorers were not asked about nodes of shut groups
		}
	}
	clear(c.groups.shut)
}

// updateTouched looks at the nodes that were gathered.
func (c *class) updateTouched() {
	changed, _ := c.base.log.Since(c.at.rows)
	c.at.rows = c.base.log.End()
	c.base.evaluated += int64(len(changed))
	rows, places, follow := &c.base.rows, c.order().Place, c.columns.follow(c.base)
	for _, slot := range changed {
		place := places[slot]
		switch passed := c.gates.nodeOnly && c.totals.tree.Leaves[place] >= 0; {
		case !passed:
			c.update(slot, c.verdict(slot))
		case rows.tree.Leaves[place] < 0 || c.state < totaled:
			c.update(slot, rows.of(slot).reason()) // the gates let it pass, and still do
		default:
			if follow {
				c.columns.stay(c, slot)
			}
			c.totals.postpone(slot)
		}
	}
	for _, list := range [...][]int32{c.gates.touched, c.overrides.changed} {
		for _, slot := range list {
			if c.order().Has(slot) {
				c.update(slot, c.verdict(slot))
			}
		}
	}
	c.overrides.changed = c.overrides.changed[:0]
}

// verdict is the override of the node, or its first rejection by its row and by gates
// that tell nodes apart.
func (c *class) verdict(slot int32) int32 {
	if reason, ok := c.overrides.of(slot); ok {
		return reason
	}
	return c.gates.verdict(c, slot, c.base.rows.of(slot).reason())
}

// update sets the node's own reason. A node that is no longer feasible leaves the
// columns and the tree.
func (c *class) update(slot int32, now int32) {
	was, t := c.ownReason(slot), &c.totals
	switch {
	case t.todo == rebuilding:
		c.count(slot, now, 1)
	case was != now:
		c.count(slot, was, -1)
		c.count(slot, now, 1)
		c.versions.reasons++
		if was == feasible || now == feasible {
			c.versions.feasible++
		}
	}
	switch {
	case now != feasible:
		if was == feasible && c.state >= totaled {
			c.columns.leave(slot)
		}
		c.put(slot, ^now)
	case c.state < totaled:
		c.put(slot, 0)
	default:
		if was == feasible {
			c.columns.stay(c, slot)
		} else {
			c.columns.enter(c, slot)
		}
		if was != feasible || t.todo == rebuilding {
			c.put(slot, 0) // feasible; the total follows
		}
		t.postpone(slot)
	}
}

// ownReason is the own reason of a node, feasible if it was never evaluated.
func (c *class) ownReason(slot int32) int32 {
	return row(c.totals.tree.Leaves[c.order().Place[slot]]).reason()
}

// put changes the leaf of a node.
func (c *class) put(slot int32, leaf int32) {
	place := int(c.order().Place[slot])
	if c.totals.todo == rebuilding {
		c.totals.tree.Leaves[place] = leaf
		return
	}
	c.totals.tree.Set(place, leaf)
}

// count counts the node among those with the own reason.
func (c *class) count(slot int32, reason, by int32) {
	if reason <= feasible {
		return
	}
	t, d := &c.totals, c.groups.division
	for len(t.counts) <= int(reason) {
		t.counts = append(t.counts, make([]int32, d.count))
	}
	t.counts[reason][d.of[slot]] += by
}

// counted is how many nodes of a group have the own reason.
func (c *class) counted(reason, group int) int {
	switch {
	case c.grouping != nil:
		return c.grouping.counted(reason, group)
	case c.shares() && reason < len(c.base.rows.counts):
		return int(c.base.rows.counts[reason])
	case !c.shares() && reason < len(c.totals.counts):
		return int(c.totals.counts[reason][group])
	}
	return 0
}

// finalReason is the reason that decides about a node of the group with the own reason: an
// override, or the one that comes first in the profile.
func (c *class) finalReason(own int32, group int) int32 {
	shut, list := c.groups.shut[group], c.base.reasons.list
	if shut == feasible || own != feasible && (list[own].overrides || list[own].at < list[shut].at) {
		return own
	}
	return shut
}

// isFeasible reports whether the node is feasible.
func (c *class) isFeasible(slot int32) bool {
	return c.ownReason(slot) == feasible && c.groups.shut[c.groups.division.of[slot]] == feasible
}

// feasibleNodes lists the feasible nodes in order. The list is valid until the next
// call.
func (c *class) feasibleNodes() []*framework.NodeInfo {
	nodes := c.base.feasible[:0]
	c.base.walked += int64(len(c.order().Slots))
	for _, slot := range c.order().Slots {
		if c.isFeasible(slot) {
			nodes = append(nodes, c.base.at.snapshot.AtSlot(int(slot)))
		}
	}
	c.base.feasible = nodes
	return nodes
}

// syncGroups shuts and opens groups as the gates say that treat their nodes alike.
func (c *class) syncGroups() {
	if c.gates.askGroups(c) {
		for group := range c.groups.shut {
			c.setShut(group, c.gates.groupReason(group))
		}
	}
}

// setShut shuts a group for a reason, or opens it.
func (c *class) setShut(group int, now int32) {
	was := c.groups.shut[group]
	if was == now {
		return
	}
	c.groups.shut[group] = now
	c.versions.reasons++
	if was != feasible && now != feasible {
		return
	}
	c.versions.feasible++
	c.totals.tree.Shut[group] = now != feasible
	for i := range c.columns.list {
		c.columns.list[i].groupSet(c, group)
	}
}

// someShut reports whether some group is shut.
func (c *class) someShut() bool {
	for _, r := range c.groups.shut {
		if r != feasible {
			return true
		}
	}
	return false
}

// reject returns the number of a gate's rejection. A gate that fails costs its class; the
// base stands, as other classes share it.
func (c *class) reject(at int, status framework.Status) int32 {
	if !status.IsRejected() {
		c.gates.failed = true
		return feasible
	}
	return c.base.reject(at, status)
}
