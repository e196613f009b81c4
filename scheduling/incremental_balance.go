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
	// Of every seenEvery pods then, or more if searches are short, seenOf neighbors are looked
	// at: the second or third shows whether kept answers pay again. Which ones is drawn: nobody
	// can arrange their pods so that only these are looked at.
	seenEvery, seenOf = 64, 3
	// fewWanted is up to how many nodes of a search the reference path costs so little that
	// looking for a class matters.
	fewWanted = 300
)

// price is what a decision costs on the reference path, if it evaluates so many nodes. What does
// not depend on nodes costs as much as looking for a class.
func price(nodes int) int { return nodes + keyCost }

// note takes in a decision: how many nodes were evaluated for it, how many the reference path
// would have evaluated, and whether the decision was answered.
func (b *balance) note(evaluated, nodes int, answered bool) {
	if b.loss += evaluated; answered {
		b.loss -= price(nodes)
	} else {
		b.loss += keyCost
	}
	// So large that one pod that comes twice or thrice does not end it.
	b.loss = max(0, min(b.loss, (patience+seenOf-1)*price(nodes)))
}

// tooLarge reports whether kept answers do not pay, if the reference path evaluates so many nodes.
func (b *balance) tooLarge(nodes int) bool { return b.loss >= patience*price(nodes) }

// stepAside reports, while the loss is too large, whether the next pod is one that is not looked
// at. Some of every so many are.
func (b *balance) stepAside(seed uint64, every int) bool {
	at := b.unseen % every
	if b.unseen++; at == 0 {
		b.look = pick.Draw(seed, every-seenOf+1)
	}
	return at < b.look || at >= b.look+seenOf
}

// isAside reports whether kept answers do not pay, and the cycle's pod is not looked at to see
// whether they do again. A pod that has failed before is: it may be tried many times. A scheduler
// that verifies asks for all kept answers.
func (f *incrementalPath) isAside(c *framework.Cycle, wanted int) bool {
	b := &f.balance
	if !b.tooLarge(wanted) || f.s.profile.Cache.Verify {
		b.unseen = 0
		return false
	}
	return f.notes.Load(c.Pod.Runner()) == nil && b.stepAside(c.Seed, seenEvery*max(1, c.Snapshot.Len()/price(wanted)))
}

// isKept reports whether the class of the cycle's pod is kept and needs no more than what pods
// changed. Then its answers are used also while those for others do not pay.
func (f *incrementalPath) isKept(c *framework.Cycle, wanted int) bool {
	if wanted <= fewWanted {
		return false
	}
	f.class = f.classOf(c)
	return f.class != nil && f.engine.Keeps(c.Snapshot, f.class.key)
}

// failed notes that a pod was tried on the reference path.
func (f *incrementalPath) failed(pod *framework.PodInfo) {
	if f.balance.unseen > 0 && f.notes.Load(pod.Runner()) == nil {
		f.notes.Store(pod.Runner(), f.notes.Entry(&noted{})) // of no epoch
	}
}
