package frameworktest

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// Slots of [framework.Cycle.At], one for each point that may use Scratch.
const (
	slotPreFilter = iota
	slotPreScore
)

// answers is everything that a plugin says about one pod.
type answers struct {
	preFilter framework.Status
	restrict  bool
	names     []string // when restrict is set
	bound     framework.NodeFilter
	verdicts  map[string]verdict // by node

	preScore   framework.Status
	scorer     framework.NodeScorer // nil when the plugin leaves itself out
	feasible   []*framework.NodeInfo
	raw        []int64 // by place among the feasible
	normalized []int64
}

// verdict is what a plugin as a whole says about a node.
type verdict struct {
	status framework.Status
	where  string // the point that decided
}

func (v verdict) passes() bool { return v.status.IsSuccess() }

func (v verdict) String() string { return v.where + " " + v.status.String() }

const notInRestriction = framework.Text("not among the nodes that PreFilter restricts to")

// ask asks the plugin everything about the pod. Nodes that pass it and the
// others are feasible; if feasible is not nil, it decides instead.
func (k *kit) ask(c *framework.Cycle, s *framework.Snapshot, p *framework.PodInfo, feasible func(*framework.NodeInfo) bool) *answers {
	k.pod, k.node = p, ""
	c.Reset(p, s, k.seed, ^k.seed)
	a := &answers{}
	k.bindFilter(c, a)
	a.verdicts = make(map[string]verdict, s.Len())
	for _, n := range s.All() {
		v := k.verdict(a, p, n)
		a.verdicts[n.Name()] = v
		if feasible == nil && v.passes() && k.others(n) || feasible != nil && feasible(n) {
			a.feasible = append(a.feasible, n)
		}
	}
	if k.scores() && len(a.feasible) > 0 {
		k.bindScorer(c, a)
		k.score(p, a)
	}
	k.node = ""
	return a
}

// has reports whether the snapshot had the node.
func (a *answers) has(node string) bool {
	_, ok := a.verdicts[node]
	return ok
}

// feasibleNames returns the names of the feasible nodes.
func (a *answers) feasibleNames() map[string]bool {
	names := make(map[string]bool, len(a.feasible))
	for _, n := range a.feasible {
		names[n.Name()] = true
	}
	return names
}

// bindFilter runs PreFilter.
func (k *kit) bindFilter(c *framework.Cycle, a *answers) {
	if k.preFilter == nil {
		if k.filter != nil {
			a.bound = k.filter
		}
		return
	}
	c.Runner().At = slotPreFilter
	k.calling = "PreFilter"
	pre, status := k.preFilter.PreFilter(c)
	a.preFilter = status
	if status.IsSuccess() {
		a.restrict, a.names, a.bound = pre.NodeNames != nil, pre.NodeNames, pre.Filter
	}
}

func (k *kit) verdict(a *answers, p *framework.PodInfo, n *framework.NodeInfo) verdict {
	k.node = n.Name()
	switch {
	case !lets(a.preFilter):
		return verdict{a.preFilter, "PreFilter"}
	case a.restrict && !slices.Contains(a.names, n.Name()):
		return verdict{framework.UnresolvableStatus(notInRestriction), "PreFilter"}
	case a.bound == nil:
		return verdict{where: "Filter"}
	}
	k.calling = "Filter"
	return verdict{a.bound.Filter(p, n), "Filter"}
}

// bindScorer runs PreScore. It spoils the slice that PreScore was given, which
// the plugin must not keep.
func (k *kit) bindScorer(c *framework.Cycle, a *answers) {
	if k.preScore == nil {
		a.scorer = k.scorer
		return
	}
	k.node = ""
	c.Runner().At = slotPreScore
	k.calling = "PreScore"
	handed := slices.Clone(a.feasible)
	scorer, status := k.preScore.PreScore(c, handed)
	clear(handed)
	a.preScore = status
	if status.IsSuccess() {
		a.scorer = scorer
	}
}

func (k *kit) score(p *framework.PodInfo, a *answers) {
	if a.scorer == nil {
		return
	}
	k.calling = "Score"
	a.raw = make([]int64, len(a.feasible))
	for i, n := range a.feasible {
		k.node = n.Name()
		a.raw[i] = a.scorer.Score(p, n)
	}
	k.node = ""
	a.normalized = slices.Clone(a.raw)
	if byRange, byNodes := k.normalizers(a.scorer); byRange != nil {
		k.normalizeByRange(byRange, a.normalized)
	} else if byNodes != nil {
		k.calling = "NormalizeScores"
		byNodes.NormalizeScores(slices.Clone(a.feasible), a.normalized)
	}
}

// normalizers returns the rule that counts, or nil twice where there is none:
// the bound scorer's before the plugin's, by range before by nodes.
func (k *kit) normalizers(s framework.NodeScorer) (framework.RangeNormalizer, framework.ScoreNormalizer) {
	if r, ok := s.(framework.RangeNormalizer); ok {
		return r, nil
	}
	if n, ok := s.(framework.ScoreNormalizer); ok {
		return nil, n
	}
	if k.byRange != nil {
		return k.byRange, nil
	}
	return nil, k.byNodes
}

func (k *kit) normalizeByRange(r framework.RangeNormalizer, scores []int64) {
	k.calling = "NormalizeScore"
	smallest, largest := slices.Min(scores), slices.Max(scores)
	for i, raw := range scores {
		scores[i] = r.NormalizeScore(raw, smallest, largest)
	}
}
