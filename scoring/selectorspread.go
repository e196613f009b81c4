package scoring

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/topo"
)

// SelectorSpread spreads the pods that belong together over nodes and zones: the
// fewer of them on a node and in its zone, the better. A node's raw score is the
// number of its pods that belong with the pod. Such a pod is in the same namespace
// and not terminating. All services that select the pod must select it, and so must
// the ReplicationController, ReplicaSet, StatefulSet or Deployment that controls the pod.
// If the pod has none of these, no pod counts. Normalizing gives [SelectorSpreadScore].
//
// A pod with spread constraints of its own scores 0 everywhere.
//
// Source: kube-scheduler 1.19 to 1.22, plugin SelectorSpread.
//
// Differs: the registries with this plugin.
// Original: kube-scheduler 1.19 to 1.22 has it in its own. By default 1.22 enables
// it, at preScore and score, only while the feature gate DefaultPodTopologySpread is
// off.
// Here: no registry has it; those of 1.34 and 1.37 reject the name, as the originals
// do.
// Why: there is no registry of 1.19 to 1.22. For a configuration of these releases
// register it as "SelectorSpread" with scheduling.RegisterValue.
type SelectorSpread struct{}

// Name returns "SelectorSpread".
func (SelectorSpread) Name() string { return "SelectorSpread" }

// Scope declares that a score reads the pod's constraints, namespace, labels and
// owner, services and controllers, and the nodes and their pods.
func (SelectorSpread) Scope(p *framework.PodInfo) framework.Scope { return selectorSpreadScope(p) }

// PreScore finds the selector of the pods that belong with the pod.
func (SelectorSpread) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return preScoreSelector(c, topo.DefaultSelector)
}

// DefaultPodTopologySpread is the earlier version of [SelectorSpread]: the pod
// belongs with the pods of every ReplicationController, ReplicaSet and StatefulSet
// that selects it, whichever object controls it. A Deployment counts only if it controls
// the pod.
//
// Source: kube-scheduler 1.18, plugin DefaultPodTopologySpread.
type DefaultPodTopologySpread struct{}

// Name returns "DefaultPodTopologySpread".
func (DefaultPodTopologySpread) Name() string { return "DefaultPodTopologySpread" }

// Scope declares what [SelectorSpread] declares.
func (DefaultPodTopologySpread) Scope(p *framework.PodInfo) framework.Scope {
	return selectorSpreadScope(p)
}

// PreScore finds the selector of the pods that belong with the pod.
func (DefaultPodTopologySpread) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return preScoreSelector(c, topo.MatchingSelector)
}

func selectorSpreadScope(p *framework.PodInfo) framework.Scope {
	if len(p.Pod.Spec.TopologySpreadConstraints) > 0 {
		return framework.Scope{Pod: framework.FieldSpread}
	}
	return framework.Scope{
		Pod:   framework.FieldSpread | framework.FieldNamespace | framework.FieldLabels | framework.FieldOwner,
		Reads: framework.ReadsObjects | framework.ReadsNode | framework.ReadsPods,
	}
}

func preScoreSelector(c *framework.Cycle, belongsWith func(*framework.Snapshot, *framework.PodInfo) match.LabelSelector) (framework.NodeScorer, framework.Status) {
	if len(c.Pod.Pod.Spec.TopologySpreadConstraints) > 0 {
		return allZero{}, framework.Status{}
	}
	selector := belongsWith(c.Snapshot, c.Pod)
	if selector.SelectsEverything() {
		return noneBelong{}, framework.Status{}
	}
	s := framework.Scratch[selectorSpread](c)
	s.pods = podsLike{c.Pod.Pod.Namespace, selector}
	return s, framework.Status{}
}

// allZero is a bound scorer that scores every node 0.
type allZero struct{}

func (allZero) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

// noneBelong is the bound scorer of a pod that belongs with no other.
type noneBelong struct{ allZero }

// NormalizeScore implements [framework.RangeNormalizer].
func (noneBelong) NormalizeScore(_, _, _ int64) int64 { return framework.MaxNodeScore }

// podsLike are pods of a namespace that a selector selects and that are not
// terminating.
type podsLike struct {
	namespace string
	selector  match.LabelSelector
}

// on counts these pods on a node.
func (l *podsLike) on(node *framework.NodeInfo) int64 {
	var n int64
	for _, p := range node.Pods {
		if p.Pod.Namespace == l.namespace && p.Pod.DeletionTimestamp == nil && l.selector.Matches(p.Pod.Labels) {
			n++
		}
	}
	return n
}

// selectorSpread is the bound scorer.
type selectorSpread struct {
	pods  podsLike
	zones map[string]int64 // pods by zone, for NormalizeScores
}

func (s *selectorSpread) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return s.pods.on(node)
}

// NormalizeScores implements [framework.ScoreNormalizer].
func (s *selectorSpread) NormalizeScores(nodes []*framework.NodeInfo, scores []int64) {
	if s.zones == nil {
		s.zones = map[string]int64{}
	}
	clear(s.zones)
	var largest, largestZone int64
	for i, n := range nodes {
		largest = max(largest, scores[i])
		if zone := n.ZoneKey(); zone != "" {
			sum := s.zones[zone] + scores[i]
			s.zones[zone] = sum
			largestZone = max(largestZone, sum)
		}
	}
	for i, n := range nodes {
		if zone := n.ZoneKey(); zone != "" {
			scores[i] = SelectorSpreadZonedScore(scores[i], largest, s.zones[zone], largestZone)
		} else {
			scores[i] = SelectorSpreadScore(scores[i], largest)
		}
	}
}

// zoneWeight is the fraction of a score that the zone decides.
const zoneWeight float64 = 2.0 / 3.0

// SelectorSpreadScore returns the score of a node outside any zone. The node has
// count of the pods that belong together, and the node with the most has largest:
// 100*(largest-count)/largest, truncated, and 100 if largest is 0.
//
// Source: kube-scheduler 1.18, plugin DefaultPodTopologySpread, NormalizeScore.
func SelectorSpreadScore(count, largest int64) int64 { return int64(shareLeft(count, largest)) }

// SelectorSpreadZonedScore returns the score of a node in a zone: one third
// [SelectorSpreadScore] of the node, and two thirds the same score of its zone. The
// zone has inZone of the pods, and the zone with the most has largestZone.
//
// Source: kube-scheduler 1.18, plugin DefaultPodTopologySpread, NormalizeScore.
func SelectorSpreadZonedScore(count, largest, inZone, largestZone int64) int64 {
	return int64(float64(shareLeft(count, largest)*(1-zoneWeight)) + float64(zoneWeight*shareLeft(inZone, largestZone)))
}

// shareLeft is 100*(largest-count)/largest. Counts out of range count as the
// nearer end.
func shareLeft(count, largest int64) float64 {
	if largest <= 0 {
		return float64(framework.MaxNodeScore)
	}
	count = min(max(count, 0), largest)
	return float64(framework.MaxNodeScore) * (float64(largest-count) / float64(largest))
}
