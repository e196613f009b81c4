package topo

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Pods with one literal, or replicas of one controller, have the same rules: a pod that takes
// over those of another one has what it would have compiled itself, and counts as what it is.
func TestSharedRulesAreThePodsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.ZoneInterleaved)
		tables := Of(s)
		for i := range rapid.IntRange(2, 40).Draw(t, "pods") {
			p := &api.Pod{}
			p.Name, p.Namespace = "p", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace")
			label := rapid.SampledFrom([]string{"app", "hash", "tier"})
			value := rapid.SampledFrom([]string{"", "x", "y", "-"})
			p.Labels = rapid.MapOfN(label, value, 0, 3).Draw(t, "labels")
			if uid := rapid.SampledFrom([]api.UID{"", "x", "y"}).Draw(t, "controller"); uid != "" {
				yes := true
				p.OwnerReferences = []api.OwnerReference{{Kind: "ReplicaSet", Name: "r", UID: uid, Controller: &yes}}
			}
			if rapid.IntRange(0, 9).Draw(t, "terminating") == 0 {
				p.DeletionTimestamp = new(time.Time)
			}
			if rapid.Bool().Draw(t, "selects nodes") {
				p.Spec.NodeSelector = map[string]string{"disk": value.Draw(t, "disk")}
			}
			if rapid.Bool().Draw(t, "tolerates") {
				p.Spec.Tolerations = []api.Toleration{{Key: value.Draw(t, "taint"), Operator: api.TolerationOpExists}}
			}
			for range rapid.IntRange(1, 2).Draw(t, "constraints") {
				p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, drawConstraint(t, label, value))
			}
			shared, err := s.NewPodInfo(p)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := s.NewPodInfo(p)
			if err != nil {
				t.Fatal(err)
			}
			ShareRules(s, shared)
			sameRules(t, i, HardRules(shared), HardRules(alone))
			sameRules(t, i, SoftRules(shared), SoftRules(alone))
			if got, want := tables.classes[tables.classOf(shared)].text, string(appendTraits(nil, p, &noTerms)); got != want {
				t.Fatalf("pod %d counts as %q, want %q", i, got, want)
			}
		}
	})
}

func drawConstraint(t *rapid.T, label, value *rapid.Generator[string]) api.TopologySpreadConstraint {
	c := api.TopologySpreadConstraint{
		MaxSkew: rapid.Int32Range(1, 2).Draw(t, "maxSkew"), TopologyKey: rapid.SampledFrom([]string{"zone", "host"}).Draw(t, "key"),
		WhenUnsatisfiable: rapid.SampledFrom([]api.UnsatisfiableConstraintAction{api.DoNotSchedule, api.ScheduleAnyway}).Draw(t, "action"),
		MatchLabelKeys:    rapid.SliceOfN(label, 0, 2).Draw(t, "matchLabelKeys"),
	}
	if rapid.Bool().Draw(t, "minDomains") {
		n := rapid.Int32Range(1, 2).Draw(t, "domains")
		c.MinDomains = &n
	}
	policy := rapid.SampledFrom([]api.NodeInclusionPolicy{"", api.NodeInclusionPolicyHonor, api.NodeInclusionPolicyIgnore})
	if p := policy.Draw(t, "affinity policy"); p != "" {
		c.NodeAffinityPolicy = &p
	}
	if p := policy.Draw(t, "taints policy"); p != "" {
		c.NodeTaintsPolicy = &p
	}
	if rapid.IntRange(0, 5).Draw(t, "selects nothing") > 0 {
		c.LabelSelector = &api.LabelSelector{MatchLabels: rapid.MapOfN(label, value, 0, 2).Draw(t, "matchLabels")}
	}
	if c.LabelSelector != nil && rapid.Bool().Draw(t, "expression") {
		op := rapid.SampledFrom([]api.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Gt"}).Draw(t, "operator")
		c.LabelSelector.MatchExpressions = []api.LabelSelectorRequirement{{Key: label.Draw(t, "expression key"), Operator: op, Values: rapid.SliceOfN(value, 0, 2).Draw(t, "values")}}
	}
	return c
}

func sameRules(t *rapid.T, pod int, got, want *Rules) {
	t.Helper()
	if got.text != want.text || got.Own != want.Own || len(got.List) != len(want.List) || (got.Err == nil) != (want.Err == nil) ||
		got.Err != nil && got.Err.Error() != want.Err.Error() {
		t.Fatalf("pod %d has the rules %+v, want %+v", pod, got, want)
	}
	for i := range want.List {
		g, w := got.List[i], want.List[i]
		if g.Key != w.Key || g.MaxSkew != w.MaxSkew || g.MinDomains != w.MinDomains || g.Self != w.Self || g.affinity != w.affinity || g.taints != w.taints ||
			string(g.pods.AppendKey(nil)) != string(w.pods.AppendKey(nil)) {
			t.Fatalf("pod %d has the rule %+v, want %+v", pod, g, w)
		}
	}
}
