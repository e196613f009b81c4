package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/runner"
)

// BaseKey implements [engine.Source]. It covers which plugins are live.
func (f *incrementalPath) BaseKey(pod *framework.PodInfo) string {
	f.key = f.key[:0]
	if f.unnamed {
		f.key = append(f.key, unnamedMark)
	}
	f.key = f.class.appendLiveKey(f.key)
	f.key = append(pod.AppendClassKey(f.key, f.class.base), f.class.kept...)
	return string(shortened(f.key))
}

// Live implements [engine.Source].
func (f *incrementalPath) Live() (filters, scorers bool) {
	return f.class.filters.live.some(), f.class.scorers.live.some()
}

// Kept implements [engine.Source].
func (f *incrementalPath) Kept() (filters, scorers framework.Reads) {
	return f.class.filters.keptReads, f.class.scorers.keptReads
}

// demoteSetters reports whether plugins whose answers were to be kept have just set
// values for others. Then they must be asked in every decision, or their values would be
// missing or those of another pod. So what plugins read is found anew, and the decision
// at hand takes the reference path.
func (f *incrementalPath) demoteSetters() bool {
	if len(f.bound.setters) == 0 {
		return false
	}
	for _, s := range f.bound.setters {
		*s = scope{}
	}
	f.s.plugins.findScopes()
	f.forgetClasses()
	f.notes = runner.NewCache[noted]()
	return true
}

// partsOf returns the parts of a pod, and which of them count for the pod that is asked about now: the engine
// binds kept plugins to another pod of its class, whose requests an object that came since may concern.
func (f *incrementalPath) partsOf(pod *framework.PodInfo) podParts {
	has := pod.Parts()
	return podParts{has, has&^f.s.plugins.conditional | has&f.conditional}
}

// BindKeptFilters implements [engine.Source].
func (f *incrementalPath) BindKeptFilters(c *framework.Cycle) ([]engine.Filter, bool) {
	filters, ok := f.bindFilters(c, &f.class.filters.kept)
	return filters, !f.demoteSetters() && ok
}

// BindLiveFilters implements [engine.Source].
func (f *incrementalPath) BindLiveFilters(c *framework.Cycle) ([]engine.Filter, bool) {
	return f.bindFilters(c, &f.class.idleFilters.awake)
}

func (f *incrementalPath) bindFilters(c *framework.Cycle, some *choice) ([]engine.Filter, bool) {
	err := f.s.plugins.bindFilters(c, f.partsOf(c.Pod), &f.bound, some)
	if err != nil || !f.bound.rejected.IsSuccess() || f.bound.restrict && !f.unnamed {
		return nil, false
	}
	for i := range f.bound.filters {
		x := &f.bound.filters[i]
		x.Reads = f.class.filters.reads[x.At]
	}
	return f.bound.filters, true
}

// BindKeptScorers implements [engine.Source].
func (f *incrementalPath) BindKeptScorers(c *framework.Cycle, feasible engine.Feasible) ([]engine.Scorer, bool) {
	scorers, ok := f.bindScorers(c, feasible, &f.class.scorers.kept)
	return scorers, !f.demoteSetters() && ok
}

// BindLiveScorers implements [engine.Source].
func (f *incrementalPath) BindLiveScorers(c *framework.Cycle, feasible engine.Feasible) ([]engine.Scorer, bool) {
	return f.bindScorers(c, feasible, &f.class.idleScorers.awake)
}

func (f *incrementalPath) bindScorers(c *framework.Cycle, feasible engine.Feasible, some *choice) ([]engine.Scorer, bool) {
	if err := f.s.plugins.bindScorers(c, f.partsOf(c.Pod), feasible, &f.bound, some); err != nil {
		return nil, false
	}
	for i := range f.bound.scorers {
		x := &f.bound.scorers[i]
		x.Reads = f.class.scorers.reads[x.At]
	}
	return f.bound.scorers, true
}
