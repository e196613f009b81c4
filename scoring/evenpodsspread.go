package scoring

import (
	"fmt"
	"math"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/resource"
)

// EvenPodsSpread is the first version of [PodTopologySpread], under the feature gate
// of this name. A node's raw score is the number of pods in its topology domains,
// summed over the pod's spread constraints with the action ScheduleAnyway. maxSkew
// and the number of domains do not matter. See PodTopologySpread for which pods and
// nodes count.
//
// Feasible nodes that lack the label of a constraint get 0. The others get
// 100*(total - raw)/(total - smallest), truncated, where total is the sum of their
// raw scores. If the divisor is 0, for instance with one node or without any pod,
// every node gets 100, even one that lacks a label. A pod without constraints of the
// action scores 0 everywhere.
//
// Source: kube-scheduler 1.18, plugin PodTopologySpread.
//
// Differs: an empty selector.
// Original: it counts all pods of the namespace.
// Here: it counts no pod.
// Why: counting is shared with [PodTopologySpread].
//
// Differs: spreading by host name, if nodes share a host name.
// Original: the pods of all these nodes count.
// Here: only the pods of the node itself count.
// Why: counting is shared with PodTopologySpread.
//
// Differs: later fields of a constraint, such as nodeTaintsPolicy and matchLabelKeys.
// Original: 1.18 does not have them.
// Here: they count as they do today.
// Why: counting is shared with PodTopologySpread.
//
// Differs: two constraints with one key and action, which no API server accepts.
// Original: for each of them, the pods of both count.
// Here: each counts for itself.
// Why: counting is shared with PodTopologySpread.
type EvenPodsSpread struct {
	// DefaultConstraints apply to pods without any constraints. Their selector
	// covers the pods that belong together by the rule of
	// [DefaultPodTopologySpread]. They must not have selectors of their own, and
	// must not change while the plugin is in use.
	DefaultConstraints []api.TopologySpreadConstraint
}

// Name returns "PodTopologySpread".
func (EvenPodsSpread) Name() string { return "PodTopologySpread" }

// Validate reports default constraints that are malformed or duplicated, or that
// have a selector.
func (p EvenPodsSpread) Validate() error { return p.today().Validate() }

// Scope declares that scores must not be cached, unless the pod has no constraint of
// the action: then a score reads nothing.
func (p EvenPodsSpread) Scope(pod *framework.PodInfo) framework.Scope {
	s := p.today().Scope(pod)
	if s.Reads != 0 {
		s.Pod |= framework.FieldSpread | framework.FieldNamespace | framework.FieldLabels | framework.FieldOwner
		s.Reads = framework.ReadsCluster
	}
	return s
}

func (p EvenPodsSpread) today() PodTopologySpread {
	return PodTopologySpread{ListDefaulting: true, DefaultConstraints: p.DefaultConstraints}
}

// PreScore finds the pod's constraints. A malformed one is an error.
func (p EvenPodsSpread) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	rules := topo.SoftRules(c.Pod)
	if rules.Err != nil {
		return nil, framework.AsStatus(fmt.Errorf(
			"error when calculating preScoreState: obtaining pod's soft topology spread constraints: %w", rules.Err))
	}
	if !rules.Own && len(p.DefaultConstraints) > 0 {
		if selector := topo.MatchingSelector(c.Snapshot, c.Pod); !selector.SelectsEverything() {
			rules = topo.DefaultRules(p.DefaultConstraints, api.ScheduleAnyway, selector, c.Pod)
		}
	}
	if len(rules.List) == 0 {
		return allZero{}, framework.Status{}
	}
	return &evenPodsSpread{topo.In(c).Soft(c.Pod, rules, true)}, framework.Status{}
}

// evenPodsSpread is the bound scorer.
type evenPodsSpread struct{ spread *topo.Spread }

// current returns the counts, which are looked up again if the tables have given them up; see podTopologySpread. Only then
// it writes: several goroutines may score.
func (s *evenPodsSpread) current() *topo.Spread {
	if s.spread.Dropped() {
		s.spread = s.spread.Renewed()
	}
	return s.spread
}

func (s *evenPodsSpread) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if s.current().Ignores(node) {
		return 0
	}
	var sum int64
	for _, count := range s.spread.Counts {
		sum += count.At(node)
	}
	return sum
}

// NormalizeScores implements [framework.ScoreNormalizer].
func (s *evenPodsSpread) NormalizeScores(nodes []*framework.NodeInfo, scores []int64) {
	s.current()
	total, smallest := int64(0), int64(math.MaxInt64)
	for i, n := range nodes {
		if !s.spread.Ignores(n) {
			total = resource.SatAdd(total, scores[i])
			smallest = min(smallest, scores[i])
		}
	}
	for i, n := range nodes {
		switch {
		case total == smallest:
			scores[i] = framework.MaxNodeScore
		case s.spread.Ignores(n):
			scores[i] = 0
		default:
			scores[i] = int64(float64(framework.MaxNodeScore) * (float64(total-scores[i]) / float64(total-smallest)))
		}
	}
}
