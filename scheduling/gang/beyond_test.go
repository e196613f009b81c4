package gang_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// licences is a Reserve plugin that lets three of the pods run in the cluster.
type licences struct{}

func (licences) Name() string { return "Licences" }

func (licences) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	used := 0
	for _, n := range c.Snapshot.All() {
		used += len(n.Pods)
	}
	if used > 3 { // with the pod itself
		return framework.UnschedulableStatus("no licence is free")
	}
	return framework.Status{}
}

func (licences) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// lonely is a filter that lets one pod run in a rack. While fewer than idle pods run, it has nothing to do.
type lonely struct{ idle int }

func (lonely) Name() string { return "Lonely" }

func (lonely) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsDomain}
}

func (l lonely) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	taken, pods := fullRacks{}, 0
	for _, n := range c.Snapshot.All() {
		pods += len(n.Pods)
		if len(n.Pods) > 0 {
			taken[n.Node.Labels[rack]] = true
		}
	}
	if pods < l.idle {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: taken}, framework.Status{}
}

type fullRacks map[string]bool

func (f fullRacks) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if f[n.Node.Labels[rack]] {
		return framework.UnschedulableStatus("the rack has a pod")
	}
	return framework.Status{}
}

// Counts of each node are not used where a plugin of another module refuses by more, also if it has nothing
// to do at first.
func TestPluginsBeyondTheNode(t *testing.T) {
	reserves, filters := scheduling.Kubernetes137(), scheduling.Kubernetes137()
	reserves.Reserve = append(reserves.Reserve, licences{})
	filters.Filter = append(filters.Filter, lonely{1})
	filters.Cache.Off = true // its filter does not follow the racks
	for name, profile := range map[string]scheduling.Profile{"Reserve": reserves, "Filter": filters} {
		for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}} {
			s := racks(1, 1, 1)
			p := placerOf(profile, rules)
			g := &gang.Group{Name: "g", Pods: workers(s, 8, "1"), Min: 2}
			out, err := p.Try(s, g)
			if err != nil || out.Status != gang.Placed || len(out.Placed) != 3 {
				t.Errorf("%s, %s: %+v, %v; want 3 pods placed", name, rules.Choice, out, err)
			}
			c, err := p.Capacity(s, &gang.Group{Name: "g", Pods: workers(s, 1, "1")}, 0)
			if err != nil || c.Fits != 3 || c.Exact {
				t.Errorf("%s, %s: %+v, %v; want 3, not exact", name, rules.Choice, c, err)
			}
			if s.Nominations() != 0 || pods(s) != 0 {
				t.Errorf("%s, %s: pods have stayed", name, rules.Choice)
			}
		}
	}
}

// If a plugin has nothing to do before several pods stand, a group is tried pod by pod once counts turn out to
// be wrong.
func TestCountsThatTurnOutWrong(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Filter = append(profile.Filter, lonely{2})
	profile.Cache.Off = true
	for _, keyed := range []bool{false, true} {
		s := racks(1, 1, 1)
		g := &gang.Group{Name: "g", Pods: workers(s, 8, "1"), Min: 2}
		want := 4 // two before the filter has anything to do, perhaps in one rack
		if keyed {
			g.Topology = []gang.Level{{Key: rack}}
			want = 2
		}
		out, err := placerOf(profile, gang.Rules{}).Try(s, g)
		if err != nil || out.Status != gang.Placed || len(out.Placed) > want || len(out.Placed) < 2 {
			t.Errorf("keyed %t: %+v, %v; want 2 to %d pods placed", keyed, out, err, want)
		}
	}
}

// Placed one by one, more nodes may take fewer gangs, so each number of nodes is tried.
func TestNodesForOneByOne(t *testing.T) {
	s := cluster([]*api.Node{api.MakeNode("x", "1", "64Gi").Labels(api.LabelHostname, "x", "kind", "x").Obj()}, api.MakePod("old").Labels("app", "w").Node("x").Obj())
	var pods []*framework.PodInfo
	for i := range 5 { // a node each
		pods = append(pods, info(s, api.MakePod(fmt.Sprint("full", i)).Labels("app", "w").Requests("16", "1Gi").Obj()))
	}
	ignore := api.NodeInclusionPolicyIgnore // so a sixth node is a domain with no pod
	pods = append(pods, info(s, api.MakePod("last").Labels("app", "w").Requests("1", "1Gi").NodeSelector("kind", "x").SpreadConstraint(api.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: api.LabelHostname, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "w"}}, NodeAffinityPolicy: &ignore,
	}).Obj()))
	g, node := &gang.Group{Name: "g", Pods: pods}, api.MakeNode("t", "16", "64Gi").Obj()
	for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}} {
		p := placer(rules)
		if n, ok, err := p.NodesFor(s, g, 1, node, 20); n != 5 || !ok || err != nil {
			t.Errorf("%s: NodesFor = %d, %t, %v; want 5", rules.Choice, n, ok, err)
		}
		if c, err := p.CapacityWith(s, g, 1, node, 5); err != nil || c.Fits != 1 || c.Exact != (c.AtMost == 1) {
			t.Errorf("%s: %+v, %v", rules.Choice, c, err)
		}
	}
}

// A refusal is not proved if another order stands, whichever pod's namespace is missing.
func TestRefusalWithNamespaceMissing(t *testing.T) {
	s := racks(1)
	if err := framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "default"}}); err != nil {
		t.Fatal(err)
	}
	namespaces, err := api.ParseLabelSelector("!env")
	if err != nil {
		t.Fatal(err)
	}
	shy := api.MakePod("a").Requests("1", "1Gi").Obj()
	shy.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{
		TopologyKey: api.LabelHostname, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "b"}}, NamespaceSelector: namespaces,
	}}}}
	a, b := info(s, shy), info(s, api.MakePod("b").Namespace("unknown").Labels("app", "b").Requests("1", "1Gi").Obj())
	for _, order := range [][]*framework.PodInfo{{a, b}, {b, a}} {
		out, err := placer(gang.Rules{Choice: gang.BestFit, Search: 10_000}).Try(s, &gang.Group{Name: "g", Pods: order})
		if err != nil || (out.Status == gang.Placed) != (order[0] == b) || out.Status != gang.Placed && out.Proved {
			t.Errorf("%s first: %+v, %v", order[0].Pod.Name, out, err)
		}
	}
}

// A search after a greedy attempt leaves nominated pods their nodes until they are placed, like the attempt.
func TestSearchKeepsNominations(t *testing.T) {
	s := cluster([]*api.Node{api.MakeNode("n1", "2", "16Gi").Obj(), api.MakeNode("n2", "2", "16Gi").Obj(), api.MakeNode("n3", "4", "16Gi").Obj()})
	a, b, c := info(s, api.MakePod("a").Requests("2", "1Gi").Obj()), info(s, api.MakePod("b").Requests("2", "1Gi").Obj()), info(s, api.MakePod("c").Requests("3", "1Gi").Obj())
	if err := s.Nominate(b, "n1", ""); err != nil {
		t.Fatal(err)
	}
	g := &gang.Group{Name: "g", Pods: []*framework.PodInfo{a, b, c}}
	if out, err := placer(gang.Rules{Choice: gang.LeastFree}).Try(s, g); err != nil || out.Status == gang.Placed {
		t.Fatalf("without a search: %+v, %v; want a refusal, because a is on n3", out, err)
	}
	out, err := placer(gang.Rules{Choice: gang.LeastFree, Search: 1000}).Try(s, g)
	if err != nil || out.Status != gang.Placed {
		t.Fatalf("%+v, %v; want all placed", out, err)
	}
	for i, want := range []string{"n2", "n1", "n3"} {
		if at := out.Placed[i]; at.Node != want {
			t.Errorf("%s is on %s, want %s", at.Pod, at.Node, want)
		}
	}
}

func pods(s *framework.Snapshot) (n int) {
	for _, at := range s.All() {
		n += len(at.Pods)
	}
	return n
}

// A group whose victims are leaving, whatever their conditions, preempts no others.
func TestGroupAwaitsVictims(t *testing.T) {
	s := cluster([]*api.Node{api.MakeNode("a", "1", "16Gi").Obj(), api.MakeNode("b", "1", "16Gi").Obj()},
		api.MakePod("x").Requests("1", "1Gi").Node("a").Obj(), api.MakePod("y").Requests("1", "1Gi").Node("b").Obj())
	high := info(s, api.MakePod("high").Requests("1", "1Gi").Priority(5).Obj())
	g := &gang.Group{Name: "g", Pods: []*framework.PodInfo{high}, Priority: 5}
	for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}} {
		p := placer(rules)
		if e, err := p.Preempt(s, g); err != nil || len(e.Victims()) != 1 {
			t.Errorf("%s: %+v, %v; want a victim", rules.Choice, e, err)
		}
		waits := *g
		waits.Awaits = []string{"b"}
		e, err := p.Preempt(s, &waits)
		if err != nil || len(e.Victims()) != 0 || !e.Ongoing || len(e.Nominated) != 1 || e.Nominated[0].Node != "b" {
			t.Errorf("%s: %+v, %v; want no victim, and the pod nominated to b", rules.Choice, e, err)
		}
		all, err := p.PreemptSet(s, &gang.Set{Name: "s", Priority: 5, Children: []gang.Child{
			&gang.Group{Name: "before", Pods: []*framework.PodInfo{info(s, api.MakePod("before").Priority(5).Obj())}, Priority: 5}, &waits,
			&gang.Group{Name: "after", Pods: []*framework.PodInfo{info(s, api.MakePod("after").Priority(5).Obj())}, Priority: 5},
		}})
		if err != nil || len(all.Victims()) != 0 || !all.Ongoing || len(all.Nominated) != 1 || all.Nominated[0].Pod != "default/high" {
			t.Errorf("%s: set: %+v, %v; want no victim", rules.Choice, all, err)
		}
		waits.Awaits = []string{"a", "b"}
		if _, err := p.Preempt(s, &waits); err == nil {
			t.Errorf("%s: two nodes for one pod are accepted", rules.Choice)
		}
	}
}

// Missing.Nodes is what NodesFor says of nodes like the largest of the domain.
func TestMissingNodes(t *testing.T) {
	large := api.MakeNode("t", "4", "8Gi").Labels(rack, "r")
	full := api.MakePod("full").Requests("4", "1Gi").Node("n1")
	shuns := api.MakePod("full").Requests("4", "1Gi").PodAntiAffinity(rack, "app=shunned").Node("n1")
	for name, tt := range map[string]struct {
		node  api.NodeBuilder
		nodes []api.NodeBuilder
		pod   func(i int) api.PodBuilder
		pods  int
	}{
		"room": {large, []api.NodeBuilder{api.MakeNode("n0", "4", "8Gi"), api.MakeNode("n1", "4", "8Gi")}, func(i int) api.PodBuilder {
			return api.MakePod(fmt.Sprint("w", i)).Requests("1500m", "1Gi")
		}, 5},
		"host port": {large, []api.NodeBuilder{api.MakeNode("n0", "4", "8Gi"), api.MakeNode("n1", "4", "8Gi")}, func(i int) api.PodBuilder {
			return api.MakePod(fmt.Sprint("w", i)).Requests("1", "1Gi").HostPort(80)
		}, 3},
		"anti-affinity": {large, []api.NodeBuilder{api.MakeNode("n0", "4", "8Gi"), api.MakeNode("n1", "4", "8Gi")}, func(i int) api.PodBuilder {
			return api.MakePod(fmt.Sprint("w", i)).Labels("app", "w").Requests("1", "1Gi").PodAntiAffinity(api.LabelHostname, "app=w")
		}, 3},
		"anti-affinity by rack": {large, []api.NodeBuilder{api.MakeNode("n0", "4", "8Gi"), api.MakeNode("n1", "4500m", "8Gi")}, func(i int) api.PodBuilder {
			return api.MakePod(fmt.Sprint("w", i)).Labels("app", "w").Requests("1", "1Gi").PodAntiAffinity(rack, "app=w")
		}, 3},
		"kept off the rack": {large, []api.NodeBuilder{api.MakeNode("n0", "500m", "8Gi"), api.MakeNode("n1", "5", "8Gi")}, func(i int) api.PodBuilder {
			return api.MakePod(fmt.Sprint("w", i)).Labels("app", "shunned").Requests("1", "1Gi")
		}, 3},
		"sizes": {large, []api.NodeBuilder{api.MakeNode("n1", "4", "8Gi")}, func(i int) api.PodBuilder {
			return api.MakePod(fmt.Sprint("w", i)).Requests([]string{"1", "4", "4", "4"}[i], "1Gi")
		}, 4},
		"taint": {
			api.MakeNode("t", "64", "64Gi").Labels(rack, "r").Taint("gpu:NoSchedule"),
			[]api.NodeBuilder{api.MakeNode("n1", "4", "8Gi"), api.MakeNode("n2", "64", "64Gi").Taint("gpu:NoSchedule")},
			func(i int) api.PodBuilder { return api.MakePod(fmt.Sprint("w", i)).Requests("1", "1Gi") }, 4,
		},
	} {
		var nodes []*api.Node
		for _, n := range tt.nodes {
			o := n.Labels(rack, "r").Obj()
			o.Labels[api.LabelHostname] = o.Name
			nodes = append(nodes, o)
		}
		there := full
		if name == "kept off the rack" {
			there = shuns
		}
		s := cluster(nodes, there.Obj())
		var list []*framework.PodInfo
		for i := range tt.pods {
			list = append(list, info(s, tt.pod(i).Obj()))
		}
		g := &gang.Group{Name: "g", Pods: list, Topology: []gang.Level{{Key: rack}}}
		for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}} {
			p := placer(rules)
			out, err := p.Try(s, g)
			if err != nil || out.Status == gang.Placed {
				t.Fatalf("%s, %s: %+v, %v", name, rules.Choice, out, err)
			}
			want, _, err := p.NodesFor(s, g, 1, tt.node.Obj(), 10)
			if m := out.Best().Missing; err != nil || m.Nodes != want {
				t.Errorf("%s, %s: %+v, want %d nodes, %v", name, rules.Choice, m, want, err)
			}
			if pods(s) != 1 {
				t.Errorf("%s, %s: the snapshot has %d pods", name, rules.Choice, pods(s))
			}
			if name == "host port" {
				continue // where pods are nominated the port is taken, so the node does not lack room
			}
			f := s.Fork() // nominations of its own pods count for none of them where they are placed
			for _, pod := range list {
				if err := f.Nominate(pod, "n1", ""); err != nil {
					t.Fatal(err)
				}
			}
			again, err := placer(rules).Try(f, g)
			if m := again.Best().Missing; err != nil || m.Nodes != want || f.Nominations() != len(list) {
				t.Errorf("%s, %s: with %d of %d pods nominated: %+v, want %d nodes, %v", name, rules.Choice, f.Nominations(), len(list), m, want, err)
			}
		}
	}
}

// Copies get no names that are left of nodes which are gone.
func TestCopiesBesideLeftNames(t *testing.T) {
	s := racks(0)
	for i := range 2 {
		if err := framework.Put(s, &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("t-", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	pinned := info(s, api.MakePod("a").Requests("1", "1Gi").NodeSelector(api.LabelHostname, "t-0").Obj())
	free := info(s, api.MakePod("b").Requests("3", "1Gi").NodeSelector(api.LabelHostname, "t-2").Obj())
	p := placer(gang.Rules{Choice: gang.BestFit})
	for pod, want := range map[*framework.PodInfo]int{pinned: 0, free: 1} {
		c, err := p.CapacityWith(s, &gang.Group{Name: "g", Pods: []*framework.PodInfo{pod}}, 0, api.MakeNode("t", "4", "8Gi").Obj(), 1)
		if err != nil || c.Fits != want {
			t.Errorf("%s: %+v, %v; want %d", pod.Pod.Name, c, err, want)
		}
	}
}

// PlaceSome says the same of what is missing as Try, though its pods stand.
func TestPlaceSomeMissing(t *testing.T) {
	for _, strict := range []bool{false, true} {
		s := cluster([]*api.Node{api.MakeNode("n", "4", "16Gi").Obj()})
		if strict {
			s.RefuseDuplicates()
		}
		p := placer(gang.Rules{Choice: gang.BestFit})
		g := &gang.Group{Name: "g", Pods: workers(s, 3, "1500m")}
		out, err := p.Try(s, g)
		if err != nil {
			t.Fatal(err)
		}
		some, err := p.PlaceSome(s, g)
		if err != nil || len(some.Placed) != 2 {
			t.Fatalf("%+v, %v", some, err)
		}
		want, got := out.Best().Missing.Resources["cpu"], some.Best().Missing.Resources["cpu"]
		if got != want || want.Least != 500 {
			t.Errorf("strict %t: %+v, want %+v", strict, got, want)
		}
	}
}
