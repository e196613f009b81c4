package scheduling

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine"
)

// boundFilter and boundScorer are what both paths ask. Only the incremental path needs
// their Reads, and fills them in.
type (
	boundFilter = engine.Filter
	boundScorer = engine.Scorer
)

// boundPlugins are the filters and scorers of a profile for one pod: the result of its
// PreFilter and PreScore plugins.
type boundPlugins struct {
	setters []*scope // plugins of the last run that set values for others
	filters []boundFilter
	scorers []boundScorer

	restrict    bool
	nodes       []string // if restrict is set; the plugin's, or common
	common      []string // memory
	restricting []string // names of the plugins that restricted
	absent      framework.Status
	absentFor   []string // the names that the text of absent was last made of
	absentKept  framework.Status

	rejected   framework.Status // by a PreFilter; Success if none did
	rejectedBy string

	perFilter []framework.NodeFilter // by index of the profile, nil = skipped
	perScorer []framework.NodeScorer
}

// A choice lists plugins of a profile to bind, by index, in order: filters or
// scorers, and the plugins that prepare them.
type choice struct{ at, pre []int }

func (c *choice) some() bool { return len(c.at)+len(c.pre) > 0 }

// everything chooses n filters or scorers, and all plugins that prepare them.
func everything(n, preparing int) choice {
	upTo := func(n int) (list []int) {
		for i := range n {
			list = append(list, i)
		}
		return list
	}
	return choice{upTo(n), upTo(preparing)}
}

// bindFilters runs the PreFilter plugins that the pod may concern; others would skip it.
//
// Source: kube-scheduler 1.37, framework/runtime, RunPreFilterPlugins.
func (t *plugins) bindFilters(c *framework.Cycle, parts podParts, b *boundPlugins, some *choice) (err error) {
	var p *preFilter
	defer func() {
		if v := recover(); v != nil {
			err = &PluginError{Point: "PreFilter", Plugin: p.name, Err: recovered(v)}
		}
	}()
	b.filters = b.filters[:0]
	b.restrict, b.nodes, b.restricting = false, nil, b.restricting[:0]
	b.rejected, b.rejectedBy = framework.Status{}, ""
	b.absent = framework.NewStatus(framework.UnschedulableAndUnresolvable, nil)
	b.setters = b.setters[:0]
	b.perFilter = slices.Grow(b.perFilter[:0], len(t.filters))[:len(t.filters)]
	for _, i := range some.at {
		if b.perFilter[i] = nil; !t.filters[i].bound {
			b.perFilter[i] = t.filters[i].unbound
		}
	}
	for _, i := range some.pre {
		p = &t.preFilters[i]
		if !p.concern.in(parts) {
			continue
		}
		c.Runner().At = i
		sets := c.Runner().Sets
		pre, status := p.plugin.PreFilter(c)
		if c.Runner().Sets != sets {
			b.setters = append(b.setters, &p.scope)
			if p.filter >= 0 {
				b.setters = append(b.setters, &t.filters[p.filter].scope)
			}
		}
		switch status.Code() {
		case framework.Success:
		case framework.Skip:
			continue
		case framework.UnschedulableAndUnresolvable:
			b.rejected, b.rejectedBy = status, p.name
			return nil
		case framework.Unschedulable:
			// Later plugins still run: one of them may answer that no removal helps.
			b.rejected, b.rejectedBy = status, p.name
			continue
		default:
			return &PluginError{Point: "PreFilter", Plugin: p.name, Err: status.Err()}
		}
		if p.filter >= 0 {
			b.perFilter[p.filter] = pre.Filter
		}
		if pre.NodeNames != nil && !b.intersect(p.name, pre.NodeNames) {
			return nil
		}
	}
	if b.restrict {
		b.restrictedBy()
	}
	for _, i := range some.at {
		if f := b.perFilter[i]; f != nil {
			batch, _ := f.(incremental.BatchFilter)
			b.filters = append(b.filters, boundFilter{At: i, Filter: f, Batch: batch})
		}
	}
	return nil
}

// restrictedBy adds plugins to the names in the status of excluded nodes.
func (b *boundPlugins) restrictedBy(plugins ...string) {
	b.restricting = append(b.restricting, plugins...)
	slices.Sort(b.restricting)
	b.restricting = slices.Compact(b.restricting)
	if !slices.Equal(b.restricting, b.absentFor) {
		b.absentFor = slices.Clone(b.restricting)
		b.absentKept = framework.UnresolvableStatus(framework.Text(fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", b.restricting)))
	}
	b.absent = b.absentKept
}

// intersect keeps the nodes that this plugin also allows. If none is left, it
// rejects the pod and returns false.
func (b *boundPlugins) intersect(plugin string, nodes []string) bool {
	b.restricting = append(b.restricting, plugin)
	slices.Sort(b.restricting)
	if !b.restrict {
		b.restrict, b.nodes = true, nodes
	} else {
		b.common = b.common[:0]
		for _, n := range b.nodes { // which may be in common already
			if _, found := slices.BinarySearch(nodes, n); found {
				b.common = append(b.common, n)
			}
		}
		b.nodes = b.common
	}
	if len(b.nodes) > 0 {
		return true
	}
	text := "node(s) didn't satisfy plugin " + plugin
	if len(b.restricting) > 1 {
		text = fmt.Sprintf("node(s) didn't satisfy plugin(s) %v simultaneously", b.restricting)
	}
	b.rejected, b.rejectedBy = framework.UnresolvableStatus(framework.Text(text)), ""
	return false
}

// lastingNodes returns nodes as a list that does not change with the next pod. There is one at
// least.
func (b *boundPlugins) lastingNodes() []string {
	if len(b.common) > 0 && &b.common[0] == &b.nodes[0] {
		return slices.Clone(b.nodes)
	}
	return b.nodes
}

// bindScorers runs the PreScore plugins that the pod may concern over the feasible nodes.
//
// Source: kube-scheduler 1.37, framework/runtime, RunPreScorePlugins.
func (t *plugins) bindScorers(c *framework.Cycle, parts podParts, feasible engine.Feasible, b *boundPlugins, some *choice) (err error) {
	var p *preScore
	defer func() {
		if v := recover(); v != nil {
			err = &PluginError{Point: "PreScore", Plugin: p.name, Err: recovered(v)}
		}
	}()
	b.scorers = b.scorers[:0]
	b.setters = b.setters[:0]
	b.perScorer = slices.Grow(b.perScorer[:0], len(t.scorers))[:len(t.scorers)]
	for _, i := range some.at {
		if b.perScorer[i] = nil; !t.scorers[i].bound {
			b.perScorer[i] = t.scorers[i].unbound
		}
	}
	for _, i := range some.pre {
		p = &t.preScores[i]
		if !p.concern.in(parts) {
			continue
		}
		c.Runner().At = len(t.preFilters) + i
		sets := c.Runner().Sets
		scorer, status := p.ask(c, feasible)
		if c.Runner().Sets != sets {
			b.setters = append(b.setters, &p.scope)
			if p.scorer >= 0 {
				b.setters = append(b.setters, &t.scorers[p.scorer].scope)
			}
		}
		switch {
		case status.IsSkip():
		case !status.IsSuccess():
			return &PluginError{Point: "PreScore", Plugin: p.name, Err: status.Err()}
		case p.scorer >= 0:
			b.perScorer[p.scorer] = scorer
		}
	}
	for _, i := range some.at {
		if scorer := b.perScorer[i]; scorer != nil {
			b.scorers = append(b.scorers, boundScorer{At: i, Scorer: scorer})
			t.scorers[i].bind(&b.scorers[len(b.scorers)-1])
		}
	}
	return nil
}

// bind completes a bound scorer: its weight, and how its scores are normalized.
func (p *scorePlugin) bind(s *boundScorer) {
	s.Weight = p.weight
	s.Batch, _ = s.Scorer.(incremental.BatchScorer)
	s.Keys, _ = s.Scorer.(incremental.NodeKeyer)
	if r, ok := s.Scorer.(framework.RangeNormalizer); ok {
		s.ByRange = r
		s.Except, _ = s.Scorer.(framework.RangeExcluder)
	} else if n, ok := s.Scorer.(framework.ScoreNormalizer); ok {
		s.ByNodes = n
	} else if s.ByRange = p.byRange; p.byRange == nil {
		s.ByNodes = p.byNodes
	}
}

// ask runs the plugin over the feasible nodes, or over groups of them if it can
// handle groups.
func (p *preScore) ask(c *framework.Cycle, feasible engine.Feasible) (framework.NodeScorer, framework.Status) {
	if p.groups != nil {
		if groups := feasible.Groups(p.scorer); groups != nil {
			return p.groups.PreScoreGroups(c, groups)
		}
	}
	return p.plugin.PreScore(c, feasible.List())
}
