package framework_test

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// printJSON prints the form that the Kubernetes API has for v.
func printJSON(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
}

// Terms of a node selector are alternatives; what one term says must all hold.
// A LabelSelector is simpler: everything in it must hold.
func ExampleNodeSelector() {
	s := framework.NodeSelector{NodeSelectorTerms: []framework.NodeSelectorTerm{
		{MatchExpressions: []framework.NodeSelectorRequirement{
			{Key: "disk", Operator: framework.NodeSelectorOpIn, Values: []string{"ssd"}},
			{Key: "cores", Operator: framework.NodeSelectorOpGt, Values: []string{"15"}},
		}},
		{MatchFields: []framework.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: framework.NodeSelectorOpIn, Values: []string{"n7"}},
		}},
	}}
	pod := framework.MakePod("db").NodeAffinity("disk=ssd, cores>15").NodeAffinity("metadata.name=n7").Obj()
	printJSON(s)
	printJSON(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	// Output:
	// {"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]},{"key":"cores","operator":"Gt","values":["15"]}]},{"matchFields":[{"key":"metadata.name","operator":"In","values":["n7"]}]}]}
	// {"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]},{"key":"cores","operator":"Gt","values":["15"]}]},{"matchFields":[{"key":"metadata.name","operator":"In","values":["n7"]}]}]}
}

func ExampleLabelSelector() {
	s := framework.LabelSelector{
		MatchLabels: map[string]string{"app": "web"},
		MatchExpressions: []framework.LabelSelectorRequirement{
			{Key: "tier", Operator: framework.LabelSelectorOpNotIn, Values: []string{"test"}},
		},
	}
	printJSON(s)
	// Output: {"matchLabels":{"app":"web"},"matchExpressions":[{"key":"tier","operator":"NotIn","values":["test"]}]}
}

// An Affinity in full; the builder's methods write the same in a line each.
func ExampleAffinity() {
	web := framework.PodAffinityTerm{
		LabelSelector: &framework.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		TopologyKey:   framework.LabelHostname,
	}
	pod := framework.MakePod("web").Labels("app", "web").Obj()
	pod.Spec.Affinity = &framework.Affinity{
		NodeAffinity: &framework.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []framework.PreferredSchedulingTerm{{
				Weight: 30,
				Preference: framework.NodeSelectorTerm{MatchExpressions: []framework.NodeSelectorRequirement{
					{Key: "spot", Operator: framework.NodeSelectorOpDoesNotExist},
				}},
			}},
		},
		PodAffinity: &framework.PodAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []framework.WeightedPodAffinityTerm{{
				Weight: 10,
				PodAffinityTerm: framework.PodAffinityTerm{
					LabelSelector: &framework.LabelSelector{MatchLabels: map[string]string{"app": "cache"}},
					TopologyKey:   framework.LabelTopologyZone,
				},
			}},
		},
		PodAntiAffinity: &framework.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []framework.PodAffinityTerm{web},
		},
	}
	short := framework.MakePod("web").Labels("app", "web").
		PreferNodes(30, "!spot").
		PreferPodAffinity(10, framework.LabelTopologyZone, "app=cache").
		PodAntiAffinity(framework.LabelHostname, "app=web").Obj()
	a, _ := json.Marshal(pod.Spec.Affinity)
	b, _ := json.Marshal(short.Spec.Affinity)
	fmt.Println("the same:", string(a) == string(b))
	fmt.Println(pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey)
	// Output:
	// the same: true
	// kubernetes.io/hostname
}

// At most one pod more in one zone than in another, counted over nodes whose
// taints the pod tolerates.
func ExampleTopologySpreadConstraint() {
	onlyUsable := framework.NodeInclusionPolicyHonor
	pod := framework.MakePod("web").Labels("app", "web").SpreadConstraint(framework.TopologySpreadConstraint{
		MaxSkew:           1,
		TopologyKey:       framework.LabelTopologyZone,
		WhenUnsatisfiable: framework.DoNotSchedule,
		LabelSelector:     &framework.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		NodeTaintsPolicy:  &onlyUsable,
	}).Obj()
	printJSON(pod.Spec.TopologySpreadConstraints[0])
	// Output: {"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}},"nodeTaintsPolicy":"Honor"}
}

// A taint keeps pods away, a toleration lets one pod ignore it.
func ExampleTaint() {
	node := framework.MakeNode("n1", "4", "8Gi").Obj()
	node.Spec.Taints = []framework.Taint{{Key: "dedicated", Value: "db", Effect: framework.TaintEffectNoSchedule}}
	printJSON(node.Spec.Taints)
	printJSON(framework.MakeNode("n1", "4", "8Gi").Taint("dedicated=db:NoSchedule").Obj().Spec.Taints)
	// Output:
	// [{"key":"dedicated","value":"db","effect":"NoSchedule"}]
	// [{"key":"dedicated","value":"db","effect":"NoSchedule"}]
}

func ExampleToleration() {
	pod := framework.MakePod("db").Toleration(framework.Toleration{
		Key: "dedicated", Operator: framework.TolerationOpEqual, Value: "db", Effect: framework.TaintEffectNoSchedule,
	}).Obj()
	printJSON(pod.Spec.Tolerations)
	printJSON(framework.MakePod("db").Tolerates("dedicated=db:NoSchedule").Obj().Spec.Tolerations)
	// Output:
	// [{"key":"dedicated","operator":"Equal","value":"db","effect":"NoSchedule"}]
	// [{"key":"dedicated","operator":"Equal","value":"db","effect":"NoSchedule"}]
}
