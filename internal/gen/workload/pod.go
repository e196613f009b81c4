package workload

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// groups is the number of groups of ReqAntiAffinity.
const groups = 50

// The topologies that the workloads use.
const (
	byHost = "kubernetes.io/hostname"
	byZone = "topology.kubernetes.io/zone"
)

// InitPod returns pod j of those that a cluster of n nodes has before the
// benchmark starts; it is placed on node j mod n.
func InitPod(j, n int) *framework.Pod {
	p := plain(fmt.Sprintf("init-%06d", j), "init")
	p.Spec.NodeName = NodeName(j % n)
	return p
}

// Pod returns pod i of a workload, not placed. It panics if k is none of Kinds.
func Pod(k Kind, i int) *framework.Pod {
	if k == Mixed {
		k = pure[i%len(pure)]
	}
	p := plain(fmt.Sprintf("%s-%06d", k, i), string(k))
	switch k {
	case Basic:
	case NodeAffinity:
		p.Spec.Affinity = &framework.Affinity{NodeAffinity: firstZones(5)}
	case SpreadHard:
		p.Spec.TopologySpreadConstraints = spread(k, framework.DoNotSchedule)
	case SpreadSoft:
		p.Spec.TopologySpreadConstraints = spread(k, framework.ScheduleAnyway)
	case PrefAffinity:
		p.Spec.Affinity = &framework.Affinity{PodAffinity: &framework.PodAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []framework.WeightedPodAffinityTerm{
				{Weight: 1, PodAffinityTerm: term("app", string(k))},
			},
		}}
	case PrefAntiAffinity:
		p.Spec.Affinity = &framework.Affinity{PodAntiAffinity: &framework.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []framework.WeightedPodAffinityTerm{
				{Weight: 1, PodAffinityTerm: term("app", string(k))},
			},
		}}
	case ReqAntiAffinity:
		group := fmt.Sprintf("g%d", i%groups)
		p.Labels["group"] = group
		p.Spec.Affinity = &framework.Affinity{PodAntiAffinity: &framework.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []framework.PodAffinityTerm{term("group", group)},
		}}
	default:
		panic(fmt.Sprintf("workload: no workload %q", k))
	}
	return p
}

// plain returns the pod that all others are made of.
func plain(name, app string) *framework.Pod {
	return &framework.Pod{
		TypeMeta: framework.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: framework.ObjectMeta{
			Name:      name,
			Namespace: "default",
			UID:       framework.UID("uid-" + name),
			Labels:    map[string]string{"app": app},
		},
		Spec: framework.PodSpec{
			SchedulerName: "default-scheduler",
			Containers: []framework.Container{{
				Name:  "main",
				Image: "registry.k8s.io/pause:3.10",
				Resources: framework.ResourceRequirements{Requests: resource.List{
					"cpu":    resource.MustParse("100m"),
					"memory": resource.MustParse("500Mi"),
				}},
			}},
		},
	}
}

// firstZones requires one of the first n zones.
func firstZones(n int) *framework.NodeAffinity {
	var names []string
	for i := range n {
		names = append(names, zone(i))
	}
	return &framework.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &framework.NodeSelector{
			NodeSelectorTerms: []framework.NodeSelectorTerm{{
				MatchExpressions: []framework.NodeSelectorRequirement{
					{Key: byZone, Operator: framework.NodeSelectorOpIn, Values: names},
				},
			}},
		},
	}
}

// spread bounds the skew of the workload over the zones.
func spread(k Kind, otherwise framework.UnsatisfiableConstraintAction) []framework.TopologySpreadConstraint {
	return []framework.TopologySpreadConstraint{{
		MaxSkew:           5,
		TopologyKey:       byZone,
		WhenUnsatisfiable: otherwise,
		LabelSelector:     &framework.LabelSelector{MatchLabels: map[string]string{"app": string(k)}},
	}}
}

// term selects the pods with a label, by node.
func term(key, value string) framework.PodAffinityTerm {
	return framework.PodAffinityTerm{
		LabelSelector: &framework.LabelSelector{MatchLabels: map[string]string{key: value}},
		TopologyKey:   byHost,
	}
}
