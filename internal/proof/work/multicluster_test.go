//go:build full

package work

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// resourceModels is a cluster with models of n resources that list them in different orders,
// and with n grades.
func resourceModels(t *testing.T, n int) {
	amount := func(i int) resource.Quantity { return resource.New(int64(i), resource.DecimalSI) }
	name := func(i int) resource.Name { return resource.Name(fmt.Sprintf("example.com/r%d", i)) }
	wide := make([]api.ResourceModel, 2)
	request := resource.List{}
	for i := range n {
		r := api.ResourceModelRange{Name: name(i), Min: amount(0), Max: amount(1)}
		wide[0].Ranges = append(wide[0].Ranges, r)
		r.Name = name(n - 1 - i)
		wide[1].Ranges = append(wide[1].Ranges, r)
		request[r.Name] = amount(1)
	}
	wide[1].Grade = 1
	var deep []api.ResourceModel
	for i := range n {
		deep = append(deep, api.ResourceModel{Grade: uint(i), Ranges: []api.ResourceModelRange{{Name: name(0), Min: amount(i), Max: amount(i + 1)}}})
	}
	if _, err := capacity.NewGrader(wide); err != nil {
		t.Fatal(err)
	}
	if err := capacity.ValidateModelsStrictly(wide); err == nil {
		t.Fatal("models in different orders are valid")
	}
	replica := &capacity.Replica{Request: request}
	one := &capacity.Replica{Request: resource.List{name(0): amount(1)}}
	for _, test := range []struct {
		models  []api.ResourceModel
		replica *capacity.Replica
	}{{wide, replica}, {deep, one}} {
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "c"}}
		c.Spec.ResourceModels = test.models
		c.Status.ResourceSummary = &api.ResourceSummary{Allocatable: resource.List{resource.Pods: amount(1000)}}
		for _, m := range test.models {
			c.Status.ResourceSummary.AllocatableModelings = append(c.Status.ResourceSummary.AllocatableModelings, api.AllocatableModeling{Grade: m.Grade, Count: 1})
		}
		if _, err := (capacity.General{}).Estimate(c, test.replica); err != nil {
			t.Fatal(err)
		}
		if _, err := (capacity.General{}).EstimateSets(c, []capacity.Component{{Name: "c", Replicas: 1, Request: test.replica.Request}}); err != nil {
			t.Fatal(err)
		}
	}
}

// namedClusters is a workload on n clusters that moves away from them, and has n affinities.
func namedClusters(t *testing.T, n int) {
	w := &multicluster.Workload{Name: "w", Replicas: int64(n)}
	var clusters []*api.Cluster
	for i := range n {
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("c%d", i)}}
		clusters = append(clusters, c)
		w.Clusters = append(w.Clusters, multicluster.Target{Name: c.Name, Replicas: 1})
		w.Evicting = append(w.Evicting, c.Name)
	}
	if _, err := (multicluster.Scheduler{}).Schedule(clusters, w); err == nil {
		t.Fatal("a workload stays on clusters that it moves away from")
	}
	w.Evicting = nil
	if d, err := (multicluster.Scheduler{}).Schedule(clusters, w); err != nil || len(d.Targets) != n {
		t.Fatalf("%d targets, %v, want %d", len(d.Targets), err, n)
	}
	for i := range n {
		term := multicluster.ClusterAffinityTerm{AffinityName: fmt.Sprintf("a%d", i)}
		w.Placement.ClusterAffinities = append(w.Placement.ClusterAffinities, term)
	}
	if err := w.Placement.Validate(); err != nil {
		t.Fatal(err)
	}
}

// namedZones is a cluster of n zones, and workloads with n requirements of one zone and with one of n.
func namedZones(t *testing.T, n int) {
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "c"}}
	var values []string
	for i := range n {
		c.Spec.Zones = append(c.Spec.Zones, fmt.Sprint("z", i))
		values = append(values, fmt.Sprint("y", i))
	}
	var short []api.NodeSelectorRequirement
	for _, v := range values {
		short = append(short, api.NodeSelectorRequirement{Key: "zone", Operator: api.NodeSelectorOpNotIn, Values: []string{v}})
	}
	long := []api.NodeSelectorRequirement{{Key: "zone", Operator: api.NodeSelectorOpNotIn, Values: values}}
	for _, list := range [][]api.NodeSelectorRequirement{short, long} {
		w := &multicluster.Workload{Name: "w", Replicas: 1, Placement: multicluster.Placement{
			ClusterAffinity: &multicluster.ClusterAffinity{FieldSelector: &multicluster.FieldSelector{MatchExpressions: list}},
		}}
		d, err := (multicluster.Scheduler{}).Schedule([]*api.Cluster{c}, w)
		if err != nil || len(d.Targets) != 1 {
			t.Fatalf("%v, %v", d, err)
		}
	}
}

// spreadClusters is a federation of n clusters in n zones, for constraints that the room
// does not allow.
func spreadClusters(t *testing.T, n int) {
	var members []*api.Cluster
	room := roomOf{}
	for i := range n {
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("c%05d", i)}}
		c.Spec.Region, c.Spec.Zones = "r", []string{fmt.Sprintf("z%d", i)}
		members = append(members, c)
		room[c.Name] = int64(i%13 + 1)
	}
	w := &multicluster.Workload{Name: "w", Replicas: 1 << 30, Placement: multicluster.Placement{
		ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaSchedulingType: "Divided", ReplicaDivisionPreference: "Aggregated"},
		SpreadConstraints: []multicluster.SpreadConstraint{
			{SpreadByField: multicluster.SpreadByCluster, MinGroups: 1, MaxGroups: n},
			{SpreadByField: multicluster.SpreadByRegion, MinGroups: 1, MaxGroups: 1},
			{SpreadByField: multicluster.SpreadByZone, MinGroups: n / 2, MaxGroups: n},
		},
	}}
	s := multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{room}}
	if _, err := s.Schedule(members, w); err == nil {
		t.Fatal("there is room for all replicas")
	}
	w.Replicas = 1
	if _, err := s.Schedule(members, w); err != nil {
		t.Fatal(err)
	}
}

// clustersInRegions is a federation of n clusters in n regions. A workload wants all of them, and more than
// their room.
func clustersInRegions(t *testing.T, n int) {
	var members []*api.Cluster
	room := roomOf{}
	for i := range n {
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("c%05d", i)}}
		c.Spec.Region = fmt.Sprint("r", i)
		members = append(members, c)
		room[c.Name] = 1
	}
	w := &multicluster.Workload{Name: "w", Replicas: 1 << 30, Placement: multicluster.Placement{
		ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaSchedulingType: "Divided", ReplicaDivisionPreference: "Aggregated"},
		SpreadConstraints: []multicluster.SpreadConstraint{
			{SpreadByField: multicluster.SpreadByRegion, MinGroups: 1},
			{SpreadByField: multicluster.SpreadByCluster, MinGroups: n},
		},
	}}
	s := multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{room}}
	if _, err := s.Schedule(members, w); err == nil {
		t.Fatal("there is room for all replicas")
	}
}

// workloadsTogether is a workload with an affinity to n/5 others on as many clusters, and one
// with an anti-affinity to as many on clusters that are not there.
func workloadsTogether(t *testing.T, n int) {
	n = max(1, n/5)
	term := &multicluster.WorkloadAffinityTerm{GroupByLabelKey: "app"}
	on := func(prefix string) (targets []multicluster.Target) {
		for i := range n {
			targets = append(targets, multicluster.Target{Name: fmt.Sprint(prefix, i)})
		}
		return targets
	}
	workload := func(name, app string, a *multicluster.WorkloadAffinity, targets []multicluster.Target) *multicluster.Workload {
		w := &multicluster.Workload{Name: "default/" + name, Labels: map[string]string{"app": app}, Clusters: targets}
		w.Placement.WorkloadAffinity = a
		return w
	}
	var clusters []*api.Cluster
	for _, c := range on("c") {
		clusters = append(clusters, &api.Cluster{ObjectMeta: api.ObjectMeta{Name: c.Name}})
	}
	var others []*multicluster.Workload
	together, apart := &multicluster.WorkloadAffinity{Affinity: term}, &multicluster.WorkloadAffinity{AntiAffinity: term}
	for i := range n {
		others = append(others, workload(fmt.Sprint("together-", i), "near", together, on("c")), workload(fmt.Sprint("apart-", i), "far", apart, on("x")))
	}
	s := multicluster.Scheduler{Filters: []multicluster.Filter{
		multicluster.AffinityToWorkloads{Others: others}, multicluster.AntiAffinityToWorkloads{Others: others},
	}}
	for _, w := range []*multicluster.Workload{workload("w", "near", together, nil), workload("w", "far", apart, nil)} {
		w.Replicas = 1
		// Several affinities: the others are read once for all of them.
		w.Placement.ClusterAffinities = []multicluster.ClusterAffinityTerm{
			{AffinityName: "none", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"none"}}}, {AffinityName: "all"},
		}
		if d, err := s.Schedule(clusters, w); err != nil || len(d.Targets) != n {
			t.Fatalf("%d targets, %v, want %d", len(d.Targets), err, n)
		}
	}
}

// roomOf estimates by the name of a cluster.
type roomOf map[string]int64

func (roomOf) Name() string { return "roomOf" }

func (r roomOf) Estimate(c *api.Cluster, _ *capacity.Replica) (capacity.Estimate, error) {
	return capacity.Estimate{Replicas: r[c.Name]}, nil
}
