package gang_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// groupNamed is a group of n pods of 1 CPU.
func groupNamed(s *framework.Snapshot, name string, n int) *gang.Group {
	g := &gang.Group{Name: name}
	for i := range n {
		g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprintf("%s-%d", name, i)).Requests("1", "1Gi").Obj()))
	}
	return g
}

// A set that is malformed is refused with field and value before anything changes, by
// PlaceSet and by PreemptSet.
func TestMalformedSet(t *testing.T) {
	s := racks(2, 2)
	a, b := groupNamed(s, "a", 2), groupNamed(s, "b", 2)
	foreign := &gang.Group{Name: "foreign", Pods: workers(racks(1), 1, "1")}
	other := &gang.Group{Name: "other", Pods: []*framework.PodInfo{info(s, api.MakePod("other").Scheduler("other").Obj())}}
	again := &gang.Group{Name: "again", Pods: a.Pods[1:]}
	old := info(s, api.MakePod("old").Obj())
	if err := s.AddPod(old, "r0-0"); err != nil {
		t.Fatal(err)
	}
	done := &gang.Group{Name: "done", Present: []gang.Member{{Pod: old, Node: "r0-0"}}}
	running := &gang.Group{Name: "running", Present: []gang.Member{{Pod: old, Node: "r0-0"}}}
	negative := groupNamed(s, "negative", 2)
	negative.Min = -1
	loop := &gang.Set{Name: "loop"}
	loop.Children = []gang.Child{a, loop}
	inner := &gang.Set{Name: "inner", Children: []gang.Child{b}, Min: 2}
	var noGroup *gang.Group
	var noSet *gang.Set
	for _, tt := range []struct {
		set  *gang.Set
		want string
	}{
		{nil, "set: is nil"},
		{&gang.Set{Name: "s", Min: 2}, `set s: min: "2": must be from 0 to 0, the number of children`},
		{&gang.Set{Name: "s", Min: -1}, `set s: min: "-1": must be from 0 to 0`},
		{&gang.Set{Name: "s", Children: []gang.Child{nil}}, "set s: children[0]: is nil"},
		{&gang.Set{Name: "s", Children: []gang.Child{a, noGroup}}, "set s: children[1]: is nil"},
		{&gang.Set{Name: "s", Children: []gang.Child{noSet}}, "set s: children[0]: is nil"},
		{&gang.Set{Name: "s", Children: []gang.Child{a, b, a}}, "set s: children[2]: is children[0], too"},
		{&gang.Set{Name: "s", Children: []gang.Child{loop}}, "set loop: children[0].children[1]: is children[0], too"},
		{loop, "set loop: children[1].children[0]: is children[0], too"},
		{&gang.Set{Name: "s", Children: []gang.Child{a, inner}}, `set s: children[1]: set inner: min: "2"`},
		{&gang.Set{Name: "s", Children: []gang.Child{a, negative}}, `set s: children[1]: group negative: min: "-1": must not be negative`},
		{&gang.Set{Name: "s", Children: []gang.Child{foreign}}, "another snapshot"},
		{&gang.Set{Name: "s", Children: []gang.Child{a, other}}, `set s: group other.pods.spec.schedulerName: "other": must be "default-scheduler"`},
		{&gang.Set{Name: "s", Children: []gang.Child{a, &gang.Set{Name: "t", Children: []gang.Child{again}}}}, `set s: group again.pods: "default/a-1": is a pod of group a, too`},
		{&gang.Set{Name: "s", Children: []gang.Child{done, running}}, `set s: group running.pods: "default/old": is a pod of group done, too`},
	} {
		before := imageOf(s)
		p := placer(gang.Rules{})
		_, placed := p.PlaceSet(s, tt.set)
		_, preempted := p.PreemptSet(s, tt.set)
		for name, err := range map[string]error{"PlaceSet": placed, "PreemptSet": preempted} {
			var invalid *api.InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want an InvalidError with %q", name, err, tt.want)
			}
		}
		if before.changed(s) {
			t.Fatalf("the snapshot has changed after %q", tt.want)
		}
	}
	if _, err := placer(gang.Rules{}).PlaceSet(nil, &gang.Set{}); err == nil {
		t.Error("PlaceSet accepts a nil snapshot")
	}
}

// A set may do without a child that has fewer pods than its minimum, by every rule.
func TestSetWithoutAChild(t *testing.T) {
	for _, choice := range []gang.Choice{gang.Kubernetes137, gang.BestFit, gang.MostPacked, gang.LeastFree} {
		s := racks(2)
		a, short := groupNamed(s, "a", 2), groupNamed(s, "short", 2)
		short.Min = 3
		p := placer(gang.Rules{Choice: choice})
		set := &gang.Set{Name: "s", Children: []gang.Child{short, a}}
		before := imageOf(s)
		out, err := p.PlaceSet(s, set)
		if err != nil || out.Status != gang.Short || out.Stand != 0 {
			t.Errorf("%v: PlaceSet of both = %+v, %v, want Short", choice, out, err)
		}
		unchanged(t, s, before, "a set that does not stand")
		set.Min = 1
		out, err = p.PlaceSet(s, set)
		if err != nil || out.Status != gang.Placed || out.Stand != 1 || out.Children[0].Group.Status != gang.Short || len(out.Children[1].Group.Placed) != 2 {
			t.Errorf("%v: PlaceSet of one of them = %+v, %v, want a alone", choice, out, err)
		}
	}
}

// firstPlacer breaks ties by the order of nodes, so a plain transcription can tell where
// pods go.
func firstPlacer(rules gang.Rules) *gang.Placer {
	profile := scheduling.Kubernetes137()
	profile.TieRule = scheduling.First
	profile.Cache.Verify = true
	return placerOf(profile, rules)
}

// drawTree draws a tree of at most 3 generations over the groups g0, g1 and so on.
func drawTree(t *rapid.T, s *framework.Snapshot, depth int, groups *int) gang.Child {
	if depth == 0 || *groups > 5 || depth < 3 && rapid.Bool().Draw(t, "leaf") {
		g := groupNamed(s, fmt.Sprint("g", *groups), rapid.IntRange(1, 3).Draw(t, "pods"))
		g.Min = rapid.IntRange(1, len(g.Pods)).Draw(t, "min")
		if rapid.Bool().Draw(t, "rack") {
			g.Topology = []gang.Level{{Key: rack}}
		}
		*groups++
		return g
	}
	set := &gang.Set{Name: fmt.Sprintf("s%d-%d", depth, *groups), Topology: rapid.SampledFrom([]string{"", block, rack}).Draw(t, "topology")}
	for range rapid.IntRange(1, 3).Draw(t, "children") {
		set.Children = append(set.Children, drawTree(t, s, depth-1, groups))
	}
	set.Min = rapid.IntRange(1, len(set.Children)).Draw(t, "groups")
	return set
}

// plainTree places the child among the nodes by the rules as they are written: it returns
// where the pods go, and whether the child stands. The snapshot is s with the pods that
// stand; free is what each node has left in CPUs.
func plainTree(t *rapid.T, s *framework.Snapshot, c gang.Child, nodes []string, free map[string]int) (map[string]string, bool) {
	key, domains := "", [][]string{nodes}
	switch c := c.(type) {
	case *gang.Set:
		key = c.Topology
	case *gang.Group:
		if len(c.Topology) > 0 {
			key = c.Topology[0].Key
		}
	}
	if key != "" {
		domains = nil
		at := map[string]int{}
		for _, n := range nodes {
			value, ok := s.Node(n).Node.Labels[key]
			if !ok {
				continue
			}
			if _, ok := at[value]; !ok {
				at[value] = len(domains)
				domains = append(domains, nil)
			}
			domains[at[value]] = append(domains[at[value]], n)
		}
	}
	var trials []map[string]string
	var where [][]string
	for _, d := range domains {
		own := maps.Clone(free)
		var placed map[string]string
		ok := false
		if set, isSet := c.(*gang.Set); isSet {
			placed, ok = plainChildren(t, s, set, d, own)
		} else {
			placed, ok = plainGroup(c.(*gang.Group), d, own)
		}
		if ok {
			trials, where = append(trials, placed), append(where, d)
		}
	}
	if len(trials) == 0 {
		return nil, false
	}
	best, largest, most := 0, int64(-1), 0
	for _, placed := range trials {
		most = max(most, len(placed))
	}
	for i, placed := range trials {
		if len(trials) == 1 {
			break
		}
		total := int64(len(placed)*100/most) + plainFullness(s, where[i], free, len(placed))
		if total > largest {
			best, largest = i, total
		}
	}
	for _, node := range trials[best] {
		free[node]--
	}
	return trials[best], true
}

// plainFullness is the score of NodeResourcesFit: CPUs and GiB in use with n pods of 1 CPU
// and 1 GiB.
func plainFullness(s *framework.Snapshot, nodes []string, free map[string]int, n int) int64 {
	cpu, cpus, memory, memories := int64(1000*n), int64(0), int64(n)<<30, int64(0)
	for _, name := range nodes {
		node := s.Node(name)
		gone := node.Allocatable[0]/1000 - int64(free[name])
		cpus, memories = cpus+node.Allocatable[0], memories+node.Allocatable[1]
		cpu, memory = cpu+1000*gone, memory+gone<<30
	}
	return (cpu*100/cpus + memory*100/memories) / 2
}

func plainChildren(t *rapid.T, s *framework.Snapshot, set *gang.Set, nodes []string, free map[string]int) (map[string]string, bool) {
	placed, stand := map[string]string{}, 0
	for i, c := range set.Children {
		if p, ok := plainTree(t, s, c, nodes, free); ok {
			maps.Copy(placed, p)
			stand++
		}
		if stand+len(set.Children)-i-1 < set.Min {
			return nil, false
		}
	}
	return placed, true
}

// plainGroup places pods of 1 CPU each on the node that has used the smallest part of its
// CPUs and memory.
func plainGroup(g *gang.Group, nodes []string, free map[string]int) (map[string]string, bool) {
	placed := map[string]string{}
	for _, p := range g.Pods {
		best := ""
		for _, n := range nodes {
			if free[n] > 0 && (best == "" || free[n] > free[best]) {
				best = n
			}
		}
		if best == "" {
			break
		}
		placed[p.Pod.Name] = best
		free[best]--
	}
	return placed, len(placed) >= g.Min
}

// Trees of equal pods on equal nodes go where a plain transcription of kube-scheduler's
// rules puts them, or change nothing.
func TestTreesAgainstPlain(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"sets that stand": 1}, func(t *rapid.T) {
		const cpus = 4
		var nodes []*api.Node
		var names []string
		free := map[string]int{}
		for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
			name := fmt.Sprint("n", i)
			n := api.MakeNode(name, fmt.Sprint(cpus), "4Gi")
			if rapid.IntRange(0, 7).Draw(t, "labels") > 0 {
				n = n.Labels(block, rapid.SampledFrom([]string{"b0", "b1"}).Draw(t, "block"), rack, rapid.SampledFrom([]string{"r0", "r1", "r2"}).Draw(t, "rack"))
			}
			nodes, names = append(nodes, n.Obj()), append(names, name)
			free[name] = cpus
		}
		var pods []*api.Pod
		for _, name := range names {
			for k := range rapid.IntRange(0, cpus).Draw(t, "used") {
				pods = append(pods, api.MakePod(fmt.Sprintf("old-%s-%d", name, k)).Requests("1", "1Gi").Node(name).Obj())
				free[name]--
			}
		}
		s := cluster(nodes, pods...)
		groups := 0
		set := drawTree(t, s, 3, &groups).(*gang.Set)
		want, ok := plainTree(t, s, set, names, maps.Clone(free))
		before := imageOf(s)
		p := firstPlacer(gang.Rules{})
		out, err := p.PlaceSet(s, set)
		if err != nil {
			t.Fatal(err)
		}
		if (out.Status == gang.Placed) != ok {
			t.Fatalf("PlaceSet = %v %q, want stands %t: %v", out.Status, out.Text, ok, want)
		}
		if !ok {
			if out.Text == "" || before.changed(s) {
				t.Fatalf("a set that does not stand says %q, and has changed the snapshot: %v", out.Text, before.differences(imageOf(s)))
			}
			return
		}
		seen["sets that stand"]++
		got := map[string]string{}
		for _, n := range s.All() {
			for _, q := range n.Pods {
				if !strings.HasPrefix(q.Pod.Name, "old-") {
					got[q.Pod.Name] = n.Name()
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("PlaceSet places %v\nwant %v", got, want)
		}
	})
}

// The first of equal domains wins, or one that the seed draws; a failed tree tells of its
// children that none stands.
func TestSetOutcome(t *testing.T) {
	s := racks(1, 1)
	set := &gang.Set{Name: "s", Topology: rack, Children: []gang.Child{groupNamed(s, "a", 2), groupNamed(s, "b", 2)}}
	drawn := map[string]bool{}
	for seed := range uint64(20) {
		fork := s.Fork()
		out, err := placer(gang.Rules{Draw: true, Seed: seed}).PlaceSet(fork, set)
		if err != nil || out.Status != gang.Placed || out.TiedDomains != 2 || len(out.Trials) != 2 {
			t.Fatalf("PlaceSet = %+v, %v", out, err)
		}
		drawn[out.Domain[0].Value] = true
	}
	if len(drawn) != 2 {
		t.Errorf("20 seeds draw %v of two equal racks", slices.Collect(maps.Keys(drawn)))
	}
	large := &gang.Set{Name: "s", Topology: rack, Children: []gang.Child{set, groupNamed(s, "c", 1)}}
	out, err := placer(gang.Rules{}).PlaceSet(s, large)
	const want = "pod group is unschedulable, 0/2 placements are available, first placement status: minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
	if err != nil || out.Status != gang.Short || out.Text != want {
		t.Fatalf("PlaceSet = %+v, %v, want %q", out, err, want)
	}
	inner := out.Children[0].Set
	if inner.Status != gang.Short || inner.Text != want || inner.Children[0].Group.Status != gang.Short || len(inner.Children[0].Group.Placed) != 0 || len(inner.Children[0].Group.Left) != 2 {
		t.Errorf("the child that stood is %+v, its first group %+v", inner, inner.Children[0].Group)
	}
}

// Members that run pin a set to their domain; a set whose pods all run stands.
func TestSetPresent(t *testing.T) {
	s := racks(1, 1)
	old := info(s, api.MakePod("old").Requests("1", "1Gi").Obj())
	if err := s.AddPod(old, "r1-0"); err != nil {
		t.Fatal(err)
	}
	a := groupNamed(s, "a", 2)
	done := &gang.Group{Name: "done", Present: []gang.Member{{Pod: old, Node: "r1-0"}}}
	set := &gang.Set{Name: "s", Topology: rack, Children: []gang.Child{done, a}}
	for _, choice := range []gang.Choice{gang.Kubernetes137, gang.BestFit} {
		out, err := placer(gang.Rules{Choice: choice}).PlaceSet(s.Fork(), set)
		if err != nil || out.Status != gang.Placed || out.Domain[0].Value != "r1" {
			t.Errorf("%v: PlaceSet = %+v, %v, want rack r1", choice, out, err)
		}
	}
	for _, choice := range []gang.Choice{gang.Kubernetes137, gang.BestFit} {
		out, err := placer(gang.Rules{Choice: choice}).PlaceSet(s, &gang.Set{Name: "s", Children: []gang.Child{done}})
		if err != nil || out.Status != gang.Placed {
			t.Errorf("%v: PlaceSet of running pods = %+v, %v, want Placed: nothing is to be done", choice, out, err)
		}
	}
	other := info(s, api.MakePod("second").Obj())
	if err := s.AddPod(other, "r0-0"); err != nil {
		t.Fatal(err)
	}
	second := &gang.Group{Name: "second", Present: []gang.Member{{Pod: other, Node: "r0-0"}}}
	out, err := placer(gang.Rules{}).PlaceSet(s, &gang.Set{Name: "s", Topology: rack, Children: []gang.Child{done, second, a}})
	if err != nil || out.Status != gang.Stuck || !strings.Contains(out.Text, "more than 1 domain") {
		t.Errorf("PlaceSet with members in two racks = %+v, %v", out, err)
	}
}

// A set preempts as a whole, with the priority of its root.
func TestPreemptSet(t *testing.T) {
	for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}} {
		s := racks(1, 1)
		for i, node := range []string{"r0-0", "r0-0", "r1-0", "r1-0"} {
			if err := s.AddPod(info(s, api.MakePod(fmt.Sprint("low-", i)).Priority(int32(i)).Requests("2", "1Gi").Obj()), node); err != nil {
				t.Fatal(err)
			}
		}
		set := &gang.Set{Name: "s", Topology: rack, Priority: 5, Children: []gang.Child{groupNamed(s, "a", 1), groupNamed(s, "b", 2)}}
		before := imageOf(s)
		e, err := placer(rules).PreemptSet(s, set)
		if err != nil || e.Status != framework.Success || len(e.Nominated) != 3 || e.Set == nil || before.changed(s) {
			t.Fatalf("%v: PreemptSet = %+v, %v", rules.Choice, e, err)
		}
		victims := e.Victims()
		if len(victims) != 2 || victims[0].Node != victims[1].Node || victims[0].Node != e.Nominated[0].Node {
			t.Errorf("%v: victims %v for pods on %s", rules.Choice, victims, e.Nominated[0].Node)
		}
		if rules.Choice == gang.BestFit && victims[0].Node != "r0-0" {
			t.Errorf("victims are on %s, where their priorities are higher", victims[0].Node)
		}
		set.Priority = 0
		e, err = placer(rules).PreemptSet(s, set)
		if err != nil || e.Status != framework.UnschedulableAndUnresolvable {
			t.Errorf("%v: PreemptSet of the lowest priority = %+v, %v", rules.Choice, e, err)
		}
	}
}

// A tree is read from the objects of the snapshot, children in the order of creation.
func TestSetOf(t *testing.T) {
	s := racks(1)
	parent := "root"
	put := func(name string, created int, of string, least int32) {
		g := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, CreationTimestamp: time.Unix(int64(created), 0)}}
		g.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{MinCount: least}
		g.Spec.ParentCompositePodGroupName = &of
		if err := framework.Put(s, g); err != nil {
			t.Fatal(err)
		}
	}
	composite := func(name string, created int, of string, least int32) *api.CompositePodGroup {
		c := &api.CompositePodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, CreationTimestamp: time.Unix(int64(created), 0)}}
		if least > 0 {
			c.Spec.SchedulingPolicy.Gang = &api.CompositeGangSchedulingPolicy{MinGroupCount: least}
		}
		if of != "" {
			c.Spec.ParentCompositePodGroupName = &of
		}
		if err := framework.Put(s, c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	root := composite("root", 1, "", 2)
	put("late", 9, parent, 1)
	composite("inner", 5, parent, 0)
	put("b", 3, parent, 2)
	put("a", 3, parent, 2)
	put("x", 4, "inner", 2)
	var pods []*framework.PodInfo
	for _, group := range []string{"x", "a", "a", "b", "other"} {
		p := api.MakePod(fmt.Sprintf("p%d", len(pods))).Namespace("default").Obj()
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &group}
		pods = append(pods, info(s, p))
	}
	set, err := gang.SetOf(s, root, pods)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	var walk func(s *gang.Set)
	walk = func(s *gang.Set) {
		text += fmt.Sprintf("(%s>=%d", s.Name, s.Min)
		for _, c := range s.Children {
			switch c := c.(type) {
			case *gang.Set:
				walk(c)
			case *gang.Group:
				text += fmt.Sprintf(" %s>=%d:%d", c.Name, c.Min, len(c.Pods))
			}
		}
		text += ")"
	}
	walk(set)
	if want := "(default/root>=2 a>=2:2 b>=2:1(default/inner>=1 x>=2:1) late>=1:0)"; text != want {
		t.Errorf("SetOf = %s, want %s", text, want)
	}
	for _, tt := range []struct {
		known map[string]int
		want  string
	}{
		{map[string]int{"a": 2}, `waiting for composite pod group "root" tree to meet quorum`},
		{map[string]int{"a": 2, "x": 1}, `waiting for composite pod group "root" tree to meet quorum`},
		{map[string]int{"a": 2, "x": 2}, ""},
		{map[string]int{"a": 2, "late": 1}, ""},
	} {
		if status := gang.PreEnqueueSet(s, root, tt.known); status.Message() != tt.want {
			t.Errorf("PreEnqueueSet(%v) = %q, want %q", tt.known, status.Message(), tt.want)
		}
	}
	for _, bad := range []func(){
		func() { composite("root", 1, "inner", 2) }, // leads back to itself
	} {
		bad()
		var invalid *api.InvalidError
		if _, err := gang.SetOf(s, root, nil); !errors.As(err, &invalid) || invalid.Field != "spec.parentCompositePodGroupName" {
			t.Errorf("SetOf: %v, want an InvalidError of spec.parentCompositePodGroupName", err)
		}
		if status := gang.PreEnqueueSet(s, root, map[string]int{}); status.IsSuccess() {
			t.Error("PreEnqueueSet lets in a tree that leads back to itself")
		}
	}
	if _, err := gang.SetOf(s, nil, nil); err == nil {
		t.Error("SetOf accepts no root")
	}
}
