package multicluster_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// TestAffinityThatNoChoiceMeets: an affinity whose clusters cannot meet the spread constraint hides nothing
// of what the next one can take. A host port lets each cluster take one replica, though ten are expected.
func TestAffinityThatNoChoiceMeets(t *testing.T) {
	term := func(name string, clusters ...string) multicluster.ClusterAffinityTerm {
		return multicluster.ClusterAffinityTerm{AffinityName: name, ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: clusters}}
	}
	for _, terms := range [][]multicluster.ClusterAffinityTerm{
		{term("both", "b", "c")},
		{term("one", "a"), term("both", "b", "c")},
		{term("both", "b", "c"), term("one", "a")},
		{term("one", "a"), term("another", "b"), term("both", "b", "c")},
	} {
		var members []multicluster.Member
		for _, n := range []string{"a", "b", "c"} {
			m := withNodes(t, n, api.MakeNode("", "2", "16Gi"))
			m.Cluster.Spec.Region = "r-" + n
			members = append(members, m)
		}
		pod := api.MakePod("").Requests("100m", "1Gi").Obj()
		pod.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: 80, ContainerPort: 80}}
		w := &multicluster.Workload{Name: "default/web", Replicas: 10, Replica: capacity.ReplicaOf(pod)}
		w.Placement.ReplicaScheduling = dynamic()
		w.Placement.SpreadConstraints = []multicluster.SpreadConstraint{{SpreadByField: "region", MinGroups: 2, MaxGroups: 2}}
		w.Placement.ClusterAffinities = terms
		p, err := federation(t, multicluster.Scheduler{}, members...).Place(w)
		if err != nil || len(p.Pods) != 2 || p.Unplaced != 8 {
			t.Errorf("%d affinities, %q first: %d pods, %v; want 2", len(terms), terms[0].AffinityName, len(p.Pods), err)
		}
	}
}

// TestAffinityWithMostRoom: if no affinity takes all replicas, that counts which takes most, not the first.
func TestAffinityWithMostRoom(t *testing.T) {
	for _, preference := range []string{"Weighted", "Aggregated"} {
		for _, full := range []string{"100m", "1", "3"} {
			a, b := withNodes(t, "a", api.MakeNode("", full, "16Gi")), withNodes(t, "b", api.MakeNode("", "4", "16Gi"))
			w := &multicluster.Workload{Name: "default/web", Replicas: 10, Replica: capacity.ReplicaOf(api.MakePod("").Requests("1", "1Gi").Obj())}
			w.Placement.ReplicaScheduling = dynamic()
			if preference == "Aggregated" {
				w.Placement.ReplicaScheduling = &multicluster.ReplicaScheduling{ReplicaSchedulingType: "Divided", ReplicaDivisionPreference: "Aggregated"}
			}
			w.Placement.ClusterAffinities = []multicluster.ClusterAffinityTerm{
				{AffinityName: "first", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"a"}}},
				{AffinityName: "second", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"b"}}},
			}
			p, err := federation(t, multicluster.Scheduler{}, a, b).Place(w)
			if err != nil || p.Unplaced != 6 || len(p.Targets) != 1 || p.Targets[0] != (multicluster.Target{Name: "b", Replicas: 4}) {
				t.Errorf("%s, the first has %s: %v, %d without a place, %v; want 4 in b", preference, full, p.Targets, p.Unplaced, err)
			}
		}
	}
}

// TestRoundsAreExplainedAtFirst: a host port lets each cluster take one replica, so each takes a round. The
// explanations of the first hundred are kept.
func TestRoundsAreExplainedAtFirst(t *testing.T) {
	var members []multicluster.Member
	const clusters = 120
	for i := range clusters {
		members = append(members, withNodes(t, fmt.Sprintf("c-%03d", i), api.MakeNode("", "200", "900Gi").Resource("pods", "500")))
	}
	pod := api.MakePod("").Requests("1m", "1Mi").Obj()
	pod.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: 80, ContainerPort: 80}}
	w := &multicluster.Workload{Name: "default/web", Replicas: clusters, Replica: capacity.ReplicaOf(pod)}
	w.Placement.ReplicaScheduling = &multicluster.ReplicaScheduling{ReplicaSchedulingType: "Divided", ReplicaDivisionPreference: "Aggregated"}
	p, err := federation(t, multicluster.Scheduler{}, members...).Place(w)
	if err != nil || p.Unplaced != 0 || len(p.Rounds) != clusters {
		t.Fatalf("%d rounds, %d without a place, %v", len(p.Rounds), p.Unplaced, err)
	}
	for i, r := range p.Rounds {
		if (r.Decision != nil) != (i < 100) {
			t.Errorf("round %d is explained: %t", i, r.Decision != nil)
		}
	}
}
