package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/resource"
)

// How the incremental path asks extenders. The plugins' verdicts and totals are kept. Most
// extenders answer in the order of the question, so that nodes need not be found by name.

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
	a, err := r.answerExtenders(f.takeInOrder)
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
	case len(r.feasible) == 0, a.emptied, !f.total(v, a):
		r.extended.replay = a
		return nil, false
	}
	f.prioritize(r)
	return s.chooseScored(r, r.cycle.Seed, d), true
}

// refusedFitError counts the reasons of plugins and extenders. Together they reject every
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
func (f *incremental) total(v *engine.View, a *extenderAnswer) (ok bool) {
	r := &f.s.reference
	if sameNodes(v.Nodes(), a.kept) {
		r.totals = r.totals[:0]
		v.Totals(func(_ *framework.NodeInfo, total int64) bool {
			r.totals = append(r.totals, total)
			return true
		})
		return true
	}
	r.totals, ok = v.TotalsAmong(a.kept, r.totals[:0])
	return ok
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

// takeInOrder does what [extenderAnswer.take] does. It is fast if the verdict names nodes
// in the order in which the extender was asked about them.
func (f *incremental) takeInOrder(a *extenderAnswer, e *Extender, nodes []*framework.NodeInfo, v ExtenderVerdict) ([]*framework.NodeInfo, error) {
	f.taken[0], f.taken[1] = f.taken[1], f.taken[0] // the nodes may be those of the call before
	taken, before, names := f.taken[0][:0], len(a.refused), v.Nodes
	for _, n := range nodes {
		if k := len(taken); k < len(names) && n.Name() == names[k] {
			taken = append(taken, n)
		} else {
			a.refused = append(a.refused, refused{n.Slot(), v.refusal(n)})
		}
	}
	if len(taken) < len(names) { // they come in another order, twice, or from elsewhere
		a.refused = a.refused[:before]
		return a.take(e, nodes, v)
	}
	f.taken[0] = taken
	a.emptied = a.emptied || v.Emptied
	return taken, nil
}

// prioritize does what [referencePath.prioritize] does, but for what explanations show.
func (f *incremental) prioritize(r *referencePath) {
	nodes, x := r.toRate(), &r.extended
	x.scores = nil
	x.answered = slices.Grow(x.answered[:0], len(nodes))[:len(nodes)]
	clear(x.answered)
	for i, answer := range r.askPrioritize(nodes) {
		if len(answer) == 0 {
			continue
		}
		f.given = slices.Grow(f.given[:0], len(nodes))[:len(nodes)]
		clear(f.given)
		at := finder{nodes: nodes}
		for _, a := range answer {
			if k := at.find(a.Host); k >= 0 {
				f.given[k] = resource.SatAdd(f.given[k], a.Score)
				x.answered[k] = true
			}
		}
		e := &r.plugins.extenders[i]
		last, weighted := int64(0), int64(0) // neighbouring nodes often have equal scores
		for k, score := range f.given {
			if score != last {
				last, weighted = score, e.weighted(score)
			}
			r.totals[k] = resource.SatAdd(r.totals[k], weighted)
		}
	}
}

// A finder finds nodes by name. While names come in the order of the nodes, it needs no
// map.
type finder struct {
	nodes  []*framework.NodeInfo
	next   int
	places map[string]int // once a name was not among the nodes from next on
}

// find returns the index of the node, -1 if there is none.
func (f *finder) find(name string) int {
	for k := f.next; f.places == nil && k < len(f.nodes); k++ {
		if f.nodes[k].Name() == name {
			f.next = k + 1
			return k
		}
	}
	if f.places == nil {
		f.places = make(map[string]int, len(f.nodes))
		for k, n := range f.nodes {
			f.places[n.Name()] = k
		}
	}
	if k, ok := f.places[name]; ok {
		return k
	}
	return -1
}
