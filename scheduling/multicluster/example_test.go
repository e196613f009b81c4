package multicluster_test

import (
	"fmt"
	"os"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// exampleClusters returns three clusters that can take 4, 8 and 20 replicas of
// one CPU.
func exampleClusters() []*api.Cluster {
	var clusters []*api.Cluster
	for name, cpu := range map[string]string{"m1": "4", "m2": "8", "m3": "20"} {
		clusters = append(clusters, &api.Cluster{
			ObjectMeta: api.ObjectMeta{Name: name},
			Status: api.ClusterStatus{ResourceSummary: &api.ResourceSummary{Allocatable: resource.List{
				resource.CPU: resource.MustParse(cpu), resource.Pods: resource.MustParse("110"),
			}}},
		})
	}
	return clusters
}

func exampleWorkload() *multicluster.Workload {
	return &multicluster.Workload{
		Name:     "default/web",
		Replicas: 16,
		Replica:  &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("1")}},
		Placement: multicluster.Placement{
			SpreadConstraints: []multicluster.SpreadConstraint{{SpreadByField: multicluster.SpreadByCluster, MinGroups: 1, MaxGroups: 2}},
			ReplicaScheduling: &multicluster.ReplicaScheduling{
				ReplicaDivisionPreference: multicluster.PreferWeighted,
				WeightPreference:          &multicluster.WeightPreference{DynamicWeight: multicluster.DynamicByAvailable},
			},
		},
	}
}

func ExampleScheduler() {
	d, err := multicluster.Scheduler{}.Schedule(exampleClusters(), exampleWorkload())
	fmt.Println(d.Targets, err)
	// Output: [{m2 5} {m3 11}] <nil>
}

func ExampleScheduler_Explain() {
	if err := (multicluster.Scheduler{}).Explain(exampleClusters(), exampleWorkload()).WriteTable(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// CLUSTER  SCORE  AVAILABLE  REPLICAS  REASON
	// m1       0      4          0         not chosen, limited by cpu
	// m2       0      8          5         chosen, limited by cpu
	// m3       0      20         11        chosen, limited by cpu
	// scale up: 16 divided by 2 weights
}

// One number divided by weights, by the methods of current and of old Karmada.
func ExampleMethod_Divide() {
	weights := []multicluster.Weight{{Name: "a", Weight: 6}, {Name: "b", Weight: 6}, {Name: "c", Weight: 2}}
	for _, m := range []multicluster.Method{multicluster.Webster, multicluster.Floor} {
		shares, err := m.Divide(25, weights, nil, multicluster.Ascending)
		fmt.Println(m, shares, err)
	}
	// Output:
	// Webster [{a 11} {b 10} {c 4}] <nil>
	// Floor [{a 11} {b 11} {c 3}] <nil>
}

// Scaling up leaves all replicas where they are and divides the missing ones.
func ExampleDivide() {
	d, err := multicluster.Divide(
		multicluster.Demand{
			Replicas: 14, Strategy: multicluster.Aggregated,
			Previous: []multicluster.Target{{Name: "m1", Replicas: 4}, {Name: "m2", Replicas: 4}},
		},
		[]multicluster.Candidate{{Name: "m3", Available: 100}, {Name: "m2", Available: 7}, {Name: "m1", Available: 0}},
	)
	fmt.Println(d.Step, d.Divided, d.Targets, err)
	// Output: scale up 6 [{m1 4} {m2 10}] <nil>
}

func ExampleClusterAffinity_Matches() {
	a := multicluster.ClusterAffinity{FieldSelector: &multicluster.FieldSelector{MatchExpressions: []api.NodeSelectorRequirement{
		{Key: "region", Operator: api.NodeSelectorOpIn, Values: []string{"north", "east"}},
	}}}
	fmt.Println(a.Matches(&api.Cluster{Spec: api.ClusterSpec{Region: "east"}}), a.Matches(&api.Cluster{}))
	// Output: true false
}

// A federation places replicas down to the nodes. Only one web server fits on a
// node, because of its port. Replicas that find no room in the first cluster go to
// the second one.
func ExampleFederation() {
	var members []multicluster.Member
	for _, name := range []string{"north", "south"} {
		s := framework.NewSnapshot(framework.ZoneInterleaved)
		for i := range 3 {
			if err := s.AddNode(api.MakeNode(fmt.Sprint(name, "-", i), "8", "32Gi").Obj()); err != nil {
				fmt.Println(err)
			}
		}
		members = append(members, multicluster.Member{Cluster: &api.Cluster{ObjectMeta: api.ObjectMeta{Name: name}}, Snapshot: s})
	}
	f, err := multicluster.NewFederation(multicluster.Scheduler{}, scheduling.Kubernetes137(), members)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := f.Place(&multicluster.Workload{
		Name: "default/web", Replicas: 5, Replica: capacity.ReplicaOf(api.MakePod("web").Requests("1", "1Gi").HostPort(80).Obj()),
		Placement: multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range p.Rounds {
		for _, s := range r.Shares {
			fmt.Printf("%s: room for %d expected, %d of %d placed\n", s.Cluster, s.Estimated, s.Placed, s.Given)
		}
	}
	fmt.Println(p.Targets, p.Unplaced, "unplaced")
	// Output:
	// north: room for 24 expected, 3 of 5 placed
	// south: room for 24 expected, 2 of 2 placed
	// [{north 3} {south 2}] 0 unplaced
}

func ExampleNodes() {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	if err := s.AddNode(api.MakeNode("n1", "8", "32Gi").Obj()); err != nil {
		fmt.Println(err)
	}
	n := multicluster.Nodes{Snapshots: map[string]*framework.Snapshot{"m": s}, Filter: scheduling.Kubernetes137().Filter}
	e, err := n.Estimate(
		&api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}},
		capacity.ReplicaOf(api.MakePod("web").Requests("3", "1Gi").Obj()),
	)
	fmt.Println(e.Replicas, err)
	// Output: 2 <nil>
}
