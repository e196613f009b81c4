package scheduling_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// twoNodes is a cluster of a small node and a large one.
func twoNodes() *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []api.NodeBuilder{api.MakeNode("small", "2", "4Gi"), api.MakeNode("large", "8", "32Gi")} {
		if err := s.AddNode(n.Obj()); err != nil {
			panic(err)
		}
	}
	return s
}

// pending returns a pod with these requests.
func pending(s *framework.Snapshot, name, cpu, memory string) *framework.PodInfo {
	pod, err := s.NewPodInfo(api.MakePod(name).Requests(cpu, memory).Obj())
	if err != nil {
		panic(err)
	}
	return pod
}

// scheduler builds a scheduler for a profile that is known to be valid.
func scheduler(p scheduling.Profile) *scheduling.Scheduler {
	sched, err := scheduling.New(p)
	if err != nil {
		panic(err)
	}
	return sched
}

// byResources filters and scores only by requests.
func byResources() scheduling.Profile {
	return scheduling.Profile{
		Name:   "by-resources",
		Filter: []framework.Plugin{filter.NodeResourcesFit{}},
		Score:  []scheduling.Weighted{{Plugin: scoring.NodeResourcesFit{}, Weight: 2}, {Plugin: scoring.NodeResourcesBalancedAllocation{}}},
	}
}

func Example() {
	snapshot := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, name := range []string{"a", "b"} {
		if err := snapshot.AddNode(api.MakeNode(name, "4", "16Gi").Obj()); err != nil {
			fmt.Println(err)
			return
		}
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		pod, err := snapshot.NewPodInfo(api.MakePod(name).Requests("1500m", "2Gi").Obj())
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := sched.Place(snapshot, pod)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, "goes to", d.Node)
	}
	// Output:
	// web-0 goes to a
	// web-1 goes to b
	// web-2 goes to a
}

// Schedule only chooses; Assume counts the pod, and Release removes it again.
func ExampleScheduler() {
	s := twoNodes()
	sched := scheduler(scheduling.Kubernetes137())
	pod := pending(s, "web", "1", "1Gi")
	d, err := sched.Schedule(s, pod)
	fmt.Println(d.Node, err, len(s.Node("large").Pods))
	fmt.Println(sched.Assume(s, pod, d), len(s.Node("large").Pods))
	fmt.Println(sched.Release(s, pod, d.Node), len(s.Node("large").Pods))
	// Output:
	// large <nil> 0
	// <nil> 1
	// <nil> 0
}

// New reports every fault of a profile.
func ExampleProfile() {
	p := scheduling.Profile{
		Name:       "packer",
		Filter:     []framework.Plugin{filter.NodeResourcesFit{}, filter.NodeResourcesFit{}},
		Score:      []scheduling.Weighted{{Plugin: scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}}},
		Percentage: 101,
	}
	_, err := scheduling.New(p)
	fmt.Println(err)
	p.Filter, p.Percentage = p.Filter[:1], scheduling.AllNodes
	s := twoNodes()
	d, err := scheduler(p).Place(s, pending(s, "web", "1", "1Gi"))
	fmt.Println(d.Node, err)
	// Output:
	// profile "packer": Filter[1]: plugin "NodeResourcesFit" is listed twice
	// profile "packer": Percentage: 101: not in valid range [0-100], nor Adaptive
	// small <nil>
}

// One plugin spreads and another packs; the weights decide.
func ExampleWeighted() {
	s := twoNodes()
	for _, weight := range []int64{1, 3} {
		sched := scheduler(scheduling.Profile{Score: []scheduling.Weighted{
			{Plugin: scoring.NodeResourcesLeastAllocated{}, Weight: 2},
			{Plugin: scoring.NodeResourcesMostAllocated{}, Weight: weight},
		}})
		d, err := sched.Schedule(s, pending(s, "web", "1", "1Gi"))
		fmt.Println(weight, d.Node, d.Score, err)
	}
	// Output:
	// 1 large 189 <nil>
	// 3 small 235 <nil>
}

func ExampleDecision() {
	s := twoNodes()
	d, err := scheduler(byResources()).Place(s, pending(s, "web", "1", "1Gi"))
	fmt.Println(d.Node, d.Score, err)
	fmt.Printf("%d of %d nodes are feasible, %d is best\n", d.Feasible, d.Evaluated, d.TiedNodes)
	// Output:
	// large 254 <nil>
	// 2 of 2 nodes are feasible, 1 is best
}

func ExampleTieRule() {
	s := twoNodes()
	for _, tie := range []scheduling.TieRule{scheduling.First, scheduling.ByName} {
		// Nothing scores the nodes differently, so both are best.
		p := scheduling.Profile{Score: []scheduling.Weighted{{Plugin: scoring.ImageLocality{}}}, TieRule: tie}
		d, err := scheduler(p).Schedule(s, pending(s, "web", "1", "1Gi"))
		fmt.Println(d.TieRule, d.Node, d.TiedNodes, err)
	}
	// Output:
	// First small 2 <nil>
	// ByName large 2 <nil>
}

func ExampleTieBreak() {
	s := twoNodes()
	p := scheduling.Profile{
		Score:    []scheduling.Weighted{{Plugin: scoring.ImageLocality{}}},
		TieRule:  scheduling.Custom,
		TieBreak: func(_ *framework.Cycle, tied []*framework.NodeInfo) int { return len(tied) - 1 },
	}
	d, err := scheduler(p).Schedule(s, pending(s, "web", "1", "1Gi"))
	fmt.Println(d.Node, err)
	// Output:
	// large <nil>
}

func ExampleFitError() {
	s := twoNodes()
	_, err := scheduler(scheduling.Kubernetes137()).Place(s, pending(s, "big", "4", "64Gi"))
	fmt.Println(err)
	var fit *scheduling.FitError
	fmt.Println(errors.As(err, &fit), fit.Pod, fit.Plugins())
	// Output:
	// 0/2 nodes are available: 1 Insufficient cpu, 2 Insufficient memory.
	// true default/big [NodeResourcesFit]
}

func ExampleRejection() {
	s := twoNodes()
	_, err := scheduler(scheduling.Kubernetes137()).Place(s, pending(s, "big", "4", "64Gi"))
	var fit *scheduling.FitError
	if errors.As(err, &fit) {
		for _, r := range fit.Rejections {
			fmt.Printf("%s rejects %d: %v\n", r.Plugin, r.Nodes, r.Status)
		}
	}
	// Output:
	// NodeResourcesFit rejects 1: UnschedulableAndUnresolvable: Insufficient cpu, Insufficient memory
	// NodeResourcesFit rejects 1: UnschedulableAndUnresolvable: Insufficient memory
}

// Careless is a scorer whose scores are out of range.
type Careless struct{}

func (Careless) Name() string { return "Careless" }

func (Careless) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 101 }

func ExamplePluginError() {
	s := twoNodes()
	p := scheduling.Profile{Score: []scheduling.Weighted{{Plugin: Careless{}}}}
	_, err := scheduler(p).Place(s, pending(s, "web", "1", "1Gi"))
	var plugin *scheduling.PluginError
	if errors.As(err, &plugin) {
		fmt.Println(plugin.Point, plugin.Plugin, plugin.Node)
	}
	fmt.Println(plugin.Err)
	// Output:
	// NormalizeScore Careless small
	// returns an invalid score 101, it should in the range of [0, 100] after normalizing
}

func ExampleExplanation() {
	s := twoNodes()
	e := scheduler(byResources()).Explain(s, pending(s, "web", "1", "1Gi"))
	if err := e.WriteTable(os.Stdout, 0); err != nil {
		fmt.Println(err)
	}
	// Output:
	// pod default/web goes to large, the best of 2 feasible nodes among 2
	// RANK  NODE   TOTAL  NodeResourcesFit  NodeResourcesBalancedAllocation
	// 1*    large  254    91*2              72*1
	// 2     small  192    62*2              68*1
}

// The answers for one node, as JSON.
func ExampleNodeExplanation() {
	s := twoNodes()
	e := scheduler(byResources()).Explain(s, pending(s, "big", "4", "8Gi"))
	text, err := json.MarshalIndent(e.Nodes[0], "", "  ")
	fmt.Println(string(text), err)
	// Output:
	// {
	//   "node": "small",
	//   "verdict": "rejected",
	//   "plugin": "NodeResourcesFit",
	//   "code": "UnschedulableAndUnresolvable",
	//   "reasons": [
	//     "Insufficient cpu",
	//     "Insufficient memory"
	//   ],
	//   "total": 0
	// } <nil>
}

func ExampleScoreExplanation() {
	s := twoNodes()
	e := scheduler(byResources()).Explain(s, pending(s, "web", "1", "1Gi"))
	for _, score := range e.Nodes[1].Scores {
		fmt.Printf("%s: %d, normalized %d, times %d is %d\n", score.Plugin, score.Raw, score.Normalized, score.Weight, score.Weighted)
	}
	// Output:
	// NodeResourcesFit: 91, normalized 91, times 2 is 182
	// NodeResourcesBalancedAllocation: 72, normalized 72, times 1 is 72
}

// Verify takes both paths for every decision, and fails if they differ.
func ExampleCacheConfig() {
	s := twoNodes()
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := scheduler(p)
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		d, err := sched.Place(s, pending(s, name, "1", "1Gi"))
		fmt.Println(d.Node, err)
	}
	// Output:
	// large <nil>
	// large <nil>
	// large <nil>
}

func ExampleStats() {
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 1000 {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "8", "32Gi").Obj()); err != nil {
			fmt.Println(err)
		}
	}
	sched := scheduler(byResources())
	for _, name := range []string{"web-0", "web-1", "web-2", "web-3"} {
		if _, err := sched.Place(s, pending(s, name, "1", "1Gi")); err != nil {
			fmt.Println(err)
		}
	}
	stats := sched.Stats()
	fmt.Println("hits", stats.Hits, "misses", stats.Misses, "bypassed", stats.Bypassed)
	// Output:
	// hits 2 misses 1 bypassed 1
}

// Fickle claims that its answers never change, but counts pods.
type Fickle struct{}

func (Fickle) Name() string { return "Fickle" }

func (Fickle) Scope(*framework.PodInfo) framework.Scope { return framework.Scope{} }

func (Fickle) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return int64(len(n.Pods)) }

// Verification finds a plugin whose declared scope is wrong.
func ExampleDifferenceError() {
	s := twoNodes()
	sched := scheduler(scheduling.Profile{
		Score: []scheduling.Weighted{{Plugin: Fickle{}}}, TieRule: scheduling.First, Cache: scheduling.CacheConfig{Verify: true},
	})
	var different *scheduling.DifferenceError
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		_, err := sched.Place(s, pending(s, name, "1", "1Gi"))
		if errors.As(err, &different) {
			fmt.Println(name, err)
			break
		}
	}
	// Output:
	// web-2 the paths differ in the decision: reference {node "small", score 2, feasible 2, evaluated 2, tied 1}, incremental {node "small", score 1, feasible 2, evaluated 2, tied 1}
}

// Events lists the events that may help pods that the profile's plugins rejected.
func ExampleRegisteredEvent() {
	sched := scheduler(scheduling.Profile{PreEnqueue: []framework.Plugin{scheduling.SchedulingGates{}}})
	for _, e := range sched.Events() {
		fmt.Println(e.Plugin, e.Event.Resource)
	}
	// Output:
	// SchedulingGates TargetPod
}

func ExampleSchedulingGates() {
	s := twoNodes()
	gated := api.MakePod("web").Obj()
	gated.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "example.com/quota"}}
	pod, err := s.NewPodInfo(gated)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(scheduling.SchedulingGates{}.PreEnqueue(context.Background(), pod))
	// Output:
	// UnschedulableAndUnresolvable: waiting for scheduling gates: [example.com/quota]
}

func ExamplePrioritySort() {
	s := twoNodes()
	web, err := s.NewPodInfo(api.MakePod("web").Priority(10).Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	late := &queueing.QueuedPod{Pod: web, Timestamp: at}
	early := &queueing.QueuedPod{Pod: pending(s, "batch", "1", "1Gi"), Timestamp: at.Add(-time.Hour)}
	fmt.Println("web before batch:", scheduling.PrioritySort{}.Less(late, early))
	// Output:
	// web before batch: true
}

// A fault of the incremental path is an error of its own; nothing but a defect of this
// module causes one.
func ExampleFaultError() {
	var err error = &scheduling.FaultError{Fault: "panic: index out of range"}
	var fault *scheduling.FaultError
	fmt.Println(errors.As(err, &fault), err)
	// Output:
	// true the incremental path failed: panic: index out of range
}
