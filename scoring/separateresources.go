package scoring

import "github.com/berth-sched/berth/framework"

// NodeResourcesLeastAllocated is the plugin that kube-scheduler had until 1.22
// in place of NodeResourcesFit with the strategy LeastAllocated. Its zero value
// has the rules of 1.18: CPU and memory with weight 1, and a resource that the
// node does not have scores 0.
//
// [Kubernetes118] counts what a pod's overhead has of CPU as the original does: the
// number of cores, rounded up, as so many thousandths of one.
//
// Source: kube-scheduler 1.18 and 1.22, plugin NodeResourcesLeastAllocated.
//
// Differs: kube-scheduler 1.22 counts overhead so, too; here the rules of 1.22 count it
// exactly. Requests finer than a thousandth of a core are added up before they are
// rounded up, where kube-scheduler 1.18 rounded those of each container.
type NodeResourcesLeastAllocated struct {
	// Resources are for the rules of 1.22; without any, CPU and memory.
	Resources []ResourceSpec
	// Rules names the rules; "" means [Kubernetes118]. Every later value means the
	// rules of 1.22.
	Rules Rules
}

// Name returns "NodeResourcesLeastAllocated".
func (NodeResourcesLeastAllocated) Name() string { return "NodeResourcesLeastAllocated" }

func (p NodeResourcesLeastAllocated) fit() NodeResourcesFit {
	return separate(LeastAllocated, p.Resources, p.Rules)
}

// Validate reports what [NodeResourcesFit.Validate] would.
func (p NodeResourcesLeastAllocated) Validate() error { return p.fit().validate(p.Name()) }

// Scope is that of NodeResourcesFit.
func (p NodeResourcesLeastAllocated) Scope(pod *framework.PodInfo) framework.Scope {
	return p.fit().Scope(pod)
}

// PreScore prepares as NodeResourcesFit does.
func (p NodeResourcesLeastAllocated) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.fit().PreScore(c, feasible)
}

// NodeResourcesMostAllocated is the plugin that kube-scheduler had until 1.22 in
// place of NodeResourcesFit with the strategy MostAllocated. Its zero value has
// the rules of 1.18, where a resource of which more is requested than there is
// scores 0.
//
// Source: kube-scheduler 1.18 and 1.22, plugin NodeResourcesMostAllocated.
//
// Differs: as NodeResourcesLeastAllocated.
type NodeResourcesMostAllocated struct {
	// Resources are for the rules of 1.22; without any, CPU and memory.
	Resources []ResourceSpec
	// Rules names the rules; "" means [Kubernetes118]. Every later value means the
	// rules of 1.22.
	Rules Rules
}

// Name returns "NodeResourcesMostAllocated".
func (NodeResourcesMostAllocated) Name() string { return "NodeResourcesMostAllocated" }

func (p NodeResourcesMostAllocated) fit() NodeResourcesFit {
	return separate(MostAllocated, p.Resources, p.Rules)
}

// Validate reports what [NodeResourcesFit.Validate] would.
func (p NodeResourcesMostAllocated) Validate() error { return p.fit().validate(p.Name()) }

// Scope is that of NodeResourcesFit.
func (p NodeResourcesMostAllocated) Scope(pod *framework.PodInfo) framework.Scope {
	return p.fit().Scope(pod)
}

// PreScore prepares as NodeResourcesFit does.
func (p NodeResourcesMostAllocated) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.fit().PreScore(c, feasible)
}

// NodeResourcesRequestedToCapacityRatio is the plugin RequestedToCapacityRatio that
// kube-scheduler had until 1.22 in place of NodeResourcesFit with the strategy
// of that name. Its zero value has the rules of 1.18; a shape is required.
//
// Source: kube-scheduler 1.18 and 1.22, plugin RequestedToCapacityRatio.
//
// Differs: as NodeResourcesLeastAllocated.
type NodeResourcesRequestedToCapacityRatio struct {
	// Shape maps utilization from 0 to 100, ascending, to scores from 0 to 10.
	Shape Shape
	// Resources take part with their weights; without any, CPU and memory.
	Resources []ResourceSpec
	// Rules names the rules; "" means [Kubernetes118]. Every later value means the
	// rules of 1.22.
	Rules Rules
}

// Name returns "RequestedToCapacityRatio".
func (NodeResourcesRequestedToCapacityRatio) Name() string { return "RequestedToCapacityRatio" }

func (p NodeResourcesRequestedToCapacityRatio) fit() NodeResourcesFit {
	f := separate(RequestedToCapacityRatio, p.Resources, p.Rules)
	f.Shape = p.Shape
	return f
}

// Validate reports what [NodeResourcesFit.Validate] would.
func (p NodeResourcesRequestedToCapacityRatio) Validate() error { return p.fit().validate(p.Name()) }

// Scope is that of NodeResourcesFit.
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
