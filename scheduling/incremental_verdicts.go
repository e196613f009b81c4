package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/pick"
)

// keptVerdicts answers from what the engine knows of a pod that fits nowhere.
type keptVerdicts struct {
	plugins *plugins
	view    *engine.View
	absent  framework.Status
}

// verdicts returns what the nodes answered to the pod of a decision, and binds the
// filters for the cycle of r; nil if the reference path must find it. It must if a
// filter has no scope, because its plugin may count on being asked about every node.
func (f *incrementalPath) verdicts(r *referencePath, snap *framework.Snapshot, pod *framework.PodInfo, d Decision) framework.Verdicts {
	seed := pick.Seed(f.s.profile.Seed, d.Number)
	r.cycle.Reset(pod, snap, d.Number, seed)
	view := f.findAgain(&r.cycle, d.start, f.s.plugins.wanted(snap.Len(), f.s.profile.Percentage))
	if view == nil || view.Feasible > 0 || slices.ContainsFunc(f.class.filters.reads, readsAnything) {
		return nil
	}
	r.cycle.Reset(pod, snap, d.Number, seed)
	err := r.plugins.bindFilters(&r.cycle, allOf(r.cycle.Pod), &r.bound, &r.plugins.allFilters)
	if err != nil || !r.bound.rejected.IsSuccess() || r.bound.restrict {
		return nil
	}
	return &keptVerdicts{r.plugins, view, r.bound.absent}
}

// findAgain is find outside of a decision, which guards it otherwise. It returns nil if the
// engine has no answer, or if kept answers do not pay and the class is not kept.
func (f *incrementalPath) findAgain(c *framework.Cycle, start, want int) (v *engine.View) {
	defer func() { f.contain(recover()) }()
	if f.balances.all.pays(f.extentOf(want, c.Snapshot.Len())) || f.s.profile.Cache.Verify || f.isKept(c, want+keyCost) {
		if found, ok := f.find(c, start, want); ok {
			v = found
		}
	}
	return v
}

// Local reports whether verdicts depend on the class, the node and the node's pods
// alone, given that the filters of the cycle read nothing else: package preemption asks.
func (v *keptVerdicts) Local() bool { return len(v.plugins.extenders) == 0 }

func readsAnything(r framework.Reads) bool { return r&framework.ReadsCluster != 0 }

// Verdict implements [framework.Verdicts].
func (v *keptVerdicts) Verdict(node *framework.NodeInfo) (plugin string, s framework.Status) {
	place, ok := v.view.Place(node.Slot())
	if !ok {
		return "", v.absent
	}
	state := v.view.State(place)
	return v.plugins.filterName(int32(state.At)), state.Status
}

// Rejected appends to slots those of the nodes whose status has the code, in the
// snapshot's order: package preemption asks so, rather than about each node.
func (v *keptVerdicts) Rejected(code framework.Code, slots []int) []int {
	return v.view.Rejected(code, slots)
}
