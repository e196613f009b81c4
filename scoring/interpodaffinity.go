package scoring

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/topo"
)

// InterPodAffinity scores nodes by the pods in their topology domains. A node's
// raw score is the sum of the weights
//
//   - of the pod's preferred affinity terms, for each pod in the term's domain
//     that the term matches, minus those of its anti-affinity terms;
//   - of the preferred terms of pods in the cluster that match this pod, for
//     nodes in the term's domain, in the same way;
//   - HardPodAffinityWeight for each required affinity term of a pod in the
//     cluster that matches this pod.
//
// Normalizing maps the range of the feasible nodes' raw scores to [0,100]
// ([InterPodAffinityScore]).
//
// The snapshot keeps the counts, so scoring a node costs one lookup per term. Many terms of
// pods in the cluster cost one for each topology key.
//
// Source: kube-scheduler 1.37, plugin InterPodAffinity.
//
// Differs: a preferred term's weight of -2147483648, which no API server accepts.
// Original: it wraps around when it is negated.
// Here: it counts as it is.
// Why: a wrapped number helps nobody.
//
// Differs: a malformed required term of the pod, in 1.18.
// Original: it did not fail scoring.
// Here: it does, as in later releases.
// Why: there is one rule for all releases.
//
// Differs: a malformed preferred term of a pod in the cluster, in 1.18.
// Original: the earlier terms of that pod counted.
// Here: none of them counts, as in later releases.
// Why: there is one rule for all releases.
type InterPodAffinity struct {
	// HardPodAffinityWeight is the weight of required affinity terms of pods in
	// the cluster, from 0 to 100; 0 leaves them out. nil means 1.
	HardPodAffinityWeight *int32
	// IgnorePreferredTermsOfExistingPods skips the plugin for pods that have no
	// preferred terms of their own. It has no effect on others.
	IgnorePreferredTermsOfExistingPods bool
	// RangeWithZero makes the range that is mapped to [0,100] always include 0, as
	// in kube-scheduler 1.18.
	RangeWithZero bool
}

// Name returns "InterPodAffinity".
func (InterPodAffinity) Name() string { return "InterPodAffinity" }

// Validate reports a weight out of range.
func (p InterPodAffinity) Validate() error {
	if w := p.hardWeight(); w < 0 || w > 100 {
		return fmt.Errorf("InterPodAffinity: hardPodAffinityWeight: Invalid value: %d: not in valid range [0, 100]", w)
	}
	return nil
}

func (p InterPodAffinity) hardWeight() int64 {
	if p.HardPodAffinityWeight == nil {
		return 1
	}
	return int64(*p.HardPodAffinityWeight)
}

// Scope declares that a score reads the node's labels, pods in its topology domains, and
// labels of namespaces. If the plugin skips the pod, it reads nothing. The pod's
// namespace, labels and affinity terms matter as far as AppendClassKey says; all terms
// matter if one is malformed.
func (p InterPodAffinity) Scope(pod *framework.PodInfo) framework.Scope {
	var s framework.Scope
	if pod.HasPodAffinity() && topo.TermsOf(pod).Err != nil {
		s.Pod = framework.FieldPodAffinity
	}
	if !p.ignores(pod) {
		s.Reads = framework.ReadsNode | framework.ReadsDomain | framework.ReadsObjects
	}
	return s
}

// ScopeVaries implements [incremental.VaryingScoper].
func (InterPodAffinity) ScopeVaries() framework.PodParts { return framework.PartPodAffinity }

// AppendClassKey implements [incremental.ClassKeyer]: it appends which terms match which
// pods.
func (p InterPodAffinity) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	if p.ignores(pod) {
		return b
	}
	return topo.AppendAffinityKey(b, s, pod)
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (InterPodAffinity) ClassKeyVersion(s *framework.Snapshot) uint64 {
	return topo.KeyVersion(s)
}

// ClassKeySource implements [incremental.SharedKeyer].
func (InterPodAffinity) ClassKeySource() string { return topo.KeySource }

// ignores reports whether the configuration skips the plugin for the pod.
func (p InterPodAffinity) ignores(pod *framework.PodInfo) bool {
	if !p.IgnorePreferredTermsOfExistingPods {
		return false
	}
	a := pod.Pod.Spec.Affinity
	return a == nil ||
		(a.PodAffinity == nil || len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0) &&
			(a.PodAntiAffinity == nil || len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0)
}

// Idle implements [incremental.Idler]: those that the pod prefers to be near or far from are
// nowhere, and no term of pods in the cluster that matches it scores.
func (InterPodAffinity) Idle(c *framework.Cycle) bool { return topo.NoPreferred(c.Snapshot, c.Pod) }

// PreScore skips if no term of either side matches any pod. It does not read the
// feasible nodes.
func (p InterPodAffinity) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.PreScoreGroups(c, nil)
}

// PreScoreGroups implements [incremental.GroupPreScorePlugin].
func (p InterPodAffinity) PreScoreGroups(c *framework.Cycle, _ incremental.FeasibleNodes) (framework.NodeScorer, framework.Status) {
	if p.ignores(c.Pod) {
		return nil, framework.SkipStatus()
	}
	if err := topo.TermsOf(c.Pod).Err; err != nil {
		return nil, framework.AsStatus(fmt.Errorf("failed to parse pod: %w", err))
	}
	a := topo.In(c).Affinity(c.Pod)
	weight := p.hardWeight()
	if a == nil || !a.Scores(weight > 0) {
		return nil, framework.SkipStatus()
	}
	s := framework.Scratch[interPodAffinity](c)
	s.Affinity, s.weight, s.withZero = a, weight, p.RangeWithZero
	return s, framework.Status{}
}

// interPodAffinity is the bound scorer.
type interPodAffinity struct {
	*topo.Affinity
	weight   int64 // the weight for Demand
	withZero bool
}

func (s *interPodAffinity) Score(pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	if s.Dropped() {
		s.Affinity = s.Renewed(pod)
	}
	var sum int64
	for i := range s.Prefer {
		c := &s.Prefer[i]
		sum += c.Weight * c.At(node)
	}
	if s.weight > 0 {
		for _, c := range s.Demand {
			sum += s.weight * c.At(node)
		}
	}
	if s.Others != nil {
		sum += s.Others.Preference(node, s.weight)
	}
	return sum
}

// NormalizeScore implements [framework.RangeNormalizer].
func (s *interPodAffinity) NormalizeScore(raw, smallest, largest int64) int64 {
	if s.withZero {
		smallest, largest = min(smallest, 0), max(largest, 0)
	}
	return InterPodAffinityScore(raw, smallest, largest)
}

// Groups implements [incremental.Grouper].
func (s *interPodAffinity) Groups() incremental.Groups { return s.ScoreGroups(s.weight > 0) }

// Version implements [incremental.DomainTracker].
func (s *interPodAffinity) Version() uint64 { return s.ScoreVersion(s.weight > 0) }

// Changed implements [incremental.DomainTracker].
func (s *interPodAffinity) Changed(since uint64, dirty func(slot int)) bool {
	return s.ScoreChanged(s.weight > 0, since, dirty)
}

// AppendState implements [incremental.ForkTracker].
func (s *interPodAffinity) AppendState(b []byte) []byte { return s.AppendScoreState(b, s.weight > 0) }

// ChangedFrom implements [incremental.ForkTracker].
func (s *interPodAffinity) ChangedFrom(state []byte, dirty func(slot int)) bool {
	return s.ScoreChangedFrom(s.weight > 0, state, dirty)
}

// InterPodAffinityScore maps a raw score in [smallest, largest] to [0,100]: 100 for
// the largest and 0 for the smallest, truncated in between. If both are equal, every
// score is 0.
//
// Source: kube-scheduler 1.37, InterPodAffinity's NormalizeScore: 100 *
// ((raw - smallest) / (largest - smallest)) in float64.
//
// Differs: a raw score out of the range.
// Original: the formula leaves [0,100].
// Here: it counts as the nearer end.
// Why: the score must be from 0 to 100.
//
// A range wider than the largest int64 counts as 0 wide, as in the original.
func InterPodAffinityScore(raw, smallest, largest int64) int64 {
	width := largest - smallest
	if width <= 0 {
		return 0
	}
	raw = min(max(raw, smallest), largest)
	share := float64(raw-smallest) / float64(width)
	return int64(float64(framework.MaxNodeScore) * share)
}
