package scheduling

import "github.com/berth-sched/berth/framework"

// strangers are pods that are like none before them, such as pods that all have requests of
// their own. To look for the class of such a pod costs as much as the reference path with 20
// nodes, and gives nothing. So after many in a row, only some of the pods are looked at, until
// one of these has a class that is known, or could be answered about, or a pod fits nowhere:
// it will be tried again.
type strangers struct {
	row    int // strangers since the last pod that was none
	unseen int // pods since then, once there were many
	aside  uint64
}

// After manyStrangers, the first seenOf of every seenEvery pods are looked at. They are
// neighbors, so that pods that come in pairs are noticed.
const (
	manyStrangers     = 64
	seenEvery, seenOf = 64, 3
)

// stepAside reports, after many strangers, whether the next pod takes the reference path at
// once.
func (s *strangers) stepAside() bool {
	s.unseen++
	if s.unseen%seenEvery < seenOf {
		return false
	}
	s.aside++
	return true
}

// note says whether a pod that was looked at was a stranger.
func (s *strangers) note(stranger bool) {
	if !stranger {
		s.row, s.unseen = 0, 0
		return
	}
	s.row++
}

// isAside reports whether the pod takes the reference path because the pods before it were
// strangers. A pod that has been tried before is none.
func (f *incrementalPath) isAside(pod *framework.PodInfo) bool {
	return f.strangers.row >= manyStrangers && f.notes.Load(pod.Runner()) == nil && f.strangers.stepAside()
}
