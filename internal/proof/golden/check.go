package golden

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// CheckPlugins returns a check of single plugins. It checks each plugin of [Filters]
// and [Scorers] if the case has answers for it.
//
// All cases share one Cycle, so data that a plugin leaves in its scratch memory
// meets other pods and clusters.
func CheckPlugins() func(*Case) []string {
	return new(checker).check
}

type checker struct{ cycle framework.Cycle }

func (k *checker) check(c *Case) []string {
	s, err := c.Snapshot()
	if err != nil {
		return []string{"snapshot: " + err.Error()}
	}
	pod, err := s.NewPodInfo(c.Pod)
	if err != nil {
		return []string{"pod: " + err.Error()}
	}
	k.cycle.Reset(pod, s, 0, 0)

	nodes := make([]*framework.NodeInfo, 0, s.Len())
	names := make([]string, 0, s.Len())
	for _, n := range s.All() {
		nodes, names = append(nodes, n), append(names, n.Name())
	}
	d := &differences{}
	d.compare("order of nodes", names, c.Expect.NodeOrder)
	slot := 0
	for _, name := range slices.Sorted(maps.Keys(Filters)) {
		k.cycle.Runner().At = slot
		slot++
		if want, ok := c.Expect.Filter[name]; ok {
			if p := d.build(c, name, Filters[name]); p != nil {
				d.filter(&k.cycle, p, nodes, want)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(Scorers)) {
		k.cycle.Runner().At = slot
		slot++
		if want, ok := c.Expect.Score[name]; ok {
			if p := d.build(c, name, Scorers[name]); p != nil {
				d.score(&k.cycle, p, nodes, want)
			}
		}
	}
	missing(d, c.Expect.Filter, Filters)
	missing(d, c.Expect.Score, Scorers)
	return d.list
}

// missing records the plugins that answered in the case but do not exist here. No
// case of these asks anything of DynamicResources; see CheckDevices.
func missing[A any](d *differences, answers map[string]A, plugins map[string]Factory) {
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		if plugins[name] == nil && name != "DynamicResources" {
			d.addf("%s: there is no such plugin", name)
		}
	}
}

// differences collects the answers of a case that differ from the expected ones.
type differences struct{ list []string }

func (d *differences) addf(format string, args ...any) {
	d.list = append(d.list, fmt.Sprintf(format, args...))
}

func (d *differences) compare(what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		d.addf("%s = %v, want %v", what, got, want)
	}
}

func (d *differences) build(c *Case, name string, make Factory) framework.Plugin {
	args, err := c.Args(name)
	if err == nil {
		var p framework.Plugin
		if p, err = make(args); err == nil {
			return p
		}
	}
	d.addf("%s: %v", name, err)
	return nil
}

// filter compares the answers of a filter plugin on every node.
func (d *differences) filter(c *framework.Cycle, p framework.Plugin, nodes []*framework.NodeInfo, want FilterAnswer) {
	var bound framework.PreFiltered
	var status framework.Status
	if pre, ok := framework.As[framework.PreFilterPlugin](p); ok {
		bound, status = pre.PreFilter(c)
	} else {
		bound.Filter = p.(framework.FilterPlugin)
	}
	d.compare(p.Name()+": PreFilter", StatusOf(status), want.PreFilter)
	if !status.IsSuccess() {
		return
	}
	d.compare(p.Name()+": PreFilter nodes", bound.NodeNames, want.Restricts)
	if bound.Filter == nil {
		bound.Filter = passAll{}
	}
	for _, n := range nodes {
		answer, ok := want.Nodes[n.Name()]
		if !ok {
			answer = StatusOf(framework.Status{})
		}
		d.compare(p.Name()+": Filter of "+n.Name(), StatusOf(bound.Filter.Filter(c.Pod, n)), answer)
	}
}

// passAll stands for a PreFilter that returns no filter.
type passAll struct{}

func (passAll) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// score compares the raw and normalized scores of a plugin over all nodes.
func (d *differences) score(c *framework.Cycle, p framework.Plugin, nodes []*framework.NodeInfo, want ScoreAnswer) {
	var bound framework.NodeScorer
	var status framework.Status
	if pre, ok := framework.As[framework.PreScorePlugin](p); ok {
		bound, status = pre.PreScore(c, nodes)
	} else {
		bound = p.(framework.ScorePlugin)
	}
	if want.PreScore != nil {
		d.compare(p.Name()+": PreScore", StatusOf(status), *want.PreScore)
	}
	if !status.IsSuccess() {
		return
	}
	raw := make([]int64, len(nodes))
	for i, n := range nodes {
		raw[i] = bound.Score(c.Pod, n)
	}
	d.compare(p.Name()+": raw scores", raw, want.Raw)
	if batch, ok := bound.(incremental.BatchScorer); ok {
		together := make([]int64, len(nodes))
		batch.ScoreNodes(c.Pod, nodes, together)
		d.compare(p.Name()+": raw scores of ScoreNodes", together, raw)
	}
	normalized := want.Normalized
	if normalized == nil {
		normalized = want.Raw
	}
	d.compare(p.Name()+": normalized scores", normalize(p, bound, nodes, raw), normalized)
}

// normalize asks the bound scorer first, then the plugin.
func normalize(p framework.Plugin, bound framework.NodeScorer, nodes []*framework.NodeInfo, raw []int64) []int64 {
	scores := slices.Clone(raw)
	if len(raw) == 0 {
		return scores
	}
	for _, candidate := range []any{bound, p} {
		switch by := candidate.(type) {
		case framework.RangeNormalizer:
			excluder, _ := by.(framework.RangeExcluder)
			excludes := func(i int) bool { return excluder != nil && excluder.Excludes(nodes[i]) }
			smallest, largest := int64(math.MaxInt64), int64(math.MinInt64)
			for i, score := range raw {
				if !excludes(i) {
					smallest, largest = min(smallest, score), max(largest, score)
				}
			}
			for i, score := range raw {
				if scores[i] = 0; !excludes(i) {
					scores[i] = by.NormalizeScore(score, smallest, largest)
				}
			}
			return scores
		case framework.ScoreNormalizer:
			by.NormalizeScores(nodes, scores)
			return scores
		}
	}
	return scores
}
