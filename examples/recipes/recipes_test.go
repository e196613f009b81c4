package recipes_test

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scoring"
)

// How many more of a pod fit, and what keeps the next one out?
func Example_howManyFit() {
	objects, err := api.Decode(dump)
	check(err)
	check(objects.Default())
	snapshot, _, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
	check(err)
	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
	check(err)
	pod, err := snapshot.NewPodInfo(api.MakePod("job").Requests("2", "1Gi").Obj())
	check(err)
	room, err := plan.Headroom(pod, 0)
	check(err)
	fmt.Println(room.Total, "more:", room.Limits)
	// Output: 4 more: [{NodeResourcesFit Insufficient cpu 2} {TaintToleration node(s) had untolerated taint(s) 1}]
}

// Which nodes must I buy for 20 of them, and what do they cost?
func Example_whichNodes() {
	objects, err := api.Decode(dump)
	check(err)
	check(objects.Default())
	snapshot, _, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
	check(err)
	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
	check(err)
	pattern, err := snapshot.NewPodInfo(api.MakePod("job").Requests("2", "1Gi").Obj())
	check(err)
	pods, err := whatif.Replicas(pattern, 20)
	check(err)
	needed, err := plan.NodesNeeded(pods,
		whatif.NodeType{Name: "small", Node: api.MakeNode("", "8", "32Gi").Obj(), Price: 40},
		whatif.NodeType{Name: "large", Node: api.MakeNode("", "32", "128Gi").Obj(), Price: 120})
	check(err)
	fmt.Println(needed.Counts, "for", needed.Price)
	// Output: [{small 0} {large 1}] for 120
}

// May I drain these nodes, and where do their pods go?
func Example_mayIDrain() {
	objects, err := api.Decode(dump)
	check(err)
	check(objects.Default())
	snapshot, _, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
	check(err)
	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
	check(err)
	drain, err := plan.Drain("a")
	check(err)
	check(drain.WriteTable(os.Stdout))
	// Output:
	// 1 nodes drain in 1 batches: 1 pods move, 0 are stuck, 0 stay
	// POD          FROM  TO  BATCH
	// default/web  a     b   1
}

// Why does a pod not go to that node, and what would put it there?
func Example_whyNotThere() {
	objects, err := api.Decode(dump)
	check(err)
	check(objects.Default())
	snapshot, _, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
	check(err)
	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
	check(err)
	pod, err := snapshot.NewPodInfo(api.MakePod("job").Requests("9", "1Gi").Obj())
	check(err)
	why, err := plan.WhyNot(pod, "c")
	check(err)
	check(why.WriteTable(os.Stdout))
	// Output:
	// pod default/job goes nowhere, so not to c
	// REJECTED BY       REASON                            NUMBERS
	// TaintToleration   node(s) had untolerated taint(s)  taint gpu:NoSchedule
	// NodeResourcesFit  Insufficient cpu                  cpu: asked 9, free 8 of 8
	// what would put it there, each alone:
	// - tolerate the taint gpu:NoSchedule, and request 8 of cpu instead of 9, and require the node by name
}

// Which of two profiles would have been better over last week?
func Example_whichProfile() {
	trace, err := simulate.ReadTrace(bytes.NewReader(week))
	check(err)
	packing := scheduling.Kubernetes137()
	check(packing.Replace(scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}))
	check(packing.Reweigh("NodeResourcesFit", 100))
	results, err := simulate.RunAll(context.Background(), 2,
		simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace},
		simulate.Config{Profiles: []scheduling.Profile{packing}, Trace: trace})
	check(err)
	for _, r := range results {
		all := r.Waits[0]
		fmt.Printf("%d bound, mean wait %.0f s, %.0f s at most for 95 %%\n", all.Pods, all.Mean, all.P95)
	}
	fmt.Println(len(simulate.Differences(results[0].Decisions, results[1].Decisions)), "decisions differ")
	// Output:
	// 600 bound, mean wait 9236 s, 39032 s at most for 95 %
	// 600 bound, mean wait 9354 s, 41534 s at most for 95 %
	// 562 decisions differ
}
