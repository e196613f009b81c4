package workload

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// admitted lists the nodes that admit the pods of a DaemonSet by the filters of a scheduler.
func admitted(t *rapid.T, w *Workload, nodes []*api.Node) (names []string) {
	s, err := scheduling.New(scheduling.Profile{
		Filter: []framework.Plugin{filter.NodeName{}, filter.TaintToleration{}, filter.NodeAffinity{}},
		Score:  []scheduling.Weighted{{Plugin: scoring.TaintToleration{}}}, // without a scorer, the search would end at the first feasible node
	})
	if err != nil {
		t.Fatal(err)
	}
	snap, _, err := framework.SnapshotOf(&api.Objects{Nodes: nodes}, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	pattern := w.Pod()
	pattern.Name = w.Name
	info, err := snap.NewPodInfo(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range s.Explain(snap, info).Nodes {
		if n.Verdict == scheduling.VerdictFeasible {
			names = append(names, w.Name+"-"+n.Node)
		}
	}
	return names
}

// TestDaemons compares the nodes that get a pod with those that the filters admit.
func TestDaemons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []*api.Node
		for i := range 6 {
			n := api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Labels("zone", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")).Obj()
			if rapid.Bool().Draw(t, "tainted") {
				n.Spec.Taints = []api.Taint{{
					Key: rapid.SampledFrom([]string{"gpu", api.TaintNodeUnschedulable}).Draw(t, "key"), Value: "v",
					Effect: rapid.SampledFrom([]api.TaintEffect{api.TaintEffectNoSchedule, api.TaintEffectNoExecute, api.TaintEffectPreferNoSchedule}).Draw(t, "effect"),
				}}
			}
			nodes = append(nodes, n)
		}
		w := &Workload{TypeMeta: api.TypeMeta{Kind: "DaemonSet"}, Template: &api.PodTemplateSpec{Spec: api.PodSpec{Containers: []api.Container{{Name: "c"}}}}}
		w.Name, w.Namespace = "w", "default"
		spec := &w.Template.Spec
		if rapid.Bool().Draw(t, "selects") {
			spec.NodeSelector = map[string]string{"zone": "a"}
		}
		if rapid.Bool().Draw(t, "tolerates") {
			spec.Tolerations = []api.Toleration{{Key: "gpu", Operator: api.TolerationOpExists}}
		}
		if rapid.IntRange(0, 3).Draw(t, "names") == 0 {
			spec.NodeName = "n3"
		}
		if rapid.Bool().Draw(t, "affinity") {
			var term api.NodeSelectorTerm
			for range rapid.IntRange(0, 2).Draw(t, "fields") {
				term.MatchFields = append(term.MatchFields, api.NodeSelectorRequirement{
					Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: rapid.SliceOfN(rapid.SampledFrom([]string{"n1", "n2", "n3"}), 1, 3).Draw(t, "values"),
				})
			}
			if rapid.Bool().Draw(t, "expression") {
				term.MatchExpressions = []api.NodeSelectorRequirement{{
					Key: "zone", Operator: rapid.SampledFrom([]api.NodeSelectorOperator{api.NodeSelectorOpIn, api.NodeSelectorOpNotIn, "Odd"}).Draw(t, "operator"), Values: []string{"b"},
				}}
			}
			spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{term}},
			}}
		}
		pods, err := w.Pods(nodes)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range pods {
			got = append(got, p.Name)
		}
		if want := admitted(t, w, nodes); !slices.Equal(got, want) {
			t.Fatalf("pods on %v, want on %v", got, want)
		}
	})
}

// Nodes that are nil, or have one name, are errors.
func TestDaemonsOnBadNodes(t *testing.T) {
	w := &Workload{TypeMeta: api.TypeMeta{Kind: "DaemonSet"}, Template: &api.PodTemplateSpec{Spec: api.PodSpec{Containers: []api.Container{{Name: "c"}}}}}
	w.Name, w.Namespace = "w", "default"
	a := api.MakeNode("a", "4", "8Gi").Obj()
	for _, nodes := range [][]*api.Node{{nil}, {a, a}} {
		if pods, err := w.Pods(nodes); err == nil {
			t.Errorf("%v: %d pods, want an error", nodes, len(pods))
		}
	}
}
