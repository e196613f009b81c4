package scoring

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/topo"
)

// ServiceAffinity spreads the pods of a service over the values of node labels. A
// node's raw score is the number of its pods that are in the pod's namespace, not
// terminating, and selected by the first service that selects the pod; 0 without a
// service. Normalizing gives each label an equal part of 100. A node with the label
// gets that part times the share of the service's pods on nodes with other values of
// the label. A node without the label gets nothing for it.
//
// Source: kube-scheduler 1.18, plugin ServiceAffinity; dropped in 1.23.
//
// Differs: several services that select the pod.
// Original: kube-scheduler takes any of them.
// Here: the first by name decides.
// Why: the answer must be the same on every run.
type ServiceAffinity struct {
	// AntiAffinityLabels are the label names. If there are none, every node scores
	// 0. The list must not change while the plugin is in use.
	AntiAffinityLabels []string
}

// Name returns "ServiceAffinity".
func (ServiceAffinity) Name() string { return "ServiceAffinity" }

// Scope declares that a score reads the pod's namespace and labels, services, and
// the nodes and their pods.
func (p ServiceAffinity) Scope(*framework.PodInfo) framework.Scope {
	if len(p.AntiAffinityLabels) == 0 {
		return framework.Scope{}
	}
	return framework.Scope{
		Pod:   framework.FieldNamespace | framework.FieldLabels,
		Reads: framework.ReadsObjects | framework.ReadsNode | framework.ReadsPods,
	}
}

// PreScore looks for the pod's service.
func (p ServiceAffinity) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if len(p.AntiAffinityLabels) == 0 {
		return allZero{}, framework.Status{}
	}
	s := framework.Scratch[serviceAffinity](c)
	s.labels = p.AntiAffinityLabels
	s.pods = podsLike{c.Pod.Pod.Namespace, match.Nothing()}
	if services := topo.ServicesOf(c.Snapshot, c.Pod); len(services) > 0 && len(services[0].Spec.Selector) > 0 {
		s.pods.selector = match.LabelsOf(services[0].Spec.Selector)
	}
	return s, framework.Status{}
}

// serviceAffinity is the bound scorer.
type serviceAffinity struct {
	pods    podsLike
	labels  []string
	byValue map[string]int64 // pods by value of a label, for NormalizeScores
	raw     []int64
	parts   []float64
}

func (s *serviceAffinity) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return s.pods.on(node)
}

// NormalizeScores implements [framework.ScoreNormalizer].
func (s *serviceAffinity) NormalizeScores(nodes []*framework.NodeInfo, scores []int64) {
	if s.byValue == nil {
		s.byValue = map[string]int64{}
	}
	s.raw = append(s.raw[:0], scores...)
	s.parts = slices.Grow(s.parts[:0], len(scores))[:len(scores)]
	clear(s.parts)
	var total int64
	for _, n := range s.raw {
		total += n
	}
	for _, label := range s.labels {
		clear(s.byValue)
		for i, n := range nodes {
			if value, ok := n.Node.Labels[label]; ok {
				s.byValue[value] += s.raw[i]
			}
		}
		for i, n := range nodes {
			if value, ok := n.Node.Labels[label]; ok {
				s.parts[i] += ServiceAffinityPart(s.byValue[value], total, len(s.labels))
			}
		}
	}
	for i, part := range s.parts {
		scores[i] = int64(part)
	}
}

// ServiceAffinityPart returns what one of several labels adds to a node's score. The
// service has total pods, and count of them are on nodes with the same value of the
// label: (100*(total-count)/total)/labels, and 100/labels if total is 0. A node's
// score is the sum, truncated.
//
// Source: kube-scheduler 1.18, plugin ServiceAffinity, updateNodeScoresForLabel.
func ServiceAffinityPart(count, total int64, labels int) float64 {
	if labels <= 0 {
		return 0
	}
	return shareLeft(count, total) / float64(labels)
}
