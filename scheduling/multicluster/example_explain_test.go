package multicluster_test

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

func ExampleDecision() {
	clusters := append(exampleClusters(), &api.Cluster{
		ObjectMeta: api.ObjectMeta{Name: "m4"},
		Status: api.ClusterStatus{ResourceSummary: &api.ResourceSummary{Allocatable: resource.List{
			resource.Pods: resource.MustParse("-1"),
		}}},
	})
	d, err := multicluster.Scheduler{}.Schedule(clusters, exampleWorkload())
	fmt.Println(d.Targets, err)
	fmt.Println(d.EstimateErrors[0])
	// Output:
	// [{m2 5} {m3 11}] <nil>
	// estimator general-estimator: cluster m4: status.resourceSummary.allocatable[pods]: "-1": must not be negative
}

// The scored groups, the chosen groups, and the clusters exchanged for capacity.
func ExampleSelection() {
	w := exampleWorkload()
	w.Placement.SpreadConstraints = append(w.Placement.SpreadConstraints, multicluster.SpreadConstraint{
		SpreadByField: multicluster.SpreadByRegion, MinGroups: 2, MaxGroups: 2,
	})
	w.Clusters = []multicluster.Target{{Name: "m1", Replicas: 1}}
	w.Replicas = 27
	var s *multicluster.Selection = multicluster.Scheduler{}.Explain(regions(), w).Selection
	for _, g := range []multicluster.Group(s.Groups[multicluster.SpreadByRegion]) {
		fmt.Println(g.Name, g.Score, g.Clusters)
	}
	fmt.Println(s.By, s.ChosenGroups, s.Clusters, []multicluster.Swap(s.Swaps))
	// Output:
	// north 13050 [m1 m2]
	// south 14000 [m3]
	// region [south north] [m3 m2] [{m1 m2}]
}

// The step of a division, the number divided, and the weights.
func ExampleDivision() {
	for _, n := range []int64{5, 8, 30} {
		d, err := multicluster.Divide(
			multicluster.Demand{Replicas: n, Strategy: multicluster.DynamicWeight, Previous: []multicluster.Target{{Name: "m1", Replicas: 6}}},
			[]multicluster.Candidate{{Name: "m1", Available: 4}, {Name: "m2", Available: 10}},
		)
		var short *multicluster.ShortageError
		if errors.As(err, &short) {
			fmt.Println(short.Step, short.Available, "of", short.Wanted)
			continue
		}
		fmt.Println(d.Step == multicluster.StepScaleUp, d.Divided, d.Weights, d.Kept, d.Targets)
	}
	// Output:
	// false 5 [{m1 6 0}] [] [{m1 5}]
	// true 2 [{m2 10 0} {m1 4 6}] [{m1 6}] [{m1 7} {m2 1}]
	// scale up 14 of 24
}

func ExampleExplanation() {
	var x *multicluster.Explanation = multicluster.Scheduler{}.Explain(exampleClusters(), exampleWorkload())
	var first multicluster.ClusterExplanation = x.Clusters[0]
	fmt.Println(first.Cluster, first.Feasible, []multicluster.PluginScore(first.Scores), first.Available, first.AvailableBy, first.Estimates[0].Limit)
	var step multicluster.Step = x.Division.Step
	fmt.Println(step, x.Targets)
	// Output:
	// m1 true [{ClusterLocality 0}] 4 general-estimator cpu
	// scale up [{m2 5} {m3 11}]
}

// A set of two components on the nodes of one cluster.
func ExamplePlaced() {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n1", "8", "32Gi").Obj()); err != nil {
		fmt.Println(err)
	}
	f, err := multicluster.NewFederation(multicluster.Scheduler{}, scheduling.Kubernetes137(), []multicluster.Member{
		{Cluster: &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "north"}}, Snapshot: s},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var p *multicluster.Placed
	if p, err = f.Place(&multicluster.Workload{Name: "default/job", Components: []capacity.Component{
		capacity.ComponentOf("manager", 1, api.MakePod("").Requests("1", "1Gi").Obj()),
		capacity.ComponentOf("worker", 2, api.MakePod("").Requests("2", "4Gi").Obj()),
	}}); err != nil {
		fmt.Println(err)
		return
	}
	var round multicluster.Round = p.Rounds[0]
	var share multicluster.Share = round.Shares[0]
	fmt.Println(share.Cluster, "room for", share.Estimated, "given", share.Given, "placed", share.Placed)
	for _, pod := range []multicluster.PlacedPod(p.Pods) {
		fmt.Println(pod.Component, pod.Name, pod.Cluster, pod.Node)
	}
	// Output:
	// north room for 1 given 1 placed 1
	// manager job-manager-north-0 north n1
	// worker job-worker-north-1 north n1
	// worker job-worker-north-2 north n1
}
