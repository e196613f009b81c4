package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// A gate is a filter whose verdicts are not kept in rows. It is asked about single
// nodes that changed or that its tracker names. If it treats the nodes of a
// group alike, it is asked about one node of each group instead.
//
// Invariant: while remembered, its verdicts in class.own and groups.shut are those of
// version, except for nodes that changed, which class.gather lists.
type gate struct {
	filter  Filter
	role    role
	version uint64
	anchors anchors

	groups   incremental.Groups
	refused  incremental.Groups // groups that were too many
	grouped  bool
	verdicts []int32 // by group
}

// A role is how a plugin takes part in the decisions of a class.
type role uint8

const (
	absent     role = iota // not in this decision
	asking                 // in this one; what it said before is not known, or not right
	moved                  // in this one; what it said before was about another fork
	remembered             // in this one; what it said before stands, but for changes
)

// forget makes what the plugin said before unknown.
func (r *role) forget() { *r = min(*r, asking) }

// move makes what the plugin said before that about another fork.
func (r *role) move() { *r = min(*r, moved) }

// gates are those of a class, in the order of the profile.
type gates struct {
	list     []gate
	touched  []int32 // slots that the gates must be asked about
	nodeOnly bool    // no gate reads the pods of the node that it is asked about
	failed   bool    // a gate has failed: the class must be dropped
	touch    func(slot int)
}

// adopt takes over freshly bound filters. It reports whether one takes part now that
// did not in the last decision, or the other way round, or whose earlier verdicts are
// not known.
func (g *gates) adopt(c *class, filters []Filter) (changed bool) {
	next := 0
	for _, f := range filters {
		i := g.at(next, f.At)
		changed = g.dismiss(next, i) || changed
		next = i + 1
		x := &g.list[i]
		x.filter, x.role = f, max(x.role, asking)
		changed = changed || x.role == asking
		if groups := c.ask.groups(f.Filter); !same(groups, x.groups) {
			x.groups, c.groups.division = groups, nil
		}
	}
	return g.dismiss(next, len(g.list)) || changed
}

// at finds or makes the gate of that place in the profile, which is not before the gate of
// an index, and returns its index.
func (g *gates) at(i, place int) int {
	for i < len(g.list) && g.list[i].filter.At < place {
		i++
	}
	if i == len(g.list) || g.list[i].filter.At != place {
		g.list = slices.Insert(g.list, i, gate{filter: Filter{At: place}})
	}
	return i
}

// dismiss makes gates take no part, and reports whether one did before.
func (g *gates) dismiss(from, to int) (changed bool) {
	for i := from; i < to; i++ {
		changed = changed || g.list[i].role != absent
		g.list[i].role = absent
	}
	return changed
}

// want reports whether some gate could be asked by groups if the division were finer.
func (g *gates) want(d *division) bool {
	for i := range g.list {
		if x := &g.list[i]; x.role != absent && finer(x.groups, x.refused, d) {
			return true
		}
	}
	return false
}

// divided adapts the gate to another division.
func (x *gate) divided(d *division) {
	shown := d.shows(x.groups)
	if !shown {
		x.refused = x.groups
	}
	x.grouped = shown && !x.groups.Prepared
	x.role.forget()
}

// forget makes all verdicts unknown.
func (g *gates) forget() {
	for i := range g.list {
		g.list[i].role.forget()
	}
}

// move makes all verdicts those about another fork.
func (g *gates) move() {
	for i := range g.list {
		g.list[i].role.move()
	}
}

// forgetGroups makes the verdicts on groups unknown.
func (g *gates) forgetGroups() {
	for i := range g.list {
		if x := &g.list[i]; x.grouped {
			x.role.forget()
		}
	}
}

// grouped reports whether a gate that takes part treats the nodes of a group alike.
func (g *gates) grouped() bool {
	for i := range g.list {
		if x := &g.list[i]; x.role != absent && x.groups.Count > 1 {
			return true
		}
	}
	return false
}

// live reports whether some gate takes part.
func (g *gates) live() bool {
	for i := range g.list {
		if g.list[i].role != absent {
			return true
		}
	}
	return false
}

// perNode reports whether some gate tells the nodes of a group apart.
func (g *gates) perNode() bool {
	for i := range g.list {
		if x := &g.list[i]; x.role != absent && !x.grouped {
			return true
		}
	}
	return false
}

// track lists the nodes whose verdicts changed since the last decision; false if all
// may have.
func (g *gates) track(a *asker, most int) (known bool) {
	g.touched, g.nodeOnly, known = g.touched[:0], true, true
	for i := range g.list {
		x := &g.list[i]
		if x.role == absent || x.grouped {
			continue
		}
		g.nodeOnly = g.nodeOnly && nodeOnly(x.filter.Reads)
		known = g.follow(x, a, most) && known
	}
	return known
}

// follow lists the nodes for which the gate's verdicts changed since the last decision; false if all may
// have. No anchor of it differs in more than most.
func (g *gates) follow(x *gate, a *asker, most int) (known bool) {
	t, ok := trackerOf(x.filter.Filter, x.filter.Reads)
	if !ok {
		return false
	}
	version, was, role := a.version(t), x.version, x.role
	x.version, x.role = version, remembered
	forks, is := t.(incremental.ForkTracker)
	mark := len(g.touched)
	changed := func(state []byte, _ []anchor) ([]int32, bool) {
		from := len(g.touched)
		ok := a.changedFrom(forks, state, g.touch)
		return g.touched[from:], ok
	}
	switch role {
	case remembered:
		if version == was {
			return true
		}
		known = a.changed(t, was, g.touch)
	case moved:
		if is && x.anchors.move(a, forks, changed, g.touch) {
			return true
		}
	}
	switch {
	case !is || a.base.moves == 0:
	case known:
		x.anchors.stay(a, forks, g.touched[mark:], most)
	default:
		x.anchors.begin(a, forks, changed, most)
	}
	return known
}

// verdict is the first rejection of the node by its row, which is given, and by gates
// that tell nodes apart.
func (g *gates) verdict(c *class, slot, first int32) int32 {
	for i := range g.list {
		x := &g.list[i]
		if x.role == absent || x.grouped || g.failed || c.base.reasons.list[first].at < x.filter.At {
			continue
		}
		if status := c.ask.filter(x.filter.Filter, slot); !status.IsSuccess() {
			first = c.reject(x.filter.At, status)
		}
	}
	return first
}

// askGroups asks the gates that treat the nodes of a group alike, and reports whether
// any was asked.
func (g *gates) askGroups(c *class) (asked bool) {
	for i := range g.list {
		x := &g.list[i]
		if x.role == absent || !x.grouped {
			continue
		}
		if t, ok := trackerOf(x.filter.Filter, x.filter.Reads); ok {
			version := c.ask.version(t)
			if x.role == remembered && version == x.version {
				continue
			}
			x.version, x.role = version, remembered
		}
		asked = true
		d := c.groups.division
		x.verdicts = slotlist.AtLeast(x.verdicts, d.count)
		for group, slots := range d.slots {
			x.verdicts[group] = feasible
			if len(slots) == 0 {
				continue
			}
			if status := c.ask.filter(x.filter.Filter, slots[0]); !status.IsSuccess() {
				x.verdicts[group] = c.reject(x.filter.At, status)
			}
		}
	}
	return asked
}

// groupReason is the first rejection of a group, as the gates said last.
func (g *gates) groupReason(group int) int32 {
	for i := range g.list {
		if x := &g.list[i]; x.role != absent && x.grouped && x.verdicts[group] != feasible {
			return x.verdicts[group]
		}
	}
	return feasible
}

func (g *gates) size() int {
	n := 4 * cap(g.touched)
	for i := range g.list {
		n += 4*cap(g.list[i].verdicts) + g.list[i].anchors.size()
	}
	return n
}
