package scoring

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
)

// BalancedAllocation prefers nodes whose resources are used evenly: [BalanceScore].
// It is a strategy of LoadAware; NodeResourcesFit does not accept it.
const BalancedAllocation Strategy = "BalancedAllocation"

// LoadAware scores nodes by their real use, plus the estimates for the pod and for
// pods too young to have been measured. Raw scores are from 0 to 100 and are not
// normalized.
//
//	score = (Σ weight * score of resource + dominant weight * lowest score of a resource)
//	        / (Σ weight + dominant weight), truncated
//
// The lowest score is over all resources that the configuration names, even if they
// have no weight or the node does not have them. A node that was never measured, or
// whose metric has expired, scores 0. See [estimator.Ledger] for how use is kept,
// and [estimator.Rules] for the differences of older versions.
//
// Source: Koordinator 1.8, plugin LoadAwareScheduling, Score. Koordinator names
// three strategies and implements the first.
//
// Differs: scores of nodes with more than 82 PiB free, or with negative use.
// Original: Koordinator's wrap around for the former, and exceed 100 for the latter.
// Here: scores are from 0 to 100 whatever the metric reports.
// Switch: [estimator.LoadConfig.Arithmetic] = [estimator.Wrapping]; then only the mean
// is cut to these bounds.
type LoadAware struct {
	// Load is the configuration, best shared with filter.LoadAware; nil means the
	// zero [estimator.LoadConfig].
	Load *estimator.Load
	// Strategy selects the preference. LeastAllocated, the default, prefers little
	// use ([LeastAllocatedScore]) and MostAllocated much ([MostAllocatedScore]).
	// BalancedAllocation reads all resources with a weight, counts them equally, and
	// ignores the dominant weight.
	Strategy Strategy
}

const loadAwareName = "LoadAwareScheduling"

// Name returns "LoadAwareScheduling".
func (LoadAware) Name() string { return loadAwareName }

// Validate reports an unknown strategy.
func (p LoadAware) Validate() error {
	switch p.Strategy {
	case "", LeastAllocated, MostAllocated, BalancedAllocation:
		return nil
	}
	return fmt.Errorf("%s: strategy: unknown strategy %q", loadAwareName, string(p.Strategy))
}

func (p LoadAware) load() *estimator.Load {
	if p.Load == nil {
		return estimator.DefaultLoad()
	}
	return p.Load
}

// Scope declares that a score reads the node, its entry in the ledger, and the time. The
// pod matters as far as AppendClassKey says.
func (LoadAware) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsTime}
}

// AppendClassKey implements [incremental.ClassKeyer]: it appends the pod's estimate, and
// whether it is of the class koord-prod. What these were found from, such as labels, makes
// no difference.
func (p LoadAware) AppendClassKey(b []byte, _ *framework.Snapshot, pod *framework.PodInfo) []byte {
	return p.load().Pod(pod).AppendKey(b)
}

// ClassKeyVersion implements [incremental.ClassKeyer]: keys read the pod alone.
func (LoadAware) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 }

// PreScore estimates the pod. A configuration that Validate rejects is an error.
func (p LoadAware) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if err := p.Validate(); err != nil {
		return nil, framework.AsStatus(err)
	}
	f := framework.Scratch[loadAware](c)
	f.load = p.load()
	f.pod = f.load.Pod(c.Pod)
	f.view = f.load.View(c.Snapshot)
	f.arithmetic = f.load.Config().Arithmetic
	f.weights, f.dominant = f.load.Weights(), f.load.Config().DominantWeight
	f.total = f.dominant
	for _, w := range f.weights {
		f.total += w
	}
	f.basis = estimator.WholeForScore
	if f.load.Config().ScoreProd && f.pod.Prod {
		f.basis = estimator.ProdForScore
	}
	switch p.Strategy {
	case MostAllocated:
		f.score = MostAllocatedScore
	case BalancedAllocation:
		f.score = nil
	default:
		f.score = LeastAllocatedScore
		if f.arithmetic == estimator.Wrapping {
			f.score = wrappingLeast
		}
	}
	return f, framework.Status{}
}

// loadAware is the bound scorer.
type loadAware struct {
	load            *estimator.Load
	view            estimator.View
	pod             *estimator.PodLoad
	basis           estimator.Basis
	score           func(used, allocatable int64) int64 // of a resource; nil: score their evenness
	arithmetic      estimator.Arithmetic
	weights         []int64
	dominant, total int64 // total includes dominant
}

func (f *loadAware) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	d := f.load.Node(node)
	use := f.view.Use(node, f.basis)
	if use == nil || f.total == 0 || d.Err != nil || f.pod.Err != nil || f.view.Expired(node) {
		return 0
	}
	if f.score == nil {
		return f.evenness(use, d.Allocatable)
	}
	var sum int64
	lowest := framework.MaxNodeScore
	for i, w := range f.weights {
		s := f.score(f.arithmetic.Add(use[i], f.pod.Estimate[i]), d.Allocatable[i])
		sum += s * w
		lowest = min(lowest, s)
	}
	mean := (sum + lowest*f.dominant) / f.total
	return max(framework.MinNodeScore, min(mean, framework.MaxNodeScore))
}

// wrappingLeast is LeastAllocatedScore as Koordinator computes it: the product wraps
// around if more than 82 PiB are free, and leaves the bounds.
func wrappingLeast(used, allocatable int64) int64 {
	if allocatable == 0 || used > allocatable {
		return 0
	}
	return (allocatable - used) * framework.MaxNodeScore / allocatable
}

// evenness scores how evenly the resources with a weight would be used.
func (f *loadAware) evenness(use, allocatable []int64) int64 {
	var buffer [2 * maxOnStack]int64
	u, a := buffer[:0:maxOnStack], buffer[maxOnStack:maxOnStack]
	for i, w := range f.weights {
		if w > 0 {
			u, a = append(u, f.arithmetic.Add(use[i], f.pod.Estimate[i])), append(a, allocatable[i])
		}
	}
	return BalanceScore(u, a)
}

// ValidUntil returns when the node's metric expires.
func (f *loadAware) ValidUntil(_ *framework.PodInfo, node *framework.NodeInfo) time.Time {
	return f.view.ValidUntil(node)
}
