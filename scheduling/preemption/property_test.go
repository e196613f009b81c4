package preemption_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
	"pgregory.net/rapid"
)

// cluster is random and without room for the pod: every node is full.
type cluster struct {
	nodes   []*api.Node
	pods    []*api.Pod
	budgets []*api.PodDisruptionBudget
	pod     *api.Pod
}

func drawCluster(t *rapid.T) cluster {
	var c cluster
	apps := rapid.SampledFrom([]string{"", "web", "db"})
	priority := rapid.Int32Range(-2, 4)
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		name := fmt.Sprintf("n%d", i)
		size := rapid.IntRange(4, 20).Draw(t, "size")
		c.nodes = append(c.nodes, api.MakeNode(name, fmt.Sprint(size), "64Gi").Zone(fmt.Sprint(i%2)).Obj())
		for k := 0; size > 0; k++ {
			cpu := min(size, rapid.IntRange(1, 4).Draw(t, "cpu"))
			size -= cpu
			p := on(name, fmt.Sprintf("%s-%02d", name, k), fmt.Sprint(cpu), priority.Draw(t, "priority"))
			if app := apps.Draw(t, "app"); app != "" {
				p = p.Labels("app", app)
			}
			if started := rapid.IntRange(-1, 3).Draw(t, "started"); started >= 0 {
				p = p.Started(at(started))
			}
			if k == 0 && rapid.Bool().Draw(t, "port") {
				p = p.HostPort(80)
			}
			if rapid.IntRange(0, 5).Draw(t, "anti-affinity") == 0 {
				p = p.PodAntiAffinity(rapid.SampledFrom([]string{api.LabelHostname, api.LabelTopologyZone}).Draw(t, "key"), "app=new")
			}
			c.pods = append(c.pods, p.Obj())
		}
	}
	for _, app := range []string{"web", "db"} {
		if rapid.Bool().Draw(t, "budget") {
			c.budgets = append(c.budgets, budget(app, rapid.Int32Range(-1, 3).Draw(t, "allowed")))
		}
	}
	p := preemptor(fmt.Sprint(rapid.IntRange(1, 8).Draw(t, "wanted")), priority.Draw(t, "priority")).Labels("app", "new")
	if rapid.Bool().Draw(t, "wants port") {
		p = p.HostPort(80)
	}
	c.pod = p.Obj()
	return c
}

// state writes down everything that a what-if may change.
func state(s *framework.Snapshot) string {
	var b strings.Builder
	fmt.Fprint(&b, s.NodeSet(), s.Nominations(), s.Objects())
	for _, n := range s.All() {
		fmt.Fprintln(&b, n.Name(), n.Generation(), n.Requested, n.NonZeroRequested, n.UsedPorts, len(n.Nominated))
		for _, p := range n.Pods {
			fmt.Fprintln(&b, p.Pod.Name)
		}
	}
	return b.String()
}

// fits reports whether the pod fits on the node, by a new scheduler.
func fits(t failer, s *framework.Snapshot, pod *api.Pod, node string) bool {
	t.Helper()
	sched, err := scheduling.New(scheduling.Profile{Filter: filters()})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range sched.Explain(s, podInfo(t, s, pod)).Nodes {
		if n.Node == node {
			return n.Verdict == scheduling.VerdictFeasible
		}
	}
	return false
}

// without is a fork of the cluster in which all victims but one have gone.
func without(t failer, s *framework.Snapshot, c *preemption.Candidate, spared int) *framework.Snapshot {
	t.Helper()
	f := s.Fork()
	for i, v := range c.Victims {
		if i == spared {
			continue
		}
		if err := f.RemovePod(v.Pod, c.Node); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestPreemptionProperties: after PostFilter the snapshot is unchanged. The pod fits
// once all victims have left, and does not fit if one of them stays. Victims have
// lower priority, are in order of importance, and the stated number of them breaks a
// budget. Equal input gives equal answers.
func TestPreemptionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		s := snapshotOf(t, c.nodes, c.pods, c.budgets...)
		before := state(s)
		o := preempt(t, s, preemption.DefaultPreemption{}, c.pod)
		if after := state(s); after != before {
			t.Fatalf("the snapshot changed from\n%s\nto\n%s", before, after)
		}
		if o.err != nil {
			t.Fatal(o.err)
		}
		for _, k := range o.candidates {
			if !fits(t, without(t, s, k, -1), c.pod, k.Node) {
				t.Errorf("%s: the pod does not fit without the victims", describe([]*preemption.Candidate{k}))
			}
			violations := 0
			for i, v := range k.Victims {
				if fits(t, without(t, s, k, i), c.pod, k.Node) {
					t.Errorf("%s: the pod fits if %s stays", describe([]*preemption.Candidate{k}), v.Pod.Pod.Name)
				}
				if v.Pod.Priority >= *c.pod.Spec.Priority {
					t.Errorf("%s has priority %d, the pod %d", v.Pod.Pod.Name, v.Pod.Priority, *c.pod.Spec.Priority)
				}
				if v.ViolatesBudget {
					violations++
				}
			}
			if violations != k.Violations {
				t.Errorf("%s: Violations = %d, want %d", describe([]*preemption.Candidate{k}), k.Violations, violations)
			}
			if !slices.IsSortedFunc(k.Victims, func(a, b framework.Victim) int { return preemption.MoreImportant(a.Pod, b.Pod) }) {
				t.Errorf("%s: not in order of importance", describe([]*preemption.Candidate{k}))
			}
		}
		again := preempt(t, s, preemption.DefaultPreemption{}, c.pod)
		if describe(again.candidates) != describe(o.candidates) || again.Nominated != o.Nominated || again.status.String() != o.status.String() {
			t.Errorf("the second answer is %s (%s), the first was %s (%s)", again.Nominated, describe(again.candidates), o.Nominated, describe(o.candidates))
		}
	})
}

// TestPreemptionOracle compares victims with a direct transcription for pods that
// request only CPU: on each node, which pods may not stay.
func TestPreemptionOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for _, p := range append(c.pods, c.pod) {
			p.Spec.Affinity, p.Spec.Containers[0].Ports = nil, nil
		}
		s := snapshotOf(t, c.nodes, c.pods, c.budgets...)
		o := preempt(t, s, preemption.DefaultPreemption{}, c.pod)
		var want []string
		for _, n := range c.nodes {
			var pods []*api.Pod
			for _, p := range c.pods {
				if p.Spec.NodeName == n.Name {
					pods = append(pods, p)
				}
			}
			if text := oracle(cpu(n.Status.Allocatable), pods, c.budgets, c.pod); text != "" {
				want = append(want, n.Name+": "+text)
			}
		}
		// The oracle does not define the order of equally important victims.
		if got, want := unordered(describe(o.candidates)), unordered(strings.Join(want, "; ")); got != want {
			t.Errorf("candidates %q, want %q", got, want)
		}
	})
}

func cpu(l resource.List) int64 {
	q := l[resource.CPU]
	return q.MilliValue()
}

// oracle is the choice of victims in its simplest form.
func oracle(allocatable int64, pods []*api.Pod, budgets []*api.PodDisruptionBudget, pod *api.Pod) string {
	asks := func(p *api.Pod) int64 { return cpu(p.Spec.Containers[0].Resources.Requests) }
	free := allocatable
	var lower []*api.Pod
	for _, p := range pods {
		if *p.Spec.Priority < *pod.Spec.Priority {
			lower = append(lower, p)
		} else {
			free -= asks(p)
		}
	}
	if asks(pod) > free {
		return ""
	}
	// For few pods the original's sort is stable.
	slices.SortStableFunc(lower, byImportance)
	left := map[string]int32{}
	covered := map[string]bool{}
	for _, b := range budgets {
		left[b.Name], covered[b.Name] = b.Status.DisruptionsAllowed, true
	}
	violates := map[string]bool{}
	for _, p := range lower {
		if app := p.Labels["app"]; covered[app] {
			left[app]--
			violates[p.Name] = left[app] < 0
		}
	}
	stays := map[string]bool{}
	for _, protected := range []bool{true, false} {
		for _, p := range lower {
			if violates[p.Name] == protected && asks(p)+asks(pod) <= free {
				free -= asks(p)
				stays[p.Name] = true
			}
		}
	}
	var names []string
	for _, p := range lower {
		switch {
		case stays[p.Name]:
		case violates[p.Name]:
			names = append(names, p.Name+"!")
		default:
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, ", ")
}

func byImportance(a, b *api.Pod) int {
	if c := cmp.Compare(*b.Spec.Priority, *a.Spec.Priority); c != 0 {
		return c
	}
	x, y := a.Status.StartTime, b.Status.StartTime
	switch {
	case x != nil && y != nil:
		return x.Compare(*y)
	case x != nil:
		return -1
	case y != nil:
		return 1
	}
	return 0
}

// unordered sorts the victims of each candidate.
func unordered(text string) string {
	candidates := strings.Split(text, "; ")
	for i, c := range candidates {
		node, victims, _ := strings.Cut(c, ": ")
		list := strings.Split(victims, ", ")
		slices.Sort(list)
		candidates[i] = node + ": " + strings.Join(list, ", ")
	}
	return strings.Join(candidates, "; ")
}
