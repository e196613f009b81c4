//go:build full

package multicluster_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// forgetful is Nodes as an estimator of somebody else, whose answers are not kept.
type forgetful struct{ multicluster.Nodes }

// Answers that are kept are those that asking again would give, also after rounds that were
// taken back.
func TestFederationKeptAnswers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	again, takenBack := 0, 0
	for i := range 200 {
		seed := r.Uint64()
		strategy := dynamic()
		if i%2 == 0 {
			strategy = &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}
		}
		place := func(forget bool) *multicluster.Placed {
			r := rand.New(rand.NewPCG(seed, 0))
			snapshots := map[string]*framework.Snapshot{}
			var members []multicluster.Member
			for c := range 2 + r.IntN(5) {
				var nodes []api.NodeBuilder
				for range 1 + r.IntN(4) {
					nodes = append(nodes, api.MakeNode("", fmt.Sprint(1+r.IntN(16)), "64Gi"))
				}
				m := withNodes(t, fmt.Sprint("c", c), nodes...)
				members, snapshots[m.Cluster.Name] = append(members, m), m.Snapshot
			}
			n := multicluster.Nodes{Snapshots: snapshots, Filter: profile().Filter}
			s := multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{n}}
			if forget {
				s.Estimators[0] = forgetful{n}
			}
			w := &multicluster.Workload{Name: "x/p", Replicas: 1 + r.Int64N(30), Placement: multicluster.Placement{ReplicaScheduling: strategy}}
			pod := api.MakePod("p").Requests("1", "1Gi")
			if r.IntN(2) == 0 {
				pod = pod.HostPort(80)
			}
			w.Replica = capacity.ReplicaOf(pod.Obj())
			if i%3 == 0 {
				w.Placement.SpreadConstraints = []multicluster.SpreadConstraint{constraint("cluster", 1, 1+r.IntN(3))}
			}
			if i%5 == 0 {
				w.Placement = aggregatedOn(2)
				w.Components = []capacity.Component{{Name: "a", Replicas: 1 + r.Int64N(3), Pod: pod.Obj(), Request: w.Replica.Request}}
			}
			p, err := federation(t, s, members...).Place(w)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		p := place(false)
		if diff := cmp.Diff(place(true), p, cmpopts.IgnoreFields(multicluster.PlacedPod{}, "Pod")); diff != "" {
			t.Fatalf("seed %d: Placed differs (-asked each time +kept):\n%s", seed, diff)
		}
		again += max(0, len(p.Rounds)-1)
		for _, round := range p.Rounds {
			if round.TakenBack {
				takenBack++
			}
		}
	}
	if again < 50 || takenBack < 10 {
		t.Errorf("%d later rounds and %d that were taken back; want 50 and 10", again, takenBack)
	}
}
