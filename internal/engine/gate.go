package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// A gate is a filter whose verdicts are not kept in rows. It is asked about
// single nodes, those that changed or that its tracker names, or, where it does
// not tell the nodes of a group apart, about one node of each group.
//
// Invariant: while known, its verdicts, which class.own and class.shut have, are
// those of version, but for nodes that changed and that class.gather lists.
type gate struct {
	filter  Filter
	active  bool // the filter takes part in this decision
	was     bool // it did in the last one
	known   bool // the verdicts are those of version
	version uint64

	groups   framework.Groups
	refused  framework.Groups // groups of which there would be too many
	grouped  bool
	verdicts []int32 // by group
}

// adoptGates takes over freshly bound filters, and reports whether one takes
// part now that did not in the last decision, or the other way round, or whose
// earlier verdicts are not known.
func (c *class) adoptGates(filters []Filter) (changed bool) {
	for i := range c.gates {
		c.gates[i].was, c.gates[i].active = c.gates[i].active, false
	}
	for _, f := range filters {
		g := c.gate(f.At)
		g.filter, g.active = f, true
		var groups framework.Groups
		if by, ok := f.Filter.(framework.Grouper); ok {
			groups = by.Groups()
		}
		if !same(groups, g.groups) {
			g.groups, c.division = groups, nil
		}
	}
	for i := range c.gates {
		g := &c.gates[i]
		g.known = g.known && g.was
		changed = changed || g.active != g.was || g.active && !g.known
	}
	return changed
}

// gate finds the gate of that place in the profile, or makes it room; gates
// are in the order of the profile.
func (c *class) gate(at int) *gate {
	i, found := slices.BinarySearchFunc(c.gates, at, func(g gate, at int) int { return g.filter.At - at })
	if !found {
		c.gates = slices.Insert(c.gates, i, gate{})
	}
	return &c.gates[i]
}

// wants reports whether the gate could be asked by groups if the division were
// finer.
func (g *gate) wants(d *division) bool {
	return g.active && g.groups.Count > 1 && !d.knows(g.groups) && !same(g.groups, g.refused)
}

// gatesWant reports whether some gate does.
func (c *class) gatesWant() bool {
	for i := range c.gates {
		if c.gates[i].wants(c.division) {
			return true
		}
	}
	return false
}

// divided adapts the gate to another division.
func (g *gate) divided(d *division) {
	known := g.groups.Count > 0 && d.knows(g.groups)
	if !known {
		g.refused = g.groups
	}
	g.grouped = known && !g.groups.Prepared
	g.known = false
}

// track notes the nodes whose verdicts changed since the last decision; false
// when all may have.
func (g *gate) track(c *class) bool {
	t, ok := g.filter.Filter.(framework.DomainTracker)
	if !ok {
		return false
	}
	version := t.Version()
	known := g.known && (version == g.version || t.Changed(g.version, c.touch))
	g.version, g.known = version, true
	return known
}

// syncGroups asks the gates that do not tell the nodes of a group apart, and
// shuts or opens groups.
func (c *class) syncGroups() {
	changed := false
	for i := range c.gates {
		g := &c.gates[i]
		if !g.active || !g.grouped {
			continue
		}
		if t, ok := g.filter.Filter.(framework.DomainTracker); ok {
			version := t.Version()
			if g.known && version == g.version {
				continue
			}
			g.version, g.known = version, true
		}
		changed = true
		g.askGroups(c)
	}
	if changed {
		for group := range c.shut {
			c.turn(group)
		}
	}
}

// askGroups asks about one node of each group.
func (g *gate) askGroups(c *class) {
	g.verdicts = resize(g.verdicts, c.division.count)
	for group, slots := range c.division.slots {
		g.verdicts[group] = feasible
		if len(slots) == 0 {
			continue
		}
		if status := g.filter.Filter.Filter(c.live, c.base.snapshot.AtSlot(int(slots[0]))); !status.IsSuccess() {
			g.verdicts[group] = c.base.reject(g.filter.At, status)
		}
	}
}

// turn shuts a group, or opens it, as the gates say.
func (c *class) turn(group int) {
	now, was := feasible, c.shut[group]
	for i := range c.gates {
		if g := &c.gates[i]; g.active && g.grouped && g.verdicts[group] != feasible {
			now = g.verdicts[group]
			break
		}
	}
	if was == now {
		return
	}
	c.shut[group] = now
	c.reasonsVersion++
	if was != feasible && now != feasible {
		return
	}
	c.feasibleVersion++
	c.tree.shut[group] = now != feasible
	for i := range c.columns {
		c.columns[i].turned(c, group, now == feasible)
	}
}
