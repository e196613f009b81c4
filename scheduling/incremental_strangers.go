package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/pick"
)

// strangers are pods that are like none before them, such as pods that all have requests of
// their own. To look for the class of such a pod costs as much as the reference path with 20
// nodes, and gives nothing. So in a small cluster, after many in a row, only some of the pods
// are looked at, until one of these has a class that is known, or could be answered about, or
// a pod fits nowhere: it will be tried again.
type strangers struct {
	row    int // strangers since the last pod that was none
	unseen int // pods since then, once there were many
	look   int // place, in the present seenEvery of these, of the first that is looked at
	aside  uint64
}

const (
	// manyStrangers in a row are enough to look at few pods.
	manyStrangers = 64
	// Of every seenEvery pods then, seenOf neighbors are looked at, so that pods that come in
	// pairs are noticed. Which ones is drawn: nobody can arrange their pods so that only
	// these are looked at.
	seenEvery, seenOf = 64, 3
	// smallCluster is up to how many nodes the reference path costs so little that looking for
	// a class matters.
	smallCluster = 500
)

// stepAside reports, after many strangers, whether the next pod takes the reference path at
// once.
func (s *strangers) stepAside(seed uint64) bool {
	at := s.unseen % seenEvery
	if s.unseen++; at == 0 {
		s.look = pick.Draw(seed, seenEvery-seenOf+1)
	}
	if at >= s.look && at < s.look+seenOf {
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

// isAside reports whether the cycle's pod takes the reference path because the pods before it
// were strangers. A pod that has been tried before is none.
func (f *incrementalPath) isAside(c *framework.Cycle) bool {
	return f.strangers.row >= manyStrangers && c.Snapshot.Len() <= smallCluster && f.notes.Load(c.Pod.Runner()) == nil && f.strangers.stepAside(c.Seed)
}
