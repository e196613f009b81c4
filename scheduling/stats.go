package scheduling

// Stats counts what the fast road did for a scheduler, in decisions and when
// PostFilter asked about them again.
type Stats struct {
	// Known is how many decisions were made from kept answers, and Built how
	// many built a class first.
	Hits, Misses uint64
	// Left is how many were left to the plain road: the first pod of every
	// class, and what the fast road cannot answer.
	Bypassed uint64
	// Evicted is how many classes were given up for room.
	Evictions uint64
	// Classes is how many classes are kept now, in Bytes of memory.
	Classes, Bytes int
}

// Stats returns the counts so far; all are zero when the fast road is off.
func (s *Scheduler) Stats() Stats {
	if s == nil || s.fast == nil {
		return Stats{}
	}
	e := s.fast.engine.Stats()
	return Stats{Hits: e.Hits, Misses: e.Misses, Bypassed: e.Declined, Evictions: e.Evictions, Classes: e.Classes, Bytes: e.Bytes}
}
