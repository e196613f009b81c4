package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// build binds the plugins for a class seen for the first time and evaluates
// every node. false means that the plain road has to be taken.
func (c *class) build(src Source, s *framework.Snapshot, o *order) bool {
	c.outsideFilters, c.outsideScorers = src.Outside()
	c.cycle.Reset(c.pod, s, 0, 0)
	filters, ok := src.BindFilters(&c.cycle, false)
	if !ok {
		return false
	}
	c.adoptFilters(filters)
	for i := range c.gates {
		c.gates[i].active, c.gates[i].known = false, false
	}
	c.snapshot, c.order, c.now, c.nodeSet, c.objects = s, o, s.Now(), s.NodeSet(), s.Objects()
	c.reasons = append(c.reasons[:0], reason{at: maxPlace})
	c.due.heap = c.due.heap[:0]
	c.touched, c.columns, c.fixedScorers, c.movingScorers = c.touched[:0], c.columns[:0], nil, nil
	c.retotal = false
	c.scored, c.broken, c.failure = false, false, nil
	c.grow(s.Slots())
	for i := range c.rows {
		c.rows[i] = row{final: unknown, fixedStale: true}
	}
	c.fresh = true
	c.rebuild(c.evaluate)
	c.version = s.Version()
	return !c.broken
}

// unknown is the final reason of rows that were never evaluated.
const unknown int32 = -1

// adoptFilters sorts the filters that are kept in rows by what they read. The
// others are bound in every decision, by syncGates.
func (c *class) adoptFilters(filters []Filter) {
	c.filters, c.fixed, c.moving = c.filters[:0], c.fixed[:0], c.moving[:0]
	for _, f := range filters {
		if !local(f.Reads) {
			continue
		}
		c.filters = append(c.filters, f)
		if ofNode(f.Reads) {
			c.fixed = append(c.fixed, f)
		} else {
			c.moving = append(c.moving, f)
		}
	}
	c.timed = c.reads(framework.ReadsTime)
}

// grow makes room for slots.
func (c *class) grow(slots int) {
	for len(c.rows) < slots {
		c.rows = append(c.rows, row{final: unknown})
	}
	for i := range c.gates {
		c.gates[i].reasons = resize(c.gates[i].reasons, slots)
	}
	for i := range c.columns {
		c.columns[i].grow(slots)
	}
}

func (col *column) grow(slots int) {
	col.raw = resize(col.raw, slots)
	if col.scorer.ByNodes != nil {
		col.norm = resize(col.norm, slots)
	}
}

func resize[T any](list []T, n int) []T {
	if len(list) >= n {
		return list
	}
	return append(list, make([]T, n-len(list))...)
}

// rebuild makes the tree anew: visit is called for every node, in order.
func (c *class) rebuild(visit func(n *framework.NodeInfo)) {
	c.tree.reset(len(c.order.slots))
	c.building = true
	for _, slot := range c.order.slots {
		visit(c.snapshot.AtSlot(slot))
	}
	c.building = false
	c.tree.build()
}

// sync brings the class up to date with the snapshot. live is the cycle of
// this decision, for plugins whose answers are not kept.
func (c *class) sync(src Source, s *framework.Snapshot, o *order, live *framework.Cycle) bool {
	c.live = live.Pod
	if c.snapshot != s || c.nodeSet != s.NodeSet() || c.objects != s.Objects() && c.reads(framework.ReadsObjects) {
		if !c.move(src, s, o) {
			return false
		}
	} else {
		c.follow(s)
	}
	c.expire(s)
	if !c.syncGates(src, live) {
		return false
	}
	if c.tree.root().feasible > 1 && !c.syncScores(src, live) {
		return false
	}
	c.fresh = false
	return !c.broken
}

// follow evaluates the nodes that changed since the last use.
func (c *class) follow(s *framework.Snapshot) {
	slots, ok := s.Changes(c.version)
	if !ok {
		slots = c.order.slots
	}
	c.warm(slots)
	for _, slot := range slots {
		if n := s.AtSlot(slot); n.Generation() != c.rows[slot].generation {
			c.evaluate(n)
		}
	}
	c.version = s.Version()
}

// warm touches what evaluating the nodes will read. The loads of a short loop
// overlap, those of the long one do not: with 50 classes in turn, this halves
// the cost of a dirty row.
func (c *class) warm(slots []int) {
	if len(slots) < 4 {
		return
	}
	var x uint64
	for _, slot := range slots {
		x += c.rows[slot].generation + uint64(c.tree.leaves[c.order.place[slot]])
	}
	c.sink = x
}

// move turns to another snapshot, or to the same one with other nodes. Rows
// stand where the generation does: it identifies the content across forks.
func (c *class) move(src Source, s *framework.Snapshot, o *order) bool {
	c.cycle.Reset(c.pod, s, 0, 0)
	filters, ok := src.BindFilters(&c.cycle, false)
	if !ok {
		return false
	}
	c.adoptFilters(filters)
	all := c.nodeSet != s.NodeSet() && c.filtersRead(framework.ReadsNodeSet) ||
		c.objects != s.Objects() && c.filtersRead(framework.ReadsObjects)
	c.snapshot, c.nodeSet, c.objects = s, s.NodeSet(), s.Objects()
	c.grow(s.Slots())
	// Nodes that are gone leave the counts before others take their slots.
	for _, slot := range c.order.slots {
		if !o.has(slot) {
			c.forget(slot)
		}
	}
	c.order = o
	for i := range c.gates {
		c.gates[i].known = false // a tracker knows one snapshot, and the same nodes
	}
	if c.scored {
		c.scored = false // the scorers are bound anew, and all nodes scored
		for _, slot := range o.slots {
			c.rows[slot].inRange = false
		}
	}
	c.rebuild(func(n *framework.NodeInfo) {
		r := &c.rows[n.Slot()]
		if r.generation == n.Generation() && !all {
			if r.final == feasible {
				c.put(n.Slot(), 0)
			}
			return
		}
		if all {
			r.node = 0 // no node has this generation
		}
		c.evaluate(n)
	})
	c.version = s.Version()
	return true
}

// forget empties a row.
func (c *class) forget(slot int) {
	r := &c.rows[slot]
	if r.final > feasible {
		c.count(r.final, -1)
	}
	if r.final == feasible {
		c.feasibleVersion++
	}
	c.due.remove(c.rows, slot)
	*r = row{final: unknown}
}

// filtersRead reports whether a filter kept in rows reads what r names.
func (c *class) filtersRead(r framework.Reads) bool {
	return slices.ContainsFunc(c.filters, func(f Filter) bool { return f.Reads&r != 0 })
}

// reads reports whether any plugin whose answers are kept with the class reads
// what r names.
func (c *class) reads(r framework.Reads) bool {
	return c.filtersRead(r) ||
		slices.ContainsFunc(c.fixedScorers, func(s Scorer) bool { return s.Reads&r != 0 }) ||
		slices.ContainsFunc(c.movingScorers, func(s Scorer) bool { return s.Reads&r != 0 }) ||
		slices.ContainsFunc(c.columns, func(col column) bool { return local(col.scorer.Reads) && col.scorer.Reads&r != 0 })
}

// expire evaluates the nodes whose answers have run out. Should the clock have
// gone back, all answers are renewed.
func (c *class) expire(s *framework.Snapshot) {
	before := c.now
	c.now = s.Now()
	if c.now.Before(before) && c.reads(framework.ReadsTime) {
		for _, slot := range c.order.slots {
			c.evaluate(s.AtSlot(slot))
		}
	}
	for slot := c.due.due(c.now); slot >= 0 && !c.broken; slot = c.due.due(c.now) {
		c.due.remove(c.rows, slot)
		c.evaluate(s.AtSlot(slot))
	}
}

// syncGates asks the filters that are not kept in rows.
func (c *class) syncGates(src Source, live *framework.Cycle) bool {
	if !c.outsideFilters {
		return true
	}
	filters, ok := src.BindFilters(live, true)
	if !ok {
		return false
	}
	all := c.adoptGates(filters)
	for i := range c.gates {
		g := &c.gates[i]
		if g.active && !g.track(func(slot int) { c.touched = append(c.touched, slot) }) {
			all = true
		}
	}
	if all {
		c.building = true
		for _, slot := range c.order.slots {
			c.regate(c.snapshot.AtSlot(slot))
		}
		c.building = false
		c.tree.build()
	} else {
		for _, slot := range c.touched {
			if c.order.has(slot) {
				c.regate(c.snapshot.AtSlot(slot))
			}
		}
	}
	c.touched = c.touched[:0]
	return true
}

// adoptGates takes over freshly bound filters, and reports whether one takes
// part now that did not in the last decision, or the other way round, or whose
// earlier verdicts are not known.
func (c *class) adoptGates(filters []Filter) (changed bool) {
	for i := range c.gates {
		c.gates[i].was, c.gates[i].active = c.gates[i].active, false
	}
	for _, f := range filters {
		if !local(f.Reads) {
			g := c.gate(f.At)
			g.filter, g.active = f, true
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
		c.gates[i].reasons = make([]int32, len(c.rows))
	}
	return &c.gates[i]
}

// track asks the bound filter which nodes' answers changed since the last
// decision; false when all may have.
func (g *gate) track(dirty func(slot int)) bool {
	t, ok := g.filter.Filter.(framework.DomainTracker)
	if !ok {
		return false
	}
	version := t.Version()
	known := g.known && (version == g.version || t.Changed(g.version, dirty))
	g.version, g.known = version, true
	return known
}
