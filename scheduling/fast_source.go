package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/runner"
)

// BaseKey implements [engine.Source]. It covers which plugins are live.
func (f *fastRoad) BaseKey(pod *framework.PodInfo) string {
	return f.kind.liveKey() + pod.ClassKey(f.kind.base)
}

// Outside implements [engine.Source].
func (f *fastRoad) Outside() (filters, scorers bool) {
	return f.kind.filters.live.some(), f.kind.scorers.live.some()
}

// Kept implements [engine.Source].
func (f *fastRoad) Kept() (filters, scorers framework.Reads) {
	return f.kind.filters.keptReads, f.kind.scorers.keptReads
}

// renounce reports whether plugins whose answers were to be kept have just set
// values for others. They have to be asked in every decision then, or their values
// would be missing, or be those of another pod: what plugins read is found anew,
// and the decision at hand is the plain road's.
func (f *fastRoad) renounce(live bool) bool {
	if live || len(f.bound.setters) == 0 {
		return false
	}
	for _, scope := range f.bound.setters {
		*scope = undeclaredScope
	}
	clear(f.kinds)
	f.notes = runner.NewCache[kind]()
	return true
}

// BindFilters implements [engine.Source].
func (f *fastRoad) BindFilters(c *framework.Cycle, live bool) ([]engine.Filter, bool) {
	p := &f.s.plugins
	err := p.bindFilters(c, &f.bound, f.kind.filters.choice(live))
	if f.renounce(live) || err != nil || !f.bound.rejected.IsSuccess() || f.bound.restrict {
		return nil, false
	}
	f.filters = f.filters[:0]
	for _, b := range f.bound.filters {
		f.filters = append(f.filters, engine.Filter{At: b.at, Filter: b.filter, Batch: b.batch, Reads: f.kind.filters.reads[b.at]})
	}
	return f.filters, true
}

// BindScorers implements [engine.Source].
func (f *fastRoad) BindScorers(c *framework.Cycle, live bool, feasible engine.Feasible) ([]engine.Scorer, bool) {
	p := &f.s.plugins
	err := p.bindScorers(c, feasible, &f.bound, f.kind.scorers.choice(live))
	if f.renounce(live) || err != nil {
		return nil, false
	}
	f.scorers = f.scorers[:0]
	for _, b := range f.bound.scorers {
		s := engine.Scorer{
			At: b.at, Scorer: b.scorer, Reads: f.kind.scorers.reads[b.at], Weight: b.weight, ByRange: b.byRange, Except: b.except,
			Batch: b.batch,
		}
		if b.byRange == nil {
			s.ByNodes = b.byNodes
		}
		f.scorers = append(f.scorers, s)
	}
	return f.scorers, true
}
