package multicluster_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// Two preferred clusters, and the cloud for replicas that they cannot take. Up to
// twelve replicas the cloud gets none, and scaling down empties it first.
func ExampleOverflowClusterAffinity() {
	w := exampleWorkload()
	w.Placement.SpreadConstraints = nil
	w.Placement.ClusterAffinities = []multicluster.ClusterAffinityTerm{{
		AffinityName:    "own",
		ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"m1", "m2"}},
		OverflowAffinities: []multicluster.OverflowClusterAffinity{
			{AffinityName: "cloud", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"m3"}}},
		},
	}}
	for _, n := range []int64{6, 12, 15, 40} {
		w.Replicas = n
		d, err := multicluster.Scheduler{}.Schedule(exampleClusters(), w)
		fmt.Println(n, d.Affinity, d.Targets, err)
	}
	// Output:
	// 6 own [{m1 2} {m2 4}] <nil>
	// 12 own [{m1 4} {m2 8}] <nil>
	// 15 own [{m1 4} {m2 8} {m3 3}] <nil>
	// 40  [] Clusters available replicas are not enough to schedule.
}

// The database and its cache belong together; two databases do not.
func ExampleAffinityToWorkloads() {
	affinity := &multicluster.WorkloadAffinity{
		Affinity:     &multicluster.WorkloadAffinityTerm{GroupByLabelKey: "app"},
		AntiAffinity: &multicluster.WorkloadAffinityTerm{GroupByLabelKey: "role"},
	}
	placed := []*multicluster.Workload{{
		Name: "shop/db", Labels: map[string]string{"app": "orders", "role": "db"},
		Placement: multicluster.Placement{WorkloadAffinity: affinity}, Clusters: []multicluster.Target{{Name: "m2", Replicas: 1}},
	}}
	s := multicluster.Scheduler{Filters: []multicluster.Filter{
		multicluster.AffinityToWorkloads{Others: placed}, multicluster.AntiAffinityToWorkloads{Others: placed},
	}}
	for _, labels := range []map[string]string{{"app": "orders", "role": "cache"}, {"app": "users", "role": "db"}} {
		w := &multicluster.Workload{Name: "shop/new", Labels: labels, Placement: multicluster.Placement{WorkloadAffinity: affinity}}
		d, err := s.Schedule(exampleClusters(), w)
		fmt.Println(labels["app"], labels["role"], d.Targets, err)
	}
	// Output:
	// orders cache [{m2 0}] <nil>
	// users db [{m1 0} {m3 0}] <nil>
}

// A placement reads Karmada's JSON. Validate lists its errors.
func ExamplePlacement_Validate() {
	var p multicluster.Placement
	if err := json.Unmarshal([]byte(`{
		"spreadConstraints": [{"spreadByField": "region", "minGroups": 3, "maxGroups": 2}],
		"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}}`), &p); err != nil {
		fmt.Println(err)
		return
	}
	strategy, err := p.Strategy()
	fmt.Println(strategy, err, p.ReplicaScheduling.ReplicaSchedulingType == multicluster.ReplicaSchedulingType("Divided"))
	fmt.Println(p.Validate())
	// Output:
	// StaticWeight <nil> true
	// spec.placement.spreadConstraints[0].maxGroups: "2": maxGroups lower than minGroups is not allowed
}

// The cluster in the north gets twice as many, however much room there is.
func ExampleWeightPreference() {
	w := exampleWorkload()
	w.Replicas, w.Placement = 9, multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{
		ReplicaSchedulingType: multicluster.TypeDivided, ReplicaDivisionPreference: multicluster.PreferWeighted,
		WeightPreference: &multicluster.WeightPreference{StaticWeightList: []multicluster.StaticClusterWeight{
			{TargetCluster: multicluster.ClusterAffinity{ClusterNames: []string{"m1"}}, Weight: 2},
			{TargetCluster: multicluster.ClusterAffinity{ClusterNames: []string{"m2"}}, Weight: 1},
		}},
	}}
	d, err := multicluster.Scheduler{}.Schedule(exampleClusters(), w)
	fmt.Println(d.Targets, err)
	// Output: [{m1 6} {m2 3}] <nil>
}

// regions returns exampleClusters with regions. The first two are in the north.
func regions() []*api.Cluster {
	clusters := exampleClusters()
	for _, c := range clusters {
		c.Spec.Region, c.Spec.Zones = "north", []string{c.Name + "-a", c.Name + "-b"}
		if c.Name == "m3" {
			c.Spec.Region = "south"
		}
	}
	return clusters
}

func ExampleSpreadConstraint() {
	w := exampleWorkload()
	w.Replicas = 5
	for _, rule := range []multicluster.SpreadRule{multicluster.Thorough, multicluster.AsKarmada} {
		for _, field := range []multicluster.SpreadField{multicluster.SpreadByRegion, multicluster.SpreadByZone} {
			w.Placement.SpreadConstraints = []multicluster.SpreadConstraint{{SpreadByField: field, MinGroups: 2, MaxGroups: 2}}
			d, err := multicluster.Scheduler{Spread: rule}.Schedule(regions(), w)
			var unmet *multicluster.SpreadError
			fmt.Println(rule, field, d.Targets, err, errors.As(err, &unmet))
		}
	}
	// Output:
	// 0 region [{m1 1} {m2 1} {m3 3}] <nil> false
	// 0 zone [{m2 5}] <nil> false
	// 1 region [{m2 1} {m3 4}] <nil> false
	// 1 zone [] just support cluster and region spread constraint true
}

// Since Karmada 1.18, the field selector must name one zone of the cluster; before,
// all of them.
func ExampleZoneRule() {
	w := &multicluster.Workload{Placement: multicluster.Placement{ClusterAffinity: &multicluster.ClusterAffinity{
		FieldSelector: &multicluster.FieldSelector{MatchExpressions: []api.NodeSelectorRequirement{
			{Key: "zone", Operator: api.NodeSelectorOpIn, Values: []string{"z1"}},
		}},
	}}}
	c := &api.Cluster{Spec: api.ClusterSpec{Zones: []string{"z1", "z2"}}}
	for _, rule := range []multicluster.ZoneRule{multicluster.AnyZone, multicluster.EveryZone} {
		fmt.Println(multicluster.Affinity{Zones: rule}.Filter(w, c).IsSuccess())
	}
	// Output:
	// true
	// false
}

// Components go as a whole to a cluster that has room for all of them.
func ExampleWorkload() {
	d, err := multicluster.Scheduler{}.Schedule(exampleClusters(), &multicluster.Workload{
		Name: "default/job",
		Components: []capacity.Component{
			{Name: "manager", Replicas: 1, Request: resource.List{resource.CPU: resource.MustParse("1")}},
			{Name: "worker", Replicas: 5, Request: resource.List{resource.CPU: resource.MustParse("2")}},
		},
		Placement: multicluster.Placement{
			SpreadConstraints: []multicluster.SpreadConstraint{{SpreadByField: multicluster.SpreadByCluster, MinGroups: 1, MaxGroups: 1}},
			ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated},
		},
	})
	fmt.Println(d.Targets, err)
	// Output: [{m3 0}] <nil>
}
