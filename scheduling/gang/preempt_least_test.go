package gang_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// full is a small cluster of pods that run, on nodes of 4 CPUs.
type full struct {
	free, running []int // by node: CPUs that are free, and by pod: CPUs
	rack, block   []string
	on            []int // by pod: node
	priority      []int
	start         []int  // by pod: when it started
	unit          []int  // by pod: which pods leave together
	whole         []bool // by unit: it is a group
	guarded       []bool // by pod
	repels        []bool // by pod: no pod of the group may be in its block
	allowed       int    // disruptions of guarded pods
	asks          []int
	min           int // of the group; 0 means all
}

const fullPriority = 5

// drawFull draws at most 4 nodes and 7 pods.
func drawFull(t *rapid.T) full {
	var x full
	for range rapid.IntRange(1, 4).Draw(t, "nodes") {
		x.free = append(x.free, 4)
		x.rack = append(x.rack, rapid.SampledFrom([]string{"r0", "r1"}).Draw(t, "rack"))
		x.block = append(x.block, rapid.SampledFrom([]string{"b0", "b1"}).Draw(t, "block"))
	}
	repel := rapid.IntRange(0, 2).Draw(t, "repel") == 0
	guards, groups := rapid.Bool().Draw(t, "guards"), rapid.Bool().Draw(t, "groups")
	x.allowed = rapid.IntRange(0, 1).Draw(t, "allowed")
	for range rapid.IntRange(1, 7).Draw(t, "running") {
		n, cpu := rapid.IntRange(0, len(x.free)-1).Draw(t, "on"), rapid.IntRange(1, 4).Draw(t, "cpu")
		if x.free[n] < cpu {
			continue
		}
		x.free[n] -= cpu
		unit := len(x.whole)
		if k := len(x.on); groups && k > 0 && rapid.IntRange(0, 3).Draw(t, "joins") == 0 {
			unit = x.unit[k-1]
			x.whole[unit] = true
			x.priority = append(x.priority, x.priority[k-1])
		} else {
			x.whole = append(x.whole, false)
			x.priority = append(x.priority, rapid.IntRange(0, 6).Draw(t, "priority"))
		}
		x.start = append(x.start, rapid.IntRange(0, 9).Draw(t, "start"))
		x.running, x.on, x.unit = append(x.running, cpu), append(x.on, n), append(x.unit, unit)
		x.guarded = append(x.guarded, guards && rapid.Bool().Draw(t, "guarded"))
		x.repels = append(x.repels, repel && rapid.IntRange(0, 2).Draw(t, "repels") == 0)
	}
	for range rapid.IntRange(1, 3).Draw(t, "pods") {
		x.asks = append(x.asks, rapid.IntRange(1, 4).Draw(t, "ask"))
	}
	x.min = rapid.IntRange(0, len(x.asks)).Draw(t, "min")
	return x
}

func (x full) snapshot() *framework.Snapshot {
	o := api.Objects{PodDisruptionBudgets: []*api.PodDisruptionBudget{{
		ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "guarded"},
		Spec:       api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{MatchLabels: map[string]string{"app": "guarded"}}},
		Status:     api.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(x.allowed)},
	}}}
	for i, r := range x.rack {
		name := fmt.Sprint("n", i)
		o.Nodes = append(o.Nodes, api.MakeNode(name, "4", "64Gi").Labels(rack, r, block, x.block[i], api.LabelHostname, name).Obj())
	}
	made := map[int]bool{}
	for i, cpu := range x.running {
		p := api.MakePod(fmt.Sprint("old-", i)).Requests(fmt.Sprint(cpu), "1Mi").Priority(int32(x.priority[i])).Node(fmt.Sprint("n", x.on[i])).Started(time.Unix(int64(x.start[i]), 0))
		if x.guarded[i] {
			p = p.Labels("app", "guarded")
		}
		if x.repels[i] {
			p = p.Labels("repels", "true")
		}
		pod := p.Obj()
		if u := x.unit[i]; x.whole[u] {
			name, priority := fmt.Sprint("whole-", u), int32(x.priority[i])
			pod.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
			if !made[u] {
				o.PodGroups = append(o.PodGroups, &api.PodGroup{
					ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name},
					Spec:       api.PodGroupSpec{Priority: &priority, DisruptionMode: &api.DisruptionMode{All: &api.AllDisruptionMode{}}},
				})
			}
			made[u] = true
		}
		o.Pods = append(o.Pods, pod)
	}
	s, _, err := framework.SnapshotOf(&o, framework.Arrival)
	if err != nil {
		panic(err)
	}
	return s
}

// harm is what the rule compares: units that violate the budget, the highest priority,
// groups, pods, the sum of priorities, and how early the first of the highest priority
// started. Of units, the more important ones use up the budget.
func (x full) harm(units []int) (h [6]int) {
	h[1] = -1
	left := x.allowed
	type unit struct{ priority, kind, pods, guarded, start int }
	var list []unit
	for _, u := range units {
		v := unit{start: 1 << 30}
		for i, of := range x.unit {
			if of == u {
				v.start = min(v.start, x.start[i])
				v.priority, v.pods = x.priority[i], v.pods+1
				if x.guarded[i] {
					v.guarded++
				}
			}
		}
		if x.whole[u] {
			v.kind = 1
		}
		list = append(list, v)
	}
	slices.SortStableFunc(list, func(a, b unit) int {
		return slices.Compare([]int{b.priority, b.kind, b.pods, a.start}, []int{a.priority, a.kind, a.pods, b.start})
	})
	for _, v := range list {
		if left -= v.guarded; left < 0 && v.guarded > 0 {
			h[0]++
		}
		switch {
		case v.priority > h[1]:
			h[1], h[5] = v.priority, -v.start
		case v.priority == h[1]:
			h[5] = max(h[5], -v.start)
		}
		h[2] += v.kind
		h[3] += v.pods
		h[4] += v.priority * v.pods
	}
	return h
}

// stands reports whether the minimum of the group stands on nodes of one home, if each of
// the units that have left has a pod there.
func (x full) stands(gone []bool, home []string) bool {
	free, blocked, at := slices.Clone(x.free), map[string]bool{}, make(map[string]map[int]bool)
	for i, n := range x.on {
		if !gone[x.unit[i]] {
			blocked[x.block[n]] = blocked[x.block[n]] || x.repels[i]
			continue
		}
		free[n] += x.running[i]
		if at[home[n]] == nil {
			at[home[n]] = map[int]bool{}
		}
		at[home[n]][x.unit[i]] = true
	}
	units := 0
	for _, left := range gone {
		if left {
			units++
		}
	}
	y := tiny{cpu: free, racks: x.rack, asks: x.asks, port: make([]bool, len(x.asks)), near: slices.Repeat([]int{-1}, len(x.asks))}
	return slices.ContainsFunc(home, func(h string) bool {
		allowed := func(n int) bool { return home[n] == h && !blocked[x.block[n]] }
		return len(at[h]) == units && y.exists(x.least(), 0, allowed, func(int) string { return "" })
	})
}

// least is how many pods of the group must stand.
func (x full) least() int {
	if x.min == 0 {
		return len(x.asks)
	}
	return x.min
}

// leastHarm is the least harm of all sets of units of lower priority; false if none helps.
func (x full) leastHarm(home []string) (best [6]int, ok bool) {
	for set := range 1 << len(x.whole) {
		gone, units, lower := make([]bool, len(x.whole)), []int(nil), true
		for u := range x.whole {
			if gone[u] = set>>u&1 == 1; gone[u] {
				units = append(units, u)
				lower = lower && x.priority[slices.Index(x.unit, u)] < fullPriority
			}
		}
		if h := x.harm(units); lower && x.stands(gone, home) && (!ok || slices.Compare(h[:], best[:]) < 0) {
			best, ok = h, true
		}
	}
	return best, ok
}

// preempt returns the harm of the victims that a rule finds; false if it finds none.
func (x full) preempt(t *rapid.T, rules gang.Rules, topology []gang.Level) (h [6]int, ok bool) {
	s := x.snapshot()
	g := &gang.Group{Name: "g", Priority: fullPriority, Topology: topology, Min: x.min}
	for i, ask := range x.asks {
		p := api.MakePod(fmt.Sprint("m-", i)).Priority(fullPriority).Requests(fmt.Sprint(ask), "1Mi")
		if slices.Contains(x.repels, true) {
			p = p.PodAntiAffinity(block, "repels=true")
		}
		g.Pods = append(g.Pods, info(s, p.Obj()))
	}
	e, err := placer(rules).Preempt(s, g)
	if err != nil {
		t.Fatal(err)
	}
	if e.Status != framework.Success {
		return h, false
	}
	if len(e.Nominated) != x.least() {
		t.Fatalf("%d pods are nominated, want the minimum of %d", len(e.Nominated), x.least())
	}
	gone := map[int]int{}
	for _, v := range e.Victims() {
		var i int
		if _, err := fmt.Sscanf(v.Pod.Pod.Name, "old-%d", &i); err != nil {
			t.Fatal(err)
		}
		gone[x.unit[i]]++
	}
	var units []int
	for u := range x.whole {
		if gone[u] > 0 {
			units = append(units, u)
		}
	}
	if h = x.harm(units); len(units) != len(e.Units) || len(e.Victims()) != h[3] {
		t.Fatalf("%d units and %d victims, want %d and %d", len(e.Units), len(e.Victims()), len(units), h[3])
	}
	violate := 0
	for _, u := range e.Units {
		if u.ViolatesBudget {
			violate++
		}
	}
	if violate != h[0] {
		t.Fatalf("%d units are said to violate the budget, %d do", violate, h[0])
	}
	return h, true
}

// Under rules of its own and with a search without bounds, no choice of domain, nodes and
// victims does less harm. Without a search, victims are found as often for one pod, with as
// few budgets and as low a priority if there is no budget.
func TestLeastHarmAgreesWithExhaustion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawFull(t)
		rules := gang.Rules{Choice: rapid.SampledFrom([]gang.Choice{gang.BestFit, gang.MostPacked, gang.LeastFree}).Draw(t, "choice")}
		hosts, anywhere := []string(nil), make([]string, len(x.free))
		for i := range x.free {
			hosts = append(hosts, fmt.Sprint("n", i))
		}
		level := rapid.IntRange(0, 2).Draw(t, "level")
		topology := [][]gang.Level{nil, {{Key: rack}}, {{Key: api.LabelHostname}}}[level]
		want, possible := x.leastHarm([][]string{anywhere, x.rack, hosts}[level])
		possible = possible && slices.Min(x.priority) < fullPriority
		rules.Search = 1 << 30
		got, ok := x.preempt(t, rules, topology)
		if ok != possible || ok && got != want {
			t.Fatalf("harm %v, %t, want %v, %t, of %+v", got, ok, want, possible, x)
		}
		rules.Search = 0
		if got, ok = x.preempt(t, rules, topology); ok && !possible || !ok && possible && len(x.asks) == 1 {
			t.Fatalf("greedy: success %t, want %t", ok, possible)
		}
		if ok && slices.Compare(got[:], want[:]) < 0 {
			t.Fatalf("harm %v is less than the least, %v", got, want)
		}
		if ok && len(x.asks) == 1 && !slices.Contains(x.guarded, true) && got[1] != want[1] {
			t.Fatalf("greedy: highest priority %d, want %d", got[1], want[1])
		}
	})
}

// Victims are chosen by the harm that they do, whatever the rule for domains.
func TestVictims(t *testing.T) {
	low := func(name, node, cpu string, priority int32, labels ...string) *api.Pod {
		return api.MakePod(name).Requests(cpu, "1Gi").Priority(priority).Node(node).Labels(labels...).Obj()
	}
	for _, tt := range []struct {
		name    string
		running []*api.Pod
		asks    []string
		min     int
		allowed int32 // disruptions of pods labelled app=web
		want    string
	}{
		{"priority", []*api.Pod{low("a", "n0", "4", 4), low("b", "n1", "4", 3), low("c", "n2", "4", 0)}, []string{"4"}, 0, 0, "c"},
		{"number", []*api.Pod{low("a", "n0", "1", 0), low("b", "n0", "1", 0), low("c", "n0", "1", 0), low("d", "n0", "1", 0), low("e", "n1", "4", 0), low("f", "n2", "4", 1)}, []string{"4"}, 0, 0, "e"},
		{"the sum before the number", []*api.Pod{low("a", "n0", "2", 0), low("b", "n0", "2", 0), low("c", "n1", "2", 0), low("d", "n1", "1", -2e9), low("e", "n1", "1", -2e9), low("f", "n2", "4", 1)}, []string{"4"}, 0, 0, "c d e"},
		{"budget", []*api.Pod{low("a", "n0", "4", 0, "app", "web"), low("b", "n1", "4", 3), low("c", "n2", "4", 4)}, []string{"4"}, 0, 0, "b"},
		{"budget that allows one", []*api.Pod{low("a", "n0", "4", 0, "app", "web"), low("b", "n1", "4", 3, "app", "web"), low("c", "n2", "4", 4)}, []string{"4"}, 0, 1, "a"},
		{"two pods", []*api.Pod{low("a", "n0", "2", 1), low("b", "n0", "2", 1), low("c", "n1", "4", 1), low("d", "n2", "4", 1)}, []string{"4", "4"}, 0, 0, "c d"},
		{"room", []*api.Pod{low("a", "n0", "3", 0)}, []string{"4"}, 0, 0, ""},
		{"pods beyond the minimum", []*api.Pod{low("a", "n0", "4", 0), low("b", "n1", "4", 1), low("c", "n2", "4", 2)}, []string{"4", "4", "4"}, 1, 0, "a"},
	} {
		for _, levels := range [][]gang.Level{nil, {{Key: rack}}, {{Key: rack, Mode: gang.Preferred}}} {
			for _, rules := range []gang.Rules{{Choice: gang.BestFit}, {Choice: gang.LeastFree}, {Choice: gang.MostPacked}, {Choice: gang.BestFit, Search: 1 << 30}} {
				o := api.Objects{Pods: tt.running, PodDisruptionBudgets: []*api.PodDisruptionBudget{{
					ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "web"},
					Spec:       api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
					Status:     api.PodDisruptionBudgetStatus{DisruptionsAllowed: tt.allowed},
				}}}
				for i := range 3 {
					o.Nodes = append(o.Nodes, api.MakeNode(fmt.Sprint("n", i), "4", "64Gi").Labels(rack, "r0").Obj())
				}
				s, _, err := framework.SnapshotOf(&o, framework.Arrival)
				if err != nil {
					t.Fatal(err)
				}
				g := &gang.Group{Name: "g", Priority: 5, Topology: levels, Min: tt.min}
				for i, cpu := range tt.asks {
					g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("new-", i)).Priority(5).Requests(cpu, "1Gi").Obj()))
				}
				e, err := placer(rules).Preempt(s, g)
				if err != nil {
					t.Fatal(err)
				}
				var victims []string
				for _, v := range e.Victims() {
					victims = append(victims, v.Pod.Pod.Name)
				}
				if slices.Sort(victims); strings.Join(victims, " ") != tt.want {
					t.Errorf("%s, levels %v, %v, search %d: victims %v, want %s: %s", tt.name, levels, rules.Choice, rules.Search, victims, tt.want, e.Text)
				}
			}
		}
	}
}

// A group that may only leave as a whole stays before two pods do, although it is one pod.
func TestGroupsAreBrokenLast(t *testing.T) {
	x := full{
		free: []int{0, 0}, running: []int{4, 2, 2}, rack: []string{"r0", "r0"}, block: []string{"b0", "b0"}, on: []int{0, 1, 1}, priority: []int{0, 0, 0},
		unit: []int{0, 1, 2}, whole: []bool{true, false, false}, start: make([]int, 3), guarded: make([]bool, 3), repels: make([]bool, 3), asks: []int{4},
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, levels := range [][]gang.Level{nil, {{Key: rack}}, {{Key: api.LabelHostname}}} {
			if h, ok := x.preempt(t, gang.Rules{Choice: gang.BestFit}, levels); !ok || h != [6]int{0, 0, 0, 2, 0, 0} {
				t.Fatalf("levels %v: harm %v, %t, want the two pods", levels, h, ok)
			}
		}
	})
}

// Under rules of its own only units with a pod in the domain leave. Here the pod of the
// group needs all of rack r0, and a pod in r1 keeps it off the block of both.
func TestOnlyUnitsOfTheDomainLeave(t *testing.T) {
	x := full{
		free: []int{4, 0}, running: []int{3, 1}, rack: []string{"r0", "r1"}, block: []string{"b0", "b0"}, on: []int{1, 1}, priority: []int{6, 0},
		unit: []int{0, 1}, whole: make([]bool, 2), start: make([]int, 2), guarded: make([]bool, 2), repels: []bool{false, true}, asks: []int{4},
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, search := range []int{0, 1 << 30} {
			rules := gang.Rules{Choice: gang.BestFit, Search: search}
			for _, levels := range [][]gang.Level{nil, {{Key: block}}, {{Key: block}, {Key: rack, Mode: gang.Preferred}}} {
				if h, ok := x.preempt(t, rules, levels); !ok || h != [6]int{0, 0, 0, 1, 0, 0} {
					t.Fatalf("levels %v: harm %v, %t, want that of the pod in r1", levels, h, ok)
				}
			}
			if h, ok := x.preempt(t, rules, []gang.Level{{Key: rack}}); ok {
				t.Fatalf("harm %v for a group whose rack has no victims", h)
			}
		}
	})
}

// Only the minimum is placed, also for a set, and nothing leaves for the other pods.
func TestOnlyTheMinimumPreempts(t *testing.T) {
	s := racks(20, 20)
	for _, n := range s.All() {
		if err := s.AddPod(info(s, api.MakePod("low-"+n.Name()).Priority(0).Requests("4", "1Gi").Obj()), n.Name()); err != nil {
			t.Fatal(err)
		}
	}
	g := &gang.Group{Name: "g", Priority: 5, Min: 2}
	for i := range 30 {
		g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("m-", i)).Priority(5).Requests("4", "1Gi").Obj()))
	}
	p := placer(gang.Rules{Choice: gang.BestFit})
	one, err := p.Preempt(s, g)
	if err != nil || len(one.Victims()) != 2 || len(one.Nominated) != 2 {
		t.Errorf("Preempt = %d victims for %v, %v, want 2", len(one.Victims()), one.Nominated, err)
	}
	set, err := p.PreemptSet(s, &gang.Set{Name: "s", Priority: 5, Children: []gang.Child{g}})
	if err != nil || len(set.Victims()) != 2 || len(set.Nominated) != 2 {
		t.Errorf("PreemptSet = %d victims for %v, %v, want 2", len(set.Victims()), set.Nominated, err)
	}
}

// A group that leaves as a whole started when its first pod did, and so did several victims.
func TestVictimsStartWithTheFirst(t *testing.T) {
	x := full{
		free: []int{0, 0}, running: []int{2, 2, 2, 2}, rack: []string{"r0", "r0"}, block: []string{"b0", "b0"}, on: []int{0, 0, 1, 1}, priority: make([]int, 4),
		start: []int{1, 5, 2, 3}, unit: []int{0, 0, 1, 1}, whole: []bool{true, true}, guarded: make([]bool, 4), repels: make([]bool, 4), asks: []int{4},
	}
	pods := x // each leaves alone
	pods.start, pods.unit, pods.whole = []int{1, 9, 3, 4}, []int{0, 1, 2, 3}, make([]bool, 4)
	rapid.Check(t, func(t *rapid.T) {
		if h, ok := x.preempt(t, gang.Rules{Choice: gang.BestFit}, nil); !ok || h != [6]int{0, 0, 1, 2, 0, -2} {
			t.Fatalf("harm %v, %t, want that of the group that started at 2", h, ok)
		}
		if h, ok := pods.preempt(t, gang.Rules{Choice: gang.BestFit}, nil); !ok || h != [6]int{0, 0, 0, 2, 0, -3} {
			t.Fatalf("harm %v, %t, want that of the pods that started at 3 and 4", h, ok)
		}
	})
}
