package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/resource"
)

// How the incremental path counts nominated pods. Only on their nodes may they matter, so
// these are asked as on the reference path, and their verdicts override what is kept. All
// other nodes answer as if nobody were nominated.

// nominations ask about nodes that pods are nominated to.
type nominations struct {
	path      referencePath
	crowds    crowds
	overrides []engine.Override
}

// keptNominated are verdicts of the filters about nodes as if the pods nominated to them
// were there, for pods of a class.
//
// Invariant: a verdict holds for every pod of the class that has the priority and is not
// nominated to the node, as long as the node has the generation, if local. Generations
// tell apart only what belongs to snapshots with the schema.
type keptNominated struct {
	schema   *resource.Schema
	local    bool   // the filters that are kept read a node and its pods only
	live     idlers // of the filters that are live
	verdicts map[nominatedTo]verdictAt
}

type nominatedTo struct {
	slot     int
	priority int32
}

type verdictAt struct {
	generation uint64
	verdict    verdict
}

// nominatedMost bounds how many verdicts a class keeps about nominated nodes.
const nominatedMost = 4096

// override lists the nodes that the filters reject if the pods are there that are
// nominated to them. It is not ok if the reference path must be taken.
func (f *incrementalPath) override(c *framework.Cycle) (list []engine.Override, ok bool) {
	s := c.Snapshot
	if s.Nominations() == 0 {
		return nil, true
	}
	x := &f.nominations
	x.overrides = x.overrides[:0]
	kept := f.keptNominated(c)
	bound := false
	for _, slot := range s.NominatedSlots() {
		node := s.AtSlot(slot)
		if !reckonsWithAny(c.Pod, node.Nominated) {
			continue
		}
		v, known := kept.of(c.Pod, node)
		if !known {
			if !bound {
				if bound = f.bindNominated(c); !bound {
					return nil, false
				}
			}
			var err error
			if v, err = x.path.tryAsIfPlaced(s, node); err != nil {
				return nil, false
			}
			kept.keep(c.Pod, s.AtSlot(slot), v)
		}
		if v.filter != passed {
			x.overrides = append(x.overrides, engine.Override{Slot: slot, At: int(v.filter), Status: v.status})
		}
	}
	return x.overrides, true
}

// bindNominated binds all filters for another cycle of the same decision; false if they
// have no answer, or name nodes.
func (f *incrementalPath) bindNominated(c *framework.Cycle) bool {
	r := &f.nominations.path
	r.cycle.Reset(c.Pod, c.Snapshot, c.Number, c.Seed)
	err := r.plugins.bindFilters(&r.cycle, &r.bound, &r.plugins.allFilters)
	return err == nil && r.bound.rejected.IsSuccess() && !r.bound.restrict
}

// keptNominated returns what is kept for the class of the pod, nil if nothing may be.
func (f *incrementalPath) keptNominated(c *framework.Cycle) *keptNominated {
	k := &f.class.nominated
	if schema := c.Snapshot.Schema(); k.schema != schema {
		const local = framework.ReadsNode | framework.ReadsPods
		*k = keptNominated{schema: schema, local: f.class.filters.keptReads&^local == 0, live: idlers{all: true}}
		live := &f.class.filters.live
		for _, i := range live.pre {
			k.live.add(f.s.plugins.preFilters[i].idler, f.s.plugins.preFilters[i].keyer)
		}
		if slices.ContainsFunc(live.at, func(i int) bool { return !f.s.plugins.filters[i].bound }) {
			k.live.all = false
		}
	}
	if !k.local || !k.live.idle(c, f.keys.epoch) {
		return nil
	}
	return k
}

// of returns the verdict on a node, if it is known.
func (k *keptNominated) of(pod *framework.PodInfo, node *framework.NodeInfo) (v verdict, known bool) {
	if k == nil || !k.holdsFor(pod, node) {
		return v, false
	}
	at, known := k.verdicts[nominatedTo{node.Slot(), pod.Priority}]
	return at.verdict, known && at.generation == node.Generation()
}

// keep notes a verdict.
func (k *keptNominated) keep(pod *framework.PodInfo, node *framework.NodeInfo, v verdict) {
	if k == nil || !k.holdsFor(pod, node) {
		return
	}
	if k.verdicts == nil {
		k.verdicts = map[nominatedTo]verdictAt{}
	}
	if len(k.verdicts) >= nominatedMost {
		clear(k.verdicts)
	}
	k.verdicts[nominatedTo{node.Slot(), pod.Priority}] = verdictAt{node.Generation(), v}
}

// holdsFor reports whether the verdict would be that of other pods of the class, too: the
// pod itself is not nominated to the node. Affinity terms of nominated pods make no class,
// and need none: the live plugins are idle, so they skip the pod before nominated pods are
// counted.
func (k *keptNominated) holdsFor(pod *framework.PodInfo, node *framework.NodeInfo) bool {
	for _, q := range node.Nominated {
		if isNominated(pod, q) {
			return false
		}
	}
	return true
}

// decideOnNominated decides for a pod that is nominated to a node, if it fits there. done
// is false if it does not; then early holds that node's answer, which kube-scheduler
// keeps. It is not ok if the reference path must be taken.
func (f *incrementalPath) decideOnNominated(snap *framework.Snapshot, d *Decision) (done, ok bool) {
	r := &f.s.reference
	err := r.plugins.bindFilters(&r.cycle, &r.bound, &r.plugins.allFilters)
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
