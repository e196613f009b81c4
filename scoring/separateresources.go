package scoring

import "github.com/berth-sched/berth/framework"

// NodeResourcesLeastAllocated is kube-scheduler's plugin until 1.22;
// NodeResourcesFit with the strategy LeastAllocated replaced it. Its zero value has
// the rules of 1.18: CPU and memory with weight 1, and a resource that the node does
// not have scores 0.
//
// [Kubernetes118] counts a pod's CPU overhead as the original does: one thousandth
// of a core per core, rounded up.
//
// Source: kube-scheduler 1.18 and 1.22, plugin NodeResourcesLeastAllocated.
//
// Differs: CPU overhead in 1.22.
// Original: kube-scheduler 1.22 counts it as 1.18 does.
// Here: the rules of 1.22 count it exactly.
// Why: they are those of [NodeResourcesFit].
//
// Differs: requests finer than a thousandth of a core, with the rules
// [Kubernetes118].
// Original: kube-scheduler 1.18 rounded those of each container.
// Here: they are added up before rounding up.
// Why: the snapshot keeps one sum per pod, for all rules.
type NodeResourcesLeastAllocated struct {
	// Resources are for the rules of 1.22; if empty, CPU and memory take part.
	Resources []ResourceSpec
	// Rules selects the formula; "" means [Kubernetes118]. Every later value means
	// the rules of 1.22.
	Rules Rules
}

// Name returns "NodeResourcesLeastAllocated".
func (NodeResourcesLeastAllocated) Name() string { return "NodeResourcesLeastAllocated" }

func (p NodeResourcesLeastAllocated) fit() NodeResourcesFit {
	return separate(LeastAllocated, p.Resources, p.Rules)
}

// Validate reports the same errors as [NodeResourcesFit.Validate].
func (p NodeResourcesLeastAllocated) Validate() error { return p.fit().validate(p.Name()) }

// Scope returns the scope of NodeResourcesFit.
func (p NodeResourcesLeastAllocated) Scope(pod *framework.PodInfo) framework.Scope {
	return p.fit().Scope(pod)
}

// PreScore prepares as NodeResourcesFit does.
func (p NodeResourcesLeastAllocated) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.fit().PreScore(c, feasible)
}

// NodeResourcesMostAllocated is kube-scheduler's plugin until 1.22; NodeResourcesFit
// with the strategy MostAllocated replaced it. Its zero value has the rules of 1.18,
// where a resource scores 0 if requests exceed the allocatable amount.
//
// Source: kube-scheduler 1.18 and 1.22, plugin NodeResourcesMostAllocated.
//
// Differs: CPU overhead in 1.22, and requests finer than a thousandth of a core in
// 1.18.
// Original: 1.22 counts overhead as 1.18 does; 1.18 rounded the requests of each
// container.
// Here: both are as in [NodeResourcesLeastAllocated].
// Why: the plugins share the rules.
type NodeResourcesMostAllocated struct {
	// Resources are for the rules of 1.22; if empty, CPU and memory take part.
	Resources []ResourceSpec
	// Rules selects the formula; "" means [Kubernetes118]. Every later value means
	// the rules of 1.22.
	Rules Rules
}

// Name returns "NodeResourcesMostAllocated".
func (NodeResourcesMostAllocated) Name() string { return "NodeResourcesMostAllocated" }

func (p NodeResourcesMostAllocated) fit() NodeResourcesFit {
	return separate(MostAllocated, p.Resources, p.Rules)
}

// Validate reports the same errors as [NodeResourcesFit.Validate].
func (p NodeResourcesMostAllocated) Validate() error { return p.fit().validate(p.Name()) }

// Scope returns the scope of NodeResourcesFit.
func (p NodeResourcesMostAllocated) Scope(pod *framework.PodInfo) framework.Scope {
	return p.fit().Scope(pod)
}

// PreScore prepares as NodeResourcesFit does.
func (p NodeResourcesMostAllocated) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.fit().PreScore(c, feasible)
}

// NodeResourcesRequestedToCapacityRatio is kube-scheduler's plugin
// RequestedToCapacityRatio until 1.22; NodeResourcesFit with the strategy of that
// name replaced it. Its zero value has the rules of 1.18; a shape is required.
//
// Source: kube-scheduler 1.18 and 1.22, plugin RequestedToCapacityRatio.
//
// Differs: CPU overhead in 1.22, and requests finer than a thousandth of a core in
// 1.18.
// Original: 1.22 counts overhead as 1.18 does; 1.18 rounded the requests of each
// container.
// Here: both are as in [NodeResourcesLeastAllocated].
// Why: the plugins share the rules.
type NodeResourcesRequestedToCapacityRatio struct {
	// Shape maps utilization from 0 to 100, ascending, to scores from 0 to 10.
	Shape Shape
	// Resources take part with their weights; if empty, CPU and memory do.
	Resources []ResourceSpec
	// Rules selects the formula; "" means [Kubernetes118]. Every later value means
	// the rules of 1.22.
	Rules Rules
}

// Name returns "RequestedToCapacityRatio".
func (NodeResourcesRequestedToCapacityRatio) Name() string { return "RequestedToCapacityRatio" }

func (p NodeResourcesRequestedToCapacityRatio) fit() NodeResourcesFit {
	f := separate(RequestedToCapacityRatio, p.Resources, p.Rules)
	f.Shape = p.Shape
	return f
}

// Validate reports the same errors as [NodeResourcesFit.Validate].
func (p NodeResourcesRequestedToCapacityRatio) Validate() error { return p.fit().validate(p.Name()) }

// Scope returns the scope of NodeResourcesFit.
func (p NodeResourcesRequestedToCapacityRatio) Scope(pod *framework.PodInfo) framework.Scope {
	return p.fit().Scope(pod)
}

// PreScore prepares as NodeResourcesFit does.
func (p NodeResourcesRequestedToCapacityRatio) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.fit().PreScore(c, feasible)
}

func separate(s Strategy, resources []ResourceSpec, v Rules) NodeResourcesFit {
	if v == "" {
		v = Kubernetes118
	}
	return NodeResourcesFit{Strategy: s, Resources: resources, Rules: v}
}
