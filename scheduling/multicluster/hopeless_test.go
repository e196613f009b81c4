package multicluster_test

import (
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
