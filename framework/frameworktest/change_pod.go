package frameworktest

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A podChange changes one part of a pod. Which fields cover the part is for
// [framework.PodInfo.ClassKey] to say.
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
		for i := range p.Spec.Containers {
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
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Ports = []api.ContainerPort{{HostPort: 1}, {HostPort: 2, HostIP: "127.0.0.1"}}
		}
	}},
	{"container ports", func(p *api.Pod) {
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Ports = append(p.Spec.Containers[i].Ports, api.ContainerPort{ContainerPort: 8080})
		}
	}},
	{"images", func(p *api.Pod) {
		for i := range p.Spec.Containers {
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

func changeAffinity(p *api.Pod, change func(*api.Affinity)) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &api.Affinity{}
	}
	change(p.Spec.Affinity)
}

func podTerms() []api.PodAffinityTerm {
	return []api.PodAffinityTerm{{TopologyKey: api.LabelTopologyZone, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
}
