package scheduling

import (
	"weak"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/pick"
)

// balance compares what kept answers cost with what they save, and lets pods take the reference
// path at once where they do not pay: pods that are like none before them, pods that come twice
// and never again, or all pods if nodes change more often than pods come. Pods whose nodes a
// PreFilter names, and pods in a set of nodes, have balances of their own, because the other
// nodes are evaluated for kept answers too.
//
// While kept answers do not pay, they are used all the same for pods whose class is kept, and
// made for classes that have come often, as far as there is something to spare. In short searches
// already looking for the class costs too much: only some pods are looked at.
//
// Its unit is a node that the reference path evaluates. It counts, not measures, so it is the
// same on every machine.
type balance struct {
	loss   int    // by how much recent decisions cost more than on the reference path; not negative
	spare  int    // what may be spent on classes that come again, while the loss is too large
	aside  uint64 // how many pods took the reference path at once
	spends bool   // the last pod was asked about from what there is to spare
	lesson lesson
	late   bool // kept answers begin when the reference path has cost enough
	work   int  // what it would have cost so far, as far as it matters
	key    int  // what the key of the last pod that was looked at cost beyond keyCost, if it is not long; it fades

	// Of short searches, since the loss became too large:
	unseen int  // how many pods came
	look   int  // which of the next seenEvery pods, or more, is the first that is looked at
	looks  bool // the last pod is looked at
	unfit  int  // rises while most of them fit nowhere: then all nodes are evaluated
}

// balances are those of all decisions, of those whose nodes a PreFilter names, and of those in
// a set of nodes. Those of all that are about pods with long keys have one more, which counts what
// the keys cost: so a user with such pods does not take kept answers from the others. For a pod
// whose node affinity names nodes, the reference path costs more, too, the longer the key is.
type balances struct{ all, named, within, long balance }

// aside is how many pods took the reference path at once.
func (b *balances) aside() uint64 {
	return b.all.aside + b.named.aside + b.within.aside + b.long.aside
}

const (
	// keyCost is what it costs to look for the class of a pod, refusedCost what it costs besides
	// if the engine has no answer: the class is new, and noted.
	keyCost, refusedCost = 40, 80
	// keyBytes is how long a key may be for keyCost. Of a longer one, so many bytes cost one. One of
	// more than longBytes is long; those of most pods are not.
	keyBytes, keyBytesOfUnit, longBytes = 256, 12, 1024
	// nominatedCost is what it costs to ask about a node with the pods nominated to it.
	nominatedCost = 25
	// The loss is too large if it is the price of patience decisions, and of patientClasses
	// besides, because several classes may be new at once.
	patience, patientClasses = 64, 2
	// spareShare is which part of what the reference path costs may be spent on classes that
	// come again, while the loss is too large. So may three quarters of what kept answers save. At
	// most spareClasses can be paid at once. The last spareReserve of them are for classes that
	// have come twice as often as is enough.
	spareShare, spareClasses, spareReserve = 16, 32, 3
	// fadeShare is which part of what the reference path costs a loss fades by that is too large. So kept answers are
	// tried now and then where no pod alone can show that they pay again: among pods of many classes in turn, each
	// finds all nodes changed.
	fadeShare = 32
	// fewWanted is up to how many nodes of a search the reference path costs so little that
	// looking for a class matters. Then, of every seenEvery pods, or as many as cost seenEvery
	// classes, seenOf neighbors are looked at: the second or third shows whether kept answers may
	// pay again. Which ones is drawn: nobody can arrange their pods so that only these are looked
	// at. If keys are not as short as most, it matters in larger searches, too. What the last key
	// cost fades by a part with each pod that is not looked at, because the next may have short keys.
	fewWanted         = 300
	keyFades          = 16
	termsCost         = 3 // how many times that for pods with affinity terms
	seenEvery, seenOf = 64, 3
	// While unfit is at least unfitMost, searches in clusters that are not small are not short.
	unfitMost = 16
	// smallCluster is up to how many nodes a cluster is small.
	smallCluster = 300
	// The loss may be one part in workShare of what the reference path would have cost so far, at most.
	// Kept answers begin once that part is the price of a class: a scheduler that makes few decisions
	// must not pay more for beginning than they can save.
	workShare = 8
)

// beginsLate is only false in tests of kept answers, which would begin with many decisions otherwise.
var beginsLate = true

// note takes in a decision: how many nodes were evaluated for it, and how many the reference path
// would have evaluated, or 0 if the decision was not answered.
func (b *balance) note(x extent, evaluated, saved int) {
	evaluated = x.weigh(evaluated)
	if b.spends {
		b.save(-evaluated, x)
	}
	if saved == 0 {
		b.loss += evaluated + x.keyPrice() + x.weigh(refusedCost)
	} else {
		gain := x.gain(saved) - evaluated
		b.loss -= gain
		b.save(3*max(0, gain)/4, x)
		b.lesson.earned += max(0, gain)
		if b.spends {
			b.lesson.made(x)
		}
	}
	if b.loss <= 0 { // as mostly
		b.loss = 0
		return
	}
	// A loss beyond the limit is forgotten but for one class: kept answers must pay again soon.
	limit := b.limit(x)
	b.loss = min(b.loss, limit+x.classPrice())
	if b.looks && saved > evaluated { // neighbors are alike
		b.loss = max(0, min(b.loss, limit-1))
	}
}

// noteVain takes in that the class of a pod was looked for in vain. That counts among the loss until the
// reference path has cost so much that the loss is bounded by limitAtLast.
func (b *balance) noteVain(x extent) {
	if b.late && b.work < workShare*x.limitAtLast() {
		b.loss = min(b.loss+x.keyPrice(), b.limit(x)+x.classPrice())
	}
}

// book notes a decision in the balance of all, with what the pod's key cost. That of a long key is
// noted in a balance of its own.
func (f *incrementalPath) book(evaluated, saved int) {
	if !f.bookSettled(evaluated, saved) {
		f.bookUnsettled(evaluated, saved)
	}
}

func (f *incrementalPath) bookUnsettled(evaluated, saved int) {
	all := &f.balances.all
	f.noteKey(all, evaluated, saved)
	if !f.long {
		evaluated += f.spelled
	}
	all.note(f.extent, evaluated, saved)
	f.settle(f.extent)
}

// noteKey notes what the key of a pod cost that was looked at, and a decision about one with a long
// key in the balance of these.
func (f *incrementalPath) noteKey(b *balance, evaluated, saved int) {
	switch {
	case !f.long:
		b.key = f.spelled
	case b == &f.balances.all:
		b.key = 0
		f.balances.long.note(f.extent, evaluated+f.spelled, saved)
	}
}

// pays reports whether the loss is not too large.
func (b *balance) pays(x extent) bool { return b.loss < b.limit(x) }

// limit is which loss is too large: any, until kept answers begin.
func (b *balance) limit(x extent) int {
	switch most := x.limitAtLast(); {
	case !b.late:
		return most
	case !b.hasBegun(x):
		return 0
	default:
		return min(most, b.work/workShare)
	}
}

// hasBegun reports whether the reference path has cost so much that kept answers begin.
func (b *balance) hasBegun(x extent) bool { return !b.late || b.work >= workShare*x.classPrice() }

// addWork adds what decisions would cost on the reference path.
func (b *balance) addWork(x extent, work int) {
	if b.late {
		b.work = min(b.work+work, workShare*x.limitAtLast())
	}
}

// addWork adds what decisions would cost on the reference path. Long keys may lose as much besides, so
// theirs counts half.
func (b *balances) addWork(x extent, work int) {
	b.all.addWork(x, work)
	b.long.addWork(x, work/2)
}

// fade makes the loss less by what so many decisions on the reference path give back. Before each of them it is too
// large, so it stays positive.
func (b *balance) fade(decisions int, x extent) { b.loss -= decisions * x.fading() }

// save changes what there is to spare.
func (b *balance) save(nodes int, x extent) {
	b.spare = max(0, min(b.spare+nodes, spareClasses*x.classPrice()))
}

// stepAside reports, while the loss is too large, whether the next pod is one that is not looked
// at. Some of every so many are.
func (b *balance) stepAside(seed uint64, every int) bool {
	at := b.unseen % every
	if b.unseen++; at == 0 {
		b.look = pick.Draw(seed, every-seenOf+1)
	}
	b.looks = at >= b.look && at < b.look+seenOf
	return !b.looks
}

// isAside reports whether kept answers do not pay, and the cycle's pod is not one that they are
// asked for all the same. A scheduler that verifies asks for all kept answers.
func (f *incrementalPath) isAside(b *balance, c *framework.Cycle, x extent) bool {
	f.extent, f.asked, f.balances.long.looks = x, b, false
	b.spends, b.looks = false, false
	ofAll := b == &f.balances.all
	if ofAll && f.settled == x {
		b.unseen, b.unfit = 0, 0
		return false
	}
	f.settled = extent{}
	if ofAll {
		f.endRest()
		f.balances.addWork(x, x.work())
	} else {
		b.addWork(x, x.work())
	}
	if b.pays(x) || f.s.profile.Cache.Verify {
		b.unseen, b.unfit = 0, 0
		return false
	}
	if !b.hasBegun(x) {
		if f.isKeptEarly(b, c, x) {
			return false
		}
		b.aside++
		f.stepped = b
		if b == &f.balances.all && f.engine.KeepsNone() {
			f.restUntilBegun(x)
		}
		return true
	}
	b.save(x.price()/spareShare, x)
	b.fade(1, x)
	b.unfit = max(0, b.unfit-1)
	short := x.isShort(c.Pod, b.key) && (b.unfit < unfitMost || x.nodes <= smallCluster)
	if n := f.notes.Load(c.Pod.Runner()); short && (n == nil || n.class == nil && n.tried < triedOften) {
		if !b.stepAside(c.Seed, x.every()) {
			return false
		}
		b.key -= (b.key + keyFades - 1) / keyFades
		if b == &f.balances.all {
			f.restUntilLook(x)
		}
	} else if f.looksAt(b, c, x) { // it is no work to look for a class, or does not matter
		return false
	} else {
		f.noteKey(b, 0, 0)
		b.noteVain(x)
	}
	b.aside++
	f.stepped = b
	return true
}

// isKeptEarly reports, before kept answers have begun, whether the class of the cycle's pod is kept:
// a fork has some from the start. It looks for that while it has lost no more in vain than
// kept answers may lose.
func (f *incrementalPath) isKeptEarly(b *balance, c *framework.Cycle, x extent) bool {
	price := x.keyPrice()
	if !f.engine.KeepsOwn() {
		price += x.copyPrice()
	}
	if f.engine.KeepsNone() || b.loss+price > b.work/workShare {
		return false
	}
	f.newcomers.early = true
	kept := f.isKept(c, x.price())
	f.newcomers.early = false
	if kept {
		return true
	}
	b.loss += x.keyPrice() + x.weigh(f.spelled)
	return false
}

// longPays reports whether long keys pay, or are spelled all the same.
func (f *incrementalPath) longPays() bool {
	b := &f.balances.long
	switch {
	case f.asked != &f.balances.all || f.s.profile.Cache.Verify:
		return true
	case b.pays(f.extent):
		b.unseen = 0
		return true
	}
	return false
}

// isLongAside reports, while long keys do not pay, whether the cycle's pod, whose key is long, is
// not one that kept answers are asked for all the same.
func (f *incrementalPath) isLongAside(c *framework.Cycle) bool {
	b, x := &f.balances.long, f.extent
	if f.asked.looks { // so few pods are looked at that none of them is left out
		b.looks = true
		return false
	}
	return b.stepAside(c.Seed, x.every())
}

// come counts a pod of the class. The same pod again counts from the third time on: it may be
// tried twice by habit.
func (k *class) come(pod *framework.PodInfo) {
	if p := weak.Make(pod.Runner()); p == k.last {
		k.repeats++
	} else {
		k.last, k.repeats = p, 0
	}
	if k.repeats != 1 {
		k.came++
	}
}

// looksAt reports whether kept answers are asked for a pod although they do not pay: if its class
// is kept and few pods have changed, or if it has come before and there is something to spare.
func (f *incrementalPath) looksAt(b *balance, c *framework.Cycle, x extent) bool {
	if f.isKept(c, x.price()) {
		return true
	}
	if f.class == nil {
		return false
	}
	f.class.come(c.Pod)
	enough := max(b.lesson.enough, x.enough())
	if f.class.came < enough {
		if f.class.came >= x.enough() && b.spare >= x.classPrice() {
			b.lesson.refused()
		}
		key, _ := f.keyOf(f.class)
		f.engine.Expect(key)
		return false
	}
	classes := 1
	if f.class.came < 2*enough {
		classes += spareReserve
	}
	b.spends = b.spare >= classes*x.classPrice()
	return b.spends
}

// isKept finds the class of the cycle's pod, and reports whether it is kept, and to follow what
// pods have changed costs at most so much.
func (f *incrementalPath) isKept(c *framework.Cycle, most int) bool {
	f.newcomers.wait = true
	f.class = f.classOf(c)
	f.newcomers.wait = false
	if f.class == nil {
		return false
	}
	key, _ := f.keyOf(f.class)
	changes, ok := f.engine.Keeps(c.Snapshot, key)
	if c.Pod.Parts()&framework.PartPodAffinity != 0 {
		most *= termsCost // the reference path takes longer for such a pod
	}
	return ok && f.extentOf(0, 0).weigh(2*changes) <= most // a node that has changed costs twice as much
}
