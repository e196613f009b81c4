package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/pick"
)

// balance compares what kept answers cost with what they save, and lets pods take the reference
// path at once where they do not pay: in small clusters for pods that are like none before
// them, in all clusters for pods that come twice and never again, or where nodes change more
// often than pods come.
//
// Its unit is a node that is evaluated. It counts, not measures, so it is the same on every
// machine.
type balance struct {
	loss   int // by how much late decisions cost more than on the reference path; not negative
	unseen int // pods since the loss was too large
	look   int // place, in the present seenEvery of these, of the first that is looked at
	aside  uint64
}

const (
	// keyCost is what it costs to look for the class of a pod.
	keyCost = 40
	// patience is how many decisions in vain make the loss too large.
	patience = 64
	// Of every seenEvery pods then, seenOf neighbors are looked at: the second or third shows
	// whether kept answers pay again. Which ones is drawn: nobody can arrange their pods so that
	// only these are looked at.
	seenEvery, seenOf = 64, 3
)

// most is the loss, in a cluster of so many nodes, that is too large.
func (*balance) most(nodes int) int { return patience * (nodes + keyCost) }

// note takes in a decision: how many nodes were evaluated for it, in a cluster of how many, and
// whether that answered it.
func (b *balance) note(evaluated, nodes int, answered bool) {
	if b.loss += evaluated; answered {
		b.loss -= nodes // which the reference path would have evaluated
	} else {
		b.loss += keyCost
	}
	// So large that one pod that comes twice or thrice does not bring it below the most.
	b.loss = max(0, min(b.loss, b.most(nodes)+(seenOf-1)*nodes))
}

// stepAside reports, while the loss is too large, whether the next pod takes the reference path
// at once.
func (b *balance) stepAside(seed uint64) bool {
	at := b.unseen % seenEvery
	if b.unseen++; at == 0 {
		b.look = pick.Draw(seed, seenEvery-seenOf+1)
	}
	if at >= b.look && at < b.look+seenOf {
		return false
	}
	b.aside++
	return true
}

// isAside reports whether the cycle's pod takes the reference path because kept answers do not
// pay. A pod that has failed before is not aside: it may be tried many times. A scheduler that
// verifies asks for all kept answers.
func (f *incrementalPath) isAside(c *framework.Cycle) bool {
	b := &f.balance
	if b.loss < b.most(c.Snapshot.Len()) || f.s.profile.Cache.Verify {
		b.unseen = 0
		return false
	}
	return f.notes.Load(c.Pod.Runner()) == nil && b.stepAside(c.Seed)
}

// failed notes that a pod was tried on the reference path.
func (f *incrementalPath) failed(pod *framework.PodInfo) {
	if f.balance.unseen > 0 && f.notes.Load(pod.Runner()) == nil {
		f.notes.Store(pod.Runner(), f.notes.Entry(&noted{})) // of no epoch
	}
}
