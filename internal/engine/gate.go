package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// A gate is a filter whose verdicts are not kept in rows. It is asked about single
// nodes that changed or that its tracker names. If it treats the nodes of a
// group alike, it is asked about one node of each group instead.
//
// Invariant: while known, its verdicts in class.own and groups.shut are those of
// version, except for nodes that changed, which class.gather lists.
type gate struct {
	filter  Filter
	active  bool // the filter takes part in this decision
	was     bool // it did in the last one
	known   bool // the verdicts are those of version
	version uint64

	groups   framework.Groups
	refused  framework.Groups // groups that were too many
	grouped  bool
	verdicts []int32 // by group
}

// gates are those of a class, in the order of the profile.
type gates struct {
	list     []gate
	touched  []int32 // slots that the gates must be asked about
	nodeOnly bool    // no gate reads the pods of the node that it is asked about
	touch    func(slot int)
}

// adopt takes over freshly bound filters. It reports whether one takes part now that
// did not in the last decision, or the other way round, or whose earlier verdicts are
// not known.
func (g *gates) adopt(c *class, filters []Filter) (changed bool) {
	for i := range g.list {
		g.list[i].was, g.list[i].active = g.list[i].active, false
	}
	for _, f := range filters {
		x := g.at(f.At)
		x.filter, x.active = f, true
		if groups := c.ask.groups(f.Filter); !same(groups, x.groups) {
			x.groups, c.groups.division = groups, nil
		}
	}
	for i := range g.list {
		x := &g.list[i]
		x.known = x.known && x.was
		changed = changed || x.active != x.was || x.active && !x.known
	}
	return changed
}

// at finds or makes the gate of that place in the profile.
func (g *gates) at(place int) *gate {
	i, found := slices.BinarySearchFunc(g.list, place, func(x gate, at int) int { return x.filter.At - at })
	if !found {
		g.list = slices.Insert(g.list, i, gate{})
	}
	return &g.list[i]
}

// want reports whether some gate could be asked by groups if the division were finer.
func (g *gates) want(d *division) bool {
	for i := range g.list {
		if x := &g.list[i]; x.active && finer(x.groups, x.refused, d) {
			return true
		}
	}
	return false
}

// divided adapts the gate to another division.
func (x *gate) divided(d *division) {
	known := x.groups.Count > 0 && d.knows(x.groups)
	if !known {
		x.refused = x.groups
	}
	x.grouped = known && !x.groups.Prepared
	x.known = false
}

// forget makes all verdicts unknown: a tracker knows one snapshot with the same nodes.
func (g *gates) forget() {
	for i := range g.list {
		g.list[i].known = false
	}
}

// forgetGroups makes the verdicts on groups unknown.
func (g *gates) forgetGroups() {
	for i := range g.list {
		if x := &g.list[i]; x.grouped {
			x.known = false
		}
	}
}

// live reports whether some gate takes part.
func (g *gates) live() bool {
	for i := range g.list {
		if g.list[i].active {
			return true
		}
	}
	return false
}

// perNode reports whether some gate tells the nodes of a group apart.
func (g *gates) perNode() bool {
	for i := range g.list {
		if x := &g.list[i]; x.active && !x.grouped {
			return true
		}
	}
	return false
}

// track lists the nodes whose verdicts changed since the last decision; false if all
// may have.
func (g *gates) track(a *asker) (known bool) {
	g.touched, g.nodeOnly, known = g.touched[:0], true, true
	for i := range g.list {
		x := &g.list[i]
		if !x.active || x.grouped {
			continue
		}
		g.nodeOnly = g.nodeOnly && nodeOnly(x.filter.Reads)
		known = x.track(a, g.touch) && known
	}
	return known
}

func (x *gate) track(a *asker, touch func(slot int)) bool {
	t, ok := x.filter.Filter.(framework.DomainTracker)
	if !ok {
		return false
	}
	version := a.version(t)
	known := x.known && (version == x.version || a.changed(t, x.version, touch))
	x.version, x.known = version, true
	return known
}

// verdict is the first rejection of the node by its row, which is given, and by gates
// that tell nodes apart.
func (g *gates) verdict(c *class, slot, first int32) int32 {
	for i := range g.list {
		x := &g.list[i]
		if !x.active || x.grouped || c.base.reasons.list[first].at < x.filter.At {
			continue
		}
		if status := c.ask.filter(x.filter.Filter, slot); !status.IsSuccess() {
			first = c.base.reject(x.filter.At, status)
		}
	}
	return first
}

// askGroups asks the gates that treat the nodes of a group alike, and reports whether
// any was asked.
func (g *gates) askGroups(c *class) (asked bool) {
	for i := range g.list {
		x := &g.list[i]
		if !x.active || !x.grouped {
			continue
		}
		if t, ok := x.filter.Filter.(framework.DomainTracker); ok {
			version := c.ask.version(t)
			if x.known && version == x.version {
				continue
			}
			x.version, x.known = version, true
		}
		asked = true
		d := c.groups.division
		x.verdicts = resize(x.verdicts, d.count)
		for group, slots := range d.slots {
			x.verdicts[group] = feasible
			if len(slots) == 0 {
				continue
			}
			if status := c.ask.filter(x.filter.Filter, slots[0]); !status.IsSuccess() {
				x.verdicts[group] = c.base.reject(x.filter.At, status)
			}
		}
	}
	return asked
}

// shuts is the first rejection of a group, as the gates said last.
func (g *gates) shuts(group int) int32 {
	for i := range g.list {
		if x := &g.list[i]; x.active && x.grouped && x.verdicts[group] != feasible {
			return x.verdicts[group]
		}
	}
	return feasible
}
