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

func (s seats) FilterAfter(_ *framework.PodInfo, n *framework.NodeInfo, replicas int64) framework.Status {
	if int64(len(n.Pods))+replicas >= s.perNode {
		return framework.UnschedulableStatus("no seat is free")
	}
	return framework.Status{}
}

func ExampleCounter() {
	var f replica.Counter = seats{perNode: 4}
	count, ok := f.Replicas(nil, &framework.NodeInfo{})
	fmt.Println(count, ok, f.FilterAfter(nil, &framework.NodeInfo{}, count).Reasons())
	// Output: 4 true [no seat is free]
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
	return r.verdict(n, []replica.Count{{Pods: r.pods[r.of[n.Name()]], Fewest: fewest}})
}

func (racks) verdict(_ *framework.NodeInfo, counts []replica.Count) framework.Status {
	if counts[0].Pods+1-counts[0].Fewest > 1 {
		return framework.UnschedulableStatus("the rack has more pods than another one")
	}
	return framework.Status{}
}

func (r racks) ReplicaSpread(*framework.PodInfo) (replica.Spread, bool) {
	rule := replica.Rule{Key: "rack", MaxSkew: 1, Place: func(n *framework.NodeInfo) replica.Place {
		rack := r.of[n.Name()]
		return replica.Place{Domain: rack, Pods: r.pods[rack], Counts: true}
	}}
	return replica.Spread{Rules: []replica.Rule{rule}, Filter: r.verdict}, true
}

func ExampleSpreader() {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("a", "4", "16Gi").Obj()); err != nil {
		panic(err)
	}
	var f replica.Spreader = racks{of: map[string]int{"a": 1, "b": 2}, pods: map[int]int64{1: 5, 2: 3}}
	var spread replica.Spread
	spread, ok := f.ReplicaSpread(nil)
	var rule replica.Rule = spread.Rules[0]
	var place replica.Place = rule.Place(s.Node("a"))
	passes := func(fewest int64) bool {
		return spread.Filter(s.Node("a"), []replica.Count{{Pods: place.Pods, Fewest: fewest}}).IsSuccess()
	}
	fmt.Println(ok, place.Pods, passes(3), passes(5))
	// Output: true 5 false true
}
