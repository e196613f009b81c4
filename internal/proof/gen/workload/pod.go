package workload

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// groups is the number of groups of ReqAntiAffinity.
const groups = 50

// The topologies that the workloads use.
const (
	byHost = "kubernetes.io/hostname"
	byZone = "topology.kubernetes.io/zone"
)

// InitPod returns pod j of a cluster of n nodes, as it is before the benchmark
// starts. It goes to node j mod n.
func InitPod(j, n int) *api.Pod {
	p := plain(fmt.Sprintf("init-%06d", j), "init")
	p.Spec.NodeName = NodeName(j % n)
	return p
}

// Pod returns pod i of a workload, not placed. It panics if k is not in Kinds.
func Pod(k Kind, i int) *api.Pod {
	if k == Mixed {
		k = pure[i%len(pure)]
	}
	p := plain(fmt.Sprintf("%s-%06d", k, i), string(k))
	switch k {
	case Basic:
	case NodeAffinity:
		p.Spec.Affinity = &api.Affinity{NodeAffinity: firstZones(5)}
	case SpreadHard:
		p.Spec.TopologySpreadConstraints = spread(k, api.DoNotSchedule)
	case SpreadSoft:
		p.Spec.TopologySpreadConstraints = spread(k, api.ScheduleAnyway)
	case PrefAffinity:
		p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{
				{Weight: 1, PodAffinityTerm: term("app", string(k))},
			},
		}}
	case PrefAntiAffinity:
		p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{
				{Weight: 1, PodAffinityTerm: term("app", string(k))},
			},
		}}
	case ReqAntiAffinity:
		group := fmt.Sprintf("g%d", i%groups)
		p.Labels["group"] = group
		p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{term("group", group)},
		}}
	default:
		panic(fmt.Sprintf("workload: no workload %q", k))
	}
	return p
}

// plain returns the pod from which all others are made.
func plain(name, app string) *api.Pod {
	return &api.Pod{
		TypeMeta: api.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: api.ObjectMeta{
			Name:      name,
			Namespace: "default",
			UID:       api.UID("uid-" + name),
			Labels:    map[string]string{"app": app},
		},
		Spec: api.PodSpec{
			SchedulerName: "default-scheduler",
			Containers: []api.Container{{
				Name:  "main",
				Image: "registry.k8s.io/pause:3.10",
				Resources: api.ResourceRequirements{Requests: resource.List{
					"cpu":    resource.MustParse("100m"),
					"memory": resource.MustParse("500Mi"),
				}},
			}},
		},
	}
}

// firstZones requires one of the first n zones.
func firstZones(n int) *api.NodeAffinity {
	var names []string
	for i := range n {
		names = append(names, zone(i))
	}
	return &api.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{
			NodeSelectorTerms: []api.NodeSelectorTerm{{
				MatchExpressions: []api.NodeSelectorRequirement{
					{Key: byZone, Operator: api.NodeSelectorOpIn, Values: names},
				},
			}},
		},
	}
}

// spread bounds the skew of the workload over the zones.
func spread(k Kind, otherwise api.UnsatisfiableConstraintAction) []api.TopologySpreadConstraint {
	return []api.TopologySpreadConstraint{{
		MaxSkew:           5,
		TopologyKey:       byZone,
		WhenUnsatisfiable: otherwise,
		LabelSelector:     &api.LabelSelector{MatchLabels: map[string]string{"app": string(k)}},
	}}
}

// term selects the pods with a label, by node.
func term(key, value string) api.PodAffinityTerm {
	return api.PodAffinityTerm{
		LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{key: value}},
		TopologyKey:   byHost,
	}
}
