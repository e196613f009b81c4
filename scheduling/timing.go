package scheduling

import (
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/pick"
)

// A PluginTime is how long one plugin took at one extension point.
type PluginTime struct {
	// Plugin is the name of the plugin, Point that of the extension point as in
	// [PluginError].
	Plugin, Point string
	// Nodes is how many nodes Filter or Score was asked about, 0 for all other
	// points.
	Nodes int
	// Duration is the time of all calls together.
	Duration time.Duration
}

// Measure makes a decision again on the reference path and returns how long each
// plugin took for it, by the given clock: PreFilter, Filter, PreScore, Score and
// NormalizeScore, in the order of the calls. The snapshot must be as it was then.
// Measure changes nothing. It costs as much as a decision without kept answers, so
// the decision itself may have been much faster.
//
// Each plugin is asked about all its nodes before the next one is, and a filter only
// about nodes that the earlier ones accepted. So reading the clock costs nothing per
// node. All nodes are searched, whatever the percentage; nominated pods and
// extenders are left out. A plugin that fails ends the list.
func (s *Scheduler) Measure(snap *framework.Snapshot, pod *framework.PodInfo, d Decision, now func() time.Time) []PluginTime {
	pod, err := s.accept(snap, pod)
	if err != nil || snap.Len() == 0 || now == nil {
		return nil
	}
	m := measurement{now: now}
	r := referencePath{plugins: m.around(s.plugins.withoutExtenders()), workers: 1}
	r.cycle.Reset(pod, snap, d.Number, pick.Seed(s.profile.Seed, d.Number))
	err = r.plugins.bindFilters(&r.cycle, allOf(r.cycle.Pod), &r.bound, &r.plugins.allFilters)
	if err != nil || !r.bound.rejected.IsSuccess() || !m.filter(&r, snap) || len(r.feasible) < 2 {
		return m.times
	}
	if r.plugins.bindScorers(&r.cycle, allOf(r.cycle.Pod), (*everyNode)(&r), &r.bound, &r.plugins.allScorers) == nil {
		m.score(&r)
	}
	return m.times
}

// measurement collects times.
type measurement struct {
	now   func() time.Time
	times []PluginTime
}

func (m *measurement) add(plugin, point string, nodes int, since time.Time) {
	m.times = append(m.times, PluginTime{plugin, point, nodes, m.now().Sub(since)})
}

// around returns the plugins with a clock around the PreFilter and PreScore plugins.
func (m *measurement) around(t *plugins) *plugins {
	c := *t
	c.preFilters = make([]preFilter, len(t.preFilters))
	for i, p := range t.preFilters {
		p.concern = 0 // every call is seen, also those about pods that concern nobody
		p.plugin = measuredPreFilter{p.plugin, m, p.name}
		c.preFilters[i] = p
	}
	c.preScores = make([]preScore, len(t.preScores))
	for i, p := range t.preScores {
		p.concern = 0
		p.plugin, p.groups = measuredPreScore{p.plugin, m, p.name}, nil
		c.preScores[i] = p
	}
	return &c
}

type measuredPreFilter struct {
	framework.PreFilterPlugin
	m    *measurement
	name string
}

func (p measuredPreFilter) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	defer p.m.add(p.name, "PreFilter", 0, p.m.now())
	return p.PreFilterPlugin.PreFilter(c)
}

type measuredPreScore struct {
	framework.PreScorePlugin
	m    *measurement
	name string
}

func (p measuredPreScore) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	defer p.m.add(p.name, "PreScore", 0, p.m.now())
	return p.PreScorePlugin.PreScore(c, feasible)
}

// filter asks one filter after the other; it returns false if one fails.
func (m *measurement) filter(r *referencePath, s *framework.Snapshot) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	for _, n := range s.All() {
		if !r.bound.restrict || r.bound.allows(n.Name()) {
			r.feasible = append(r.feasible, n)
		}
	}
	for _, f := range r.bound.filters {
		start, passed := m.now(), 0
		for _, n := range r.feasible {
			if status := f.Filter.Filter(r.cycle.Pod, n); status.IsSuccess() {
				r.feasible[passed] = n
				passed++
			} else if !status.IsRejected() {
				return false
			}
		}
		m.add(r.plugins.filters[f.At].name, "Filter", len(r.feasible), start)
		r.feasible = r.feasible[:passed]
	}
	return true
}

// score asks one scorer after the other.
func (m *measurement) score(r *referencePath) {
	raw := make([]int64, len(r.feasible))
	for i := range r.bound.scorers {
		b := &r.bound.scorers[i]
		name, start := r.plugins.scorers[b.At].name, m.now()
		if r.column(b, raw) != nil {
			return
		}
		m.add(name, "Score", len(raw), start)
		if b.ByRange == nil && b.ByNodes == nil {
			continue
		}
		start = m.now()
		if r.normalize(b, raw) != nil {
			return
		}
		m.add(name, "NormalizeScore", 0, start)
	}
}
