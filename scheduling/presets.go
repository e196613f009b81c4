package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scoring"
)

// DefaultName is the scheduler name of pods that ask for none.
const DefaultName = "default-scheduler"

// Kubernetes137 returns the default profile of kube-scheduler 1.37: its
// plugins, their order and weights, and its tie rule.
//
// Differs: all nodes are searched; set Percentage to [Adaptive] for upstream's
// sampling. The plugin DynamicResources is missing: device claims in
// spec.resourceClaims are ignored, and the pod is placed as if it had none. Upstream
// lets such a pod wait until the claims exist and devices are available. To schedule
// such pods, add a filter that knows the devices, or one that rejects the pods.
func Kubernetes137() Profile {
	return Profile{
		Name: DefaultName,
		Filter: []framework.Plugin{
			filter.NodeName{},
			filter.NodeUnschedulable{},
			filter.TaintToleration{},
			filter.NodeAffinity{},
			filter.NodePorts{},
			filter.NodeResourcesFit{},
			filter.VolumeRestrictions{},
			filter.NodeVolumeLimits{},
			filter.VolumeBinding{},
			filter.VolumeZone{},
			filter.PodTopologySpread{},
			filter.InterPodAffinity{},
			filter.NodeDeclaredFeatures{},
		},
		Score: []Weighted{
			{scoring.TaintToleration{}, 3},
			{scoring.NodeAffinity{}, 2},
			{scoring.NodeResourcesFit{}, 1},
			{scoring.VolumeBinding{}, 1},
			{scoring.PodTopologySpread{}, 2},
			{scoring.InterPodAffinity{}, 2},
			{scoring.NodeResourcesBalancedAllocation{}, 1},
			{scoring.ImageLocality{}, 1},
		},
		PreEnqueue: []framework.Plugin{SchedulingGates{}},
		PostFilter: []framework.Plugin{preemption.DefaultPreemption{}},
		Reserve:    []framework.Plugin{filter.VolumeBinding{}},
		TieRule:    Heap,
	}
}

// Kubernetes134 returns the default profile of kube-scheduler 1.34: balanced
// allocation as it was from 1.22 to 1.35, no scores for storage and image volumes,
// and a uniform choice among the best nodes.
//
// Differs: all nodes are searched, and device claims are ignored, as in
// [Kubernetes137]. NodeVolumeLimits follows the rules of 1.37: in-tree disks count
// as those of CSI drivers on every node whose drivers are known.
func Kubernetes134() Profile {
	p := Kubernetes137()
	p.Filter[0], p.Filter[1] = p.Filter[1], p.Filter[0]
	p.Filter = slices.DeleteFunc(p.Filter, func(f framework.Plugin) bool { return f.Name() == filter.NodeDeclaredFeatures{}.Name() })
	p.Score = slices.DeleteFunc(p.Score, func(w Weighted) bool { return w.Plugin.Name() == filter.VolumeBinding{}.Name() })
	p.Score[p.scorer("NodeResourcesBalancedAllocation")].Plugin = scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes134}
	p.Score[p.scorer("ImageLocality")].Plugin = scoring.ImageLocality{Rules: scoring.Kubernetes134}
	p.TieRule = Random
	return p
}

// Kubernetes118 returns the default profile of kube-scheduler 1.18, as the older
// articles describe it. All weights are 1 except that of NodePreferAvoidPods.
// Balanced allocation compares only CPU and memory, pods spread by their own
// constraints, and ties are broken by reservoir sampling. Feature gates are at their
// defaults: EvenPodsSpread is on.
//
// Differs: all nodes are searched, as in [Kubernetes137]. Preemption, which 1.18 had
// built in, and VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone
// follow the rules of 1.37. The filter PodTopologySpread also follows 1.37: the
// reason of a node without the label names the label, and preemption leaves the node
// out. An empty selector counts no pod, where 1.18 counted all pods of the
// namespace. Constraint fields added after 1.18 count. NodeResourcesFit accepts a
// pod that requests none of a resource on a node where that resource is
// overcommitted; 1.18 did this only for a pod that requests nothing. NodeAffinity
// also scores the matchFields of preferred terms; 1.18 read only matchExpressions.
func Kubernetes118() Profile {
	return Profile{
		Name: DefaultName,
		Filter: []framework.Plugin{
			filter.NodeUnschedulable{},
			filter.NodeResourcesFit{},
			filter.NodeName{},
			filter.NodePorts{},
			filter.NodeAffinity{},
			filter.VolumeRestrictions{},
			filter.TaintToleration{},
			filter.EBSLimits{},
			filter.GCEPDLimits{},
			filter.NodeVolumeLimits{},
			filter.AzureDiskLimits{},
			filter.VolumeBinding{},
			filter.VolumeZone{},
			filter.InterPodAffinity{},
			filter.PodTopologySpread{},
		},
		Score: []Weighted{
			{scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118}, 1},
			{scoring.ImageLocality{Rules: scoring.Kubernetes118}, 1},
			{scoring.InterPodAffinity{RangeWithZero: true}, 1},
			{scoring.NodeResourcesLeastAllocated{}, 1},
			{scoring.NodeAffinity{}, 1},
			{scoring.NodePreferAvoidPods{}, 10000},
			{scoring.DefaultPodTopologySpread{}, 1},
			{scoring.TaintToleration{}, 1},
			{scoring.EvenPodsSpread{}, 1},
		},
		PreEnqueue: []framework.Plugin{SchedulingGates{}},
		PostFilter: []framework.Plugin{preemption.DefaultPreemption{}},
		Reserve:    []framework.Plugin{filter.VolumeBinding{}},
		TieRule:    Reservoir,
	}
}
