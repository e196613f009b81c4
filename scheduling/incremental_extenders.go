package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
)

// How the incremental path asks extenders: the plugins' verdicts and totals are kept, and
// the rest is the reference path's own code.

// An interest is what extenders do about a pod.
type interest uint8

const (
	noInterest interest = iota // none is interested
	mereClaim                  // some are, but they neither filter nor score
	takesPart                  // some filter or score
)

// interest asks the extenders whether they are interested in the pod.
func (t *plugins) interest(pod *framework.PodInfo) (most interest) {
	for i := range t.extenders {
		e := &t.extenders[i]
		if !e.interested(pod) {
			continue
		}
		if e.Filter != nil || e.Prioritize != nil {
			return takesPart
		}
		most = mereClaim
	}
	return most
}

// decideWithExtenders ends a decision in which extenders take part, and two nodes or more
// are feasible, or one. It is not ok if the reference path must be taken; that does not
// ask the extenders' filters again.
func (f *incremental) decideWithExtenders(snap *framework.Snapshot, pod *framework.PodInfo, v *engine.View, d *Decision) (err error, ok bool) {
	s, r := f.s, &f.s.reference
	nodes := v.Nodes()
	r.feasible, r.rated = append(r.feasible[:0], nodes...), nil
	a, err := r.answerExtenders()
	if err != nil {
		f.by = byError
		return err, true
	}
	r.take(snap, a)
	d.Feasible = len(r.feasible)
	f.by = byExtenders
	switch {
	case len(r.feasible) == 0 && len(nodes) == v.AllFeasible():
		return f.refusedFitError(snap, pod, v), true
	case len(r.feasible) == 1:
		return s.chooseFeasible(r, r.cycle.Seed, d), true
	case len(r.feasible) == 0, a.emptied, !f.total(v, a, nodes):
		r.extended.replay = a
		return nil, false
	}
	r.prioritize()
	return s.chooseScored(r, r.cycle.Seed, d), true
}

// refusedFitError counts the reasons of plugins and extenders, of which one rejects each
// node.
func (f *incremental) refusedFitError(snap *framework.Snapshot, pod *framework.PodInfo, v *engine.View) *FitError {
	var refusals tally
	for _, x := range f.s.reference.extended.answer.refused {
		refusals.add(verdict{byExtender, x.status}, framework.Status{})
	}
	list := append(countReasons(v), refusals.list()...)
	return &FitError{Pod: pod.Pod.Key(), Nodes: snap.Len(), Rejections: f.s.plugins.rejections(list)}
}

// total finds the totals of the feasible nodes by the plugins; false if a scorer failed.
func (f *incremental) total(v *engine.View, a *extenderAnswer, nodes []*framework.NodeInfo) bool {
	r := &f.s.reference
	if !sameNodes(nodes, a.kept) && !v.Narrow(a.kept) {
		return false
	}
	r.totals = r.totals[:0]
	v.Totals(func(_ *framework.NodeInfo, total int64) bool {
		r.totals = append(r.totals, total)
		return true
	})
	return true
}

// sameNodes reports whether the slots are those of the nodes, in order.
func sameNodes(nodes []*framework.NodeInfo, slots []int) bool {
	if len(nodes) != len(slots) {
		return false
	}
	for i, n := range nodes {
		if n.Slot() != slots[i] {
			return false
		}
	}
	return true
}
