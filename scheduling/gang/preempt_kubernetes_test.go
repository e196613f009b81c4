package gang_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/scheduling/gang"
)

// A tenant is pods that leave together from nodes whose pods ask for CPUs alone.
type tenant struct {
	pods     []lodger
	priority int32 // of the group, or of the pod
	kind     int   // 0: a pod of no group, 1: a pod of a group, 2: a group that leaves as a whole
	start    int   // of the pod that started first
}

// A lodger is a pod of a tenant.
type lodger struct {
	node, cpu, start int
	app              string // which budget guards it
}

// A crowd is nodes of 4 CPUs, tenants, and how many disruptions each budget allows.
type crowd struct {
	free    []int
	tenants []*tenant
	allowed map[string]int
}

func drawCrowd(t *rapid.T) crowd {
	x := crowd{allowed: map[string]int{"a": rapid.IntRange(0, 2).Draw(t, "a"), "b": rapid.IntRange(0, 1).Draw(t, "b")}}
	for range rapid.IntRange(1, 4).Draw(t, "nodes") {
		x.free = append(x.free, 4)
	}
	starts := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).Draw(t, "starts")
	guards := rapid.SampledFrom([][]string{{""}, {"", "a", "b"}, {"a", "b"}}).Draw(t, "guards")
	for _, start := range starts {
		l := lodger{rapid.IntRange(0, len(x.free)-1).Draw(t, "on"), rapid.IntRange(1, 3).Draw(t, "cpu"), start, rapid.SampledFrom(guards).Draw(t, "app")}
		if x.free[l.node] < l.cpu {
			continue
		}
		x.free[l.node] -= l.cpu
		if k := len(x.tenants); k > 0 && x.tenants[k-1].kind == 2 && rapid.Bool().Draw(t, "joins") {
			x.tenants[k-1].pods = append(x.tenants[k-1].pods, l)
			x.tenants[k-1].start = min(x.tenants[k-1].start, start)
			continue
		}
		x.tenants = append(x.tenants, &tenant{[]lodger{l}, int32(rapid.IntRange(0, 6).Draw(t, "priority")), rapid.IntRange(0, 2).Draw(t, "kind"), start})
	}
	return x
}

func (x crowd) snapshot() *framework.Snapshot {
	var o api.Objects
	for app, n := range x.allowed {
		o.PodDisruptionBudgets = append(o.PodDisruptionBudgets, &api.PodDisruptionBudget{
			ObjectMeta: api.ObjectMeta{Namespace: "default", Name: app},
			Spec:       api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{MatchLabels: map[string]string{"app": app}}},
			Status:     api.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(n)},
		})
	}
	for i := range x.free {
		o.Nodes = append(o.Nodes, api.MakeNode(fmt.Sprint("n", i), "4", "64Gi").Obj())
	}
	for k, u := range x.tenants {
		name, priority := fmt.Sprint("group-", k), u.priority
		if u.kind > 0 {
			g := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}, Spec: api.PodGroupSpec{Priority: &priority}}
			if u.kind == 2 {
				g.Spec.DisruptionMode = &api.DisruptionMode{All: &api.AllDisruptionMode{}}
			}
			o.PodGroups = append(o.PodGroups, g)
		}
		for i, l := range u.pods {
			p := api.MakePod(fmt.Sprintf("old-%d-%d", k, i)).Requests(fmt.Sprint(l.cpu), "1Mi").Node(fmt.Sprint("n", l.node)).Priority(priority)
			if l.app != "" {
				p = p.Labels("app", l.app)
			}
			pod := p.Obj()
			if u.kind > 0 {
				pod.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
				*pod.Spec.Priority = 7 - priority // only the group's counts
			}
			at := time.Unix(int64(l.start), 0)
			pod.Status.StartTime = &at
			o.Pods = append(o.Pods, pod)
		}
	}
	s, _, err := framework.SnapshotOf(&o, framework.Arrival)
	if err != nil {
		panic(err)
	}
	return s
}

// evictable lists the tenants of lower priority, the most important first, and which of
// them violate a budget if they leave in this order.
func (x crowd) evictable(priority int32) (list []*tenant, violates map[*tenant]bool) {
	for _, u := range x.tenants {
		if u.priority < priority {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b *tenant) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(min(b.kind, 1), min(a.kind, 1)), cmp.Compare(len(b.pods), len(a.pods)), cmp.Compare(a.start, b.start))
	})
	left := map[string]int{"a": x.allowed["a"], "b": x.allowed["b"]}
	violates = map[*tenant]bool{}
	for _, u := range list {
		for _, l := range u.pods {
			if left[l.app]--; l.app != "" && left[l.app] < 0 {
				violates[u] = true
			}
		}
	}
	return list, violates
}

// victims are the tenants that stay out, the most important first: all have left, the pods
// of the group have taken CPUs of the nodes, and each tenant returns if those that have
// pods of the group are not overcommitted then. Tenants that violate a budget return first.
func (x crowd) victims(priority int32, taken map[int]int) []*tenant {
	list, violates := x.evictable(priority)
	free := slices.Clone(x.free)
	for _, u := range list {
		for _, l := range u.pods {
			free[l.node] += l.cpu
		}
	}
	for n, cpu := range taken {
		free[n] -= cpu
	}
	stays := map[*tenant]bool{}
	for _, first := range []bool{true, false} {
		for _, u := range list {
			if violates[u] != first {
				continue
			}
			after := slices.Clone(free)
			stays[u] = true
			for _, l := range u.pods {
				after[l.node] -= l.cpu
			}
			for n := range taken {
				stays[u] = stays[u] && after[n] >= 0
			}
			if stays[u] {
				free = after
			}
		}
	}
	return slices.DeleteFunc(list, func(u *tenant) bool { return stays[u] })
}

// Under Kubernetes137 the victims are those that cannot return, one after the other, once
// all have left and the group has its places: those that violate a budget return first,
// each part in the order of importance.
func TestKubernetesVictimsFollowTheirOrder(t *testing.T) {
	const priority = 5
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"violators return first": 10, "whole groups": 20, "pods": 20, "pods beyond the minimum": 10}, func(t *rapid.T) {
		x := drawCrowd(t)
		s := x.snapshot()
		g := &gang.Group{Name: "g", Priority: priority}
		asks := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "asks")
		g.Min = rapid.IntRange(1, len(asks)).Draw(t, "min")
		for i, ask := range asks {
			g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("m-", i)).Priority(priority).Requests(fmt.Sprint(ask), "1Mi").Obj()))
		}
		e, err := placer(gang.Rules{}).Preempt(s, g)
		if err != nil {
			t.Fatal(err)
		}
		if e.Status != framework.Success {
			return
		}
		taken := map[int]int{}
		for _, at := range e.Nominated {
			var n int
			if _, err := fmt.Sscanf(at.Node, "n%d", &n); err != nil {
				t.Fatal(err)
			}
			taken[n] += asks[at.Index()]
		}
		var got, want []string
		for _, u := range e.Units {
			got = append(got, fmt.Sprintf("%.6s of %d %t", u.Members[0].Pod.Pod.Name, len(u.Members), u.ViolatesBudget))
		}
		victims := x.victims(priority, taken)
		_, violates := x.evictable(priority)
		for _, u := range victims {
			want = append(want, fmt.Sprintf("old-%d- of %d %t", slices.Index(x.tenants, u), len(u.pods), violates[u]))
			if seen["pods"]++; u.kind == 2 {
				seen["whole groups"]++
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("victims %v, want %v, for %v on %v of %+v", got, want, asks, e.Nominated, x)
		}
		unguarded := x
		unguarded.allowed = map[string]int{"a": 100, "b": 100}
		if !slices.Equal(victims, unguarded.victims(priority, taken)) {
			seen["violators return first"]++
		}
		if len(e.Nominated) > g.Min {
			seen["pods beyond the minimum"]++
		}
	})
}
