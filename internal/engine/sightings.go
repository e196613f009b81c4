package engine

import (
	"github.com/berth-sched/berth/framework"
)

// sightings decide for which pod a base is built. For a single pod, keeping answers costs
// half as much again as finding them, so a base is built for its second pod. If a part p of
// the bases gets a second pod, waiting costs 1 + 1.5 p of the price of finding them, and
// building at once 1.5. So if at least a third of the bases have had a second pod, a base is
// built for the first.
type sightings struct {
	once  map[string]bool // bases that were asked for once and not built
	first int             // bases asked for, the last ones in the main
	again int             // how many of these were asked for again
}

const (
	// onceMost bounds how many keys of bases are remembered that were asked for once.
	onceMost = 4096
	// Fewer bases than firstFew say nothing; of more than firstMost, half are forgotten.
	firstFew, firstMost = 3, 256
)

// see notes that a base was asked for that is not there, and reports whether to build it,
// and whether that is for its first pod.
func (s *sightings) see(key string) (build, first bool) {
	if s.once[key] {
		delete(s.once, key)
		s.again++
		return true, false
	}
	if s.first++; s.first > firstMost {
		s.first, s.again = s.first/2, s.again/2
	}
	if s.first >= firstFew && 3*s.again >= s.first {
		return true, true
	}
	if s.once == nil || len(s.once) >= onceMost {
		s.once = map[string]bool{}
	}
	s.once[key] = true
	return false, false
}

// seeAgain notes the second pod of a base that was built for its first.
func (s *sightings) seeAgain(b *base, pod *framework.PodInfo) {
	if b.first && b.pod != pod {
		b.first = false
		s.again++
	}
}
