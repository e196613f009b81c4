package scoring

import (
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/devices"
)

// DynamicResources scores how well the alternatives of the requests for devices go on a
// node: the first alternative of a request (firstAvailable) counts 8, the next 7, and so
// on. Pods whose claims all have their devices score 0 everywhere. Scores are normalized
// to the best node.
//
// Its fields must be those of the filter of the same name.
//
// Source: kube-scheduler 1.37, plugin DynamicResources.
//
// Differs: pods without claims, or with claims whose requests have no alternatives.
// Original: they score 0 everywhere.
// Here: they are not scored.
// Why: it is the same total, for less.
type DynamicResources struct {
	// BindingTimeout is how long after its allocation a claim may wait for binding
	// conditions; 0 means 10 minutes.
	BindingTimeout time.Duration
	// MaxSteps bounds the search on one node, in the steps of the filter; 0 means 5,000,000.
	MaxSteps int
	// DeviceSelectors compiles the selectors of classes and claims; nil means the
	// built-in compiler.
	DeviceSelectors api.DeviceSelectorCompiler
	// Choice is the filter's. It makes no difference for scores, but devices are then
	// looked for once for both.
	Choice devices.Choice
}

// Name returns "DynamicResources".
func (DynamicResources) Name() string { return "DynamicResources" }

// Scope declares that the score of a pod with claims reads what the filter reads; other
// pods are not scored.
func (DynamicResources) Scope(pod *framework.PodInfo) framework.Scope {
	if !pod.HasClaims() {
		return framework.Scope{}
	}
	return devices.ScopeOf(pod)
}

// ScopeVaries implements [incremental.VaryingScoper].
func (DynamicResources) ScopeVaries() framework.PodParts { return 0 }

// Concern implements [incremental.Concerned]: pods with claims.
func (DynamicResources) Concern() framework.PodParts { return framework.PartClaims }

// AppendClassKey implements [incremental.ClassKeyer] like the filter.
func (DynamicResources) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	if !pod.HasClaims() {
		return b
	}
	return devices.AppendKey(b, s, pod)
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (DynamicResources) ClassKeyVersion(s *framework.Snapshot) uint64 { return devices.KeyVersion(s) }

// ClassKeySource implements [incremental.SharedKeyer].
func (DynamicResources) ClassKeySource() string { return devices.KeySource }

// Idle implements [incremental.Idler]: no claim has alternatives.
func (DynamicResources) Idle(c *framework.Cycle) bool {
	return !devices.MayHaveAlternatives(c.Snapshot, c.Pod)
}

// PreScore skips pods whose claims have no alternatives: they score 0 everywhere.
func (p DynamicResources) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.PreScoreGroups(c, nil)
}

// PreScoreGroups implements [incremental.GroupPreScorePlugin]: no feasible node is looked at.
func (p DynamicResources) PreScoreGroups(c *framework.Cycle, _ incremental.FeasibleNodes) (framework.NodeScorer, framework.Status) {
	if !c.Pod.HasClaims() {
		return nil, framework.SkipStatus()
	}
	timeout := p.BindingTimeout
	if timeout == 0 {
		timeout = 10 * time.Minute
	}
	f, status := devices.FinderOf(c.Snapshot, c.Pod, devices.Options{Compiler: p.DeviceSelectors, BindingTimeout: timeout, Steps: p.MaxSteps, Choice: p.Choice})
	if !status.IsSuccess() || !f.HasAlternatives() {
		return nil, framework.SkipStatus() // the filter rejects the pod, or all nodes are alike
	}
	return &alternatives{f}, framework.Status{}
}

// NormalizeScore scales the scores so that the best node has 100.
func (DynamicResources) NormalizeScore(raw, _, largest int64) int64 {
	if largest == 0 {
		return raw
	}
	return raw * framework.MaxNodeScore / largest
}

// alternatives is the bound scorer of a pod with claims.
type alternatives struct{ *devices.Finder }

func (a *alternatives) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return a.Finder.Score(node)
}
