package scheduling

// Stats counts what the incremental path did for a scheduler, in decisions and in
// the questions of PostFilter about them.
type Stats struct {
	// Hits is how many decisions were made from kept answers, Misses how many built
	// a class first.
	Hits, Misses uint64
	// Bypassed is how many were left to the reference path: the first pod of every
	// class, and whatever the incremental path cannot answer.
	Bypassed uint64
	// Evictions is how many classes were evicted to stay within the budget.
	Evictions uint64
	// Classes is how many classes are kept now, Bytes the memory that they take.
	Classes, Bytes int
}

// Stats returns the counts so far; all are zero if the incremental path is off.
func (s *Scheduler) Stats() Stats {
	if s == nil || s.fast == nil {
		return Stats{}
	}
	e := s.fast.engine.Stats()
	return Stats{Hits: e.Hits, Misses: e.Misses, Bypassed: e.Declined, Evictions: e.Evictions, Classes: e.Classes, Bytes: e.Bytes}
}
