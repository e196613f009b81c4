package estimator

import (
	"encoding/json"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The expected use of a pod that requests no cpu or memory: thousandths of a CPU,
// and bytes.
const (
	UnrequestedCPU    int64 = 250
	UnrequestedMemory int64 = 200 << 20
)

// The annotations that DefaultEstimator reads.
const (
	// AnnotationScalingFactors, on a pod: factors in percent by resource, as a JSON
	// object. It is read if LoadConfig.PodAnnotations is set; for missing resources
	// the factors of the configuration apply.
	AnnotationScalingFactors = "scheduling.koordinator.sh/load-estimated-scaling-factors"
	// AnnotationRawAllocatable, on a node: its allocatable resources before
	// amplification, as the JSON of a resource list.
	AnnotationRawAllocatable = "node.koordinator.sh/raw-allocatable"
)

// DefaultEstimator expects a pod to use a percentage of its request, or of its
// limit if that is larger, but never more than its limit.
//
//	use = min(limit, round(max(request, limit) * factor / 100))
//
// A pod that requests no cpu counts as [UnrequestedCPU], a pod without memory as
// [UnrequestedMemory]. For pods of the classes batch and mid, the batch and mid
// resources count instead; a mid pod without a mid request counts as nothing. The
// capacity of a node is its allocatable, or the value of
// [AnnotationRawAllocatable].
//
// Source: Koordinator 1.8, estimator/default_estimator.go, estimatedPodUsed.
// Up to 1.5 the factor of a resource whose limit exceeds the request is 100.
//
// Differs: results beyond int64.
// Original: they wrap around.
// Here: they saturate.
// Switch: [LoadConfig.Arithmetic] = [Wrapping].
type DefaultEstimator struct {
	factors     map[resource.Name]int64
	annotations bool
	traits      traits
	arithmetic  Arithmetic
}

// NewDefaultEstimator returns the estimator for a configuration. It reads Rules,
// Factors, PodAnnotations, Arithmetic and, up to 1.6, Weights.
func NewDefaultEstimator(c LoadConfig) *DefaultEstimator {
	c = c.withDefaults()
	e := &DefaultEstimator{factors: c.Factors, traits: c.Rules.traits(), arithmetic: c.Arithmetic}
	e.annotations = c.PodAnnotations && e.traits.vectors
	if e.traits.weighed {
		e.factors = make(map[resource.Name]int64, len(c.Weights))
		for name := range c.Weights {
			e.factors[name] = c.Factors[name]
		}
	}
	return e
}

// PodReads reports that estimates read the pod's resources, labels and priority,
// and its annotations if configured.
func (e *DefaultEstimator) PodReads() framework.PodFields {
	reads := framework.FieldLimits | framework.FieldLabels | framework.FieldPriority
	if e.annotations {
		reads |= framework.FieldAnnotations
	}
	return reads
}

// EstimatePod returns the expected use of every resource that has a factor. It
// fails only for a nil pod.
func (e *DefaultEstimator) EstimatePod(p *api.Pod) (map[resource.Name]int64, error) {
	if p == nil {
		return nil, &api.InvalidError{Object: "pod", Err: errNil}
	}
	use := make(map[resource.Name]int64, len(e.factors))
	e.each(p, priorityClass(p, e.traits.podLevel), func(name resource.Name, x int64) { use[name] = x })
	return use, nil
}

// each calls f with the expected use of every resource that has a factor, for a pod
// of the class.
func (e *DefaultEstimator) each(p *api.Pod, class PriorityClass, f func(resource.Name, int64)) {
	own := e.ownFactors(p)
	requests, limits := podResources(p, &e.traits)
	for name, factor := range own {
		f(name, e.estimate(requests, limits, TranslateResource(class, name), factor))
	}
	for name, factor := range e.factors {
		if _, ok := own[name]; !ok {
			f(name, e.estimate(requests, limits, TranslateResource(class, name), factor))
		}
	}
}

// ownFactors returns the factors in the pod's annotation, or nil if it is disabled
// or malformed.
func (e *DefaultEstimator) ownFactors(p *api.Pod) map[resource.Name]int64 {
	text := p.Annotations[AnnotationScalingFactors]
	if !e.annotations || text == "" {
		return nil
	}
	var factors map[resource.Name]int64
	if json.Unmarshal([]byte(text), &factors) != nil {
		return nil
	}
	return factors
}

func (e *DefaultEstimator) estimate(requests, limits resource.List, name resource.Name, factor int64) int64 {
	base, limit := requests[name], limits[name]
	if limit.Cmp(base) > 0 {
		base = limit
		if e.traits.wholeLimit {
			factor = 100
		}
	}
	if base.IsZero() {
		switch name {
		case resource.CPU, BatchCPU:
			return UnrequestedCPU
		case resource.Memory, BatchMemory:
			return UnrequestedMemory
		}
		return 0
	}
	use := e.arithmetic.scale(e.arithmetic.amount(name, base), factor)
	if l := e.arithmetic.amount(name, limit); l > 0 && use > l {
		use = l
	}
	return use
}

// EstimateNode returns the node's allocatable, overlaid with
// [AnnotationRawAllocatable] if that is readable. It fails only for a nil node.
func (e *DefaultEstimator) EstimateNode(n *api.Node) (resource.List, error) {
	if n == nil {
		return nil, &api.InvalidError{Object: "node", Err: errNil}
	}
	text, ok := n.Annotations[AnnotationRawAllocatable]
	if !ok {
		return n.Status.Allocatable, nil
	}
	var raw resource.List
	if json.Unmarshal([]byte(text), &raw) != nil {
		return n.Status.Allocatable, nil
	}
	whole := make(resource.List, len(n.Status.Allocatable)+len(raw))
	for name, q := range n.Status.Allocatable {
		whole[name] = q
	}
	for name, q := range raw {
		whole[name] = q
	}
	return whole, nil
}
