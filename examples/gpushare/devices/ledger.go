package devices

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A ledger holds what pods have of the GPUs of a node. It is never changed in place,
// because forks share it. nil means that they have had nothing.
type ledger struct {
	node *api.Node // that left is about
	left room      // on the node as it was
	used [MaxGPUs]int32
	last *holding
	gone *holding // what pods had that left since one came; it is theirs if they are put back
}

// A holding is what one pod has.
type holding struct {
	pod     *framework.PodInfo
	want    *wanted
	earlier *holding // of the pod that came before; shared by ledgers
	gpus    Set
}

// podAdded gives the pod its GPUs. One that does not fit, because it was put there by
// force, gets none.
func (g *GPUs) podAdded(l *ledger, n *framework.NodeInfo, p *framework.PodInfo) (*ledger, bool) {
	w := g.wants.Of(p)
	if w.err != nil || w.Count == 0 {
		return l, false
	}
	left := g.leftOn(n, l)
	s, back := g.pick(n, p, l, freeCPU(n)+p.UsedRequests.At(cpu))
	if s == 0 {
		return l, false
	}
	next := new(ledger)
	if l != nil {
		*next = *l
	}
	next.gone = nil
	if back != nil {
		next.gone = l.gone.without(back)
	}
	next.last = &holding{p, w, next.last, s}
	next.use(s, w.Milli)
	next.node = n.Node
	next.left = next.leftOf(g.has.Of(n), left.tags|TagOf(w.Request))
	return next, true
}

// podRemoved takes back what the pod has. Preemption tries nodes without some pods and puts
// them back one by one: if they got other GPUs then, nothing would be as before.
func (g *GPUs) podRemoved(l *ledger, n *framework.NodeInfo, p *framework.PodInfo) (*ledger, bool) {
	if l == nil {
		return l, false
	}
	h := l.last.find(p)
	if h == nil {
		return l, false
	}
	next := &ledger{node: n.Node, used: l.used, last: l.last.without(h), gone: &holding{h.pod, h.want, l.gone, h.gpus}}
	next.use(h.gpus, -h.want.Milli)
	var tags Tags
	for h := next.last; h != nil; h = h.earlier {
		tags |= TagOf(h.want.Request)
	}
	next.left = next.leftOf(g.has.Of(n), tags)
	return next, true
}

// pick returns the GPUs that the pod gets if it comes to the node now, none if it does not
// fit: those that it names on the node that it is bound to or, if it is put back, those that
// it had, else the best choice. free is what is free of the CPU without the pod.
func (g *GPUs) pick(n *framework.NodeInfo, p *framework.PodInfo, l *ledger, free int64) (s Set, back *holding) {
	w, left := g.wants.Of(p), g.leftOn(n, l)
	if l != nil {
		back = l.gone.find(p)
	}
	if given := w.givenOn(n, left); given != 0 {
		return given, back
	}
	if back != nil && back.want.Request == w.Request && left.spares(back.gpus, w.Milli) {
		return back.gpus, back
	}
	return g.choice(n, p, left.with(free)), nil
}

func (l *ledger) use(s Set, milli int64) {
	for i := range l.used {
		if s.Has(i) {
			l.used[i] += int32(milli)
		}
	}
}

// leftOf returns what is left of a node that has so much without pods.
func (l *ledger) leftOf(has *room, tags Tags) room {
	r := *has
	r.tags = tags
	for i := range r.gpus {
		r.left[i] = max(0, MilliPerGPU-l.used[i])
	}
	r.sum()
	return r
}

// without returns the list without one of its holdings. It copies the later ones.
func (h *holding) without(x *holding) *holding {
	var first *holding
	at := &first
	for ; h != x; h = h.earlier {
		*at = &holding{h.pod, h.want, nil, h.gpus}
		at = &(*at).earlier
	}
	*at = x.earlier
	return first
}

// find returns what the pod has, nil if it has nothing. Several pods of one name may be
// there for a while, if one was replaced; then the very pod counts.
func (h *holding) find(p *framework.PodInfo) (same *holding) {
	for ; h != nil; h = h.earlier {
		if h.pod == p {
			return h
		}
		if same == nil && api.SamePod(h.pod.Pod, p.Pod) {
			same = h
		}
	}
	return same
}

// Check compares the state of the snapshot with its pods: each GPU is used by what pods
// hold of it, and each pod that holds GPUs is on the node. Only pods that are bound to the
// node and name their GPUs may use more of a GPU than there is. It is for tests.
func (g *GPUs) Check(s *framework.Snapshot) error {
	g = g.orUsual()
	state := g.held.Of(s)
	for _, n := range s.All() {
		l := state.Get(n)
		if err := l.check(n); err != nil {
			return fmt.Errorf("node %s: %w", n.Name(), err)
		}
		if l == nil {
			continue
		}
		if got, want := *g.leftOn(n, l), l.leftOf(g.has.Of(n), l.left.tags); got != want {
			return fmt.Errorf("node %s: %+v is left, want %+v", n.Name(), got, want)
		}
	}
	return nil
}

func (l *ledger) check(n *framework.NodeInfo) error {
	if l == nil {
		return nil
	}
	var sum, chosen ledger
	for h := l.last; h != nil; h = h.earlier {
		if !slices.Contains(n.Pods, h.pod) {
			return fmt.Errorf("pod %s holds GPUs and is not there", h.pod.Pod.Key())
		}
		if int64(h.gpus.Len()) != h.want.Count {
			return fmt.Errorf("pod %s holds %d GPUs, want %d", h.pod.Pod.Key(), h.gpus.Len(), h.want.Count)
		}
		sum.use(h.gpus, h.want.Milli)
		sum.left.tags |= TagOf(h.want.Request)
		if h.want.on != n.Name() || h.want.given != h.gpus {
			chosen.use(h.gpus, h.want.Milli)
		}
	}
	for i, used := range chosen.used {
		if used > MilliPerGPU {
			return fmt.Errorf("gpu %d is given out %d thousandths of", i, used)
		}
	}
	if sum.used != l.used || sum.left.tags != l.left.tags {
		return fmt.Errorf("used %v, tags %b; pods hold %v, tags %b", l.used, l.left.tags, sum.used, sum.left.tags)
	}
	return nil
}
