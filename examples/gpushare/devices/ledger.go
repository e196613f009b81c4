package devices

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A ledger holds what pods have of the GPUs of a node. It is never changed in place,
// because forks share it. nil means that they have nothing.
type ledger struct {
	used [MaxGPUs]int32 // thousandths
	held []holding      // in the order in which the pods came
	tags Tags
}

// A holding is what one pod has.
type holding struct {
	pod  *framework.PodInfo
	gpus Set
	want Request
}

// podAdded gives the pod its GPUs. One that does not fit, because it was put there by
// force, gets none.
func (g *GPUs) podAdded(l *ledger, n *framework.NodeInfo, p *framework.PodInfo) (*ledger, bool) {
	w := g.wants.Of(p)
	if w.err != nil || w.Count == 0 {
		return l, false
	}
	s := w.given
	if s == 0 || s>>g.has.Of(n).gpus != 0 {
		s = g.choice(n, p, g.freeOn(n, l, p.UsedRequests.At(cpu)))
	}
	if s == 0 {
		return l, false
	}
	next := new(ledger)
	if l != nil {
		next.used = l.used
		next.held = append(make([]holding, 0, len(l.held)+1), l.held...)
		next.tags = l.tags
	}
	next.held = append(next.held, holding{p, s, w.Request})
	next.tags |= TagOf(w.Request)
	next.use(s, w.Milli)
	return next, true
}

// podRemoved takes back what the pod has.
func (g *GPUs) podRemoved(l *ledger, _ *framework.NodeInfo, p *framework.PodInfo) (*ledger, bool) {
	i := l.find(p)
	switch {
	case i < 0:
		return l, false
	case len(l.held) == 1:
		return nil, true
	}
	next := &ledger{used: l.used, held: slices.Concat(l.held[:i], l.held[i+1:])}
	next.use(l.held[i].gpus, -l.held[i].want.Milli)
	for _, h := range next.held {
		next.tags |= TagOf(h.want)
	}
	return next, true
}

func (l *ledger) use(s Set, milli int64) {
	for i := range l.used {
		if s.Has(i) {
			l.used[i] += int32(milli)
		}
	}
}

// find returns the place of what the pod has, -1 if it has nothing. Several pods of one
// name may be there for a while, if one was replaced; then the very pod counts.
func (l *ledger) find(p *framework.PodInfo) int {
	if l == nil {
		return -1
	}
	for i := range l.held {
		if l.held[i].pod == p {
			return i
		}
	}
	for i := range l.held {
		if api.SamePod(l.held[i].pod.Pod, p.Pod) {
			return i
		}
	}
	return -1
}

// Check compares the state of the snapshot with its pods: each GPU is used by what pods
// hold of it, and each pod that holds GPUs is on the node. It is for tests.
func (g *GPUs) Check(s *framework.Snapshot) error {
	g = g.orUsual()
	state := g.held.Of(s)
	for _, n := range s.All() {
		if err := state.Get(n).check(n); err != nil {
			return fmt.Errorf("node %s: %w", n.Name(), err)
		}
	}
	return nil
}

func (l *ledger) check(n *framework.NodeInfo) error {
	if l == nil {
		return nil
	}
	var sum ledger
	for _, h := range l.held {
		if !slices.Contains(n.Pods, h.pod) {
			return fmt.Errorf("pod %s holds GPUs and is not there", h.pod.Pod.Key())
		}
		if int64(h.gpus.Len()) != h.want.Count {
			return fmt.Errorf("pod %s holds %d GPUs, want %d", h.pod.Pod.Key(), h.gpus.Len(), h.want.Count)
		}
		sum.use(h.gpus, h.want.Milli)
		sum.tags |= TagOf(h.want)
	}
	if sum.used != l.used || sum.tags != l.tags {
		return fmt.Errorf("used %v, tags %b; pods hold %v, tags %b", l.used, l.tags, sum.used, sum.tags)
	}
	return nil
}
