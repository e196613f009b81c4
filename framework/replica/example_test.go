package replica_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/replica"
)

// seats is a filter for pods that need a seat each; a node has as many as its label says
// cores. It can count, so programs that count capacity need not try.
type seats struct{ perNode int64 }

var _ replica.Counter = seats{}

func (s seats) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if int64(len(n.Pods)) >= s.perNode {
		return framework.UnschedulableStatus("no seat is free")
	}
	return framework.Status{}
}

func (s seats) Replicas(_ *framework.PodInfo, n *framework.NodeInfo) (int64, bool) {
	return s.perNode - int64(len(n.Pods)), true
}

func ExampleCounter() {
	var f replica.Counter = seats{perNode: 4}
	count, ok := f.Replicas(nil, &framework.NodeInfo{})
	fmt.Println(count, ok)
	// Output: 4 true
}

// racks is a filter that lets no rack have more pods than the emptiest one and one more. It
// has counted the pods of each rack before.
type racks struct {
	of   map[string]int // racks of nodes
	pods map[int]int64  // of racks
}

var _ replica.Spreader = racks{}

func (r racks) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	fewest := int64(1 << 30)
	for _, pods := range r.pods {
		fewest = min(fewest, pods)
	}
	return r.verdict(n, r.pods[r.of[n.Name()]], fewest)
}

func (racks) verdict(_ *framework.NodeInfo, pods, fewest int64) framework.Status {
	if pods+1-fewest > 1 {
		return framework.UnschedulableStatus("the rack has more pods than another one")
	}
	return framework.Status{}
}

func (r racks) ReplicaSpread(*framework.PodInfo) (replica.Spread, bool) {
	return replica.Spread{
		Key: "rack", MaxSkew: 1, Filter: r.verdict,
		Place: func(n *framework.NodeInfo) replica.Place {
			rack := r.of[n.Name()]
			return replica.Place{Domain: rack, Pods: r.pods[rack], Counts: true}
		},
	}, true
}

func ExampleSpreader() {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("a", "4", "16Gi").Obj()); err != nil {
		panic(err)
	}
	var f replica.Spreader = racks{of: map[string]int{"a": 1, "b": 2}, pods: map[int]int64{1: 5, 2: 3}}
	var spread replica.Spread
	spread, ok := f.ReplicaSpread(nil)
	var place replica.Place = spread.Place(s.Node("a"))
	fmt.Println(ok, place.Pods, spread.Filter(s.Node("a"), place.Pods, 3).IsSuccess(), spread.Filter(s.Node("a"), place.Pods, 5).IsSuccess())
	// Output: true 5 false true
}
