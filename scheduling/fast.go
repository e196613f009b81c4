package scheduling

import (
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
)

// fastRoad decides from kept answers. Whatever it cannot answer exactly it
// leaves to the plain road.
type fastRoad struct {
	s       *Scheduler
	engine  *engine.Engine
	bound   binding
	filters []engine.Filter
	scorers []engine.Scorer
	plain   road // for verification

	reading // for the pod of this decision
}

// reading is what the plugins of a profile read when they answer for one pod, by
// index, and which of them are live: bound in every decision. PreFilters and
// PreScores have entries of their own where they only prepare.
type reading struct {
	filterReads, scorerReads                                []framework.Reads
	liveFilters, liveScorers, livePreFilters, livePreScores []bool

	pod                  framework.PodFields // parts of the pod that make its class
	base                 framework.PodFields // those that plugins read that are not live
	onFilters, onScorers side
}

func newFastRoad(s *Scheduler) *fastRoad {
	f := &fastRoad{s: s, plain: road{plugins: &s.plugins, workers: 1}}
	budget := s.profile.Fast.Budget
	if budget == 0 {
		budget = engine.DefaultBudget
	}
	f.engine = engine.New(f, budget)
	return f
}

// outside marks answers that are not kept with a class of pods: their plugins
// are bound in every decision.
const outside = framework.ReadsCluster | framework.ReadsDomain | framework.ReadsFeasible

// side is what there is to know of all filters, or of all scorers.
type side struct {
	live bool            // some are
	kept framework.Reads // what those read that are not
}

// read asks every plugin what it reads. A plugin without a scope is asked anew
// in every decision and needs no part in the class.
func (r *reading) read(t *plugins, pod *framework.PodInfo) {
	*r = reading{
		filterReads: r.filterReads[:0], scorerReads: r.scorerReads[:0],
		liveFilters: r.liveFilters[:0], liveScorers: r.liveScorers[:0],
		livePreFilters: r.livePreFilters[:0], livePreScores: r.livePreScores[:0],
	}
	for i := range t.filters {
		reads, live := r.add(t.filters[i].scope(pod), &r.onFilters)
		r.filterReads, r.liveFilters = append(r.filterReads, reads), append(r.liveFilters, live)
	}
	for i := range t.preFilters {
		live := false
		if p := &t.preFilters[i]; p.filter < 0 {
			_, live = r.add(p.scope(pod), &r.onFilters)
		}
		r.livePreFilters = append(r.livePreFilters, live)
	}
	for i := range t.scorers {
		reads, live := r.add(t.scorers[i].scope(pod), &r.onScorers)
		r.scorerReads, r.liveScorers = append(r.scorerReads, reads), append(r.liveScorers, live)
	}
	for i := range t.preScores {
		live := false
		if p := &t.preScores[i]; p.scorer < 0 {
			_, live = r.add(p.scope(pod), &r.onScorers)
		}
		r.livePreScores = append(r.livePreScores, live)
	}
}

// add takes one plugin's scope into account.
func (r *reading) add(s framework.Scope, on *side) (reads framework.Reads, live bool) {
	if s.Reads&framework.ReadsCluster == 0 {
		r.pod |= s.Pod
	}
	if live = s.Reads&outside != 0; live {
		on.live = true
	} else {
		r.base |= s.Pod
		on.kept |= s.Reads
	}
	return s.Reads, live
}

// decide answers like [Scheduler.decide]; false when it has no answer.
func (f *fastRoad) decide(snap *framework.Snapshot, pod *framework.PodInfo) (d Decision, err error, ok bool) {
	s := f.s
	d = Decision{Tie: s.profile.Tie, Number: s.number, start: s.start}
	seed := decisionSeed(s.profile.Seed, s.number)
	s.road.cycle.Reset(pod, snap, s.number, seed)
	f.read(&s.plugins, pod)
	v, ok := f.engine.Find(engine.Query{
		Snapshot: snap, Cycle: &s.road.cycle, Key: pod.ClassKey(f.pod), Start: s.start,
		Want: wanted(snap.Len(), s.profile.Percentage, len(s.plugins.scorers) > 0),
	})
	if !ok {
		return d, nil, false
	}
	d.Evaluated, d.Feasible, d.advance = v.Evaluated, v.Feasible, v.Evaluated
	switch v.Feasible {
	case 0:
		return d, f.fitError(snap, pod, v), true
	case 1:
		d.Tied = 1
		d.choose(v.First(), 0)
		return d, nil, true
	}
	largest, tied := v.Best()
	d.Tied = tied
	node, err := f.choose(v, seed)
	if err != nil {
		return d, err, true
	}
	d.choose(node, largest)
	return d, nil, true
}

func (f *fastRoad) choose(v *engine.View, seed uint64) (*framework.NodeInfo, error) {
	_, tied := v.Best()
	switch f.s.profile.Tie {
	case Reservoir:
		nodes, totals := []*framework.NodeInfo(nil), []int64(nil)
		v.Totals(func(n *framework.NodeInfo, total int64) bool {
			nodes, totals = append(nodes, n), append(totals, total)
			return true
		})
		return nodes[reservoirPick(totals, seed)], nil
	case Heap:
		return v.Heap(), nil
	case First:
		return v.Tied(0), nil
	case ByName:
		least := v.Tied(0)
		for _, n := range v.AllTied() {
			if strings.Compare(n.Node.Name, least.Node.Name) < 0 {
				least = n
			}
		}
		return least, nil
	case Custom:
		nodes := v.AllTied()
		i, err := callTieBreak(f.s.profile.TieBreak, nodes, seed)
		if err != nil {
			return nil, err
		}
		return nodes[i], nil
	default:
		return v.Tied(draw(seed, tied)), nil
	}
}

// fitError counts the reasons. While no reason changes, it is done once.
func (f *fastRoad) fitError(snap *framework.Snapshot, pod *framework.PodInfo, v *engine.View) *FitError {
	list, ok := v.Kept().([]Rejection)
	if !ok {
		var reasons []counted
		for _, r := range v.Rejections() {
			reasons = append(reasons, counted{r.At, r.Status, r.Nodes})
		}
		list = f.s.plugins.rejections(reasons)
		v.Keep(list)
	}
	return &FitError{Pod: pod.Pod.Key(), Nodes: snap.Len(), Rejections: list}
}

// BaseKey implements [engine.Source]. It covers which plugins are live.
func (f *fastRoad) BaseKey(pod *framework.PodInfo) string {
	var b []byte
	for _, list := range [...][]bool{f.liveFilters, f.livePreFilters, f.liveScorers, f.livePreScores} {
		for _, live := range list {
			if live {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	return string(b) + pod.ClassKey(f.base)
}

// Outside implements [engine.Source].
func (f *fastRoad) Outside() (filters, scorers bool) { return f.onFilters.live, f.onScorers.live }

// Kept implements [engine.Source].
func (f *fastRoad) Kept() (filters, scorers framework.Reads) {
	return f.onFilters.kept, f.onScorers.kept
}

// BindFilters implements [engine.Source].
func (f *fastRoad) BindFilters(c *framework.Cycle, live bool) ([]engine.Filter, bool) {
	p := &f.s.plugins
	err := p.bindFilters(c, &f.bound, choice{f.liveFilters, f.livePreFilters, live})
	if err != nil || !f.bound.rejected.IsSuccess() || f.bound.restrict {
		return nil, false
	}
	f.filters = f.filters[:0]
	for _, b := range f.bound.filters {
		f.filters = append(f.filters, engine.Filter{At: b.at, Filter: b.filter, Reads: f.filterReads[b.at]})
	}
	return f.filters, true
}

// BindScorers implements [engine.Source].
func (f *fastRoad) BindScorers(c *framework.Cycle, live bool, feasible engine.Feasible) ([]engine.Scorer, bool) {
	p := &f.s.plugins
	if err := p.bindScorers(c, feasible, &f.bound, choice{f.liveScorers, f.livePreScores, live}); err != nil {
		return nil, false
	}
	f.scorers = f.scorers[:0]
	for _, b := range f.bound.scorers {
		s := engine.Scorer{
			At: b.at, Scorer: b.scorer, Reads: f.scorerReads[b.at], Weight: b.weight, ByRange: b.byRange, Except: b.except,
		}
		if b.byRange == nil {
			s.ByNodes = b.byNodes
		}
		f.scorers = append(f.scorers, s)
	}
	return f.scorers, true
}
