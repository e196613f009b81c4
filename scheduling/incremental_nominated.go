package scheduling

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/resource"
)

// How the incremental path counts nominated pods. Only on their nodes may they matter, so
// what the filters say of these nodes with the nominated pods there overrides what is kept.
// All other nodes answer as if nobody were nominated.
//
// Filters that are kept with a class answer alike for all pods with one base key, as long
// as a node has its generation. Live filters are asked in every decision. They mostly need
// no trial: a [supposer] says what the nominated pods change.

// nominations ask about nodes that pods are nominated to.
type nominations struct {
	kept, live *referencePath // of the filters that are kept with a class, and of the others; nil until some pod is nominated
	crowds     crowds
	overrides  []engine.Override
	supposed   []*framework.PodInfo // memory of those

	bases    map[string]*keptNominated
	schema   *resource.Schema // of the snapshots that bases are about
	era      uint64           // changes when bases are forgotten
	verdicts int              // in all bases, at most
	asked    int              // nodes that the last decision asked about, with their pods
}

// keptNominated are verdicts of the filters that are kept with a class, about nodes as if
// the pods nominated to them were there.
//
// Invariant: a verdict holds for every pod with the base key that is not nominated to the
// node, as long as the node has the generation, and the snapshot the node set and the
// objects, as far as reads name these.
type keptNominated struct {
	reads    framework.Reads
	nodeSet  uint64
	objects  framework.ObjectVersions
	verdicts map[nominatedTo]verdictAt
}

// nominatedTo stands for the pods nominated to a node that have at least the priority.
type nominatedTo struct {
	slot     int
	priority int32
}

type verdictAt struct {
	generation uint64
	verdict    verdict
}

// classNominated is the entry of a class in nominations.bases in an era.
type classNominated struct {
	base *keptNominated
	era  uint64
}

// Bounds of what is kept about nominated nodes: verdicts, and base keys that they are for.
const (
	nominatedMost      = 1 << 18
	nominatedBasesMost = 4096
)

// A supposer is a bound filter that can tell how pods would change its verdict about a
// node, if they were there.
type supposer interface {
	// FilterWith is Filter after the pods have been added to the node in the snapshot, and
	// AddPod, if the filter has it, was called for each: neither has happened. AddPod would succeed. It is not ok if
	// the filter cannot tell.
	FilterWith(pod *framework.PodInfo, node *framework.NodeInfo, added []*framework.PodInfo) (status framework.Status, ok bool)
}

// override lists the nodes that the filters reject if the pods are there that are
// nominated to them. It is not ok if the reference path must be taken.
func (f *incrementalPath) override(c *framework.Cycle) (list []engine.Override, ok bool) {
	s, x := c.Snapshot, &f.nominations
	x.start(&f.s.plugins)
	x.overrides = x.overrides[:0]
	q := nominatedQuestion{x: x, plugins: &f.s.plugins, cycle: c, filters: &f.class.filters, unnamed: f.unnamed}
	for _, slot := range s.NominatedSlots() {
		node := s.AtSlot(slot)
		n := countNominated(c.Pod, node.Nominated)
		if n.counting == 0 {
			continue
		}
		if q.base == nil {
			if q.base = f.keptNominated(c); !q.bind(x.live, &q.filters.live) {
				return nil, false
			}
		}
		v, err := q.verdict(slot, n)
		if err != nil {
			return nil, false
		}
		if v.filter != passed {
			x.overrides = append(x.overrides, engine.Override{Slot: slot, At: int(v.filter), Status: v.status})
		}
	}
	return x.overrides, true
}

// start makes the paths that ask about nominated pods. Most schedulers never need them.
func (x *nominations) start(t *plugins) {
	if x.live == nil {
		x.kept = &referencePath{plugins: t, workers: 1, crowds: &x.crowds}
		x.live = &referencePath{plugins: t, workers: 1}
	}
}

// nominees says which of the pods nominated to a node count for a pod.
type nominees struct {
	counting int
	lowest   int32 // priority of these
	own      bool  // the pod itself is nominated
}

func countNominated(pod *framework.PodInfo, nominated []*framework.PodInfo) (n nominees) {
	for _, q := range nominated {
		switch {
		case q.Priority < pod.Priority:
		case isNominated(pod, q):
			n.own = true
		case n.counting == 0 || q.Priority < n.lowest:
			n.lowest = q.Priority
			fallthrough
		default:
			n.counting++
		}
	}
	return n
}

// A nominatedQuestion is asked about all nodes with nominated pods, for one pod. The live
// filters are bound with the first such node.
type nominatedQuestion struct {
	x       *nominations
	plugins *plugins
	cycle   *framework.Cycle // of the decision
	filters *side
	base    *keptNominated // not nil; nil verdicts: nothing may be kept
	bound   bool           // the kept filters are
	unnamed bool           // PreFilters may name nodes
}

var errNotBound = errors.New("a PreFilter rejects the pod, or names nodes")

// bind binds some filters for another cycle of the same decision; false if they have no
// answer, or name nodes and may not, or if one of them touched nodes: what is kept by the generations
// before is old then.
func (q *nominatedQuestion) bind(r *referencePath, some *choice) bool {
	s := q.cycle.Snapshot
	r.cycle.Reset(q.cycle.Pod, s, q.cycle.Number, q.cycle.Seed)
	version := s.Version()
	err := q.plugins.bindFilters(&r.cycle, allOf(r.cycle.Pod), &r.bound, some)
	if s.Version() != version {
		return false
	}
	return err == nil && r.bound.rejected.IsSuccess() && (q.unnamed || !r.bound.restrict)
}

// verdict returns what the filters say of the node with the nominated pods on it: the first
// that rejects the pod decides.
func (q *nominatedQuestion) verdict(slot int, n nominees) (verdict, error) {
	v, err := q.keptVerdict(slot, n)
	if err != nil || len(q.x.live.bound.filters) == 0 {
		return v, err
	}
	before := len(q.x.live.bound.filters)
	if v.filter != passed {
		before = slices.IndexFunc(q.x.live.bound.filters, func(b boundFilter) bool { return b.At > int(v.filter) })
		if before < 0 {
			before = len(q.x.live.bound.filters)
		}
	}
	w, err := q.liveVerdict(slot, n, before)
	if err != nil || w.filter != passed {
		return w, err
	}
	return v, nil
}

// keptVerdict is verdict for the kept filters. It tries whether the nominated pods can be
// added to the node, too.
func (q *nominatedQuestion) keptVerdict(slot int, n nominees) (verdict, error) {
	s := q.cycle.Snapshot
	at, generation := nominatedTo{slot, n.lowest}, s.AtSlot(slot).Generation()
	keeps := q.base.verdicts != nil && !n.own
	if keeps {
		if kept, ok := q.base.verdicts[at]; ok && kept.generation == generation {
			return kept.verdict, nil
		}
	}
	r := q.x.kept
	if !q.bound && !q.bind(r, &q.filters.kept) {
		return verdict{}, errNotBound
	}
	q.bound = true
	v, err := r.tryAsIfPlaced(s, s.AtSlot(slot))
	q.x.asked++
	if err == nil && keeps {
		q.x.keep(q.base, at, verdictAt{generation, v})
	}
	return v, err
}

// liveVerdict is verdict for the first of the live filters.
func (q *nominatedQuestion) liveVerdict(slot int, n nominees, before int) (v verdict, err error) {
	s, r := q.cycle.Snapshot, q.x.live
	p := probe{node: s.AtSlot(slot)}
	defer r.catch(&p, &err)
	if v, ok := r.askSupposing(r.bound.filters, before, &p, q.x.suppose(q.cycle.Pod, p.node, n)); ok {
		return v, nil
	}
	err = r.asIfPlaced(s, r.bound.filters, &p, func(filters []boundFilter) error { return r.ask(filters[:before], &p, &v) })
	return v, err
}

// suppose lists the nominated pods that count. The list is valid until the next call.
func (x *nominations) suppose(pod *framework.PodInfo, node *framework.NodeInfo, n nominees) []*framework.PodInfo {
	if n.counting == len(node.Nominated) {
		return node.Nominated
	}
	x.supposed = x.supposed[:0]
	for _, q := range node.Nominated {
		if reckonsWith(pod, q) {
			x.supposed = append(x.supposed, q)
		}
	}
	return x.supposed
}

// askSupposing asks the first of the filters about a node as if the pods were there. It is
// not ok if one of all filters cannot tell, or fails.
func (r *referencePath) askSupposing(filters []boundFilter, before int, p *probe, added []*framework.PodInfo) (v verdict, ok bool) {
	for i := range filters {
		if by := r.supposes(filters[i]); by != withoutPods && by != bySupposer {
			return v, false // its AddPod may fail
		}
	}
	for i := range filters[:before] {
		p.filter = i
		status, ok := framework.Status{}, true
		if r.supposes(filters[i]) == withoutPods {
			status = filters[i].Filter.Filter(r.cycle.Pod, p.node)
		} else {
			status, ok = filters[i].Filter.(supposer).FilterWith(r.cycle.Pod, p.node, added)
		}
		switch {
		case !ok:
			return v, false
		case status.IsSuccess():
			continue
		}
		return verdict{int32(filters[i].At), status}, status.IsRejected()
	}
	return verdict{filter: passed}, true
}

// keptNominated returns what is kept for the class of the pod. It has no map if nothing may
// be kept.
func (f *incrementalPath) keptNominated(c *framework.Cycle) *keptNominated {
	const identified = framework.ReadsNode | framework.ReadsPods | framework.ReadsNodeSet | anyObjects
	x, s, reads, n := &f.nominations, c.Snapshot, f.class.filters.keptReads, &f.class.nominated
	if reads&^identified != 0 {
		return &keptNominated{}
	}
	if x.bases == nil || x.schema != s.Schema() || x.verdicts >= nominatedMost {
		x.forget()
		x.schema = s.Schema()
	}
	if n.era != x.era {
		key := f.BaseKey(c.Pod) + string(binary.BigEndian.AppendUint16(nil, uint16(reads)))
		k := x.bases[key]
		if k == nil {
			if len(x.bases) >= nominatedBasesMost {
				x.forget()
			}
			k = &keptNominated{reads: reads, verdicts: map[nominatedTo]verdictAt{}}
			x.bases[key] = k
		}
		*n = classNominated{k, x.era}
	}
	n.base.follow(s)
	return n.base
}

// forget drops all that is kept.
func (x *nominations) forget() {
	x.bases = map[string]*keptNominated{}
	x.verdicts = 0
	x.era++
}

// keep notes a verdict.
func (x *nominations) keep(k *keptNominated, at nominatedTo, v verdictAt) {
	before := len(k.verdicts)
	k.verdicts[at] = v
	x.verdicts += len(k.verdicts) - before
}

// follow drops verdicts that other nodes or objects may have changed.
func (k *keptNominated) follow(s *framework.Snapshot) {
	if k.nodeSet != s.NodeSet() && k.reads&framework.ReadsNodeSet != 0 || k.objects.Differ(s.ObjectVersions())&k.reads != 0 {
		clear(k.verdicts)
	}
	k.nodeSet, k.objects = s.NodeSet(), s.ObjectVersions()
}

// decideOnNominated decides for a pod that is nominated to a node, if it fits there. done
// is false if it does not; then early holds that node's answer, which kube-scheduler
// keeps. It is not ok if the reference path must be taken.
func (f *incrementalPath) decideOnNominated(snap *framework.Snapshot, d *Decision) (done, ok bool) {
	r := &f.s.reference
	err := r.plugins.bindFilters(&r.cycle, allOf(r.cycle.Pod), &r.bound, &r.plugins.allFilters)
	if err != nil || !r.bound.rejected.IsSuccess() || r.bound.restrict {
		return false, false
	}
	r.crowds = &f.nominations.crowds
	a, err := r.askNominated(snap)
	r.crowds = nil
	switch {
	case err != nil:
		return false, false
	case a.node == nil:
		return false, true
	case !a.taken:
		f.early = early{a.node.Slot(), a.verdict, a.verdict.filter != passed}
		return false, true
	}
	f.by = byNomination
	d.Evaluated, d.Feasible, d.TiedNodes = 1, 1, 1
	d.choose(a.node, 0)
	return true, true
}

// early is the rejection of the node that a pod is nominated to.
type early struct {
	slot    int
	verdict verdict
	known   bool
}

// countEarly counts the nominated node as looked at, although the search leaves it out.
func (f *incrementalPath) countEarly(v *engine.View, d *Decision) {
	if place, ok := v.Place(f.early.slot); ok && !v.Visits(place) {
		d.Evaluated++
		d.advance++
	}
}
