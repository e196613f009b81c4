package multicluster_test

import (
	"testing"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// TestStaticWeightsLackRoom: weights without a list do not rule out spread constraints, which may find
// no cluster with room: then nothing is placed, and what runs stays.
func TestStaticWeightsLackRoom(t *testing.T) {
	for _, weights := range []*multicluster.WeightPreference{nil, {}} {
		for _, field := range []multicluster.SpreadField{"cluster", "region", "zone", "provider"} {
			m := withNodes(t, "a", api.MakeNode("", "1", "16Gi"))
			m.Cluster.Spec.Region, m.Cluster.Spec.Zones, m.Cluster.Spec.Provider = "r", []string{"z"}, "p"
			w := &multicluster.Workload{
				Name: "default/web", Replicas: 3, Replica: capacity.ReplicaOf(api.MakePod("").Requests("2", "1Gi").Obj()),
				Placement: multicluster.Placement{
					SpreadConstraints: []multicluster.SpreadConstraint{{SpreadByField: field, MinGroups: 1, MaxGroups: 1}},
					ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaSchedulingType: "Divided", ReplicaDivisionPreference: "Weighted", WeightPreference: weights},
				},
			}
			p, err := federation(t, multicluster.Scheduler{}, m).Place(w)
			if err != nil || p.Unplaced != 3 || len(p.Targets) > 0 {
				t.Errorf("weights %v, spread by %s: %+v, %v; want 3 replicas without a place", weights, field, p, err)
			}
		}
	}
}
