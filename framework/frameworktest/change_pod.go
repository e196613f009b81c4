package frameworktest

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A podChange changes one part of a pod. [framework.PodInfo.ClassKey] says which
// fields cover the part. The pod is a shallow copy: a change replaces what it
// changes, and writes to nothing that the pod refers to.
type podChange struct {
	what   string
	change func(p *api.Pod)
}

// podChanges go over all parts of a pod that a plugin could read.
var podChanges = []podChange{
	{"namespace", func(p *api.Pod) { p.Namespace = "elsewhere" }},
	{"name", func(p *api.Pod) { p.Name += "-2" }},
	{"UID", func(p *api.Pod) { p.UID += "-2" }},
	{"labels", func(p *api.Pod) { p.Labels = map[string]string{"app": "web", "new": "yes"} }},
	{"absent labels", func(p *api.Pod) { p.Labels = nil }},
	{"annotations", func(p *api.Pod) { p.Annotations = map[string]string{"new": "yes"} }},
	{"owner", func(p *api.Pod) {
		p.OwnerReferences = []api.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "new", UID: "9", Controller: new(true)}}
	}},
	{"creation time", func(p *api.Pod) { p.CreationTimestamp = p.CreationTimestamp.Add(time.Second) }},
	{"deletion time", func(p *api.Pod) { p.DeletionTimestamp = new(Noon()) }},
	{"nodeName", func(p *api.Pod) { p.Spec.NodeName = "node-01" }},
	{"absent nodeName", func(p *api.Pod) { p.Spec.NodeName = "" }},
	{"nominatedNodeName", func(p *api.Pod) { p.Status.NominatedNodeName = "node-02" }},
	{"nodeSelector", func(p *api.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }},
	{"node affinity", func(p *api.Pod) {
		term := api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{{Key: "rack", Operator: api.NodeSelectorOpExists}}}
		changeAffinity(p, func(a *api.Affinity) {
			a.NodeAffinity = &api.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{term}},
				PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{{Weight: 7, Preference: term}},
			}
		})
	}},
	{"absent affinity", func(p *api.Pod) { p.Spec.Affinity = nil }},
	{"pod affinity", func(p *api.Pod) {
		changeAffinity(p, func(a *api.Affinity) {
			a.PodAffinity = &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms()}
		})
	}},
	{"pod anti-affinity", func(p *api.Pod) {
		changeAffinity(p, func(a *api.Affinity) {
			a.PodAntiAffinity = &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms()}
		})
	}},
	{"tolerations", func(p *api.Pod) {
		p.Spec.Tolerations = []api.Toleration{{Operator: api.TolerationOpExists}}
	}},
	{"absent tolerations", func(p *api.Pod) { p.Spec.Tolerations = nil }},
	{"spread constraints", func(p *api.Pod) {
		p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: &api.LabelSelector{}},
			{MaxSkew: 2, TopologyKey: api.LabelHostname, WhenUnsatisfiable: api.ScheduleAnyway, LabelSelector: &api.LabelSelector{}},
		}
	}},
	{"requests", func(p *api.Pod) {
		p.Spec.Containers = append(p.Spec.Containers[:len(p.Spec.Containers):len(p.Spec.Containers)], api.Container{
			Name: "added", Image: "tiny", Resources: api.ResourceRequirements{Requests: resource.List{
				resource.CPU: resource.MustParse("3"), resource.Memory: resource.MustParse("5Gi"), "example.com/gpu": resource.MustParse("1"),
			}},
		})
	}},
	{"limits", func(p *api.Pod) {
		for i := range ownContainers(p) {
			p.Spec.Containers[i].Resources.Limits = resource.List{resource.CPU: resource.MustParse("7"), resource.Memory: resource.MustParse("7Gi")}
		}
	}},
	{"overhead", func(p *api.Pod) { p.Spec.Overhead = resource.List{resource.CPU: resource.MustParse("1")} }},
	{"requests of the pod as a whole", func(p *api.Pod) {
		p.Spec.Resources = &api.ResourceRequirements{Requests: resource.List{resource.Memory: resource.MustParse("2Gi")}}
	}},
	{"allocated resources", func(p *api.Pod) {
		p.Status.ContainerStatuses = []api.ContainerStatus{{Name: "main", AllocatedResources: resource.List{resource.CPU: resource.MustParse("9"), resource.Memory: resource.MustParse("9Gi")}}}
	}},
	{"host ports", func(p *api.Pod) {
		for i := range ownContainers(p) {
			p.Spec.Containers[i].Ports = []api.ContainerPort{{HostPort: 1}, {HostPort: 2, HostIP: "127.0.0.1"}}
		}
	}},
	{"container ports", func(p *api.Pod) {
		for i := range ownContainers(p) {
			p.Spec.Containers[i].Ports = append(slices.Clip(p.Spec.Containers[i].Ports), api.ContainerPort{ContainerPort: 8080})
		}
	}},
	{"images", func(p *api.Pod) {
		for i := range ownContainers(p) {
			p.Spec.Containers[i].Image = "db"
		}
	}},
	{"volumes", func(p *api.Pod) {
		p.Spec.Volumes = []api.Volume{
			{Name: "claim", VolumeSource: api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "new"}}},
			{Name: "disk", VolumeSource: api.VolumeSource{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: "d"}}},
		}
	}},
	{"priority", func(p *api.Pod) { p.Spec.Priority = new(int32(12345)) }},
	{"priority class", func(p *api.Pod) { p.Spec.PriorityClassName = "system-node-critical" }},
	{"preemption policy", func(p *api.Pod) { p.Spec.PreemptionPolicy = new(api.PreemptLowerPriority) }},
	{"scheduler name", func(p *api.Pod) { p.Spec.SchedulerName = "another" }},
	{"scheduling gates", func(p *api.Pod) { p.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "new"}} }},
	{"host network", func(p *api.Pod) { p.Spec.HostNetwork = !p.Spec.HostNetwork }},
	{"phase", func(p *api.Pod) { p.Status.Phase = api.PodUnknown }},
	{"conditions", func(p *api.Pod) {
		p.Status.Conditions = []api.PodCondition{{Type: api.PodScheduled, Status: api.ConditionFalse}}
	}},
}

// A podSwap gives a pod a part that another pod has.
type podSwap struct {
	what string
	take func(p, from *api.Pod)
}

// podSwaps go over the parts of a pod. Nothing of from is changed, nor shared
// where a later change would write to it.
var podSwaps = []podSwap{
	{"namespace", func(p, from *api.Pod) { p.Namespace = from.Namespace }},
	{"labels", func(p, from *api.Pod) { p.Labels = from.Labels }},
	{"annotations", func(p, from *api.Pod) { p.Annotations = from.Annotations }},
	{"owner", func(p, from *api.Pod) { p.OwnerReferences = from.OwnerReferences }},
	{"nodeName", func(p, from *api.Pod) { p.Spec.NodeName = from.Spec.NodeName }},
	{"nominatedNodeName", func(p, from *api.Pod) { p.Status.NominatedNodeName = from.Status.NominatedNodeName }},
	{"nodeSelector", func(p, from *api.Pod) { p.Spec.NodeSelector = from.Spec.NodeSelector }},
	{"node affinity", func(p, from *api.Pod) {
		changeAffinity(p, func(a *api.Affinity) { a.NodeAffinity = affinityOf(from).NodeAffinity })
	}},
	{"pod affinity", func(p, from *api.Pod) {
		changeAffinity(p, func(a *api.Affinity) { a.PodAffinity = affinityOf(from).PodAffinity })
	}},
	{"pod anti-affinity", func(p, from *api.Pod) {
		changeAffinity(p, func(a *api.Affinity) { a.PodAntiAffinity = affinityOf(from).PodAntiAffinity })
	}},
	{"tolerations", func(p, from *api.Pod) { p.Spec.Tolerations = from.Spec.Tolerations }},
	{"spread constraints", func(p, from *api.Pod) {
		p.Spec.TopologySpreadConstraints = from.Spec.TopologySpreadConstraints
	}},
	{"containers", func(p, from *api.Pod) {
		p.Spec.Containers, p.Spec.InitContainers = from.Spec.Containers, from.Spec.InitContainers
	}},
	{"resources of containers", func(p, from *api.Pod) {
		swapContainers(p, from, func(c, from *api.Container) { c.Resources = from.Resources })
	}},
	{"host ports", func(p, from *api.Pod) {
		swapContainers(p, from, func(c, from *api.Container) { c.Ports = from.Ports })
	}},
	{"images", func(p, from *api.Pod) {
		swapContainers(p, from, func(c, from *api.Container) { c.Image = from.Image })
	}},
	{"overhead and requests of the pod as a whole", func(p, from *api.Pod) {
		p.Spec.Overhead, p.Spec.Resources = from.Spec.Overhead, from.Spec.Resources
	}},
	{"volumes", func(p, from *api.Pod) { p.Spec.Volumes = from.Spec.Volumes }},
	{"priority", func(p, from *api.Pod) {
		p.Spec.Priority, p.Spec.PriorityClassName, p.Spec.PreemptionPolicy = from.Spec.Priority, from.Spec.PriorityClassName, from.Spec.PreemptionPolicy
	}},
	{"status", func(p, from *api.Pod) {
		nominated := p.Status.NominatedNodeName
		p.Status = from.Status
		p.Status.NominatedNodeName = nominated
	}},
}

func affinityOf(p *api.Pod) api.Affinity {
	if p.Spec.Affinity == nil {
		return api.Affinity{}
	}
	return *p.Spec.Affinity
}

// swapContainers changes as many containers of p as from has.
func swapContainers(p, from *api.Pod, take func(c, from *api.Container)) {
	list := ownContainers(p)
	for i := range min(len(list), len(from.Spec.Containers)) {
		take(&list[i], &from.Spec.Containers[i])
	}
}

// ownContainers returns the containers of p for writing: a copy, because pods of
// this package share them.
func ownContainers(p *api.Pod) []api.Container {
	p.Spec.Containers = slices.Clone(p.Spec.Containers)
	return p.Spec.Containers
}

// changeAffinity changes a copy of the pod's affinity.
func changeAffinity(p *api.Pod, change func(*api.Affinity)) {
	a := affinityOf(p)
	change(&a)
	p.Spec.Affinity = &a
}

func podTerms() []api.PodAffinityTerm {
	return []api.PodAffinityTerm{{TopologyKey: api.LabelTopologyZone, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
}
