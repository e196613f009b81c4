package filter

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/proof/enough"
)

// A pod whose node is known from its parts gets the verdicts of its whole affinity.
func TestOnlyNode(t *testing.T) {
	seen := map[string]int{}
	requirement := rapid.Custom(func(t *rapid.T) api.NodeSelectorRequirement {
		return api.NodeSelectorRequirement{
			Key:      rapid.SampledFrom([]string{"metadata.name", "metadata.name", "metadata.name", "zone"}).Draw(t, "key"),
			Operator: rapid.SampledFrom([]api.NodeSelectorOperator{"In", "In", "In", "In", "NotIn", "Exists"}).Draw(t, "operator"),
			Values:   rapid.SampledFrom([][]string{{"a"}, {"b"}, {"c"}, {"a", "b"}, {""}, nil}).Draw(t, "values"),
		}
	})
	enough.Check(t, seen, map[string]int{"pods of only one node": 20}, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		for _, name := range []string{"a", "b"} {
			if err := s.AddNode(api.MakeNode(name, "4", "8Gi").Labels("zone", name).Obj()); err != nil {
				t.Fatal(err)
			}
		}
		p := api.MakePod("p").Obj()
		if rapid.IntRange(0, 3).Draw(t, "selector") == 0 {
			p.Spec.NodeSelector = map[string]string{"zone": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")}
		}
		terms := &api.NodeSelector{}
		for range rapid.SampledFrom([]int{1, 1, 1, 1, 1, 0, 2}).Draw(t, "terms") {
			terms.NodeSelectorTerms = append(terms.NodeSelectorTerms, api.NodeSelectorTerm{
				MatchFields:      rapid.SliceOfN(requirement, 1, rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "most")).Draw(t, "fields"),
				MatchExpressions: rapid.SliceOfN(requirement, 0, rapid.IntRange(0, 1).Draw(t, "at most")).Draw(t, "expressions"),
			})
		}
		p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		pod, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		if pod.Runner().OnlyNode[0] == "" {
			return
		}
		seen["pods of only one node"]++
		want := match.NewRequiredNodeAffinity(p.Spec.NodeSelector, p.Spec.Affinity)
		var c framework.Cycle
		c.Reset(pod, s, 0, 0)
		bound, status := NodeAffinity{}.PreFilter(&c)
		names, _ := want.Nodes()
		if !status.IsSuccess() || !slices.Equal(bound.NodeNames, names) {
			t.Fatalf("PreFilter: %v, nodes %v, want %v", status, bound.NodeNames, names)
		}
		for _, n := range s.All() {
			if got := bound.Filter.Filter(pod, n); got.IsSuccess() != want.Match(n.Node) {
				t.Fatalf("node %s: %v, want %t", n.Name(), got, want.Match(n.Node))
			}
		}
	})
}
