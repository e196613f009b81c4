package scheduling

import "github.com/berth-sched/berth/framework"

// A rest is how many decisions take the reference path without a thought of kept answers, because it
// is known before that none of them would be looked at. In small clusters the thought costs
// a tenth of a decision.
type rest struct {
	left  int
	nodes int // of the snapshots that it is about
}

// rests reports whether the decision about the pod is one of those. Pods that something is known about
// are not, and do not end the rest.
func (f *incrementalPath) rests(snap *framework.Snapshot, pod *framework.PodInfo) bool {
	if f.rest.left == 0 || f.rest.nodes != snap.Len() || pod.IsNominated() || mayName(pod) || f.notes.Load(pod.Runner()) != nil {
		return false
	}
	f.rest.left--
	f.balances.all.aside++
	f.stepped = &f.balances.all
	return true
}

// restFor begins a rest of so many decisions, and books at once what each of them would.
func (f *incrementalPath) restFor(decisions int, x extent) {
	f.rest = rest{decisions, x.nodes}
	f.balances.addWork(x, decisions)
}

// restUntilBegun begins a rest until kept answers do.
func (f *incrementalPath) restUntilBegun(b *balance, x extent) {
	f.restFor(max(0, (workShare*x.classPrice()-b.work-1)/x.work()), x)
}

// restUntilLook begins a rest until the next pod that is looked at, or until kept answers may pay again.
func (f *incrementalPath) restUntilLook(b *balance, x extent) {
	if x.nodes > smallCluster {
		return // the thought costs little, and pods that fit nowhere may end it
	}
	n := b.untilLook(x.every())
	if b.late && b.loss < x.limitAtLast() {
		n = min(n, max(0, (workShare*b.loss-b.work)/x.work()))
	}
	b.unseen += n
	b.save(n*(x.price()/spareShare), x)
	f.restFor(n, x)
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
