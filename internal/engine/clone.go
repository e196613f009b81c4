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
