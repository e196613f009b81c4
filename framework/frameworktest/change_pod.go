package frameworktest

import (
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A podChange changes one part of a pod. Which fields cover the part is for
// [framework.PodInfo.ClassKey] to say.
type podChange struct {
	what   string
	change func(p *framework.Pod)
}

// podChanges go over all parts of a pod that a plugin could read.
var podChanges = []podChange{
	{"namespace", func(p *framework.Pod) { p.Namespace = "elsewhere" }},
	{"name", func(p *framework.Pod) { p.Name += "-2" }},
	{"UID", func(p *framework.Pod) { p.UID += "-2" }},
	{"labels", func(p *framework.Pod) { p.Labels = map[string]string{"app": "web", "new": "yes"} }},
	{"absent labels", func(p *framework.Pod) { p.Labels = nil }},
	{"annotations", func(p *framework.Pod) { p.Annotations = map[string]string{"new": "yes"} }},
	{"owner", func(p *framework.Pod) {
		p.OwnerReferences = []framework.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "new", UID: "9", Controller: new(true)}}
	}},
	{"creation time", func(p *framework.Pod) { p.CreationTimestamp = p.CreationTimestamp.Add(time.Second) }},
	{"deletion time", func(p *framework.Pod) { p.DeletionTimestamp = new(Noon()) }},
	{"nodeName", func(p *framework.Pod) { p.Spec.NodeName = "node-01" }},
	{"absent nodeName", func(p *framework.Pod) { p.Spec.NodeName = "" }},
	{"nominatedNodeName", func(p *framework.Pod) { p.Status.NominatedNodeName = "node-02" }},
	{"nodeSelector", func(p *framework.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }},
	{"node affinity", func(p *framework.Pod) {
		term := framework.NodeSelectorTerm{MatchExpressions: []framework.NodeSelectorRequirement{{Key: "rack", Operator: framework.NodeSelectorOpExists}}}
		changeAffinity(p, func(a *framework.Affinity) {
			a.NodeAffinity = &framework.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  &framework.NodeSelector{NodeSelectorTerms: []framework.NodeSelectorTerm{term}},
				PreferredDuringSchedulingIgnoredDuringExecution: []framework.PreferredSchedulingTerm{{Weight: 7, Preference: term}},
			}
		})
	}},
	{"absent affinity", func(p *framework.Pod) { p.Spec.Affinity = nil }},
	{"pod affinity", func(p *framework.Pod) {
		changeAffinity(p, func(a *framework.Affinity) {
			a.PodAffinity = &framework.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms()}
		})
	}},
	{"pod anti-affinity", func(p *framework.Pod) {
		changeAffinity(p, func(a *framework.Affinity) {
			a.PodAntiAffinity = &framework.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms()}
		})
	}},
	{"tolerations", func(p *framework.Pod) {
		p.Spec.Tolerations = []framework.Toleration{{Operator: framework.TolerationOpExists}}
	}},
	{"absent tolerations", func(p *framework.Pod) { p.Spec.Tolerations = nil }},
	{"spread constraints", func(p *framework.Pod) {
		p.Spec.TopologySpreadConstraints = []framework.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: framework.LabelTopologyZone, WhenUnsatisfiable: framework.DoNotSchedule, LabelSelector: &framework.LabelSelector{}},
			{MaxSkew: 2, TopologyKey: framework.LabelHostname, WhenUnsatisfiable: framework.ScheduleAnyway, LabelSelector: &framework.LabelSelector{}},
		}
	}},
	{"requests", func(p *framework.Pod) {
		p.Spec.Containers = append(p.Spec.Containers[:len(p.Spec.Containers):len(p.Spec.Containers)], framework.Container{
			Name: "added", Image: "tiny", Resources: framework.ResourceRequirements{Requests: resource.List{
				resource.CPU: resource.MustParse("3"), resource.Memory: resource.MustParse("5Gi"), "example.com/gpu": resource.MustParse("1"),
			}},
		})
	}},
	{"limits", func(p *framework.Pod) {
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Resources.Limits = resource.List{resource.CPU: resource.MustParse("7"), resource.Memory: resource.MustParse("7Gi")}
		}
	}},
	{"overhead", func(p *framework.Pod) { p.Spec.Overhead = resource.List{resource.CPU: resource.MustParse("1")} }},
	{"requests of the pod as a whole", func(p *framework.Pod) {
		p.Spec.Resources = &framework.ResourceRequirements{Requests: resource.List{resource.Memory: resource.MustParse("2Gi")}}
	}},
	{"allocated resources", func(p *framework.Pod) {
		p.Status.ContainerStatuses = []framework.ContainerStatus{{Name: "main", AllocatedResources: resource.List{resource.CPU: resource.MustParse("9"), resource.Memory: resource.MustParse("9Gi")}}}
	}},
	{"host ports", func(p *framework.Pod) {
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Ports = []framework.ContainerPort{{HostPort: 1}, {HostPort: 2, HostIP: "127.0.0.1"}}
		}
	}},
	{"container ports", func(p *framework.Pod) {
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Ports = append(p.Spec.Containers[i].Ports, framework.ContainerPort{ContainerPort: 8080})
		}
	}},
	{"images", func(p *framework.Pod) {
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Image = "db"
		}
	}},
	{"volumes", func(p *framework.Pod) {
		p.Spec.Volumes = []framework.Volume{
			{Name: "claim", VolumeSource: framework.VolumeSource{PersistentVolumeClaim: &framework.PersistentVolumeClaimVolumeSource{ClaimName: "new"}}},
			{Name: "disk", VolumeSource: framework.VolumeSource{GCEPersistentDisk: &framework.GCEPersistentDiskVolumeSource{PDName: "d"}}},
		}
	}},
	{"priority", func(p *framework.Pod) { p.Spec.Priority = new(int32(12345)) }},
	{"priority class", func(p *framework.Pod) { p.Spec.PriorityClassName = "system-node-critical" }},
	{"preemption policy", func(p *framework.Pod) { p.Spec.PreemptionPolicy = new(framework.PreemptLowerPriority) }},
	{"scheduler name", func(p *framework.Pod) { p.Spec.SchedulerName = "another" }},
	{"scheduling gates", func(p *framework.Pod) { p.Spec.SchedulingGates = []framework.PodSchedulingGate{{Name: "new"}} }},
	{"host network", func(p *framework.Pod) { p.Spec.HostNetwork = !p.Spec.HostNetwork }},
	{"phase", func(p *framework.Pod) { p.Status.Phase = framework.PodUnknown }},
	{"conditions", func(p *framework.Pod) {
		p.Status.Conditions = []framework.PodCondition{{Type: framework.PodScheduled, Status: framework.ConditionFalse}}
	}},
}

func changeAffinity(p *framework.Pod, change func(*framework.Affinity)) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &framework.Affinity{}
	}
	change(p.Spec.Affinity)
}

func podTerms() []framework.PodAffinityTerm {
	return []framework.PodAffinityTerm{{TopologyKey: framework.LabelTopologyZone, LabelSelector: &framework.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
}
