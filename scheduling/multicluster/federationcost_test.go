package multicluster_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// counting counts how often nodes are asked about.
type counting struct{ calls *int }

func (counting) Name() string { return "Counting" }

func (c counting) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	*c.calls++
	return framework.Status{}
}

// callsOfPlace places a workload whose host port fills each of n clusters long before the
// estimates say so, and returns how often nodes were asked about.
func callsOfPlace(t *testing.T, n int) int {
	calls := 0
	var members []multicluster.Member
	for i := range n {
		node := api.MakeNode("", "64", "256Gi")
		members = append(members, withNodes(t, fmt.Sprintf("c%02d", i), node, node, node))
	}
	p := profile()
	p.Filter = append(p.Filter, counting{&calls})
	f, err := multicluster.NewFederation(multicluster.Scheduler{}, p, members)
	if err != nil {
		t.Fatal(err)
	}
	placed, err := f.Place(&multicluster.Workload{
		Name: "x/p", Replicas: 1000, Replica: capacity.ReplicaOf(api.MakePod("p").Requests("1", "1Gi").HostPort(80).Obj()),
		Placement: multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := int64(len(placed.Pods)); got != 1000-placed.Unplaced || got != int64(3*n) {
		t.Errorf("%d clusters: %d pods, %d unplaced", n, got, placed.Unplaced)
	}
	return calls
}

// Only clusters that a round has changed are asked again.
func TestFederationCost(t *testing.T) {
	few, many := callsOfPlace(t, 10), callsOfPlace(t, 40)
	if many > 5*few {
		t.Errorf("nodes were asked %d times in 10 clusters, %d times in 40; want at most 5 times as often", few, many)
	}
}
