package api_test

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// printJSON prints v in the form of the Kubernetes API.
func printJSON(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
}

// The terms of a node selector are alternatives; all requirements of one term must
// hold. A LabelSelector is simpler: all its requirements must hold.
func ExampleNodeSelector() {
	s := api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{
		{MatchExpressions: []api.NodeSelectorRequirement{
			{Key: "disk", Operator: api.NodeSelectorOpIn, Values: []string{"ssd"}},
			{Key: "cores", Operator: api.NodeSelectorOpGt, Values: []string{"15"}},
		}},
		{MatchFields: []api.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{"n7"}},
		}},
	}}
	pod := api.MakePod("db").NodeAffinity("disk=ssd, cores>15").NodeAffinity("metadata.name=n7").Obj()
	printJSON(s)
	printJSON(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	// Output:
	// {"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]},{"key":"cores","operator":"Gt","values":["15"]}]},{"matchFields":[{"key":"metadata.name","operator":"In","values":["n7"]}]}]}
	// {"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]},{"key":"cores","operator":"Gt","values":["15"]}]},{"matchFields":[{"key":"metadata.name","operator":"In","values":["n7"]}]}]}
}

func ExampleLabelSelector() {
	s := api.LabelSelector{
		MatchLabels: map[string]string{"app": "web"},
		MatchExpressions: []api.LabelSelectorRequirement{
			{Key: "tier", Operator: api.LabelSelectorOpNotIn, Values: []string{"test"}},
		},
	}
	printJSON(s)
	// Output: {"matchLabels":{"app":"web"},"matchExpressions":[{"key":"tier","operator":"NotIn","values":["test"]}]}
}

// An Affinity in full; the builder writes each part in one line.
func ExampleAffinity() {
	web := api.PodAffinityTerm{
		LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		TopologyKey:   api.LabelHostname,
	}
	pod := api.MakePod("web").Labels("app", "web").Obj()
	pod.Spec.Affinity = &api.Affinity{
		NodeAffinity: &api.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{{
				Weight: 30,
				Preference: api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{
					{Key: "spot", Operator: api.NodeSelectorOpDoesNotExist},
				}},
			}},
		},
		PodAffinity: &api.PodAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{{
				Weight: 10,
				PodAffinityTerm: api.PodAffinityTerm{
					LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "cache"}},
					TopologyKey:   api.LabelTopologyZone,
				},
			}},
		},
		PodAntiAffinity: &api.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{web},
		},
	}
	short := api.MakePod("web").Labels("app", "web").
		PreferNodes(30, "!spot").
		PreferPodAffinity(10, api.LabelTopologyZone, "app=cache").
		PodAntiAffinity(api.LabelHostname, "app=web").Obj()
	a, _ := json.Marshal(pod.Spec.Affinity)
	b, _ := json.Marshal(short.Spec.Affinity)
	fmt.Println("the same:", string(a) == string(b))
	fmt.Println(pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey)
	// Output:
	// the same: true
	// kubernetes.io/hostname
}

// At most one more pod in one zone than in another, counted over nodes whose taints
// the pod tolerates.
func ExampleTopologySpreadConstraint() {
	onlyUsable := api.NodeInclusionPolicyHonor
	pod := api.MakePod("web").Labels("app", "web").SpreadConstraint(api.TopologySpreadConstraint{
		MaxSkew:           1,
		TopologyKey:       api.LabelTopologyZone,
		WhenUnsatisfiable: api.DoNotSchedule,
		LabelSelector:     &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		NodeTaintsPolicy:  &onlyUsable,
	}).Obj()
	printJSON(pod.Spec.TopologySpreadConstraints[0])
	// Output: {"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}},"nodeTaintsPolicy":"Honor"}
}

// A taint keeps pods away, a toleration lets one pod ignore it.
func ExampleTaint() {
	node := api.MakeNode("n1", "4", "8Gi").Obj()
	node.Spec.Taints = []api.Taint{{Key: "dedicated", Value: "db", Effect: api.TaintEffectNoSchedule}}
	printJSON(node.Spec.Taints)
	printJSON(api.MakeNode("n1", "4", "8Gi").Taint("dedicated=db:NoSchedule").Obj().Spec.Taints)
	// Output:
	// [{"key":"dedicated","value":"db","effect":"NoSchedule"}]
	// [{"key":"dedicated","value":"db","effect":"NoSchedule"}]
}

func ExampleToleration() {
	pod := api.MakePod("db").Toleration(api.Toleration{
		Key: "dedicated", Operator: api.TolerationOpEqual, Value: "db", Effect: api.TaintEffectNoSchedule,
	}).Obj()
	printJSON(pod.Spec.Tolerations)
	printJSON(api.MakePod("db").Tolerates("dedicated=db:NoSchedule").Obj().Spec.Tolerations)
	// Output:
	// [{"key":"dedicated","operator":"Equal","value":"db","effect":"NoSchedule"}]
	// [{"key":"dedicated","operator":"Equal","value":"db","effect":"NoSchedule"}]
}
