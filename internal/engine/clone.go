package engine

import (
	"maps"
	"slices"
)

// How an engine is copied for another goroutine.

// Clone returns an engine that starts from what e keeps, for snapshots of the same
// origin. The two share nothing that changes, so each may be used by its own goroutine.
// Rows are copied with their verdicts and scores; they hold for every snapshot in which
// the generations of the nodes are the same. Classes are put together from them again,
// when they are first asked for. It costs as much as to copy the bytes that e holds.
func (e *Engine) Clone(source Source) *Engine {
	c := New(source, e.fixed)
	c.budget, c.typical, c.asked = e.budget, e.typical, maps.Clone(e.asked)
	c.schema, c.order, c.tracker, c.clock = e.schema, e.order, e.tracker.Clone(), e.clock
	c.sightings, c.barred = e.sightings.clone(), maps.Clone(e.barred)
	c.divisions.list = slices.Clone(e.divisions.list)
	for key, b := range e.bases {
		copied := b.clone()
		copied.lists, copied.guard, copied.tracker = c.lists, c.guard, c.tracker
		copied.bytes = copied.size()
		c.bases[key] = copied
		c.stats.Bytes += copied.bytes
	}
	for of := e.recency.oldest; of != nil; of = of.newer {
		k := newClass()
		c.number(k)
		c.classes[of.key] = k
		k.key, k.used = of.key, of.used
		k.reset(c.bases[of.base.key])
		k.base.users++
		k.ask.liveFilters, k.ask.liveScorers = of.ask.liveFilters, of.ask.liveScorers
		k.bytes = k.size()
		c.stats.Bytes += k.bytes
		c.recency.use(k)
	}
	return c
}

// clone returns a base of the same rows, of another engine and of no snapshot yet: what
// it has bound is bound again before anything is asked.
func (b *base) clone() *base {
	c := &base{key: b.key, state: b.state, pod: b.pod, podBytes: b.podBytes, plugins: b.plugins.clone(), epoch: 1}
	c.rows.copy(&b.rows)
	c.reasons = reasons{list: slices.Clone(b.reasons.list), numbers: maps.Clone(b.reasons.numbers)}
	c.due.copy(&b.due)
	c.at = b.at
	c.at.snapshot = nil
	return c
}

// clone returns a copy with raw scores of its own.
func (p *basePlugins) clone() basePlugins {
	c := *p
	c.filters, c.nodeFilters, c.podFilters = slices.Clone(p.filters), slices.Clone(p.nodeFilters), slices.Clone(p.podFilters)
	c.nodeScorers, c.podScorers, c.normalized = slices.Clone(p.nodeScorers), slices.Clone(p.podScorers), slices.Clone(p.normalized)
	for i := range c.normalized {
		c.normalized[i].raw = slices.Clone(c.normalized[i].raw)
	}
	return c
}

// copy makes r the same rows as others.
func (r *rows) copy(others *rows) {
	r.reset(others.order)
	copy(r.tree.Leaves, others.tree.Leaves)
	r.nodes = slices.Clone(others.nodes)
	r.uniform, r.uniformScore = others.uniform, others.uniformScore
}

// copy makes d, which is zero, the same deadlines as others.
func (d *deadlines) copy(others *deadlines) {
	d.reset()
	for i := range others.heap.Len() {
		x := others.heap.At(i)
		d.set(x.slot, x.at)
	}
}
