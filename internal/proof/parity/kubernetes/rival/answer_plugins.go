package rival

import (
	"slices"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-sched/berth/internal/proof/golden"
)

// apart lists plugins that are not asked alone, since they have no effect in any
// case.
var apart = map[string]bool{"DynamicResources": true}

// eachPlugin asks each filter and score plugin of the profile alone.
func (q *question) eachPlugin(e *golden.Expect) {
	enabled := q.profile.ListPlugins()
	for _, p := range enabled.Filter.Enabled {
		if f, ok := q.plugins[p.Name].(fwk.FilterPlugin); ok && !apart[p.Name] {
			e.Filter[p.Name] = q.filter(f)
		}
	}
	for _, p := range enabled.Score.Enabled {
		e.Weights[p.Name] = int64(p.Weight)
		if s, ok := q.plugins[p.Name].(fwk.ScorePlugin); ok && !apart[p.Name] {
			e.Score[p.Name] = q.scoreAlone(s)
		}
	}
}

// filter asks a filter plugin about every node.
func (q *question) filter(p fwk.FilterPlugin) golden.FilterAnswer {
	state := newState()
	a := golden.FilterAnswer{PreFilter: golden.Status{Code: fwk.Success.String()}, Nodes: map[string]golden.Status{}}
	if pre, ok := p.(fwk.PreFilterPlugin); ok {
		restricted, status := pre.PreFilter(q.ctx, state, q.pod, q.nodes)
		if a.PreFilter = alone(status); !status.IsSuccess() {
			return a
		}
		if !restricted.AllNodes() {
			a.Restricts = names(restricted)
		}
	}
	for _, n := range q.nodes {
		if status := p.Filter(q.ctx, state, q.pod, n); !status.IsSuccess() {
			a.Nodes[n.Node().Name] = alone(status)
		}
	}
	return a
}

// alone is outcome without the name of the plugin, which is known.
func alone(s *fwk.Status) golden.Status {
	o := outcome(s)
	o.Plugin = ""
	return o
}

// scoreAlone asks a score plugin about all nodes, feasible or not.
func (q *question) scoreAlone(p fwk.ScorePlugin) golden.ScoreAnswer {
	state := newState()
	var a golden.ScoreAnswer
	if pre, ok := p.(fwk.PreScorePlugin); ok {
		q.prepare(p, state)
		s := alone(pre.PreScore(q.ctx, state, q.pod, q.nodes))
		if a.PreScore = &s; s.Code != fwk.Success.String() {
			return a
		}
	}
	list := make(fwk.NodeScoreList, 0, len(q.nodes))
	for _, n := range q.nodes {
		score, status := p.Score(q.ctx, state, q.pod, n)
		if !status.IsSuccess() {
			s := alone(status)
			return golden.ScoreAnswer{PreScore: &s}
		}
		list = append(list, fwk.NodeScore{Name: n.Node().Name, Score: score})
		a.Raw = append(a.Raw, score)
	}
	if x := p.ScoreExtensions(); x != nil && len(list) > 0 {
		x.NormalizeScore(q.ctx, state, q.pod, list)
		for _, s := range list {
			a.Normalized = append(a.Normalized, s.Score)
		}
	}
	return a
}

// prepare runs a plugin's filter, because its scores use the results.
func (q *question) prepare(p fwk.Plugin, state fwk.CycleState) {
	if p.Name() != "VolumeBinding" {
		return
	}
	if _, status := p.(fwk.PreFilterPlugin).PreFilter(q.ctx, state, q.pod, q.nodes); status.IsSuccess() {
		for _, n := range q.nodes {
			p.(fwk.FilterPlugin).Filter(q.ctx, state, q.pod, n)
		}
	}
}

// names lists the nodes that a PreFilter leaves.
func names(r *fwk.PreFilterResult) []string {
	list := r.NodeNames.UnsortedList()
	slices.Sort(list)
	return list
}
