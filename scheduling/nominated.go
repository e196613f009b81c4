package scheduling

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// searchNominated looks only at the node that the pod was nominated to, if there is
// one. If it is feasible, the search is over. If it is not, r.early holds its
// answer: kube-scheduler keeps that answer, even if the search that follows leaves
// the node out.
//
// Source: kube-scheduler 1.37, schedule_one.go, evaluateNominatedNode. An error
// there does not fail the cycle: the node is looked at again with the others.
func (r *referencePath) searchNominated(s *framework.Snapshot) bool {
	r.early = earlyAnswer{}
	a, err := r.askNominated(s)
	if a.node == nil || err != nil {
		return false
	}
	place := slices.Index(r.slots, a.node.Slot())
	if !a.taken {
		r.early = earlyAnswer{place, a.verdict, a.verdict.filter != passed}
		if r.bound.restrict && a.verdict.filter != passed && a.verdict.filter != byExtender {
			// kube-scheduler adds it to the set of plugins that restricted the
			// nodes.
			r.bound.restrictedBy(r.plugins.filterName(a.verdict.filter))
		}
		return false
	}
	r.fill(unvisited)
	r.verdicts[place] = a.verdict
	r.feasible, r.visited, r.nominated = append(r.feasible, a.node), 1, true
	return true
}

// nominatedAnswer is what plugins and extenders say of the node that a pod was nominated
// to.
type nominatedAnswer struct {
	node    *framework.NodeInfo // nil if there is no such node
	taken   bool
	verdict verdict // passed if the node is not taken for no reason that counts
}

// askNominated asks about the node that the pod was nominated to, with bound filters.
func (r *referencePath) askNominated(s *framework.Snapshot) (a nominatedAnswer, err error) {
	name := r.cycle.Pod.Pod.Status.NominatedNodeName
	if name == "" {
		return a, nil
	}
	if a.node = s.Node(name); a.node == nil || !r.within.has(a.node) {
		a.node = nil
		return a, nil
	}
	if a.verdict, err = r.tryNominated(s, a.node); err != nil || a.verdict.filter != passed {
		return a, err
	}
	var refusal framework.Status
	if a.taken, refusal = r.extendersTake(a.node); refusal.IsRejected() {
		a.verdict = verdict{byExtender, refusal}
	}
	return a, nil
}

// earlyAnswer is the rejection of a node that was asked before all others.
type earlyAnswer struct {
	place   int
	verdict verdict
	known   bool
}

// keepEarly ends a search. It counts a rejected nominated node as looked at, even if
// the search did not reach it.
func (r *referencePath) keepEarly() {
	if !r.early.known {
		return
	}
	if v := &r.verdicts[r.early.place]; v.filter == excluded || v.filter == unvisited {
		*v = r.early.verdict
		r.visited++
	}
}

func (r *referencePath) tryNominated(s *framework.Snapshot, node *framework.NodeInfo) (v verdict, err error) {
	p := probe{node: node}
	defer r.catch(&p, &err)
	return r.filterWithNominated(s, &p)
}

// filterWithNominated asks the filters about a node. If pods of the same or higher
// priority are nominated to it, it asks twice: with those pods on the node, and
// without. Both answers must be yes, because the nominated pods may or may not come.
//
// Source: kube-scheduler 1.37, framework/runtime,
// RunFilterPluginsWithNominatedPods.
func (r *referencePath) filterWithNominated(s *framework.Snapshot, p *probe) (v verdict, err error) {
	return r.askWithNominated(s, r.bound.filters, p)
}

func (r *referencePath) askWithNominated(s *framework.Snapshot, filters []boundFilter, p *probe) (v verdict, err error) {
	if reckonsWithAny(r.cycle.Pod, p.node.Nominated) {
		slot := p.node.Slot()
		v, err = r.askAsIfPlaced(s, filters, p)
		p.node = s.AtSlot(slot)
		if err != nil || v.filter != passed {
			return v, err
		}
	}
	err = r.ask(filters, p, &v)
	return v, err
}

// reckonsWith reports whether a nominated pod counts for another pod.
func reckonsWith(pod, nominated *framework.PodInfo) bool {
	return nominated.Priority >= pod.Priority && !isNominated(pod, nominated)
}

func reckonsWithAny(pod *framework.PodInfo, nominated []*framework.PodInfo) bool {
	for _, q := range nominated {
		if reckonsWith(pod, q) {
			return true
		}
	}
	return false
}

// isNominated reports whether the nominated pod is the pod itself.
func isNominated(pod, q *framework.PodInfo) bool {
	return q == pod || api.SamePod(q.Pod, pod.Pod)
}

// tryAsIfPlaced asks about a node with the nominated pods on it.
func (r *referencePath) tryAsIfPlaced(s *framework.Snapshot, node *framework.NodeInfo) (v verdict, err error) {
	p := probe{node: node}
	defer r.catch(&p, &err)
	return r.askAsIfPlaced(s, r.bound.filters, &p)
}

// askAsIfPlaced asks the filters about a node with the nominated pods on it.
func (r *referencePath) askAsIfPlaced(s *framework.Snapshot, filters []boundFilter, p *probe) (v verdict, err error) {
	if r.crowds != nil {
		if v, ok := r.crowds.ask(r, filters, p.node); ok {
			return v, nil
		}
	}
	err = r.asIfPlaced(s, filters, p, func(filters []boundFilter) error { return r.ask(filters, p, &v) })
	return v, err
}

// asIfPlaced calls ask with the nominated pods on the node, and then removes them. The
// filters that ask gets know of these pods.
func (r *referencePath) asIfPlaced(s *framework.Snapshot, filters []boundFilter, p *probe, ask func(filters []boundFilter) error) error {
	mark := s.Begin()
	defer s.Rollback(mark)
	set := (&filterSet{r, s, filters}).copy()
	for _, q := range p.node.Nominated {
		if !reckonsWith(r.cycle.Pod, q) {
			continue
		}
		if err := s.AddPodAt(q, p.node); err != nil {
			return err
		}
		p.node = s.AtSlot(p.node.Slot())
		if status := set.AddPod(&r.cycle, q, p.node); !status.IsSuccess() {
			return status.Err()
		}
	}
	return ask(set.filters)
}

// filterSet presents all filters of a cycle as one.
type filterSet struct {
	path    *referencePath
	s       *framework.Snapshot
	filters []boundFilter
}

// Filter asks the filters in order and counts nominated pods. An error fails the
// cycle, so it comes back as an Error status.
func (f *filterSet) Filter(_ *framework.PodInfo, node *framework.NodeInfo) (status framework.Status) {
	p := probe{node: node}
	v, err := f.ask(&p)
	switch {
	case err != nil:
		return framework.AsStatus(err)
	case v.filter == passed:
		return framework.Status{}
	}
	return v.status
}

func (f *filterSet) ask(p *probe) (v verdict, err error) {
	defer f.path.catch(p, &err)
	return f.path.askWithNominated(f.s, f.filters, p)
}

// AddPod informs the filters that keep sums of their own.
func (f *filterSet) AddPod(c *framework.Cycle, other *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	return f.tell("AddPod", func(u framework.FilterUpdater) framework.Status { return u.AddPod(c, other, node) })
}

// RemovePod informs the filters that keep sums of their own.
func (f *filterSet) RemovePod(c *framework.Cycle, other *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	return f.tell("RemovePod", func(u framework.FilterUpdater) framework.Status { return u.RemovePod(c, other, node) })
}

// tell informs the filters in order and stops at the first failure.
//
// Source: kube-scheduler 1.37, framework/runtime,
// RunPreFilterExtensionAddPod and RunPreFilterExtensionRemovePod.
func (f *filterSet) tell(what string, call func(framework.FilterUpdater) framework.Status) framework.Status {
	for _, b := range f.filters {
		u, ok := b.Filter.(framework.FilterUpdater)
		if !ok {
			continue
		}
		if status := tellOne(u, call); !status.IsSuccess() {
			name := f.path.plugins.filters[b.At].name
			return framework.AsStatus(fmt.Errorf("running %s on PreFilter plugin %q: %w", what, name, status.Err()))
		}
	}
	return framework.Status{}
}

// tellOne informs one filter. A panic is an Error.
func tellOne(u framework.FilterUpdater, call func(framework.FilterUpdater) framework.Status) (status framework.Status) {
	defer catchStatus(&status)
	return call(u)
}

// Fork returns a copy of the set whose filters follow changes on their own.
func (f *filterSet) Fork() framework.FilterUpdater { return f.copy() }

func (f *filterSet) copy() *filterSet {
	filters := slices.Clone(f.filters)
	for i, b := range filters {
		if u, ok := b.Filter.(framework.FilterUpdater); ok {
			filters[i].Filter = forkOf(u)
		}
	}
	return &filterSet{f.path, f.s, filters}
}

// forkOf returns the filter's fork, or one that fails if Fork panics.
func forkOf(u framework.FilterUpdater) (fork framework.NodeFilter) {
	defer func() {
		if v := recover(); v != nil {
			fork = failing{recovered(v)}
		}
	}()
	return u.Fork()
}

// A failing filter answers with an error.
type failing struct{ err error }

func (f failing) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.AsStatus(f.err)
}
