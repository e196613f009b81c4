package scoring

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A Strategy selects what NodeResourcesFit prefers.
type Strategy string

// The strategies of NodeResourcesFit.
const (
	// LeastAllocated prefers empty nodes: the weighted mean of
	// [LeastAllocatedScore], truncated. It is the default.
	LeastAllocated Strategy = "LeastAllocated"
	// MostAllocated prefers full nodes: the weighted mean of
	// [MostAllocatedScore], truncated.
	MostAllocated Strategy = "MostAllocated"
	// RequestedToCapacityRatio prefers by a shape: the weighted mean of
	// [RequestedToCapacityRatioScore] over the resources whose score is above 0,
	// rounded.
	RequestedToCapacityRatio Strategy = "RequestedToCapacityRatio"
)

// NodeResourcesFit scores how full a node would be with the pod, by resources
// with weights. Raw scores are from 0 to 100 and are not normalized.
//
// For each resource, allocatable is the node's, and requested is the sum over its
// pods and the pod to place. A container without a CPU or memory request counts as
// 100 milli-CPU or 200 MiB. Resources that a node does not have, and scalar
// resources that the pod does not request, take no part; if none is left, the node
// scores 0. If a device class stands behind an extended resource that a node does not
// have, the node's devices of the class count instead.
//
// The requests of the pod to place are its containers' requests and its overhead.
// Pod-level requests (spec.resources) are ignored, though they count for pods
// already placed. That is an inconsistency of kube-scheduler, kept for equal scores.
//
// Source: kube-scheduler 1.37, plugin NodeResourcesFit.
//
// Differs: sums beyond int64.
// Original: kube-scheduler's wrap around.
// Here: they saturate.
// Why: a wrapped number helps nobody.
//
// Differs: devices that count for an extended resource, after labels or attributes change.
// Original: kube-scheduler never forgets that a selector matched.
// Here: the selectors are asked about the node and the device as they are.
// Why: an old answer helps nobody.
type NodeResourcesFit struct {
	// Strategy selects the preference; "" means LeastAllocated.
	Strategy Strategy
	// Resources take part in the score; if empty, cpu and memory do with weight 1.
	Resources []ResourceSpec
	// Shape is for the strategy RequestedToCapacityRatio: utilization from 0
	// to 100 in ascending order, scores from 0 to 10.
	Shape Shape
	// Rules selects the formula; "" means [Kubernetes137].
	Rules Rules
	// DeviceSelectors compiles the selectors of device classes; nil means the built-in
	// compiler, as for [DynamicResources].
	DeviceSelectors api.DeviceSelectorCompiler
}

const fitName = "NodeResourcesFit"

// Name returns "NodeResourcesFit".
func (NodeResourcesFit) Name() string { return fitName }

// Validate reports an unknown strategy, unknown rules, a weight outside [0,100], and
// a malformed shape.
func (p NodeResourcesFit) Validate() error { return p.validate(fitName) }

// validate is Validate for the plugin of the given name.
func (p NodeResourcesFit) validate(name string) error {
	if err := p.Rules.check(name); err != nil {
		return err
	}
	switch p.Strategy {
	case "", LeastAllocated, MostAllocated:
	case RequestedToCapacityRatio:
		if err := p.Shape.check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	default:
		return fmt.Errorf("%s: strategy: unknown strategy %q", name, string(p.Strategy))
	}
	return checkWeights(name, p.Resources, 100)
}

// Scope declares that a score reads the pod's requests, the node's allocatable
// and the totals of its pods.
func (NodeResourcesFit) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldRequests, Reads: framework.ReadsNode | framework.ReadsPods}
}

// ScopeVaries implements [incremental.VaryingScoper].
func (NodeResourcesFit) ScopeVaries() framework.PodParts { return 0 }

// PreScore finds the resources in the schema. A configuration that Validate rejects
// is an error.
func (p NodeResourcesFit) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if err := p.Validate(); err != nil {
		return nil, framework.AsStatus(err)
	}
	f := framework.Scratch[fit](c)
	if p.Strategy == RequestedToCapacityRatio {
		f.ratio.follow(p.Shape)
	}
	if p.Rules == Kubernetes118 {
		return f.boundV118(p, c), framework.Status{}
	}
	f.terms = appendTerms(f.terms[:0], orDefault(p.Resources), c.Pod.Schema(), c.Pod.ScoredRequests)
	bindDevices(f.terms, c, p.DeviceSelectors)
	f.usual = ofUsual(f.terms)
	switch p.Strategy {
	case MostAllocated:
		return (*mostAllocated)(f), framework.Status{}
	case RequestedToCapacityRatio:
		return (*capacityRatio)(f), framework.Status{}
	}
	return (*leastAllocated)(f), framework.Status{}
}

// fit is the state that the scorers of all strategies share for a pod.
type fit struct {
	terms []term
	usual bool       // the terms are ofUsual
	ratio shapeTable // for RequestedToCapacityRatio only
}

// The bound scorers. They differ only in their methods, so scoring a node needs no
// switch on the strategy.
type (
	leastAllocated fit
	mostAllocated  fit
	capacityRatio  fit
)

func (f *leastAllocated) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if a := node.Allocatable; len(a) >= 2 && a[0] != 0 && a[1] != 0 && f.usual {
		return (LeastAllocatedScore(resource.SatAdd(node.NonZeroRequested[0], f.terms[0].pod), a[0]) +
			LeastAllocatedScore(resource.SatAdd(node.NonZeroRequested[1], f.terms[1].pod), a[1])) / 2
	}
	var sum, weights int64
	for i := range f.terms {
		t := &f.terms[i]
		if requested, allocatable := t.amounts(node); allocatable != 0 {
			sum += t.weight * LeastAllocatedScore(requested, allocatable)
			weights += t.weight
		}
	}
	return mean(sum, weights)
}

// ScoreNodes implements [incremental.BatchScorer].
func (f *leastAllocated) ScoreNodes(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	scoreStretches(alike.leastAllocated, f, f.terms, pod, nodes, scores)
}

// scoreEach implements [eachScorer].
func (f *leastAllocated) scoreEach(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	if !f.usual {
		for i, n := range nodes {
			scores[i] = f.Score(pod, n)
		}
		return
	}
	// This loop does not read the terms for each node.
	cpu, memory := f.terms[0].pod, f.terms[1].pod
	for i, n := range nodes {
		a := n.Allocatable
		if len(a) < 2 || a[0] == 0 || a[1] == 0 {
			scores[i] = f.Score(pod, n)
			continue
		}
		scores[i] = (LeastAllocatedScore(resource.SatAdd(n.NonZeroRequested[0], cpu), a[0]) +
			LeastAllocatedScore(resource.SatAdd(n.NonZeroRequested[1], memory), a[1])) / 2
	}
}

func (f *mostAllocated) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	var sum, weights int64
	for i := range f.terms {
		t := &f.terms[i]
		if requested, allocatable := t.amounts(node); allocatable != 0 {
			sum += t.weight * MostAllocatedScore(requested, allocatable)
			weights += t.weight
		}
	}
	return mean(sum, weights)
}

func (f *capacityRatio) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	var sum, weights int64
	for i := range f.terms {
		t := &f.terms[i]
		requested, allocatable := t.amounts(node)
		if allocatable == 0 {
			continue
		}
		if score := f.ratio.at[MostAllocatedScore(requested, allocatable)]; score > 0 {
			sum += t.weight * score
			weights += t.weight
		}
	}
	// Rounded, half up. The numbers are too small for kube-scheduler's
	// rounding of the floating-point quotient to differ.
	return mean(2*sum+weights, 2*weights)
}

// requested returns the amount requested of the node with the pod on it, including
// the non-zero defaults. The defaults are for cpu and memory, the first two
// dimensions of every schema.
func (t *term) requested(node *framework.NodeInfo) int64 {
	used := node.Requested.At(t.index)
	if t.index < len(node.NonZeroRequested) {
		used = node.NonZeroRequested[t.index]
	}
	return resource.SatAdd(used, t.pod)
}

// mean returns sum/weights, truncated, and 0 without weights. Both fit 32 bits:
// scores and weights are at most 100.
func mean(sum, weights int64) int64 {
	switch weights {
	case 0:
		return 0
	case 2:
		return sum / 2
	}
	return int64(uint32(sum) / uint32(weights))
}
