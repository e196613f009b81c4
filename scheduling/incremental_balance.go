package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/pick"
)

// balance compares what kept answers cost with what they save, and lets pods take the reference
// path at once where they do not pay: pods that are like none before them, pods that come twice
// and never again, or all pods if nodes change more often than pods come. Pods whose nodes a
// PreFilter names have a balance of their own, because the other nodes are evaluated for kept
// answers too.
//
// Its unit is a node that the reference path evaluates. It counts, not measures, so it is the
// same on every machine.
type balance struct {
	loss   int // by how much late decisions cost more than on the reference path; not negative
	spare  int // what may be spent on classes that come again, while the loss is too large
	unseen int // pods of short searches since then
	look   int // place, in the present so many of these, of the first that is looked at
	aside  uint64

	spends bool // the last pod was asked about from what there is to spare
}

const (
	// keyCost is what it costs to look for the class of a pod.
	keyCost = 40
	// patience is how many decisions in vain make the loss too large, and patientClasses how
	// many classes besides, which may all be new at once.
	patience, patientClasses = 64, 4
	// spareShare is which part of what the reference path costs may be spent on classes that
	// come again, while the loss is too large. So may half of what kept answers save.
	spareShare = 16
	// fewWanted is up to how many nodes of a search the reference path costs so little that
	// looking for a class matters. Then, of every seenEvery pods, or more if classes cost more
	// than searches, seenOf neighbors are looked at: the second or third shows whether kept
	// answers pay again. Which ones is drawn: nobody can arrange their pods so that only these
	// are looked at.
	fewWanted         = 300
	seenEvery, seenOf = 64, 3
)

// extent is how large a search is: after how many feasible nodes the reference path ends, and
// how many nodes there are.
type extent struct{ wanted, nodes int }

// price is what a decision costs on the reference path. What does not depend on nodes costs as
// much as looking for a class.
func (x extent) price() int { return x.wanted + keyCost }

// classPrice is what a new class costs.
func (x extent) classPrice() int { return engine.ClassCost + 2*x.nodes }

// limit is which loss is too large.
func (x extent) limit() int { return patience*x.price() + patientClasses*x.classPrice() }

// note takes in a decision: how many nodes were evaluated for it, and whether it was answered.
func (b *balance) note(evaluated int, x extent, answered bool) {
	if b.spends {
		b.save(-evaluated, x)
	}
	if b.loss += evaluated; answered {
		b.loss -= x.price()
		b.save(max(0, x.price()-evaluated)/2, x)
	} else {
		b.loss += keyCost
	}
	// So small that two decisions from kept answers end it.
	b.loss = max(0, min(b.loss, x.limit()+x.price()))
}

// save changes what there is to spare, at most for two classes.
func (b *balance) save(nodes int, x extent) { b.spare = max(0, min(b.spare+nodes, 2*x.classPrice())) }

// tooLarge reports whether kept answers do not pay.
func (b *balance) tooLarge(x extent) bool { return b.loss >= x.limit() }

// stepAside reports, while the loss is too large, whether the next pod is one that is not looked
// at. Some of every so many are.
func (b *balance) stepAside(seed uint64, every int) bool {
	at := b.unseen % every
	if b.unseen++; at == 0 {
		b.look = pick.Draw(seed, every-seenOf+1)
	}
	return at < b.look || at >= b.look+seenOf
}

// isAside reports whether kept answers do not pay, and the cycle's pod is not one that they are
// asked for all the same. A scheduler that verifies asks for all kept answers.
func (f *incrementalPath) isAside(b *balance, c *framework.Cycle, x extent) bool {
	if !b.tooLarge(x) || f.s.profile.Cache.Verify {
		b.unseen, b.spends = 0, false
		return false
	}
	if x.wanted > fewWanted && f.looksAtLong(b, c, x) || x.wanted <= fewWanted && f.looksAtShort(b, c, x) {
		return false
	}
	b.aside++
	return true
}

// looksAtShort reports whether kept answers are asked for a pod whose search is short. They are if
// the pod has failed before: it may be tried many times.
func (f *incrementalPath) looksAtShort(b *balance, c *framework.Cycle, x extent) bool {
	return f.notes.Load(c.Pod.Runner()) != nil || !b.stepAside(c.Seed, seenEvery*max(1, x.classPrice()/(2*max(1, x.wanted))))
}

// looksAtLong reports whether kept answers are asked for a pod whose search is long. They are if
// its class is kept and few pods have changed, or if it has come before and there is something
// to spare.
func (f *incrementalPath) looksAtLong(b *balance, c *framework.Cycle, x extent) bool {
	if f.class = f.classOf(c); f.class == nil {
		return false
	}
	key, _ := f.keyOf(f.class)
	changes, kept := f.engine.Keeps(c.Snapshot, key)
	if b.spends = !kept || changes+changes/2 > x.price(); !b.spends {
		return true
	}
	b.save(x.price()/spareShare, x)
	before := f.class.came
	f.class.came = true
	return before && b.spare >= x.classPrice()
}

// failed notes that a pod was tried on the reference path.
func (f *incrementalPath) failed(pod *framework.PodInfo) {
	if f.balance.unseen+f.namedBalance.unseen > 0 && f.notes.Load(pod.Runner()) == nil {
		f.notes.Store(pod.Runner(), f.notes.Entry(&noted{})) // of no epoch
	}
}
