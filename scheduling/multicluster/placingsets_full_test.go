package multicluster_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// ofNodes describes a cluster. Those whose name ends in 1 are in region r1, and so on. cpus holds the size of each
// node.
type ofNodes struct {
	name string
	cpus []string
}

func membersOf(t *testing.T, list []ofNodes) []multicluster.Member {
	t.Helper()
	var members []multicluster.Member
	for _, c := range list {
		var nodes []api.NodeBuilder
		for _, cpu := range c.cpus {
			nodes = append(nodes, api.MakeNode("", cpu, "64Gi"))
		}
		m := withNodes(t, c.name, nodes...)
		m.Cluster.Spec.Region = "r" + c.name[1:]
		members = append(members, m)
	}
	return members
}

// setOf returns components of a pod each.
func setOf(cpus ...string) []capacity.Component {
	var set []capacity.Component
	for i, cpu := range cpus {
		set = append(set, capacity.ComponentOf(fmt.Sprint("c", i), 1, api.MakePod("").Requests(cpu, "1Gi").Obj()))
	}
	return set
}

func aggregated(constraints ...multicluster.SpreadConstraint) multicluster.Placement {
	return multicluster.Placement{
		ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated},
		SpreadConstraints: constraints,
	}
}

func onlyOn(p multicluster.Placement, clusters ...string) multicluster.Placement {
	p.ClusterAffinity = &multicluster.ClusterAffinity{ClusterNames: clusters}
	return p
}

// inOrder tries one cluster list after the other.
func inOrder(p multicluster.Placement, lists ...[]string) multicluster.Placement {
	for i, names := range lists {
		p.ClusterAffinities = append(p.ClusterAffinities, multicluster.ClusterAffinityTerm{
			AffinityName: fmt.Sprint("term", i), ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: names},
		})
	}
	return p
}

// checkPlacesNoMore places the workload again where it is now. Nothing may change.
func checkPlacesNoMore(t *testing.T, f *multicluster.Federation, w *multicluster.Workload, before *multicluster.Placed) {
	t.Helper()
	again := *w
	again.Clusters = before.Targets
	p, err := f.Place(&again)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Targets, p.Targets); diff != "" || len(p.Pods) > 0 || len(p.Removed) > 0 || p.Unplaced != before.Unplaced {
		t.Errorf("again: %d pods, removed %v, %d unplaced; Targets differ (-before +again):\n%s", len(p.Pods), p.Removed, p.Unplaced, diff)
	}
}

// TestPlaceLeavesFullClustersOut: under spread constraints, clusters without room for a set are chosen only if
// there is no other choice.
func TestPlaceLeavesFullClustersOut(t *testing.T) {
	cluster := func(least, most int) multicluster.SpreadConstraint {
		return constraint(multicluster.SpreadByCluster, least, most)
	}
	oneRegion := constraint(multicluster.SpreadByRegion, 1, 1)
	abFull := []ofNodes{{"a1", []string{"8"}}, {"b1", []string{"8"}}, {"c1", nil}}
	aFull := []ofNodes{{"a1", []string{"8"}}, {"b1", nil}, {"c1", []string{"3"}}}
	regions := []ofNodes{{"a1", []string{"32"}}, {"b1", nil}, {"c1", nil}, {"d2", []string{"8"}}, {"e2", []string{"8"}}, {"f2", []string{"8"}}}
	duplicated := multicluster.Placement{SpreadConstraints: []multicluster.SpreadConstraint{cluster(1, 3)}}
	anyNumber := multicluster.Placement{SpreadConstraints: []multicluster.SpreadConstraint{cluster(0, 2)}}
	static := aggregated(cluster(1, 3))
	static.ReplicaScheduling = &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferWeighted}
	weightless := aggregated(cluster(1, 3))
	weightless.ReplicaScheduling = &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferWeighted, WeightPreference: &multicluster.WeightPreference{}}
	for _, c := range []struct {
		name      string
		clusters  []ofNodes
		set       []capacity.Component
		placement multicluster.Placement
		want      []multicluster.Target
		unplaced  int64
	}{
		{"two of three have room", abFull, setOf("4"), aggregated(cluster(1, 3)), targets("a1", 0, "b1", 0), 0},
		{"only one has room", aFull, setOf("4"), aggregated(cluster(1, 2)), targets("a1", 0), 0},
		{"no minimum", aFull, setOf("4"), aggregated(cluster(0, 2)), targets("a1", 0), 0},
		{"the region that has most room has it in one cluster", regions, setOf("4"), aggregated(cluster(2, 4), oneRegion), targets("d2", 0, "e2", 0, "f2", 0), 0},
		{
			"nodes are too small, which sums do not say",
			[]ofNodes{{"a1", []string{"8"}}, {"b1", []string{"3", "3", "3"}}, {"c1", []string{"4", "4"}}},
			setOf("4", "4"), aggregated(cluster(2, 2)), targets("a1", 0, "c1", 0), 0,
		},
		{"the second affinity has room", aFull, setOf("4"), inOrder(aggregated(cluster(1, 1)), []string{"b1", "c1"}, []string{"a1", "b1"}), targets("a1", 0), 0},
		{
			"each cluster of the second affinity has room", append(abFull[:3:3], ofNodes{"d2", []string{"8"}}), setOf("4"),
			inOrder(aggregated(cluster(2, 2)), []string{"a1", "c1"}, []string{"b1", "c1", "d2"}), targets("b1", 0, "d2", 0), 0,
		},
		{"duplicated", abFull, setOf("4"), duplicated, targets("a1", 0, "b1", 0), 0},
		{"static weights without a list", abFull, setOf("4"), weightless, targets("a1", 0, "b1", 0), 0},
		{"static weights name all clusters", abFull, setOf("4"), static, targets("a1", 0, "b1", 0), 1},
		{"no constraint", abFull, setOf("4"), aggregated(), targets("a1", 0, "b1", 0), 1},
		{"no choice without a full one", aFull, setOf("4"), aggregated(cluster(2, 2)), targets("a1", 0), 1},
		{"all of them are full, duplicated", aFull[1:], setOf("4"), anyNumber, targets(), 2},
		{"all of them are full", aFull[1:], setOf("4"), aggregated(cluster(1, 2)), targets(), 1},
	} {
		for name, s := range map[string]multicluster.Scheduler{
			"Nodes": {}, "General": {Estimators: []capacity.ClusterEstimator{capacity.General{}}}, "Karmada": multicluster.Karmada118(),
		} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				ms := membersOf(t, c.clusters)
				f := federation(t, s, ms...)
				w := &multicluster.Workload{Name: "x/job", Components: c.set, Placement: c.placement}
				p, err := f.Place(w)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, p.Targets); diff != "" || p.Unplaced != c.unplaced {
					t.Errorf("%d unplaced, want %d; Targets differ (-want +got):\n%s", p.Unplaced, c.unplaced, diff)
				}
				checkPlaced(t, p, ms)
				checkPlacesNoMore(t, f, w, p)
			})
		}
	}
}

// TestPlaceAsksNodesForSets: a cluster that only seems full is chosen if there must be two.
func TestPlaceAsksNodesForSets(t *testing.T) {
	ms := membersOf(t, []ofNodes{{"a1", []string{"8"}}, {"b1", []string{"3", "3"}}, {"c1", []string{"2"}}})
	ms[1].Cluster.Spec.ResourceModels = capacity.DefaultModels() // a node of 3 CPU counts as one of 2
	f := federation(t, multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{capacity.General{}}}, ms...)
	w := &multicluster.Workload{Name: "x/job", Components: setOf("3", "3"), Placement: aggregated(constraint(multicluster.SpreadByCluster, 2, 3))}
	p, err := f.Place(w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(targets("a1", 0, "b1", 0), p.Targets); diff != "" || p.Unplaced != 0 {
		t.Errorf("%d unplaced; Targets differ (-want +got):\n%s", p.Unplaced, diff)
	}
	checkPlacesNoMore(t, f, w, p)
}

// TestScheduleChoosesFullClusters: Schedule chooses clusters without room for a set, as Karmada does.
func TestScheduleChoosesFullClusters(t *testing.T) {
	nodes := multicluster.Nodes{Filter: profile().Filter, Snapshots: map[string]*framework.Snapshot{}}
	var clusters []*api.Cluster
	for _, m := range membersOf(t, []ofNodes{{"a1", []string{"8"}}, {"b1", nil}}) {
		nodes.Snapshots[m.Cluster.Name] = m.Snapshot
		clusters = append(clusters, m.Cluster)
	}
	d, err := multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{nodes}}.Schedule(clusters, &multicluster.Workload{
		Name: "x/job", Components: setOf("4"), Placement: aggregated(constraint(multicluster.SpreadByCluster, 1, 2)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(targets("a1", 0, "b1", 0), d.Targets); diff != "" {
		t.Errorf("Targets differ (-want +got):\n%s", diff)
	}
}

// TestPlaceRemovesForbiddenSets: what stands in a cluster that may not be chosen must leave it, and does not
// count as placed. A set that may stay does, even if its cluster is full. One replica fares as a set does.
func TestPlaceRemovesForbiddenSets(t *testing.T) {
	cluster := func(least, most int) multicluster.Placement {
		return aggregated(constraint(multicluster.SpreadByCluster, least, most))
	}
	full := []ofNodes{{"a1", []string{"4"}}, {"b1", []string{"1"}}, {"c1", []string{"1"}}}
	roomy := []ofNodes{{"a1", []string{"4"}}, {"b1", []string{"8"}}, {"c1", []string{"1"}}}
	for _, c := range []struct {
		name      string
		clusters  []ofNodes
		placement multicluster.Placement
		evicting  []string
		want      string
	}{
		{"not selected", full, onlyOn(cluster(1, 1), "b1"), nil, "[], removed [a1], 1 unplaced"},
		{"not selected, no minimum", full, onlyOn(cluster(0, 1), "b1"), nil, "[], removed [a1], 1 unplaced"},
		{"not selected, no constraint", full, onlyOn(aggregated(), "b1"), nil, "[], removed [a1], 1 unplaced"},
		{"not selected, two clusters", full, onlyOn(cluster(2, 2), "b1", "c1"), nil, "[], removed [a1], 1 unplaced"},
		{"not selected, room elsewhere", roomy, onlyOn(cluster(1, 1), "b1"), nil, "[b1], removed [a1], 0 unplaced"},
		{"evicting", full, cluster(1, 1), []string{"a1"}, "[], removed [a1], 1 unplaced"},
		{"evicting, two clusters", full, cluster(2, 2), []string{"a1"}, "[], removed [a1], 1 unplaced"},
		{"evicting, room elsewhere", roomy, cluster(1, 1), []string{"a1"}, "[b1], removed [a1], 0 unplaced"},
		{
			"by an affinity of too few clusters", full, inOrder(cluster(2, 2), []string{"b1", "c1"}, []string{"a1"}), nil,
			"[], removed [a1], 1 unplaced",
		},
		{"by another affinity", full, inOrder(cluster(1, 1), []string{"b1"}, []string{"a1"}), nil, "[a1], removed [], 0 unplaced"},
		{"selected", full, cluster(1, 1), nil, "[a1], removed [], 0 unplaced"},
	} {
		for kind, w := range map[string]multicluster.Workload{
			"a set":     {Components: setOf("4")},
			"a replica": {Replicas: 1, Replica: capacity.ReplicaOf(api.MakePod("").Requests("4", "1Gi").Obj())},
		} {
			t.Run(c.name+", "+kind, func(t *testing.T) {
				f := federation(t, multicluster.Scheduler{}, membersOf(t, c.clusters)...)
				w.Name, w.Placement = "x/job", onlyOn(cluster(1, 1), "a1")
				first, err := f.Place(&w)
				if err != nil || len(first.Pods) != 1 {
					t.Fatalf("%+v, %v, want a pod in a1", first, err)
				}
				w.Placement, w.Clusters, w.Evicting = c.placement, first.Targets, c.evicting
				p, err := f.Place(&w)
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprintf("%v, removed %v, %d unplaced", namesOf(p.Targets), namesOf(p.Removed), p.Unplaced); got != c.want {
					t.Errorf("%s; want %s", got, c.want)
				}
				if len(c.placement.SpreadConstraints) > 0 && (p.Reason != "") != (p.Unplaced > 0) {
					t.Errorf("Reason = %q", p.Reason)
				}
				checkPlacesNoMore(t, f, &w, p)
			})
		}
	}
}

// TestPlaceKeepsSetsBesideFullClusters: a set that may stay does so, even if too few other clusters have room.
func TestPlaceKeepsSetsBesideFullClusters(t *testing.T) {
	f := federation(t, multicluster.Scheduler{}, membersOf(t, []ofNodes{{"a1", []string{"4"}}, {"b1", []string{"1"}}})...)
	w := &multicluster.Workload{Name: "x/job", Components: setOf("4"), Placement: aggregated(constraint(multicluster.SpreadByCluster, 1, 2))}
	p, err := f.Place(w)
	if err != nil {
		t.Fatal(err)
	}
	w.Clusters, w.Placement = p.Targets, aggregated(constraint(multicluster.SpreadByCluster, 2, 2))
	p, err = f.Place(w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(targets("a1", 0), p.Targets); diff != "" || p.Unplaced != 1 || len(p.Removed) > 0 {
		t.Errorf("removed %v, %d unplaced, want 1; Targets differ (-want +got):\n%s", p.Removed, p.Unplaced, diff)
	}
	checkPlacesNoMore(t, f, w, p)
}

func namesOf(targets []multicluster.Target) []string {
	names := []string{}
	for _, x := range targets {
		names = append(names, x.Name)
	}
	return names
}
