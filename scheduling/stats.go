package scheduling

// Stats counts what the incremental path did for a scheduler, both in decisions and
// when PostFilter asked about them again.
type Stats struct {
	// Hits is how many decisions were made from a class that was kept, and Misses
	// how many built the class first.
	Hits, Misses uint64
	// Bypassed is how many decisions the engine was asked for and left to the reference
	// path: the first of every base, and what it cannot answer, also if PreFilters then
	// decide. Where kept answers have cost more than they saved, or a scheduler has made few
	// decisions, most of the next ones, also those in a set of nodes, are not asked for, and
	// counted here. Others that it was not asked for count nowhere: for a pod whose node affinity
	// names nodes, for a pod that fits the node that it is nominated to, in a cluster that is
	// too small, or with [CacheConfig.Off].
	Bypassed uint64
	// Evictions is how many classes were dropped to stay within the budget.
	Evictions uint64
	// Faults is how often the engine itself failed, which is a defect of this
	// module. Such a decision takes the reference path; with [CacheConfig.Verify] it is a
	// [*FaultError].
	Faults uint64
	// Looks is about how many looks at a node the engine took: each question to a plugin about
	// one node, and each node that is listed for plugins or whose scores are added up. A
	// hit takes few, unless the pod that was placed last changed the scores of many nodes. With
	// preferences for a zone these are all nodes of the zone.
	Looks uint64
	// Classes is how many classes are kept now, in Bytes of memory.
	Classes, Bytes int
}

// Stats returns the counts so far; all are zero if the incremental path is off.
func (s *Scheduler) Stats() Stats {
	if s == nil || s.incremental == nil {
		return Stats{}
	}
	e := s.incremental.engine.Stats()
	return Stats{
		Hits: e.Hits, Misses: e.Misses, Bypassed: e.Bypassed + s.incremental.balances.aside(), Evictions: e.Evictions, Faults: e.Faults, Looks: e.Looks,
		Classes: e.Classes, Bytes: e.Bytes,
	}
}

// Verifies reports whether the profile asks for [CacheConfig.Verify].
func (s *Scheduler) Verifies() bool { return s.profile.Cache.Verify }

// HasPostFilterNamed reports whether the profile has a PostFilter plugin of that name.
func (s *Scheduler) HasPostFilterNamed(name string) bool {
	for _, p := range s.plugins.postFilter {
		if p.name == name {
			return true
		}
	}
	return false
}

// FilterNames lists the names of the profile's filters, in order.
func (s *Scheduler) FilterNames() []string {
	list := make([]string, len(s.plugins.filters))
	for i := range list {
		list[i] = s.plugins.filters[i].name
	}
	return list
}
