package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// TestVictims dry-runs single nodes of 3 CPU.
func TestVictims(t *testing.T) {
	port := func(b api.PodBuilder) api.PodBuilder { return b.HostPort(80) }
	web := func(b api.PodBuilder) api.PodBuilder { return b.Labels("app", "web") }
	tests := []struct {
		name    string
		pods    []*api.Pod
		pod     api.PodBuilder
		budgets []*api.PodDisruptionBudget
		want    string // candidates
		failed  string
	}{
		{
			name: "the lowest of two equals in size",
			pods: objs(on("n", "low", "1", 1), on("n", "middle", "1", 2), on("n", "high", "1", 3)),
			pod:  preemptor("1", 5),
			want: "n: low",
		},
		{
			name: "one large instead of two small ones that are less important",
			pods: objs(on("n", "large", "2", 2), on("n", "small", "1", 1)),
			pod:  preemptor("2", 5),
			want: "n: large",
		},
		{
			name: "put back what still fits, even where it is less important",
			pods: objs(on("n", "high", "2500m", 3), on("n", "low", "500m", 1)),
			pod:  preemptor("1", 5),
			want: "n: high",
		},
		{
			name: "equal priority stays",
			pods: objs(on("n", "equal", "2", 5), on("n", "low", "1", 4)),
			pod:  preemptor("1", 5),
			want: "n: low",
		},
		{
			name:   "the lower ones are not enough",
			pods:   objs(on("n", "equal", "2", 5), on("n", "low", "1", 4)),
			pod:    preemptor("2", 5),
			failed: "map[n:Unschedulable: Insufficient cpu]",
		},
		{
			name:   "too large for the node: nobody's leaving helps, and none is tried",
			pods:   objs(on("n", "low", "1", 1)),
			pod:    preemptor("4", 5),
			failed: "map[]",
		},
		{
			name:   "nobody is lower",
			pods:   objs(on("n", "a", "2", 5), on("n", "b", "1", 6)),
			pod:    preemptor("1", 5),
			failed: "map[n:UnschedulableAndUnresolvable: No preemption victims found for incoming pod]",
		},
		{
			name: "negative priorities",
			pods: objs(on("n", "a", "2", -1), on("n", "b", "1", -5)),
			pod:  preemptor("1", -3),
			want: "n: b",
		},
		{
			name: "no priority is 0",
			pods: []*api.Pod{api.MakePod("none").Requests("3", "1Mi").Node("n").Obj()},
			pod:  preemptor("1", 1),
			want: "n: none",
		},
		{
			name: "of equals, the one that started last goes",
			pods: objs(on("n", "late", "1", 1).Started(at(9)), on("n", "early", "1", 1).Started(at(1)), on("n", "between", "1", 1).Started(at(5))),
			pod:  preemptor("2", 5),
			want: "n: between, late",
		},
		{
			name: "not started is later than started, and the last on the node goes first",
			pods: objs(on("n", "first", "1", 1), on("n", "second", "1", 1), on("n", "started", "1", 1).Started(at(1<<20))),
			pod:  preemptor("1", 5),
			want: "n: second",
		},
		{
			name: "only the holder of the port",
			pods: objs(on("n", "a", "1", 1), port(on("n", "b", "1", 2)), on("n", "c", "500m", 1)),
			pod:  preemptor("500m", 5).HostPort(80),
			want: "n: b",
		},
		{
			name: "only the one that keeps others away",
			pods: objs(on("n", "a", "1", 1), web(on("n", "b", "1", 2)).PodAntiAffinity(api.LabelHostname, "app=db")),
			pod:  preemptor("1", 5).Labels("app", "db"),
			want: "n: b",
		},
		{
			name:    "protected pods are put back first",
			pods:    objs(web(on("n", "protected", "1", 1)), on("n", "high", "1", 3), on("n", "low", "1", 2)),
			pod:     preemptor("1", 5),
			budgets: []*api.PodDisruptionBudget{budget("web", 0)},
			want:    "n: low",
		},
		{
			name:    "a budget allows one",
			pods:    objs(web(on("n", "a", "1", 1)), web(on("n", "b", "1", 2)), on("n", "high", "1", 3)),
			pod:     preemptor("2", 5),
			budgets: []*api.PodDisruptionBudget{budget("web", 1)},
			want:    "n: high, b",
		},
		{
			name:    "broken where it must be",
			pods:    objs(web(on("n", "a", "1", 1)), web(on("n", "b", "1", 2)), web(on("n", "c", "1", 3))),
			pod:     preemptor("2", 5),
			budgets: []*api.PodDisruptionBudget{budget("web", 1)},
			want:    "n: c, a!",
		},
		{
			name: "malformed, empty and foreign budgets protect nobody",
			pods: objs(web(on("n", "a", "3", 1))),
			pod:  preemptor("2", 5),
			budgets: []*api.PodDisruptionBudget{
				{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "none"}},
				{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "empty"}, Spec: api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{}}},
				{
					ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "malformed"},
					Spec:       api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{MatchLabels: map[string]string{"app": "-"}}},
				},
				{ObjectMeta: api.ObjectMeta{Namespace: "other", Name: "web"}, Spec: budget("web", 0).Spec},
			},
			want: "n: a",
		},
		{
			name:    "a pod without labels breaks none",
			pods:    objs(on("n", "a", "3", 1)),
			pod:     preemptor("2", 5),
			budgets: []*api.PodDisruptionBudget{notWeb()},
			want:    "n: a",
		},
		{
			name:    "disrupted already",
			pods:    objs(web(on("n", "a", "3", 1))),
			pod:     preemptor("2", 5),
			budgets: []*api.PodDisruptionBudget{disrupted("a")},
			want:    "n: a",
		},
		{
			name: "two budgets: the first that is broken ends the counting",
			pods: objs(on("n", "a", "1", 3).Labels("app", "web", "tier", "x"), on("n", "b", "1", 2).Labels("tier", "x"), on("n", "c", "1", 1).Labels("tier", "x")),
			pod:  preemptor("3", 5),
			// a breaks "a-web" and leaves "b-tier" whole for b.
			budgets: []*api.PodDisruptionBudget{named("b-tier", 1, "tier", "x"), named("a-web", 0, "app", "web")},
			want:    "n: a!, b, c!",
		},
		{
			name:    "below none and never above",
			pods:    objs(web(on("n", "a", "1", 1)), web(on("n", "b", "2", 2))),
			pod:     preemptor("3", 5),
			budgets: []*api.PodDisruptionBudget{budget("web", -1<<31)},
			want:    "n: b!, a!",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, []*api.Node{node("n", "3")}, test.pods, test.budgets...)
			o := preempt(t, s, preemption.DefaultPreemption{}, test.pod.Obj())
			if got := describe(o.candidates); got != test.want {
				t.Errorf("candidates %q, want %q", got, test.want)
			}
			if got := fmt.Sprint(o.failed); test.failed != "" && got != test.failed {
				t.Errorf("failed %s, want %s", got, test.failed)
			}
			if (o.Nominated != "") != (test.want != "") || len(o.candidates) > 0 && victims(o.Victims) != victims(o.candidates[0].Victims) {
				t.Errorf("PostFilter = %q, %s; want what the dry run found", o.Nominated, victims(o.Victims))
			}
		})
	}
}

func named(name string, allowed int32, key, value string) *api.PodDisruptionBudget {
	b := budget(name, allowed)
	b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{key: value}}
	return b
}

// notWeb selects pods without labels, too, if it is evaluated for them.
func notWeb() *api.PodDisruptionBudget {
	b := budget("not-web", 0)
	b.Spec.Selector = &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{
		{Key: "app", Operator: api.LabelSelectorOpNotIn, Values: []string{"web"}},
	}}
	return b
}

func disrupted(pod string) *api.PodDisruptionBudget {
	b := budget("web", 0)
	b.Status.DisruptedPods = map[string]time.Time{pod: at(0)}
	return b
}

// TestPostFilter checks whole answers.
func TestPostFilter(t *testing.T) {
	tests := []struct {
		name     string
		nodes    []*api.Node
		pods     []*api.Pod
		pod      api.PodBuilder
		status   string
		override bool
	}{
		{
			name:     "found",
			nodes:    []*api.Node{node("a", "1"), node("b", "2")},
			pods:     objs(on("a", "p", "1", 1), on("b", "q", "1", 1), on("b", "r", "1", 1)),
			pod:      preemptor("2", 5),
			status:   "Success: preemption: found a potential placement for pod on node b, preempting 2 victims",
			override: true,
		},
		{
			name:   "never",
			nodes:  []*api.Node{node("a", "1")},
			pods:   objs(on("a", "p", "1", 1)),
			pod:    preemptor("1", 5).Preemption(api.PreemptNever),
			status: "Unschedulable: preemption: not eligible due to preemptionPolicy=Never.",
		},
		{
			name:     "the policy that is the default",
			nodes:    []*api.Node{node("a", "1")},
			pods:     objs(on("a", "p", "1", 1)),
			pod:      preemptor("1", 5).Preemption(api.PreemptLowerPriority),
			status:   "Success: preemption: found a potential placement for pod on node a, preempting 1 victims",
			override: true,
		},
		{
			name:     "no node that a removal could help",
			nodes:    []*api.Node{node("a", "1"), api.MakeNode("b", "4", "4Gi").Unschedulable().Obj()},
			pods:     objs(on("a", "p", "1", 1)),
			pod:      preemptor("2", 5),
			status:   "Unschedulable: preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
			override: true,
		},
		{
			name:  "no candidate",
			nodes: []*api.Node{node("a", "1"), node("b", "2"), node("c", "2"), api.MakeNode("d", "4", "4Gi").Unschedulable().Obj()},
			pods:  objs(on("a", "p", "1", 6), on("b", "q", "1500m", 6), on("b", "r", "500m", 1), on("c", "s", "2", 6)),
			pod:   preemptor("1", 5),
			status: "Unschedulable: preemption: 0/4 nodes are available: 1 Insufficient cpu, 1 Preemption is not helpful for scheduling, " +
				"2 No preemption victims found for incoming pod.",
			override: true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, test.nodes, test.pods)
			o := preempt(t, s, preemption.DefaultPreemption{}, test.pod.Obj())
			if o.err != nil || o.status.String() != test.status || o.Override != test.override {
				t.Errorf("PostFilter = %v, override %t, %v; want %s, override %t", o.status, o.Override, o.err, test.status, test.override)
			}
		})
	}
}

// A pod whose victims are still leaving its nominated node waits for them.
func TestNominatedNode(t *testing.T) {
	gone := func(change func(*api.Pod)) *api.Pod {
		deleted := at(1)
		p := on("a", "leaving", "1", 1).Obj()
		p.DeletionTimestamp = &deleted
		p.Status.Conditions = []api.PodCondition{
			{Type: api.PodReady, Status: api.ConditionTrue},
			{Type: api.DisruptionTarget, Status: api.ConditionTrue, Reason: api.PodReasonPreemptionByScheduler},
		}
		change(p)
		return p
	}
	const waits = "Unschedulable: preemption: not eligible due to a terminating pod on the nominated node."
	tests := []struct {
		name      string
		pod       *api.Pod
		nominated string
		node      func(api.NodeBuilder) api.NodeBuilder
		waits     bool
	}{
		{"leaving", gone(func(*api.Pod) {}), "a", nil, true},
		{"not nominated", gone(func(*api.Pod) {}), "", nil, false},
		{"another node", gone(func(*api.Pod) {}), "b", nil, false},
		{"a node that has gone", gone(func(*api.Pod) {}), "z", nil, false},
		{"not being deleted", gone(func(p *api.Pod) { p.DeletionTimestamp = nil }), "a", nil, false},
		{"for another reason", gone(func(p *api.Pod) { p.Status.Conditions[1].Reason = "EvictionByEvictionAPI" }), "a", nil, false},
		{"not true", gone(func(p *api.Pod) { p.Status.Conditions[1].Status = api.ConditionFalse }), "a", nil, false},
		{"without a condition", gone(func(p *api.Pod) { p.Status.Conditions = nil }), "a", nil, false},
		{"the first of two conditions counts", gone(func(p *api.Pod) {
			p.Status.Conditions[0] = api.PodCondition{Type: api.DisruptionTarget, Status: api.ConditionFalse}
		}), "a", nil, false},
		{"not lower", gone(func(p *api.Pod) { *p.Spec.Priority = 5 }), "a", nil, false},
		{
			"the node is of no use any more", gone(func(*api.Pod) {}), "a",
			func(b api.NodeBuilder) api.NodeBuilder { return b.Unschedulable() }, false,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := api.MakeNode("a", "1", "4Gi")
			if test.node != nil {
				a = test.node(a)
			}
			s := snapshotOf(t, []*api.Node{a.Obj(), node("b", "1")}, append(objs(on("b", "other", "1", 1)), test.pod))
			o := preempt(t, s, preemption.DefaultPreemption{}, preemptor("1", 5).Nominated(test.nominated).Obj())
			if got := o.status.String() == waits; got != test.waits {
				t.Errorf("PostFilter = %v, want it to wait: %t", o.status, test.waits)
			}
			if o.Override == test.waits {
				t.Errorf("override = %t, want %t: who waits keeps the nomination", o.Override, !test.waits)
			}
		})
	}
}

// Pods of the same or higher priority that are nominated to a node count as if they
// were on it; those of lower priority do not.
func TestNominatedPods(t *testing.T) {
	for _, test := range []struct {
		priority int32
		want     string
	}{
		{4, "n: low"}, {5, "n: middle, low"}, {6, "n: middle, low"},
	} {
		t.Run(fmt.Sprint(test.priority), func(t *testing.T) {
			s := snapshotOf(t, []*api.Node{node("n", "3")}, objs(on("n", "high", "1", 9), on("n", "low", "1", 1), on("n", "middle", "1", 2)))
			nominee := podInfo(t, s, api.MakePod("nominee").UID("nominee").Requests("1", "1Mi").Priority(test.priority).Obj())
			if err := s.Nominate(nominee, "n", ""); err != nil {
				t.Fatal(err)
			}
			if got := describe(preempt(t, s, preemption.DefaultPreemption{}, preemptor("1", 5).Obj()).candidates); got != test.want {
				t.Errorf("candidates %q, want %q", got, test.want)
			}
			if n := s.Node("n"); len(n.Nominated) != 1 || len(n.Pods) != 3 {
				t.Errorf("the node has %d nominated pods and %d pods, want 1 and 3", len(n.Nominated), len(n.Pods))
			}
		})
	}
}

// The search starts at a node that the seed selects, and ends with enough
// candidates. Candidates without violated budgets come first, however many others
// there are.
func TestSearch(t *testing.T) {
	var nodes []*api.Node
	var pods []*api.Pod
	for i := range 10 {
		name := fmt.Sprintf("n%d", i)
		nodes = append(nodes, node(name, "1"))
		p := on(name, "p"+name, "1", 1)
		if i != 7 {
			p = p.Labels("app", "web")
		}
		pods = append(pods, p.Obj())
	}
	nominate := func(t *testing.T, s *framework.Snapshot, absolute int32, seed uint64) string {
		t.Helper()
		plugin := preemption.DefaultPreemption{MinCandidateNodesPercentage: new(int32), MinCandidateNodesAbsolute: &absolute}
		sched, err := scheduling.New(scheduling.Profile{Seed: seed, Filter: filters(), PostFilter: []framework.Plugin{plugin}})
		if err != nil {
			t.Fatal(err)
		}
		f, _, _, err := sched.PostFilter(context.Background(), s, podInfo(t, s, preemptor("1", 5).Obj()), scheduling.Decision{Number: 3})
		if err != nil {
			t.Fatal(err)
		}
		return f.Nominated
	}
	t.Run("start", func(t *testing.T) {
		s := snapshotOf(t, nodes, pods)
		seen := map[string]bool{}
		for seed := range uint64(200) {
			first, again := nominate(t, s, 1, seed), nominate(t, s, 1, seed)
			if first != again {
				t.Fatalf("seed %d: nominated to %s and to %s", seed, first, again)
			}
			seen[first] = true
		}
		if len(seen) != 10 {
			t.Errorf("200 seeds start at %d of 10 nodes", len(seen))
		}
	})
	t.Run("violations", func(t *testing.T) {
		s := snapshotOf(t, nodes, pods, budget("web", 0))
		for seed := range uint64(20) {
			if got := nominate(t, s, 2, seed); got != "n7" {
				t.Errorf("seed %d: nominated to %s, want n7, the only node without violations", seed, got)
			}
		}
	})
}

// Eligibility and order can be custom. Lower priority is always required.
func TestOwnRules(t *testing.T) {
	s := snapshotOf(t, []*api.Node{node("n", "3")},
		objs(on("n", "system", "1", 1).Namespace("kube-system"), on("n", "a", "1", 1), on("n", "b", "1", 2)))
	plugin := preemption.DefaultPreemption{
		Eligible: func(_, victim *framework.PodInfo) bool { return victim.Pod.Namespace != "kube-system" },
	}
	if got := describe(preempt(t, s, plugin, preemptor("2", 5).Obj()).candidates); got != "n: b, a" {
		t.Errorf("candidates %q, want those that are eligible", got)
	}
	plugin.Eligible = func(_, _ *framework.PodInfo) bool { return true }
	if got := describe(preempt(t, s, plugin, preemptor("2", 1).Obj()).candidates); got != "" {
		t.Errorf("candidates %q, want none of equal priority", got)
	}
	plugin = preemption.DefaultPreemption{MoreImportant: func(a, b *framework.PodInfo) int { return preemption.MoreImportant(b, a) }}
	if got := describe(preempt(t, s, plugin, preemptor("1", 5).Obj()).candidates); got != "n: b" {
		t.Errorf("candidates %q, want the least important in one's own order", got)
	}
}

// fickle fails, or panics, once the node has no more than the given number of pods.
type fickle struct {
	pods int
	how  string
}

func (fickle) Name() string { return "fickle" }

func (f fickle) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if len(n.Pods) > f.pods {
		return framework.UnschedulableStatus("crowded")
	}
	switch f.how {
	case "error":
		return framework.AsStatus(errors.New("no idea"))
	case "panic":
		panic("oh")
	}
	return framework.Status{}
}

// A filter that fails in the dry run fails the node. It fails PostFilter only if no
// other node is a candidate. The snapshot is restored either way.
func TestFailingFilters(t *testing.T) {
	for _, test := range []struct {
		name  string
		nodes []*api.Node
		how   string
		want  string
		err   string
	}{
		{"no candidate", []*api.Node{node("n", "1")}, "error", "", `running PostFilter plugin "DefaultPreemption": preemption: node n: running "fickle" filter plugin: no idea (node n)`},
		{"panic", []*api.Node{node("n", "1")}, "panic", "", `running PostFilter plugin "DefaultPreemption": preemption: node n: running "fickle" filter plugin: panic: oh (node n)`},
		{"rejected without anyone to leave", []*api.Node{node("n", "1")}, "never full", "", `running PostFilter plugin "DefaultPreemption": preemption: node n: expected at least one victim pod on node "n"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, test.nodes, objs(on("n", "a", "1m", 1), on("n", "b", "1m", 2)))
			before := s.Node("n").Generation()
			f := framework.Plugin(fickle{1, test.how})
			if test.how == "never full" {
				f = untouched{before}
			}
			o := preempt(t, s, preemption.DefaultPreemption{}, preemptor("1m", 5).Obj(), f)
			if got := fmt.Sprint(o.err); got != test.err {
				t.Errorf("error %q, want %q", got, test.err)
			}
			if got := s.Node("n").Generation(); got != before {
				t.Errorf("generation %d after PostFilter, want %d", got, before)
			}
		})
	}
	t.Run("a candidate elsewhere", func(t *testing.T) {
		s := snapshotOf(t, []*api.Node{node("n", "1"), node("m", "1")},
			objs(on("n", "a", "1m", 1), on("n", "b", "1m", 2), on("m", "c", "1m", 9), on("m", "d", "1m", 2), on("m", "e", "1m", 2)))
		o := preempt(t, s, preemption.DefaultPreemption{}, preemptor("1m", 5).Obj(), only{"m", fickle{2, ""}}, only{"n", fickle{1, "error"}})
		if o.err != nil || describe(o.candidates) != "m: e" || o.Nominated != "m" {
			t.Errorf("candidates %q, nominated to %q, %v; want m", describe(o.candidates), o.Nominated, o.err)
		}
	})
	t.Run("an error while pods are put back is a no", func(t *testing.T) {
		s := snapshotOf(t, []*api.Node{node("n", "1")}, objs(on("n", "a", "1m", 1), on("n", "b", "1m", 2)))
		o := preempt(t, s, preemption.DefaultPreemption{}, preemptor("1m", 5).Obj(), &moody{})
		if o.err != nil || describe(o.candidates) != "n: b, a" {
			t.Errorf("candidates %q, %v; want all", describe(o.candidates), o.err)
		}
	})
}

// untouched rejects the node at one generation, and at no other.
type untouched struct{ generation uint64 }

func (untouched) Name() string { return "untouched" }

func (u untouched) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Generation() == u.generation {
		return framework.UnschedulableStatus("not yet")
	}
	return framework.Status{}
}

// moody rejects two pods and fails for one.
type moody struct{}

func (*moody) Name() string { return "moody" }

func (*moody) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	switch len(n.Pods) {
	case 0:
		return framework.Status{}
	case 1:
		return framework.AsStatus(errors.New("no idea"))
	}
	return framework.UnschedulableStatus("crowded")
}

// only applies a filter to one node.
type only struct {
	node string
	framework.FilterPlugin
}

func (o only) Name() string { return "only " + o.node }

func (o only) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Name() != o.node {
		return framework.Status{}
	}
	return o.FilterPlugin.Filter(p, n)
}

// A cancelled context ends the search.
func TestCancelled(t *testing.T) {
	s := snapshotOf(t, []*api.Node{node("n", "1")}, objs(on("n", "a", "1", 1)))
	sched, err := scheduling.New(scheduling.Profile{Filter: filters(), PostFilter: []framework.Plugin{preemption.DefaultPreemption{}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, _, err = sched.PostFilter(ctx, s, podInfo(t, s, preemptor("1", 5).Obj()), scheduling.Decision{}); !errors.Is(err, context.Canceled) {
		t.Errorf("PostFilter = %v, want %v", err, context.Canceled)
	}
}
