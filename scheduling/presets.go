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
// Differs: how many nodes are searched.
// Original: kube-scheduler samples large clusters.
// Here: all nodes are searched.
// Switch: [Profile.Percentage] = [Adaptive].
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
			filter.DynamicResources{},
			filter.NodeDeclaredFeatures{},
		},
		Score: []Weighted{
			{scoring.TaintToleration{}, 3},
			{scoring.NodeAffinity{}, 2},
			{scoring.NodeResourcesFit{}, 1},
			{scoring.VolumeBinding{}, 1},
			{scoring.PodTopologySpread{}, 2},
			{scoring.InterPodAffinity{}, 2},
			{scoring.DynamicResources{}, 2},
			{scoring.NodeResourcesBalancedAllocation{}, 1},
			{scoring.ImageLocality{}, 1},
		},
		PreEnqueue: []framework.Plugin{SchedulingGates{}, filter.DynamicResources{}},
		PostFilter: []framework.Plugin{filter.DynamicResources{}, preemption.DefaultPreemption{}},
		Reserve:    []framework.Plugin{filter.VolumeBinding{}, filter.DynamicResources{}},
		TieRule:    Heap,
	}
}

// Kubernetes134 returns the default profile of kube-scheduler 1.34: balanced
// allocation as it was from 1.22 to 1.35, no scores for storage and image volumes,
// and a uniform choice among the best nodes.
//
// Differs: how many nodes are searched.
// Original: kube-scheduler samples large clusters.
// Here: all nodes are searched, as in [Kubernetes137].
// Switch: [Profile.Percentage] = [Adaptive].
//
// Differs: DynamicResources, and extended resources with a device class behind them.
// Original: 1.34 has these features partly, or off.
// Here: the plugins follow the rules of 1.37, except that devices do not score.
// Why: the plugins have one set of rules.
//
// Differs: NodeVolumeLimits.
// Original: 1.34 counts the in-tree disks of some plugins, such as Portworx, only on
// nodes whose CSINode lists the plugin as migrated.
// Here: it follows the rules of 1.37: in-tree disks count as those of CSI drivers on
// every node whose drivers are known.
// Why: the plugin has one set of rules.
//
// Differs: which of equally good nodes is chosen.
// Original: 1.34 draws at every tie.
// Here: [Random] draws once per decision, and is as uniform.
// Switch: [Profile.TieRule] = [Reservoir].
func Kubernetes134() Profile {
	p := Kubernetes137()
	p.Filter[0], p.Filter[1] = p.Filter[1], p.Filter[0]
	p.Filter = slices.DeleteFunc(p.Filter, func(f framework.Plugin) bool { return f.Name() == filter.NodeDeclaredFeatures{}.Name() })
	p.Score = slices.DeleteFunc(p.Score, func(w Weighted) bool {
		return w.Plugin.Name() == filter.VolumeBinding{}.Name() || w.Plugin.Name() == filter.DynamicResources{}.Name()
	})
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
// Differs: how many nodes are searched.
// Original: kube-scheduler samples large clusters.
// Here: all nodes are searched, as in [Kubernetes137].
// Switch: [Profile.Percentage] = [Adaptive].
//
// Differs: preemption.
// Original: 1.18 had it built in.
// Here: it is the plugin of 1.37.
// Why: the plugin has one set of rules.
//
// Differs: a pod with spec.schedulingGates.
// Original: 1.18 does not know gates, and schedules the pod.
// Here: the pod waits until its gates are gone, as in [Kubernetes137].
// Switch: [Profile.PreEnqueue] = nil.
//
// Differs: VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone.
// Original: 1.18 has rules of its own.
// Here: they follow the rules of 1.37.
// Why: each plugin has one set of rules.
//
// Differs: a node without the label of a constraint, for the filter
// PodTopologySpread.
// Original: in 1.18 the reason does not name the label, and preemption tries the
// node.
// Here: the reason names the label, and preemption leaves the node out.
// Why: the filter is that of 1.37.
//
// Differs: an empty selector of a constraint.
// Original: 1.18 counted all pods of the namespace.
// Here: it counts no pod.
// Why: the filter is that of 1.37.
//
// Differs: constraint fields added after 1.18.
// Original: 1.18 does not have them.
// Here: they count.
// Why: the filter is that of 1.37.
//
// Differs: a node that is overcommitted in a resource, for NodeResourcesFit.
// Original: 1.18 accepts there only a pod that requests nothing.
// Here: a pod that requests none of this resource is accepted.
// Why: the plugin is that of 1.37.
//
// Differs: the matchFields of preferred terms, for NodeAffinity.
// Original: 1.18 read only matchExpressions.
// Here: they score, too.
// Why: the plugin is that of 1.37.
func Kubernetes118() Profile {
	return Profile{
		Name: DefaultName,
		Filter: []framework.Plugin{
			filter.NodeUnschedulable{},
			filter.NodeResourcesFit{Alone: true},
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
