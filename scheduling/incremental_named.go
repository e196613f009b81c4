package scheduling

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/pick"
	"github.com/berth-sched/berth/internal/runner"
)

// How the incremental path decides if a PreFilter names the nodes. The pods of a DaemonSet
// name one each. Such a pod is seldom like another one, so nothing is kept; but only the named
// nodes are asked, and the others are counted without being visited.
//
// If many nodes are named, as those of a pool, the engine is asked about a class of pods as if
// none were: what filters and scorers say of a node is the same. The decision is then made
// among the named nodes. Answers that are kept for this have keys of their own, so that nobody
// takes them who has not asked the PreFilters.

// namedNode is a node that a PreFilter names.
type namedNode struct {
	place, slot int
	verdict     verdict
}

// If at most handful nodes are named, each is asked, and no class is looked for. If more are
// named and there is no class, each is asked if they are at most one in fewNamed of all nodes:
// with more, the reference path is as fast.
const (
	handful  = 8
	fewNamed = 8
)

// mayName guesses whether a PreFilter will name the nodes for the pod: its affinity has a
// term about the name of a node. A wrong guess costs time only.
func mayName(pod *framework.PodInfo) bool {
	return pod.Runner().Parts&runner.NamesNodes != 0
}

// decideByPreFilters decides if a PreFilter names nodes or rejects the pod. If it is not ok,
// the reference path must search. That may be ready to.
//
// Source: the same as [referencePath.searchByPlugins].
func (f *incrementalPath) decideByPreFilters(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (err error, ok bool) {
	r := &f.s.reference
	d.Evaluated, d.Feasible, d.advance = 0, 0, 0
	if !f.bindForSearch(snap, pod, d) {
		return nil, false
	}
	if !r.bound.rejected.IsSuccess() {
		f.by = byPreFilter
		r.slots = snap.Slots()
		return r.fitError(), true
	}
	if !r.bound.restrict || pod.IsNominated() {
		r.ready = true
		return nil, false
	}
	if len(r.bound.nodes) > handful && f.s.plugins.interest(pod) == noInterest && !f.isNamedAside() {
		if err, ok := f.decideAmongNamed(snap, pod, d); ok {
			return err, true
		}
		if !f.bindForSearch(snap, pod, d) {
			return nil, false
		}
	}
	if len(r.bound.nodes) > snap.Len()/fewNamed {
		r.ready = true
		return nil, false
	}
	f.listNamed(snap)
	return f.decideByAsking(snap, d)
}

// bindForSearch binds all filters for the reference path; false if one fails.
func (f *incrementalPath) bindForSearch(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) bool {
	r := &f.s.reference
	r.cycle.Reset(pod, snap, d.Number, pick.Seed(f.s.profile.Seed, d.Number))
	return r.plugins.bindFilters(&r.cycle, allOf(r.cycle.Pod), &r.bound, &r.plugins.allFilters) == nil
}

// decideByAsking asks the filters about each named node.
func (f *incrementalPath) decideByAsking(snap *framework.Snapshot, d *Decision) (err error, ok bool) {
	s, r := f.s, &f.s.reference
	if !f.searchNamed(snap, d) {
		return nil, false
	}
	d.Feasible = len(r.feasible)
	f.by = byNames
	if len(r.feasible) > 0 && len(r.plugins.extenders) > 0 {
		a, err := r.answerExtenders(snap, candidatesOf(r.feasible), (*extenderAnswer).take)
		if err != nil {
			return err, true
		}
		d.Feasible = len(r.feasible)
		for _, x := range a.refused {
			i := slices.IndexFunc(f.named, func(n namedNode) bool { return n.slot == x.slot })
			f.named[i].verdict = verdict{byExtender, x.status}
		}
	}
	if len(r.feasible) == 0 {
		return f.namedFitError(snap), true
	}
	return s.chooseFeasible(r, r.cycle.Seed, d), true
}

// listNamed lists the named nodes that there are, each once, in the snapshot's order.
func (f *incrementalPath) listNamed(snap *framework.Snapshot) {
	f.named = f.named[:0]
	for _, name := range f.s.reference.bound.nodes {
		if n := snap.Node(name); n != nil {
			f.named = append(f.named, namedNode{place: f.engine.Place(snap, n.Slot()), slot: n.Slot(), verdict: verdict{filter: unvisited}})
		}
	}
	slices.SortFunc(f.named, func(a, b namedNode) int { return cmp.Compare(a.place, b.place) })
	f.named = slices.CompactFunc(f.named, func(a, b namedNode) bool { return a.slot == b.slot })
}

// searchNamed finds the feasible ones among the named nodes; false if a filter fails.
func (f *incrementalPath) searchNamed(snap *framework.Snapshot, d *Decision) bool {
	r, count := &f.s.reference, len(f.named)
	r.feasible, r.rated = r.feasible[:0], nil
	if count == 0 {
		return true
	}
	want := r.plugins.wanted(count, f.s.profile.Percentage)
	first := d.start % count
	for k := range count {
		x := &f.named[(first+k)%count]
		node := snap.AtSlot(x.slot)
		v, err := r.tryNominated(snap, node)
		if err != nil {
			return false
		}
		if v.filter == passed {
			if len(r.feasible) == want {
				break
			}
			r.feasible = append(r.feasible, snap.AtSlot(x.slot))
		}
		x.verdict = v
		d.Evaluated++
	}
	d.advance = d.Evaluated
	return true
}

// namedFitError counts why no node is feasible, those that are not named without looking
// at them.
func (f *incrementalPath) namedFitError(snap *framework.Snapshot) *FitError {
	r := &f.s.reference
	var counted tally
	for i := range f.named {
		counted.add(f.named[i].verdict, r.bound.absent)
	}
	counted.addAbsent(snap.Len()-len(f.named), r.bound.absent)
	return &FitError{
		Pod: r.cycle.Pod.Pod.Key(), Nodes: snap.Len(), Restricting: slices.Clone(r.bound.restricting),
		Rejections: counted.rejections(r.plugins),
	}
}
