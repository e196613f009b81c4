package gang_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// A rack of two nodes takes 8 pods; a group of 10 that must be in one rack is refused as a
// whole, and the outcome says what is missing.
func ExamplePlacer_Place() {
	snapshot := racks(1, 2)
	sched, _ := scheduling.New(scheduling.Kubernetes137())
	placer, _ := gang.New(sched, gang.Rules{Choice: gang.BestFit})
	group := &gang.Group{Name: "training", Pods: workers(snapshot, 10, "1"), Topology: []gang.Level{{Key: rack, Mode: gang.Required}}}

	var out *gang.Outcome
	out, err := placer.Place(snapshot, group)
	fmt.Println(out.Status, out.Proved, err)
	fmt.Println(out.Text)
	var best *gang.Trial = out.Best()
	var missing *gang.Missing = best.Missing
	var cpu gang.Shortage = missing.Resources["cpu"]
	fmt.Println(best.Domain, missing.Pods, cpu.Nodes, missing.Blocked)

	group.Min = 8
	out, err = placer.Place(snapshot, group)
	var first gang.Placement = out.Placed[0]
	var left gang.Left = out.Left[0]
	var status gang.Status = out.Status
	fmt.Println(status, out.Domain, len(out.Placed), first.Pod, first.Node, left.Pod, err)
	// Output:
	// Short true <nil>
	// rack r1 takes 8 of 10 pods; default/worker-8: 0/2 nodes are available: 2 Insufficient cpu. Missing room for 2 pods: 1 empty node like its largest.
	// [{example.com/rack r1}] 2 2 map[Insufficient cpu:2]
	// Placed [{example.com/rack r1}] 8 default/worker-0 r1-0 default/worker-8 <nil>
}

// Four pods in slices of two, each slice on one node.
func ExampleLevel() {
	snapshot := hosts(3, 3)
	choices := []gang.Choice{gang.BestFit, gang.LeastFree}
	var mode gang.Mode = gang.Counted
	for _, choice := range choices {
		p := placer(gang.Rules{Choice: choice, Order: gang.Order(gang.AsGiven)})
		out, _ := p.Try(snapshot, &gang.Group{Name: "g", Pods: workers(snapshot, 4, "1"), Topology: []gang.Level{{Key: api.LabelHostname, Mode: mode, Slice: 2}}})
		fmt.Println(choice, counts(out))
	}
	// Output:
	// BestFit map[n0:2 n1:2]
	// LeastFree map[n0:2 n1:2]
}

// How many more gangs of four pods fit, and how many would if racks did not matter.
func ExamplePlacer_Capacity() {
	snapshot := racks(1, 1, 1)
	p := placer(gang.Rules{Choice: gang.BestFit})
	shape := &gang.Group{Name: "shape", Pods: workers(snapshot, 3, "1"), Topology: []gang.Level{{Key: rack}}}
	var c gang.Count
	c, err := p.Capacity(snapshot, shape, 0)
	fmt.Println(c.Fits, c.Anywhere, c.Exact, err)
	// Output: 3 4 true <nil>
}

// At least two of three groups, all in one rack.
func ExamplePlacer_PlaceSet() {
	snapshot := racks(1, 2)
	set := &gang.Set{Name: "set", Min: 2, Topology: rack}
	for _, name := range []string{"a", "b", "c"} {
		g := &gang.Group{Name: name}
		for i := range 3 {
			g.Pods = append(g.Pods, info(snapshot, api.MakePod(fmt.Sprint(name, i)).Requests("1", "1Gi").Obj()))
		}
		var child gang.Child = g
		set.Children = append(set.Children, child)
	}
	var out *gang.SetOutcome
	out, err := placer(gang.Rules{Choice: gang.BestFit}).PlaceSet(snapshot, set)
	var first gang.ChildOutcome = out.Children[0]
	fmt.Println(out.Status, out.Stand, out.Domain, len(first.Group.Placed), err)
	// Output: Placed 2 [{example.com/rack r1}] 3 <nil>
}

// Two pods of low priority have to leave so that a group stands.
func ExamplePlacer_Preempt() {
	snapshot := racks(1)
	for i := range 2 {
		low := info(snapshot, api.MakePod(fmt.Sprint("low-", i)).Requests("2", "1Gi").Obj())
		if err := snapshot.AddPod(low, "r0-0"); err != nil {
			fmt.Println(err)
		}
	}
	g := &gang.Group{Name: "g", Priority: 10, Pods: []*framework.PodInfo{info(snapshot, api.MakePod("high").Priority(10).Requests("3", "1Gi").Obj())}}
	var e *gang.Eviction
	e, err := placer(gang.Rules{}).Preempt(snapshot, g)
	fmt.Println(e.Text, err)
	for _, u := range e.Units {
		var unit gang.Unit = u
		var victim gang.Member = unit.Members[0]
		fmt.Println(victim.Pod.Pod.Name, unit.Priority, unit.ViolatesBudget)
	}
	// Output:
	// pod group preemption: found a placement for podgroup, preempting 2 victims <nil>
	// low-0 0 false
	// low-1 0 false
}

// What kube-scheduler would write to the group and its pods.
func ExamplePlacer_Attempt() {
	snapshot := racks(1)
	object := &api.PodGroup{
		ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "g"},
		Spec:       api.PodGroupSpec{SchedulingPolicy: api.PodGroupSchedulingPolicy{Gang: &api.GangSchedulingPolicy{MinCount: 5}}},
	}
	var c *gang.Cycle
	c, err := placer(gang.Rules{}).Attempt(snapshot, gang.GroupOf(snapshot, object, workers(snapshot, 5, "1")))
	fmt.Println(c.Condition.Reason, err)
	fmt.Println(c.Condition.Message)
	var last gang.PodReport = c.Pods[4]
	fmt.Println(last.Message)
	// Output:
	// Unschedulable <nil>
	// pod group is unschedulable, 0/1 placements are available, first placement status: minCount (5) cannot be satisfied: 4 scheduled, 0 remaining, pod group preemption: No preemption victims found for incoming preemptor
	// 0/1 nodes are available: 1 Insufficient cpu.
}

// Placement scores are plugins: this one prefers domains with few nodes.
func ExampleWeightedScore() {
	snapshot := racks(3, 1)
	var scorer gang.PlacementScorer = small{}
	_, normalizes := scorer.(gang.PlacementNormalizer)
	rules := gang.Rules{Scores: []gang.WeightedScore{{Scorer: scorer, Weight: 1}, {Scorer: gang.NodeResourcesFit{}}, {Scorer: gang.PodGroupPodsCount{}}}}
	out, err := placer(rules).Try(snapshot, &gang.Group{Name: "g", Pods: workers(snapshot, 2, "1"), Topology: []gang.Level{{Key: rack}}})
	var value gang.Value = out.Domain[0]
	var score gang.Score = out.Best().Scores[0]
	fmt.Println(value.Value, score, normalizes, err)
	// Output: r1 {Small 99 99} true <nil>
}

// small prefers domains with few nodes.
type small struct{}

func (small) Name() string                         { return "Small" }
func (small) ScorePlacement(p gang.Proposal) int64 { return 100 - int64(len(p.Slots)) }
func (small) NormalizePlacements(scores []int64)   {}

// The annotations of Koordinator's coscheduling.
func ExampleKoordinatorGangs() {
	snapshot := racks(1, 1)
	pod := func(name string) *framework.PodInfo {
		return info(snapshot, api.MakePod(name).Namespace("ai").Annotations(
			"gang.scheduling.koordinator.sh/name", "train", "gang.scheduling.koordinator.sh/min-available", "2",
			"gang.scheduling.koordinator.sh/match-policy", "only-waiting",
			"gang.scheduling.koordinator.sh/network-topology-spec", `{"gatherStrategy":[{"layer":"rackLayer","strategy":"MustGather"}]}`,
		).Requests("1", "1Gi").Obj())
	}
	list, err := gang.KoordinatorGangs([]*framework.PodInfo{pod("b"), pod("a")}, nil, []gang.KoordinatorLayer{{Name: "rackLayer", Label: rack}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var k *gang.KoordinatorGang = list[0]
	var policy gang.MatchPolicy = k.Policy
	fmt.Println(k.Key(), k.Min, policy, k.Ready(), k.Pods[0].Pod.Name, k.Levels)
	out, err := placer(gang.Rules{Choice: gang.BestFit}).Place(snapshot, k.Group(false))
	fmt.Println(out.Status, err)
	// Output:
	// ai/train 2 only-waiting true a [{example.com/rack Required 0}]
	// Placed <nil>
}

// The annotations of Kueue's topology-aware scheduling.
func ExampleKueueLevels() {
	levels, choice, err := gang.KueueLevels(map[string]string{
		"kueue.x-k8s.io/podset-preferred-topology":      rack,
		"kueue.x-k8s.io/podset-slice-required-topology": api.LabelHostname,
		"kueue.x-k8s.io/podset-slice-size":              "4",
	}, []string{block, rack, api.LabelHostname})
	fmt.Println(choice, err)
	for _, l := range levels {
		fmt.Println(l.Key, l.Mode, l.Slice)
	}
	// Output:
	// BestFit <nil>
	// example.com/block Preferred 0
	// example.com/rack Preferred 0
	// kubernetes.io/hostname Counted 4
}

// The order in which kube-scheduler tries the pods of a group.
func ExampleCompareWaiting() {
	snapshot := racks(1)
	a := gang.Waiting{Pod: info(snapshot, api.MakePod("a").Obj())}
	b := gang.Waiting{Pod: info(snapshot, api.MakePod("b").Obj()), Attempts: 1}
	fmt.Println(gang.CompareWaiting(a, b) > 0) // more attempts come first
	// Output: true
}
