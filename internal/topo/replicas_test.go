package topo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// owned returns a pod of a controller, with the label app and a constraint that looks at it.
func owned(controller, app string) *api.Pod {
	p := spread(api.ScheduleAnyway, zone)
	yes := true
	p.OwnerReferences = []api.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: controller, UID: api.UID(controller), Controller: &yes}}
	p.Labels = map[string]string{"app": app}
	p.Spec.TopologySpreadConstraints[0].LabelSelector = &api.LabelSelector{MatchLabels: map[string]string{"app": app}}
	return p
}

// met returns a pod that the tables have met.
func met(t *testing.T, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	t.Helper()
	q := info(t, s, p)
	ShareRules(s, q)
	Of(s).classOf(q)
	return q
}

// A pod that is like the last one of its controller needs no texts: it has its rules, and
// counts as it does, before the texts are asked for.
func TestReplicasAreRecognized(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	first := met(t, s, owned("r", "web"))
	tables := Of(s)
	tables.literals, tables.classIndex = literals{}, shards[int32]{} // what the texts find
	second := info(t, s, owned("r", "web"))
	ShareRules(s, second)
	if SoftRules(second) != SoftRules(first) || len(tables.literals.rules) > 0 {
		t.Error("the second pod has rules of its own")
	}
	if got, want := tables.classOf(second), tables.classOf(first); got != want || second.Runner().Counted.Load() != first.Runner().Counted.Load() {
		t.Errorf("the second pod counts as class %d, the first as %d", got, want)
	}
}

// A replica is not what its pod's owner makes of the pod later, nor the one of a fork.
func TestReplicasShareNothing(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	p := owned("r", "web")
	first := met(t, s, p)
	tables := Of(s)
	f := s.Fork()
	if like := Of(f).known(first); like != nil {
		t.Error("the fork knows a replica of the other snapshot")
	}
	p.Labels["app"] = "db"
	p.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels["app"] = "db"
	same, other := info(t, s, owned("r", "web")), info(t, s, owned("r", "db"))
	if like := tables.known(same); like == nil || like.rulesFor(same) == nil {
		t.Error("a pod like the first one was is not recognized")
	}
	if like := tables.known(other); like != nil {
		t.Error("a pod like what became of the first one is recognized")
	}
}

// Pods of a controller that are never alike cost no more than others, and few are noted. One
// that changes its template goes on being recognized.
func TestReplicasThatDiffer(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	tables := Of(s)
	for i := range 30 {
		for range 2 {
			met(t, s, owned("changing", fmt.Sprint("v", i)))
		}
		if tables.known(info(t, s, owned("changing", fmt.Sprint("v", i)))) == nil {
			t.Fatalf("version %d is not recognized", i)
		}
	}
	for i := range 30 {
		met(t, s, owned("set", fmt.Sprint("pod-", i)))
	}
	r := tables.replicas.of["set"]
	if r == nil || r.unlike != unlikeMost+1 || tables.note(info(t, s, owned("set", "pod-30"))) != nil {
		t.Errorf("of a set of pods that differ, %+v is noted", r)
	}
}

// What is known of replicas has a bound, whatever is written in their labels and constraints.
func TestReplicasAreBounded(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	tables := Of(s)
	for i := range literalsMost + 10 {
		met(t, s, owned(fmt.Sprint("r", i), "web"))
	}
	if n := len(tables.replicas.of); n > literalsMost {
		t.Errorf("%d replicas are known, want at most %d", n, literalsMost)
	}
	long := strings.Repeat("x", 1<<16)
	for i := range 200 {
		met(t, s, owned(fmt.Sprint("long", i), long))
		p := owned(fmt.Sprint("plain", i), "web")
		p.Spec.TopologySpreadConstraints[0].MatchLabelKeys = []string{long}
		if like := tables.known(met(t, s, p)); like == nil || like.rules != nil {
			t.Fatalf("of a pod with a long constraint, %+v is known", like)
		}
	}
	if n := tables.replicas.bytes; n > literalsBytes || len(tables.replicas.of) > 400 {
		t.Errorf("%d replicas with %d bytes of texts are known, want at most %d", len(tables.replicas.of), n, literalsBytes)
	}
}

// Pods of a controller with equal labels have rules of their own if anything differs that
// rules are compiled from, whichever comes first.
func TestReplicasWithOtherRules(t *testing.T) {
	honor, two := api.NodeInclusionPolicyHonor, int32(2)
	for name, change := range map[string]func(p *api.Pod, c *api.TopologySpreadConstraint){
		"nothing":           func(*api.Pod, *api.TopologySpreadConstraint) {},
		"maxSkew":           func(_ *api.Pod, c *api.TopologySpreadConstraint) { c.MaxSkew = 2 },
		"topologyKey":       func(_ *api.Pod, c *api.TopologySpreadConstraint) { c.TopologyKey = api.LabelHostname },
		"whenUnsatisfiable": func(_ *api.Pod, c *api.TopologySpreadConstraint) { c.WhenUnsatisfiable = api.DoNotSchedule },
		"minDomains":        func(_ *api.Pod, c *api.TopologySpreadConstraint) { c.MinDomains = &two },
		"affinity policy":   func(_ *api.Pod, c *api.TopologySpreadConstraint) { c.NodeAffinityPolicy = new(api.NodeInclusionPolicy) },
		"taints policy":     func(_ *api.Pod, c *api.TopologySpreadConstraint) { c.NodeTaintsPolicy = &honor },
		"no selector":       func(_ *api.Pod, c *api.TopologySpreadConstraint) { c.LabelSelector = nil },
		"empty selector":    func(_ *api.Pod, c *api.TopologySpreadConstraint) { c.LabelSelector = new(api.LabelSelector) },
		"another selector": func(_ *api.Pod, c *api.TopologySpreadConstraint) {
			c.LabelSelector = &api.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
		},
		"an expression": func(_ *api.Pod, c *api.TopologySpreadConstraint) {
			c.LabelSelector.MatchExpressions = []api.LabelSelectorRequirement{{Key: "app", Operator: "DoesNotExist"}}
		},
		"matchLabelKeys": func(_ *api.Pod, c *api.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"app"} },
		"a nodeSelector": func(p *api.Pod, _ *api.TopologySpreadConstraint) {
			p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		},
		"a constraint more": func(p *api.Pod, c *api.TopologySpreadConstraint) {
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, *c)
		},
	} {
		plain, changed := owned("r", "web"), owned("r", "web")
		for _, p := range []*api.Pod{plain, changed} { // two selectors, so that an empty one is not the same as none
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, p.Spec.TopologySpreadConstraints[0])
			p.Spec.TopologySpreadConstraints[1].TopologyKey = "rack"
		}
		change(changed, &changed.Spec.TopologySpreadConstraints[0])
		for _, pods := range [][2]*api.Pod{{plain, changed}, {changed, plain}} {
			s := on(t, []string{"a", zone, "y"})
			met(t, s, pods[0])
			got, want := met(t, s, pods[1]), info(t, s, pods[1])
			for _, rules := range []func(*framework.PodInfo) *Rules{HardRules, SoftRules} {
				g, w := rules(got), rules(want)
				if g.text != w.text || len(g.List) != len(w.List) || len(w.List) > 0 && (g.List[0].MaxSkew != w.List[0].MaxSkew || g.List[0].MinDomains != w.List[0].MinDomains) {
					t.Errorf("%s: the rules are %+v, want %+v", name, g, w)
				}
			}
		}
	}
}

// A pod with terms does not count as a pod without, even if it is a replica.
func TestReplicasWithTerms(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	first := met(t, s, owned("r", "web"))
	p := owned("r", "web")
	p.Spec.Affinity = hermit("h", zone).Spec.Affinity
	second := met(t, s, p)
	tables := Of(s)
	if tables.classOf(first) == tables.classOf(second) || second.Runner().Counted.Load() != nil {
		t.Error("a pod with terms counts as one without")
	}
}
