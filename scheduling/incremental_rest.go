package scheduling

import "github.com/berth-sched/berth/framework"

// A rest is how many decisions take the reference path without a thought of kept answers, because it
// is known before that none of them would be looked at. In small clusters the thought costs
// a tenth of a decision.
//
// What each of them would book is booked at once, when the rest begins, and what is left of it taken
// back when a decision ends it.
type rest struct {
	left      int
	extent    extent
	untilLook bool
}

// rests reports, in a rest, whether the decision about the pod is one of those. Pods that something is
// known about are not.
func (f *incrementalPath) rests(snap *framework.Snapshot, pod *framework.PodInfo) bool {
	if f.rest.extent.nodes != snap.Len() || pod.IsNominated() || mayName(pod) || f.notes.Load(pod.Runner()) != nil {
		return false
	}
	f.rest.left--
	f.balances.all.aside++
	f.stepped = &f.balances.all
	return true
}

// beginRest begins a rest, and books all its decisions.
func (f *incrementalPath) beginRest(r rest) {
	f.rest = r
	f.bookRest(r.left)
}

// endRest ends the rest before a decision that is none of it.
func (f *incrementalPath) endRest() {
	if f.rest.left > 0 {
		f.bookRest(-f.rest.left)
		f.rest.left = 0
	}
}

// bookRest books so many decisions of the rest.
func (f *incrementalPath) bookRest(decisions int) {
	b, x := &f.balances.all, f.rest.extent
	f.balances.addWork(x, decisions*x.work())
	if f.rest.untilLook {
		b.unseen += decisions
		b.fade(decisions, x)
		b.save(decisions*(x.price()/spareShare), x)
	}
}

// restUntilBegun begins a rest until kept answers do.
func (f *incrementalPath) restUntilBegun(x extent) {
	f.beginRest(rest{left: max(0, (workShare*x.classPrice()-f.balances.all.work-1)/x.work()), extent: x})
}

// restUntilLook begins a rest until the next pod that is looked at, or until kept answers may pay again.
func (f *incrementalPath) restUntilLook(x extent) {
	if x.nodes > smallCluster {
		return // the thought costs little, and pods that fit nowhere may end it
	}
	b := &f.balances.all
	f.beginRest(rest{left: min(b.untilLook(x.every()), b.untilPays(x)), extent: x, untilLook: true})
}

// untilPays is after how many decisions on the reference path kept answers pay again, at least.
func (b *balance) untilPays(x extent) int {
	n := (b.loss - x.limitAtLast()) / x.fading()
	if b.late { // the limit rises, too
		n = max(n, (workShare*b.loss-b.work)/(x.work()+workShare*x.fading()))
	}
	return max(0, n)
}

// untilLook is how many pods that are not looked at come next, as far as that is drawn.
func (b *balance) untilLook(every int) int {
	switch at := b.unseen % every; {
	case at == 0:
		return 0
	case at <= b.look:
		return b.look - at
	default:
		return every - at
	}
}
