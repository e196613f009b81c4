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
// Differs: all nodes are searched; set Percentage to [Adaptive] for the
// original's sampling. DynamicResources, which is among the original's plugins, is
// missing: the claims of devices that a pod names in spec.resourceClaims are not
// looked at, and the pod is placed as if it had none, where the original lets it wait
// until the claims are there and devices can be had. Whoever schedules such pods adds a
// filter that knows the devices, or one that rejects the pods.
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
// allocation as it was from 1.22 to 1.35, storage and image volumes that are not scored, and a
// uniform choice among the best.
//
// Differs: all nodes are searched, and claims of devices are not looked at, as in
// [Kubernetes137]. NodeVolumeLimits
// follows the rules of 1.37, where in-tree disks count as those of CSI drivers
// on every node whose drivers are known.
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

// Kubernetes118 returns the default profile of kube-scheduler 1.18, which the
// older articles describe: weights are 1 but for NodePreferAvoidPods, balanced
// allocation compares CPU and memory only, pods spread by the constraints that they
// have themselves, and ties are broken by reservoir sampling. Feature gates are at
// their defaults: EvenPodsSpread is on.
//
// Differs: all nodes are searched, as in [Kubernetes137]; preemption, which 1.18
// had built in, and VolumeRestrictions, NodeVolumeLimits, VolumeBinding and
// VolumeZone follow the rules of 1.37. So does the filter PodTopologySpread: the
// reason of a node that lacks a label names that, and preemption leaves the node out;
// a selector that asks for nothing counts no pod, where 1.18 counted all of the
// namespace; and fields of a constraint that came later count. NodeResourcesFit lets a
// pod that requests none of a resource onto a node where more of it is taken than there
// is, which 1.18 did only for a pod that requests nothing; and NodeAffinity scores the
// matchFields of preferred terms, too, where 1.18 read matchExpressions only.
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
