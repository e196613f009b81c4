package scheduling

import "slices"

// Fork returns a scheduler for another goroutine, which starts where s is: with its
// count of decisions, the start of its next sample, and the answers that it
// keeps. From then on the two are independent, and each makes the decisions that s would
// have made. If the last decision was about up to 300 nodes, or the profile only filters, the fork has
// no answers yet.
//
// Fork must not run beside other uses of s. It copies those answers that s has used since the
// last Fork; forks of one moment share these copies, and a fork copies from them what it
// is asked about. So a fork costs little for each question, too, as long as s does nothing meanwhile.
// [Stats] of a fork count its own answers. It may keep as many bytes as s ([CacheConfig.Budget]), and
// the copies that forks share take as many again.
// The plugins themselves are shared, as by schedulers that [New] makes of one profile.
//
// A fork of a scheduler that [New] did not make is one, too.
func (s *Scheduler) Fork() *Scheduler {
	if s == nil || s.reference.plugins == nil {
		return &Scheduler{}
	}
	f := &Scheduler{profile: s.profile, plugins: s.plugins.clone(), number: s.number, start: s.start, events: s.events}
	f.reference = referencePath{plugins: &f.plugins, workers: s.reference.workers}
	switch {
	case s.deferred, s.incremental != nil && s.incremental.leavesNothing():
		f.deferred = true
	case s.incremental != nil:
		f.incremental = newIncremental(f)
		if !s.incremental.extent.isSmall() {
			f.incremental.engine.StartFrom(s.incremental.engine)
		}
	}
	return f
}

// leavesNothing reports whether a fork begins anew: there is nothing to copy, or it would cost more
// than it saves.
func (f *incrementalPath) leavesNothing() bool {
	return !f.s.profile.Cache.Verify && (f.hasNoUse() || f.extent.isSmall() || beginsLate && f.extent.cost == filtersOnly)
}

// hasNoUse reports whether all decisions so far were about too few nodes for kept answers.
func (f *incrementalPath) hasNoUse() bool {
	return f.extent.nodes <= f.s.plugins.fewNodes() && f.engine.KeepsNone()
}

// clone returns a copy whose scopes may change (incrementalPath.demoteSetters).
func (t *plugins) clone() plugins {
	c := *t
	c.preFilters, c.filters = slices.Clone(t.preFilters), slices.Clone(t.filters)
	c.preScores, c.scorers = slices.Clone(t.preScores), slices.Clone(t.scorers)
	c.findScopes()
	return c
}
