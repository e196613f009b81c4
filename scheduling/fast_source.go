package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
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

// forgetKinds reads anew what plugins read, after one turned out to set values
// for others: it has to be asked in every decision then, or its values would be
// missing, or be those of another pod. The decision at hand is the plain road's.
func (f *fastRoad) forgetKinds() {
	clear(f.kinds)
	f.notes = framework.NewNotebook[kind]()
}

// BindFilters implements [engine.Source].
func (f *fastRoad) BindFilters(c *framework.Cycle, live bool) ([]engine.Filter, bool) {
	p := &f.s.plugins
	err := p.bindFilters(c, &f.bound, f.kind.filters.choice(live))
	if !live && len(f.bound.setters) > 0 {
		for _, i := range f.bound.setters {
			if of := p.preFilters[i].filter; of >= 0 {
				p.filters[of].scope = undeclaredScope
			}
			p.preFilters[i].scope = undeclaredScope
		}
		f.forgetKinds()
		return nil, false
	}
	if err != nil || !f.bound.rejected.IsSuccess() || f.bound.restrict {
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
	if !live && len(f.bound.setters) > 0 {
		for _, i := range f.bound.setters {
			if of := p.preScores[i].scorer; of >= 0 {
				p.scorers[of].scope = undeclaredScope
			}
			p.preScores[i].scope = undeclaredScope
		}
		f.forgetKinds()
		return nil, false
	}
	if err != nil {
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
