package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// hosts is a cluster of nodes that hold so many pods of 1 CPU each.
func hosts(room ...int) *framework.Snapshot {
	var nodes []*api.Node
	for i, n := range room {
		name := fmt.Sprintf("n%d", i)
		nodes = append(nodes, api.MakeNode(name, fmt.Sprint(n), "64Gi").Labels(api.LabelHostname, name, rack, "r0").Obj())
	}
	return cluster(nodes)
}

// The tables of Kueue's proposal (KEP-2724): how pods are divided among nodes.
func TestKueueTables(t *testing.T) {
	for _, tt := range []struct {
		name   string
		choice gang.Choice
		room   []int
		pods   int
		slice  int
		want   []int
	}{
		{"BestFit", gang.BestFit, []int{3, 3, 2, 1}, 7, 0, []int{3, 3, 0, 1}},
		{"LeastFreeCapacity", gang.LeastFree, []int{3, 3, 2, 1}, 7, 0, []int{3, 1, 2, 1}},
		{"BestFit, slices of 2", gang.BestFit, []int{6, 5, 4, 3, 2}, 12, 2, []int{6, 0, 4, 0, 2}},
		{"LeastFreeCapacity, slices of 2", gang.LeastFree, []int{6, 5, 4, 3, 2}, 10, 2, []int{0, 2, 4, 2, 2}},
		{"BestFit, one node is enough", gang.BestFit, []int{6, 5, 4, 3, 2}, 4, 0, []int{0, 0, 4, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := hosts(tt.room...)
			out, err := placer(gang.Rules{Choice: tt.choice}).Place(s, &gang.Group{
				Name: "g", Pods: workers(s, tt.pods, "1"),
				Topology: []gang.Level{{Key: api.LabelHostname, Mode: gang.Counted, Slice: tt.slice}},
			})
			if err != nil || out.Status != gang.Placed {
				t.Fatalf("Place: %v, %v", out, err)
			}
			got := make([]int, len(tt.room))
			for i := range got {
				got[i] = counts(out)[fmt.Sprintf("n%d", i)]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("pods by node (-want +got):\n%s", diff)
			}
		})
	}
}

// BestFit keeps large racks whole: a group of 4 pods goes to the rack with room for 4.
func TestBestFitTakesTheSmallestRack(t *testing.T) {
	s := racks(3, 1, 2)
	g := &gang.Group{Name: "g", Pods: workers(s, 4, "1"), Topology: []gang.Level{{Key: rack}}}
	for _, tt := range []struct {
		rules gang.Rules
		want  string
	}{
		{gang.Rules{Choice: gang.BestFit}, "r1"},
		{gang.Rules{Choice: gang.LeastFree}, "r1"},
		{gang.Rules{Compare: func(a, b *gang.Trial) int { return b.Nodes - a.Nodes }}, "r0"},
	} {
		out, err := placer(tt.rules).Try(s, g)
		if err != nil || out.Status != gang.Placed || out.Best().Name() != tt.want {
			t.Errorf("Try with %v = %v, %v, want rack %s", tt.rules.Choice, out, err, tt.want)
		}
	}
}

// A preferred level is given up only if no domain of it is large enough: then the next
// coarser one is tried, and at last as few domains as possible.
func TestPreferred(t *testing.T) {
	s := racks(2, 1, 1) // room for 8, 4 and 4 pods
	p := placer(gang.Rules{Choice: gang.BestFit})
	for _, tt := range []struct {
		pods  int
		racks int
	}{{4, 1}, {8, 1}, {10, 2}, {16, 3}} {
		out, err := p.Try(s, &gang.Group{Name: "g", Pods: workers(s, tt.pods, "1"), Topology: []gang.Level{{Key: rack, Mode: gang.Preferred}}})
		if err != nil || out.Status != gang.Placed {
			t.Fatalf("Try of %d pods: %v, %v", tt.pods, out, err)
		}
		used := map[string]bool{}
		for node := range counts(out) {
			used[node[:2]] = true
		}
		if len(used) != tt.racks {
			t.Errorf("%d pods use %d racks, want %d", tt.pods, len(used), tt.racks)
		}
	}
}

// A refusal names the rack that comes closest, the pod that failed first and why, and what
// is missing.
func TestRefusal(t *testing.T) {
	s := racks(1, 2)
	before := imageOf(s)
	out, err := placer(gang.Rules{Choice: gang.BestFit}).Place(s, &gang.Group{Name: "g", Pods: workers(s, 10, "1"), Topology: []gang.Level{{Key: rack}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "rack r1 takes 8 of 10 pods; default/worker-8: 0/2 nodes are available: 2 Insufficient cpu. Missing room for 2 pods: 1 empty node like its largest."
	if out.Status != gang.Short || !out.Proved || out.Text != want {
		t.Errorf("Place = %v, proved %t, %q\nwant Short, proved, %q", out.Status, out.Proved, out.Text, want)
	}
	if m := out.Best().Missing; m == nil || m.Pods != 2 || m.Nodes != 1 || !m.Exact || m.Blocked["Insufficient cpu"] != 2 || m.Resources["cpu"] != (gang.Shortage{Least: 1000, Nodes: 2}) {
		t.Errorf("Missing = %+v", m)
	}
	unchanged(t, s, before, "a refusal")
}

// Members that run count towards the minimum and pin the group to their rack.
func TestPresent(t *testing.T) {
	s := racks(1, 2)
	old := info(s, api.MakePod("old").Requests("1", "1Gi").Obj())
	other := info(s, api.MakePod("other").Obj())
	if err := errors.Join(s.AddPod(old, "r0-0"), s.AddPod(other, "r1-0")); err != nil {
		t.Fatal(err)
	}
	for _, choice := range []gang.Choice{gang.Kubernetes137, gang.BestFit} {
		g := &gang.Group{Name: "g", Pods: workers(s, 4, "1"), Min: 4, Present: []gang.Member{{Pod: old, Node: "r0-0"}}, Topology: []gang.Level{{Key: rack}}}
		out, err := placer(gang.Rules{Choice: choice}).Try(s, g)
		if err != nil || out.Status != gang.Placed || len(out.Placed) != 3 || counts(out)["r0-0"] != 3 {
			t.Errorf("%v: Try = %+v, %v, want 3 pods on r0-0", choice, out, err)
		}
		g.Present = append(g.Present, gang.Member{Pod: other, Node: "r1-0"})
		if out, err = placer(gang.Rules{Choice: choice}).Try(s, g); err != nil || out.Status != gang.Stuck || !strings.Contains(out.Text, "r0") || !strings.Contains(out.Text, "r1") {
			t.Errorf("%v: Try with members in two racks = %+v, %v, want Stuck", choice, out, err)
		}
	}
}

// What is malformed is refused with field and value before anything changes.
func TestMalformed(t *testing.T) {
	s := racks(2, 2)
	foreign := workers(racks(1), 1, "1")
	two := workers(s, 2, "1")
	four := workers(s, 4, "1")
	other := info(s, api.MakePod("other").Scheduler("other").Obj())
	host := info(s, api.MakePod("host").Scheduler("other").Obj())
	if err := s.AddPod(host, "r0-0"); err != nil {
		t.Fatal(err)
	}
	level := func(key string, mode gang.Mode, slice int) gang.Level {
		return gang.Level{Key: key, Mode: mode, Slice: slice}
	}
	for _, tt := range []struct {
		rules gang.Rules
		group *gang.Group
		want  string
	}{
		{gang.Rules{}, nil, "group: is nil"},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: []*framework.PodInfo{nil}}, "group g: pods[0]: pod: is nil"},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: foreign}, "another snapshot"},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: append(two, two[0])}, `group g: pods[2]: "default/worker-0": is the pod of pods[0], too`},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: two, Present: []gang.Member{{Pod: two[1], Node: "r0-0"}}}, `group g: present[0].pod: "default/worker-1": is the pod of pods[1], too`},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: two, Present: []gang.Member{{Pod: host, Node: "r0-0"}}}, `group g: present[0].pod.spec.schedulerName: "other"`},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: append(workers(s, 1, "1"), other)}, `group g: pods[1].spec.schedulerName: "other"`},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: two, Min: 3}, `group g: min: "3": is more than the 2 pods`},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: two, Min: -1}, `group g: min: "-1": must not be negative`},
		{gang.Rules{}, &gang.Group{Name: "g", Present: []gang.Member{{Pod: two[0], Node: "none"}}}, `group g: present[0].node: "none": is not in the snapshot`},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: two, Topology: []gang.Level{level(rack, gang.Required, 0), level(block, gang.Required, 0)}}, `group g: topology[1]: "` + block},
		{gang.Rules{}, &gang.Group{Name: "g", Pods: two, Topology: []gang.Level{level(rack, gang.Preferred, 0)}}, `group g: topology[0]: "` + rack},
		{gang.Rules{Choice: gang.BestFit}, &gang.Group{Name: "g", Pods: two, Topology: []gang.Level{level("", gang.Required, 0)}}, "topology[0].key: must not be empty"},
		{gang.Rules{Choice: gang.BestFit}, &gang.Group{Name: "g", Pods: two, Topology: []gang.Level{level(rack, gang.Required, 0), level(rack, gang.Required, 0)}}, "two levels have this label"},
		{gang.Rules{Choice: gang.BestFit}, &gang.Group{Name: "g", Pods: two, Topology: []gang.Level{level(api.LabelHostname, gang.Required, 0), level(rack, gang.Required, 0)}}, "it must be the last"},
		{gang.Rules{Choice: gang.BestFit}, &gang.Group{Name: "g", Pods: two, Topology: []gang.Level{level(block, gang.Preferred, 0), level(rack, gang.Required, 0)}}, `topology[1].mode: "Required": must not be under a level that is Preferred`},
		{gang.Rules{Choice: gang.BestFit}, &gang.Group{Name: "g", Pods: two, Topology: []gang.Level{level(rack, gang.Required, -1)}}, `topology[0].slice: "-1"`},
		{gang.Rules{Choice: gang.BestFit}, &gang.Group{Name: "g", Pods: four, Topology: []gang.Level{level(rack, gang.Required, 3)}}, `topology[0].slice: "3": does not divide the 4 pods`},
		{gang.Rules{Choice: gang.BestFit}, &gang.Group{Name: "g", Pods: four, Min: 3, Topology: []gang.Level{level(rack, gang.Required, 2)}}, `topology[0].slice: "2": does not divide the minimum of 3`},
		{gang.Rules{Choice: gang.BestFit}, &gang.Group{Name: "g", Pods: four, Topology: []gang.Level{level(block, gang.Required, 2), level(rack, gang.Required, 4)}}, `topology[1].slice: "4": does not divide the slices of 2`},
	} {
		before := imageOf(s)
		p := placer(tt.rules)
		calls := map[string]func() error{
			"Place":   func() error { _, err := p.Place(s, tt.group); return err },
			"Try":     func() error { _, err := p.Try(s, tt.group); return err },
			"Preempt": func() error { _, err := p.Preempt(s, tt.group); return err },
		}
		for name, call := range calls {
			err := call()
			var invalid *api.InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want an InvalidError with %q", name, err, tt.want)
			}
		}
		if before.changed(s) {
			t.Fatalf("the snapshot has changed after %q", tt.want)
		}
	}
	if _, err := placer(gang.Rules{}).Place(nil, &gang.Group{}); err == nil {
		t.Error("Place accepts a nil snapshot")
	}
	for _, rules := range []gang.Rules{{Choice: 9}, {Order: 9}, {Search: -1}, {Workers: -1}, {Scores: []gang.WeightedScore{{}}}, {Scores: []gang.WeightedScore{{Scorer: gang.PodGroupPodsCount{}, Weight: -1}}}} {
		sched, _ := scheduling.New(scheduling.Kubernetes137())
		if _, err := gang.New(sched, rules); err == nil {
			t.Errorf("New accepts the rules %+v", rules)
		}
	}
	if _, err := gang.New(nil, gang.Rules{}); err == nil {
		t.Error("New accepts a nil scheduler")
	}
}

// Two gangs that would each take half of the cluster, pod by pod, and wait for ever: one
// stands, the other takes nothing.
func TestTwoGangsDoNotDeadlock(t *testing.T) {
	s := racks(2)
	p := placer(gang.Rules{Choice: gang.BestFit})
	a := &gang.Group{Name: "a", Pods: workers(s, 6, "1")}
	var pods []*framework.PodInfo
	for i := range 6 {
		pods = append(pods, info(s, api.MakePod(fmt.Sprintf("b-%d", i)).Requests("1", "1Gi").Obj()))
	}
	first, err := p.Place(s, a)
	if err != nil || first.Status != gang.Placed || len(first.Placed) != 6 {
		t.Fatalf("Place of a: %v, %v", first, err)
	}
	second, err := p.Place(s, &gang.Group{Name: "b", Pods: pods})
	if err != nil || second.Status != gang.Short {
		t.Fatalf("Place of b: %v, %v", second, err)
	}
	for _, at := range first.Placed {
		if err := p.Scheduler().Release(s, a.Pods[at.Index()], at.Node); err != nil {
			t.Fatal(err)
		}
	}
	if third, err := p.Place(s, &gang.Group{Name: "b", Pods: pods}); err != nil || third.Status != gang.Placed {
		t.Errorf("Place of b after a has left: %v, %v", third, err)
	}
}

// A set stands with its minimum of groups in one domain, or not at all.
func TestPlaceSet(t *testing.T) {
	s := racks(1, 2)
	group := func(name string, n int) *gang.Group {
		g := &gang.Group{Name: name}
		for i := range n {
			g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprintf("%s-%d", name, i)).Requests("1", "1Gi").Obj()))
		}
		return g
	}
	p := placer(gang.Rules{Choice: gang.BestFit})
	before := imageOf(s)
	set := &gang.Set{Name: "s", Children: []gang.Child{group("a", 3), group("b", 3), group("c", 3)}, Topology: rack}
	out, err := p.PlaceSet(s, set)
	if err != nil || out.Status != gang.Short || out.Stand != 2 || before.changed(s) {
		t.Fatalf("PlaceSet of three groups: %+v, %v, want Short with 2, and no change", out, err)
	}
	set.Min = 2
	out, err = p.PlaceSet(s, set)
	if err != nil || out.Status != gang.Placed || out.Domain[0].Value != "r1" || out.Stand != 2 {
		t.Fatalf("PlaceSet of two of three groups: %+v, %v, want rack r1", out, err)
	}
	if n := len(s.Node("r1-0").Pods) + len(s.Node("r1-1").Pods); n != 6 {
		t.Errorf("%d pods stand in rack r1, want 6", n)
	}
}

// Search finds what the greedy attempt misses, and gives up after its steps.
func TestSearch(t *testing.T) {
	// Greedily, the pod of 2 CPUs goes to the emptier node, and the pod of 3 CPUs then
	// fits nowhere.
	nodes := []*api.Node{api.MakeNode("a", "3", "16Gi").Obj(), api.MakeNode("b", "2", "16Gi").Obj()}
	s := cluster(nodes)
	g := &gang.Group{Name: "g", Pods: []*framework.PodInfo{
		info(s, api.MakePod("small").Requests("2", "1Gi").Obj()), info(s, api.MakePod("large").Requests("3", "1Gi").Obj()),
	}}
	for _, tt := range []struct {
		rules  gang.Rules
		status gang.Status
		gaveUp bool
	}{
		{gang.Rules{Choice: gang.BestFit}, gang.Short, false},
		{gang.Rules{Choice: gang.BestFit, Search: 1}, gang.Short, true},
		{gang.Rules{Choice: gang.BestFit, Search: 100}, gang.Placed, false},
		{gang.Rules{Choice: gang.BestFit, Order: gang.LargestFirst}, gang.Placed, false},
		{gang.Rules{Choice: gang.BestFit, Order: gang.Both}, gang.Placed, false},
	} {
		out, err := placer(tt.rules).Try(s, g)
		if err != nil || out.Status != tt.status || out.GaveUp != tt.gaveUp {
			t.Errorf("Try with %+v = %v, gave up %t, %v; want %v, %t", tt.rules, out.Status, out.GaveUp, err, tt.status, tt.gaveUp)
		}
	}
	g.Pods = append(g.Pods, info(s, api.MakePod("third").Requests("100m", "1Gi").Obj()))
	out, err := placer(gang.Rules{Choice: gang.BestFit, Search: 1000}).Try(s, g)
	if err != nil || out.Status != gang.Short || !out.Proved || out.GaveUp {
		t.Errorf("Try of a group that cannot stand = %+v, %v, want a proof", out, err)
	}
}

// A cluster without nodes refuses a group, and a set, under every rule.
func TestNoNodes(t *testing.T) {
	for _, choice := range []gang.Choice{gang.Kubernetes137, gang.BestFit, gang.MostPacked, gang.LeastFree} {
		for _, levels := range [][]gang.Level{nil, {{Key: rack}}} {
			s := framework.NewSnapshot(framework.Arrival)
			g := &gang.Group{Name: "g", Pods: workers(s, 2, "1"), Topology: levels}
			p := placer(gang.Rules{Choice: choice})
			out, err := p.Try(s, g)
			if err != nil || out.Status == gang.Placed || out.Text == "" {
				t.Errorf("%v: Try = %+v, %v", choice, out, err)
			}
			set, err := p.PlaceSet(s, &gang.Set{Name: "s", Children: []gang.Child{g}})
			if err != nil || set.Status == gang.Placed || set.Text == "" {
				t.Errorf("%v: PlaceSet = %+v, %v", choice, set, err)
			}
			if c, err := p.Capacity(s, g, 3); err != nil || c.Fits != 0 {
				t.Errorf("%v: Capacity = %+v, %v", choice, c, err)
			}
			if e, err := p.Preempt(s, g); err != nil || e.Status == framework.Success {
				t.Errorf("%v: Preempt = %+v, %v", choice, e, err)
			}
		}
	}
}

// Capacity refuses malformed shapes with field and value.
func TestMalformedShape(t *testing.T) {
	s := racks(2)
	two := workers(s, 2, "1")
	old := info(s, api.MakePod("old").Obj())
	if err := s.AddPod(old, "r0-0"); err != nil {
		t.Fatal(err)
	}
	p := placer(gang.Rules{Choice: gang.BestFit})
	for _, tt := range []struct {
		shape *gang.Group
		limit int
		want  string
	}{
		{nil, 0, "group: is nil"},
		{&gang.Group{Name: "g"}, 0, "group g: pods: a shape needs pods"},
		{&gang.Group{Name: "g", Pods: two, Present: []gang.Member{{Pod: old, Node: "r0-0"}}}, 0, `group g: present: "1": a shape has no members`},
		{&gang.Group{Name: "g", Pods: two}, -1, `group g: limit: "-1": must not be negative`},
		{&gang.Group{Name: "g", Pods: two, Min: 3}, 0, `group g: min: "3": is more than the 2 pods`},
		{&gang.Group{Name: "g", Pods: two, Topology: []gang.Level{{Key: rack, Slice: 4}}}, 0, `group g: topology[0].slice: "4": does not divide the 2 pods`},
	} {
		before := imageOf(s)
		_, err := p.Capacity(s, tt.shape, tt.limit)
		_, with := p.CapacityWith(s, tt.shape, tt.limit, api.MakeNode("n", "4", "16Gi").Obj(), 1)
		for name, err := range map[string]error{"Capacity": err, "CapacityWith": with} {
			var invalid *api.InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want an InvalidError with %q", name, err, tt.want)
			}
		}
		if before.changed(s) {
			t.Fatalf("the snapshot has changed after %q", tt.want)
		}
	}
}

// If the minimum runs, and no pod that waits fits, nothing has come of the attempt.
func TestNothingNew(t *testing.T) {
	s := racks(1)
	old := info(s, api.MakePod("old").Requests("4", "1Gi").Obj())
	if err := s.AddPod(old, "r0-0"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rules gang.Rules
		want  string
	}{
		{gang.Rules{}, "pod group is unschedulable"},
		{gang.Rules{Choice: gang.BestFit}, "the minimum stands already, and no further pod fits; default/worker-0: 0/1 nodes are available: 1 Insufficient cpu."},
		{gang.Rules{Choice: gang.BestFit, Exact: true}, "the minimum stands already"},
		{gang.Rules{Compare: func(a, b *gang.Trial) int { return 0 }}, "the minimum stands already, and no further pod fits; default/worker-0: 0/1 nodes are available: 1 Insufficient cpu."},
	} {
		g := &gang.Group{Name: "g", Pods: workers(s, 2, "1"), Min: 1, Present: []gang.Member{{Pod: old, Node: "r0-0"}}}
		out, err := placer(tt.rules).Try(s, g)
		if err != nil || out.Status != gang.Short || out.Text != tt.want || len(out.Left) != 2 {
			t.Errorf("%v, exact %t: Try = %+v, %v\nwant Short, %q", tt.rules.Choice, tt.rules.Exact, out, err, tt.want)
		}
		set, err := placer(tt.rules).PlaceSet(s, &gang.Set{Name: "s", Children: []gang.Child{g}})
		if err != nil || set.Status != gang.Short {
			t.Errorf("%v, exact %t: PlaceSet = %+v, %v", tt.rules.Choice, tt.rules.Exact, set, err)
		}
	}
}

// A term that matches no pod yet does not part classes, but it may match a pod of the
// group: then counts say nothing, and pods of one class do not change places.
func TestTermsWithinTheGroup(t *testing.T) {
	s := racks(1)
	plain := info(s, api.MakePod("plain").Labels("app", "gang").Requests("1", "1Gi").Obj())
	shy := info(s, api.MakePod("shy").Labels("app", "gang").Requests("1", "1Gi").PodAntiAffinity(api.LabelHostname, "app=gang").Obj())
	for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}, {Choice: gang.BestFit, Search: 1000}} {
		for _, pods := range [][]*framework.PodInfo{{plain, shy}, {shy, plain}} {
			out, err := placer(rules).Try(s, &gang.Group{Name: "g", Pods: pods, Topology: []gang.Level{{Key: rack}}})
			if err != nil || out.Status != gang.Short {
				t.Errorf("%v: Try on one node = %+v, %v, want Short", rules.Choice, out, err)
			}
		}
	}
	two := racks(2)
	var pods []*framework.PodInfo
	for _, p := range []*framework.PodInfo{plain, shy} {
		pods = append(pods, info(two, p.Pod))
	}
	out, err := placer(gang.Rules{Choice: gang.BestFit, Search: 1000}).Try(two, &gang.Group{Name: "g", Pods: pods})
	if err != nil || out.Status != gang.Placed || len(counts(out)) != 2 {
		t.Errorf("Try on two nodes = %+v, %v, want a node for each", out, err)
	}
}
