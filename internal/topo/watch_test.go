package topo

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// TestStatusAsksNoRule: a node whose labels and taints stay is not compared with the rules of
// spread constraints, which may have thousands of terms each. Rules by name tell whether they
// were asked: here, unlike in a snapshot, the name changes.
func TestStatusAsksNoRule(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	tables := Of(s)
	p := spread(api.DoNotSchedule, zone)
	p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{
		NodeSelectorTerms: []api.NodeSelectorTerm{{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{"a"}}}}},
	}}}
	q := info(t, s, p)
	tables.Hard(q, HardRules(q))
	if len(tables.nodeSets) == 0 {
		t.Fatal("there is no rule")
	}
	for i, tt := range []struct {
		change func(n *api.Node)
		asked  bool
	}{
		{func(n *api.Node) { n.Annotations = map[string]string{"note": "x"} }, false},
		{func(n *api.Node) { n.Spec.Taints = append(n.Spec.Taints, api.Taint{Key: "k", Effect: "NoSchedule"}) }, true},
		{func(n *api.Node) { n.Labels["other"] = "x" }, true},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			n := api.Clone(s.Node("a").Node)
			n.Name = "c"
			tt.change(n)
			if asked := !tables.stays(s.Node("a").Node, n); asked != tt.asked {
				t.Errorf("rules are asked: %v, want %v", asked, tt.asked)
			}
		})
	}
}
