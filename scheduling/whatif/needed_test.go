package whatif_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

func ExamplePlanner_NodesNeeded() {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "16Gi")})
	small, err := whatif.Replicas(pod(s, api.MakePod("web").Requests("1", "2Gi").Obj()), 10)
	if err != nil {
		panic(err)
	}
	big := pod(s, api.MakePod("db").Requests("12", "8Gi").Obj())
	n, err := planner(s).NodesNeeded(append([]*framework.PodInfo{big}, small...),
		whatif.NodeType{Name: "small", Node: api.MakeNode("", "4", "16Gi").Obj(), Price: 10},
		whatif.NodeType{Name: "large", Node: api.MakeNode("", "16", "64Gi").Obj(), Price: 35, Max: 3},
	)
	if err != nil {
		panic(err)
	}
	if err := n.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	var first whatif.NodeCount = n.Counts[0]
	fmt.Println(first.Type, first.Nodes)
	// Output:
	// price 45, the cheapest found; none costs less than 40
	// TYPE   NODES
	// small  1
	// large  1
	// 11 pods placed, 0 fit on none
	// small 1
}

// enough places the pods with n more nodes by hand.
func enough(t *testing.T, s *framework.Snapshot, pods []*framework.PodInfo, pattern *api.Node, n int) int {
	t.Helper()
	s = s.Fork()
	for i := range n {
		node := api.Clone(pattern)
		node.Name = fmt.Sprint("new-", i)
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels[api.LabelHostname] = node.Name
		if err := s.AddNode(node); err != nil {
			t.Fatal(err)
		}
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	placed := 0
	for _, pod := range pods {
		if pod.HasGates() {
			continue
		}
		if _, err := sched.Place(s, pod); err == nil {
			placed++
		}
	}
	return placed
}

// apartCase is a small cluster, pods with constraints that draw them apart, and a pattern of
// new nodes. With some seeds, more nodes place fewer of the pods.
func apartCase(seed uint64) (*framework.Snapshot, []*framework.PodInfo, *api.Node) {
	keys := []string{api.LabelTopologyZone, api.LabelHostname, "rack"}
	r := rand.New(rand.NewPCG(seed, 77))
	var nodes []api.NodeBuilder
	for i := range 2 + r.IntN(4) {
		nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(2+r.IntN(4)), "16Gi").Zone(fmt.Sprint("z", r.IntN(3))).Labels("rack", fmt.Sprint("r", r.IntN(3))))
	}
	s := cluster(nodes)
	var pods []*framework.PodInfo
	for i := range 4 + r.IntN(5) {
		b := api.MakePod(fmt.Sprint("p", i)).Labels("app", fmt.Sprint("a", r.IntN(3))).Requests(fmt.Sprint(100*(1+r.IntN(30)), "m"), "1Gi")
		for range r.IntN(3) {
			b = b.Spread(int32(1+r.IntN(2)), keys[r.IntN(3)], api.DoNotSchedule, fmt.Sprint("app=a", r.IntN(3)))
		}
		if r.IntN(3) == 0 {
			b = b.PodAntiAffinity(keys[r.IntN(3)], fmt.Sprint("app=a", r.IntN(3)))
		}
		pods = append(pods, pod(s, b.Obj()))
	}
	pattern := api.MakeNode("new", fmt.Sprint(3+r.IntN(4)), "16Gi").Zone(fmt.Sprint("z", r.IntN(3))).Obj()
	return s, pods, pattern
}

// drawnApart are seeds; some of them give cases where more nodes place fewer pods.
var drawnApart = []uint64{0, 1, 2, 3, 4, 40, 426, 533, 591, 627, 705}

// TestNodesNeededWorse expects the number of nodes that places the most pods where more
// nodes place fewer: their scores and domains draw the pods apart.
func TestNodesNeededWorse(t *testing.T) {
	worse := 0
	for _, seed := range drawnApart {
		s, pods, pattern := apartCase(seed)
		most, want, last := -1, 0, 0
		for n := range len(pods) + 1 {
			if last = enough(t, s, pods, pattern, n); last > most {
				most, want = last, n
			}
		}
		if last < most {
			worse++
		}
		got, err := planner(s).NodesNeeded(pods, whatif.NodeType{Name: "new", Node: pattern})
		if err != nil || got.Counts[0].Nodes != want || len(got.Placement.Placed) != most || !got.Exact {
			t.Errorf("seed %d: %+v, %v; want %d nodes for %d pods", seed, got, err, want, most)
		}
	}
	if worse < 6 {
		t.Errorf("more nodes place fewer pods in %d cases, want 6", worse)
	}
}

// TestNodesNeededOneType compares with trying every number of nodes by hand.
func TestNodesNeededOneType(t *testing.T) {
	several := 0
	for seed := range uint64(effort.Of(20, 40)) {
		s, pending := random(t, seed)
		r := rand.New(rand.NewPCG(seed, 1))
		var pods []*framework.PodInfo
		for _, p := range pending {
			if f, err := planner(s).Headroom(p, 1); err != nil || f == nil {
				continue // it cannot be decided
			}
			more, err := whatif.Replicas(p, r.IntN(5))
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, more...)
		}
		if len(pods) > 12 {
			pods = pods[:12]
		}
		pattern := frameworktest.Node(r, "new")
		if seed%2 == 0 {
			pattern = api.MakeNode("new", "2", "4Gi").Zone("z1").Obj()
		}
		before := content(s)
		got, err := planner(s).NodesNeeded(pods, whatif.NodeType{Name: "new", Node: pattern})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		most, want := -1, 0
		for n := range len(pods) + 1 {
			if placed := enough(t, s, pods, pattern, n); placed > most {
				most, want = placed, n
			}
		}
		if got.Counts[0].Nodes != want || len(got.Placement.Placed) != most || !got.Exact || got.Price != int64(want) {
			t.Errorf("seed %d: %d pods: %d nodes for %d pods, exact %t; want %d nodes for %d pods",
				seed, len(pods), got.Counts[0].Nodes, len(got.Placement.Placed), got.Exact, want, most)
		}
		if want > 1 {
			several++
		}
		if content(s) != before {
			t.Errorf("seed %d: the snapshot changed", seed)
		}
	}
	if several < effort.Of(1, 3) {
		t.Errorf("only %d cases needed more than one node", several)
	}
}

// TestNodesNeededTypes compares several types with trying every choice by hand.
func TestNodesNeededTypes(t *testing.T) {
	best, cases := 0, 0
	for seed := range uint64(effort.Of(10, 25)) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := cluster([]api.NodeBuilder{api.MakeNode("a", "2", "4Gi")})
		var pods []*framework.PodInfo
		for i := range 3 + r.IntN(5) {
			pods = append(pods, pod(s, api.MakePod(fmt.Sprint("p", i)).Requests(fmt.Sprint(1+r.IntN(4)), fmt.Sprintf("%dGi", 1+r.IntN(6))).Obj()))
		}
		types := []whatif.NodeType{
			{Name: "small", Node: api.MakeNode("", "2", "4Gi").Obj(), Price: 3, Max: 4},
			{Name: "medium", Node: api.MakeNode("", "4", "8Gi").Obj(), Price: 5, Max: 3},
			{Name: "large", Node: api.MakeNode("", "8", "12Gi").Obj(), Price: 8, Max: 2},
		}
		got, err := planner(s).NodesNeeded(pods, types...)
		if err != nil {
			t.Fatal(err)
		}
		cheapest := int64(1 << 40)
		for a := range 5 {
			for b := range 4 {
				for c := range 3 {
					f := s.Fork()
					for i, n := range []int{a, b, c} {
						for k := range n {
							node := api.Clone(types[i].Node)
							node.Name = fmt.Sprintf("%s-%d", types[i].Name, k)
							if err := f.AddNode(node); err != nil {
								t.Fatal(err)
							}
						}
					}
					if placed := enough(t, f, pods, nil, 0); placed >= len(got.Placement.Placed) {
						cheapest = min(cheapest, int64(3*a+5*b+8*c))
					}
				}
			}
		}
		cases++
		if got.Price == cheapest {
			best++
		}
		if got.Price < cheapest || got.LowerBound > cheapest || got.Exact && got.Price != cheapest {
			t.Errorf("seed %d: price %d, lower bound %d, exact %t; the cheapest costs %d", seed, got.Price, got.LowerBound, got.Exact, cheapest)
		}
		if got.Price > cheapest+5 {
			t.Errorf("seed %d: price %d, the cheapest costs %d", seed, got.Price, cheapest)
		}
	}
	if best < cases*6/10 {
		t.Errorf("the cheapest choice was found in %d of %d cases", best, cases)
	}
	t.Logf("the cheapest choice was found in %d of %d cases", best, cases)
}

// TestNodesNeededDaemons checks that pods that come with a node take their share.
func TestNodesNeededDaemons(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	pods, err := whatif.Replicas(pod(s, api.MakePod("web").Requests("1", "").Obj()), 6)
	if err != nil {
		t.Fatal(err)
	}
	typ := whatif.NodeType{Name: "n", Node: api.MakeNode("", "4", "").Obj(), Pods: []*api.Pod{api.MakePod("agent").Requests("1500m", "").Obj()}}
	got, err := planner(s).NodesNeeded(pods, typ)
	if err != nil || got.Counts[0].Nodes != 3 {
		t.Errorf("NodesNeeded = %+v, %v; want 3 nodes", got, err)
	}
	typ.Max = 2
	got, err = planner(s).NodesNeeded(pods, typ)
	if err != nil || got.Counts[0].Nodes != 2 || len(got.Placement.Unplaced) != 2 {
		t.Errorf("NodesNeeded of at most 2 = %+v, %v", got, err)
	}
	for _, bad := range [][]whatif.NodeType{
		{{Node: typ.Node}},
		{{Name: "x"}},
		{typ, typ},
		{{Name: "x", Node: typ.Node, Price: -1}},
		{{Name: "x", Node: typ.Node, Max: -1}},
		{{Name: "x", Node: typ.Node, Pods: []*api.Pod{nil}}},
	} {
		if _, err := planner(s).NodesNeeded(pods, bad...); err == nil {
			t.Errorf("%+v is no error", bad)
		}
	}
	if _, err := planner(s).NodesNeeded([]*framework.PodInfo{nil}, typ); err == nil {
		t.Error("a nil pod is no error")
	}
}

// TestNodesNeededDaemonsApart expects nodes of a type that the pods fit on, though pods that
// come with another type keep them away from its zone.
func TestNodesNeededDaemonsApart(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "1", "1Gi").Zone("far")})
	pods, err := whatif.Replicas(pod(s, api.MakePod("web").Labels("app", "web").Requests("2", "1Gi").Obj()), 4)
	if err != nil {
		t.Fatal(err)
	}
	loner := api.MakePod("loner").PodAntiAffinity(api.LabelTopologyZone, "app=web").Obj()
	got, err := planner(s).NodesNeeded(pods,
		whatif.NodeType{Name: "x", Node: api.MakeNode("", "4", "4Gi").Zone("z").Obj(), Pods: []*api.Pod{loner}, Price: 1, Max: 3},
		whatif.NodeType{Name: "y", Node: api.MakeNode("", "4", "4Gi").Zone("z").Obj(), Price: 5, Max: 3})
	if err != nil || got.Counts[1].Nodes != 2 || len(got.Placement.Placed) != 4 {
		t.Errorf("NodesNeeded = %+v, %v; want two nodes of y for 4 pods", got, err)
	}
}

// undecided cannot decide about pods with a name.
type undecided string

func (undecided) Name() string { return "Undecided" }

func (u undecided) Filter(p *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	if p.Pod.Name == string(u) {
		return framework.AsStatus(errors.New("no answer"))
	}
	return framework.Status{}
}

// TestNodesNeededKeptOff: pods that come with the nodes of a type keep pods off other nodes in their
// zone, but only if such nodes are added: the lower bound counts with those other nodes.
func TestNodesNeededKeptOff(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("here", "2", "4Gi").Zone("x")})
	web := pod(s, api.MakePod("web").Labels("app", "web").Requests("1", "1Gi").Obj())
	jealous := api.MakePod("jealous").PodAntiAffinity(api.LabelTopologyZone, "app=web").Obj()
	got, err := planner(s).NodesNeeded([]*framework.PodInfo{web},
		whatif.NodeType{Name: "a", Node: api.MakeNode("", "2", "4Gi").Zone("x").Obj(), Price: 5, Max: 1, Pods: []*api.Pod{jealous}},
		whatif.NodeType{Name: "c", Node: api.MakeNode("", "2", "4Gi").Zone("y").Obj(), Price: 3, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got.Price != 0 || got.LowerBound != 0 || !got.Exact || len(got.Placement.Placed) != 1 {
		t.Errorf("%+v; want the pod placed without new nodes", got)
	}
}

// TestNodesNeededZones: pods that spread over zones and hosts need nodes in each zone, and a type is in
// one. The answer has hardly more nodes than hold the pods.
func TestNodesNeededZones(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for _, tt := range []struct{ types, replicas, price int }{
		{3, 24, 0}, {3, 96, 90}, {3, 300, 360}, {3, 2000, 2490}, {5, 96, 90}, {5, 300, 360}, {5, 2000, 2490},
	} {
		s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "16Gi").Zone("z0"), api.MakeNode("b", "4", "16Gi").Zone("z1"), api.MakeNode("c", "4", "16Gi").Zone("z2")})
		web := api.MakePod("web").Labels("app", "web").Requests("500m", "1Gi")
		web = web.Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=web").Spread(1, api.LabelHostname, api.DoNotSchedule, "app=web")
		pods, err := whatif.Replicas(pod(s, web.Obj()), tt.replicas)
		if err != nil {
			t.Fatal(err)
		}
		var types []whatif.NodeType
		for i := range tt.types { // some zones have two types
			types = append(types, whatif.NodeType{Name: fmt.Sprint("t", i), Price: 10, Node: api.MakeNode("", "4", "16Gi").Zone(fmt.Sprint("z", i%3)).Obj()})
		}
		got, err := planner(s).NodesNeeded(pods, types...)
		if err != nil {
			t.Fatal(err)
		}
		if got.Price > int64(tt.price) || got.LowerBound > got.Price || len(got.Placement.Placed) != tt.replicas {
			t.Errorf("%d types, %d replicas: price %d, at least %d, %d placed; want a price of %d", tt.types, tt.replicas, got.Price, got.LowerBound, len(got.Placement.Placed), tt.price)
		}
	}
}

// TestNodesNeededMinDomains: a constraint with minDomains may need more nodes than pods. Each node
// comes with a pod that the constraint counts, so that two domains are too few.
func TestNodesNeededMinDomains(t *testing.T) {
	agent := api.MakePod("agent").Labels("app", "web").Obj()
	for _, test := range []struct{ min, want int }{{1, 1}, {3, 3}} {
		s := cluster(nil)
		web := api.MakePod("web").Labels("app", "web").Requests("1", "1Gi").Spread(1, api.LabelHostname, api.DoNotSchedule, "app=web").Obj()
		web.Spec.TopologySpreadConstraints[0].MinDomains = new(int32(test.min))
		got, err := planner(s).NodesNeeded([]*framework.PodInfo{pod(s, web)}, whatif.NodeType{Name: "a", Node: api.MakeNode("", "2", "4Gi").Obj(), Pods: []*api.Pod{agent}})
		if err != nil {
			t.Fatal(err)
		}
		if got.Counts[0].Nodes != test.want || len(got.Placement.Placed) != 1 || !got.Exact {
			t.Errorf("minDomains %d: %+v; want %d nodes", test.min, got, test.want)
		}
	}
}

// TestNodesNeededUndecided: a pod that a plugin cannot decide about is left out, and no other
// pod with it.
func TestNodesNeededUndecided(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "2", "64Gi")})
	var pods []*framework.PodInfo
	for i := range 4 {
		pods = append(pods, pod(s, api.MakePod(fmt.Sprint("p", i)).Requests("2", "1Gi").Obj()))
	}
	for i := range pods {
		profile := scheduling.Kubernetes137()
		profile.Filter = append([]framework.Plugin{undecided(fmt.Sprint("p", i))}, profile.Filter...)
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.NodesNeeded(pods, whatif.NodeType{Name: "new", Node: api.MakeNode("", "2", "64Gi").Obj()})
		if err != nil {
			t.Fatal(err)
		}
		left := got.Placement.Unplaced
		if got.Counts[0].Nodes != 2 || len(left) != 1 || left[0].Pod != fmt.Sprint("default/p", i) || !strings.Contains(left[0].Message, "no answer") {
			t.Errorf("%d nodes, %+v left; want 2, and p%d, about which there is no answer", got.Counts[0].Nodes, left, i)
		}
	}
}

// lookedAt counts how often each pod is compared with a node.
type lookedAt struct{ counts map[string]int }

func (*lookedAt) Name() string { return "LookedAt" }

func (l *lookedAt) Filter(p *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	l.counts[p.Pod.Name]++
	return framework.Status{}
}

// TestNodesNeededHopeless expects that pods that fit on no node are found at once, and not
// tried with every number of nodes.
func TestNodesNeededHopeless(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "2", "64Gi"), api.MakeNode("b", "2", "64Gi")})
	var pods []*framework.PodInfo
	for i := range 40 {
		pods = append(pods,
			pod(s, api.MakePod(fmt.Sprint("huge-", i)).Requests("100", fmt.Sprintf("%dMi", i)).Obj()),
			pod(s, api.MakePod(fmt.Sprint("small-", i)).Requests("500m", "1Gi").Obj()),
			pod(s, api.MakePod(fmt.Sprint("big-", i)).Requests("2500m", "1Gi").Obj()))
	}
	profile, seen := scheduling.Kubernetes137(), &lookedAt{map[string]int{}}
	profile.Filter = append([]framework.Plugin{seen}, profile.Filter...)
	p, err := whatif.New(profile, s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.NodesNeeded(pods, whatif.NodeType{Name: "new", Node: api.MakeNode("", "4", "64Gi").Obj()})
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Counts[0].Nodes; n < 40 || len(got.Placement.Placed) != 80 || len(got.Placement.Unplaced) != 40 {
		t.Fatalf("%d nodes, %d pods placed, %d not; want at least 40, 80 and 40", n, len(got.Placement.Placed), len(got.Placement.Unplaced))
	}
	most := s.Len() + 1 + s.Len() + got.Counts[0].Nodes // at first, and when all others are placed
	for i, u := range got.Placement.Unplaced {
		if name := fmt.Sprint("huge-", i); u.Pod != "default/"+name || seen.counts[name] > most {
			t.Errorf("unplaced %s, looked at %d times, want %s and at most %d times", u.Pod, seen.counts[name], name, most)
		}
	}
}

// TestNodesNeededEndlessNode: a node that says it takes any number of pods is not filled to find
// out how many that is.
func TestNodesNeededEndlessNode(t *testing.T) {
	for _, first := range []string{"n", "small"} { // in the order in which nodes are filled
		s := framework.NewSnapshot(framework.NodeOrder(0))
		for _, name := range []string{first, "n", "small"} {
			n := api.MakeNode(name, "4", "8Gi").Obj()
			if n.Status.Allocatable[resource.Pods] = resource.MustParse("1000000"); name == "small" {
				n.Status.Allocatable[resource.Pods] = resource.MustParse("1")
			}
			if s.Node(name) == nil {
				if err := s.AddNode(n); err != nil {
					t.Fatal(err)
				}
			}
		}
		p := planner(s)
		pods, err := whatif.Replicas(pod(s, api.MakePod("w").Obj()), 3)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := p.NodesNeeded(pods, whatif.NodeType{Name: "t", Node: api.MakeNode("t", "4", "8Gi").Obj()})
		runtime.ReadMemStats(&after)
		if err != nil || got.Counts[0].Nodes != 0 || len(got.Placement.Placed) != 3 {
			t.Errorf("NodesNeeded = %+v, %v; want no nodes, and 3 pods placed", got, err)
		}
		if made := after.Mallocs - before.Mallocs; made > 500_000 {
			t.Errorf("%d objects were made, as if a million replicas were placed", made)
		}
	}
}

// TestNodesNeededReached lets a search that has nothing left to spend come to the largest
// number of nodes where it places fewer pods than a smaller one. The answer must be one
// that places the most.
func TestNodesNeededReached(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	worse, seeds := 0, drawnApart
	if effort.Full() {
		seeds = nil
		for seed := range uint64(1000) {
			seeds = append(seeds, seed)
		}
	}
	for _, seed := range seeds {
		s, pods, pattern := apartCase(seed)
		if enough(t, s, pods, pattern, len(pods)) == enoughAtBest(t, s, pods, pattern) {
			continue
		}
		worse++
		n, placed, err := planner(s).NodesNeededSpent(pods, whatif.NodeType{Name: "new", Node: pattern})
		if err != nil {
			t.Fatal(err)
		}
		most := enoughAtBest(t, s, pods, pattern)
		if got := enough(t, s, pods, pattern, n); got != most || placed != most {
			t.Errorf("seed %d: %d nodes, which place %d of %d pods; %d are possible", seed, n, got, placed, most)
		}
	}
	if worse < 5 {
		t.Errorf("all nodes place fewer pods than some in %d cases, want 5", worse)
	}
}

// enoughAtBest is the most pods that any number of nodes places.
func enoughAtBest(t *testing.T, s *framework.Snapshot, pods []*framework.PodInfo, pattern *api.Node) (most int) {
	t.Helper()
	for n := range len(pods) + 1 {
		most = max(most, enough(t, s, pods, pattern, n))
	}
	return most
}

// TestNodesNeededAnyOrder expects one new node. The nodes that there are take two of the
// replicas once the first pod keeps them off node a, but one if they come first: a lower
// bound from what they take alone would be two new nodes.
func TestNodesNeededAnyOrder(t *testing.T) {
	s := cluster([]api.NodeBuilder{
		api.MakeNode("a", "16", "16Gi").Zone("z1").Labels("rack", "r1"),
		api.MakeNode("b", "2", "16Gi").Zone("z1").Labels("rack", "r2"),
		api.MakeNode("c", "2", "16Gi").Zone("z2").Labels("rack", "r1"),
	})
	web := pod(s, api.MakePod("web").Labels("app", "web").Requests("1", "1Gi").
		PodAntiAffinity(api.LabelTopologyZone, "app=web").PodAntiAffinity("rack", "app=web").Obj())
	if h, err := planner(s).Headroom(web, 0); err != nil || h.Total != 1 {
		t.Fatalf("Headroom = %+v, %v; want 1, or the test shows nothing", h, err)
	}
	pods, err := whatif.Replicas(web, 3)
	if err != nil {
		t.Fatal(err)
	}
	pods = append([]*framework.PodInfo{pod(s, api.MakePod("first").Requests("16", "1Gi").Obj())}, pods...)
	typ := whatif.NodeType{Name: "new", Node: api.MakeNode("", "2", "16Gi").Zone("z3").Labels("rack", "r3").Obj()}
	got, err := planner(s).NodesNeeded(pods, typ)
	if err != nil || got.Counts[0].Nodes != 1 || len(got.Placement.Placed) != 4 || got.LowerBound != 1 || !got.Exact {
		t.Errorf("NodesNeeded = %+v, %v; want exactly one node for four pods", got, err)
	}
}

// TestNodesNeededPrices asks with the highest prices: sums stay exact, and higher prices are
// refused.
func TestNodesNeededPrices(t *testing.T) {
	const highest = int64(1) << 40
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "1", "1Gi")})
	web := pod(s, api.MakePod("web").Requests("3", "1Gi").Obj())
	pods, err := whatif.Replicas(web, 20_000)
	if err != nil {
		t.Fatal(err)
	}
	typeOf := func(name, cpu string, price int64) whatif.NodeType {
		return whatif.NodeType{Name: name, Node: api.MakeNode("", cpu, "64Gi").Obj(), Price: price}
	}
	got, err := planner(s).NodesNeeded(pods, typeOf("x", "4", highest), typeOf("y", "7", highest-1))
	if want := 10_000 * (highest - 1); err != nil || got.Price != want || got.LowerBound != want || !got.Exact || got.Counts[1].Nodes != 10_000 {
		t.Errorf("NodesNeeded = %v, price %d, lower bound %d, %v; want 10000 of y for %d", got.Counts, got.Price, got.LowerBound, err, want)
	}
	for _, price := range []int64{highest + 1, 1 << 62, math.MaxInt64} {
		_, err := planner(s).NodesNeeded(pods[:2], typeOf("x", "4", 1), typeOf("y", "4", price))
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || invalid.Object != "types[1]" || invalid.Field != "price" || invalid.Value != fmt.Sprint(price) {
			t.Errorf("price %d: %v, want an error about types[1].price", price, err)
		}
	}
}

// TestNodesNeededCountsOnce expects that pods with a spread constraint do not make every
// fork count the pods of the cluster again. Work shows in what it allocates: counting once
// is what a Planner's first question about such a pod costs.
func TestNodesNeededCountsOnce(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "1000", "64Gi").Zone("z0")})
	for i := range 3000 { // each of a class of its own
		p := pod(s, api.MakePod(fmt.Sprint("p", i)).Labels("app", fmt.Sprint("app-", i)).Obj())
		if err := s.AddPod(p, "a"); err != nil {
			t.Fatal(err)
		}
	}
	web := pod(s, api.MakePod("web").Labels("app", "web").Requests("2", "1Gi").
		Spread(9, api.LabelTopologyZone, api.DoNotSchedule, "app=web").Obj())
	pods, err := whatif.Replicas(web, 40)
	if err != nil {
		t.Fatal(err)
	}
	allocated := func(f func(p *whatif.Planner) error) uint64 {
		p := planner(s)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := f(p); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	once := allocated(func(p *whatif.Planner) error { _, err := p.Decide(web, "a"); return err })
	all := allocated(func(p *whatif.Planner) error {
		_, err := p.NodesNeeded(pods,
			whatif.NodeType{Name: "x", Node: api.MakeNode("", "4", "64Gi").Zone("z1").Obj()},
			whatif.NodeType{Name: "y", Node: api.MakeNode("", "8", "64Gi").Zone("z2").Obj(), Price: 2})
		return err
	})
	t.Logf("%d bytes to count once, %d for NodesNeeded", once, all)
	if all > 6*once {
		t.Errorf("NodesNeeded allocates %d bytes, counting once %d: every fork counts", all, once)
	}
}

// TestNodesNeededBringMany: where many pods come with each node, no more nodes are tried than there is memory for, of each type
// alike. What does not fit on them is unplaced.
func TestNodesNeededBringMany(t *testing.T) {
	s := cluster(nil)
	var pods []*framework.PodInfo
	for i := range 20 {
		pods = append(pods, pod(s, api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Obj()))
	}
	daemon := func(name string) *api.Pod { return api.MakePod(name).Obj() }
	small := whatif.NodeType{Name: "small", Node: api.MakeNode("small", "1", "2Gi").Obj(), Pods: []*api.Pod{daemon("a"), daemon("b"), daemon("c")}}
	large := whatif.NodeType{Name: "large", Node: api.MakeNode("large", "2", "4Gi").Obj(), Pods: []*api.Pod{daemon("a")}}
	labelled := whatif.NodeType{Name: "labelled", Node: api.MakeNode("labelled", "1", "2Gi").Obj()} // as much as small
	for i := range 60 {
		labelled.Node.Labels[fmt.Sprint("l", i)] = ""
	}
	imaged := whatif.NodeType{Name: "imaged", Node: api.MakeNode("imaged", "1", "2Gi").Obj()}
	imaged.Node.Status.Images = make([]api.ContainerImage, 60)
	for _, tt := range []struct {
		most, placed int
		types        []whatif.NodeType
	}{
		{1000, 20, []whatif.NodeType{small}},
		{40, 10, []whatif.NodeType{small}},
		{40, 10, []whatif.NodeType{labelled}},
		{40, 10, []whatif.NodeType{imaged}},
		{40, 20, []whatif.NodeType{small, large}},
		{16, 10, []whatif.NodeType{small, large}},
	} {
		p := planner(s)
		p.BringAtMost(tt.most)
		n, err := p.NodesNeeded(pods, tt.types...)
		if err != nil || len(n.Placement.Placed) != tt.placed {
			t.Errorf("at most %d of %d types: %d pods are placed, want %d; %v", tt.most, len(tt.types), len(n.Placement.Placed), tt.placed, err)
		}
	}
}
