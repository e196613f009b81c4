package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// seats is a filter for pods that need a seat each; a node has as many as its label says
// cores. It can count, so programs that count capacity need not try.
type seats struct{ perNode int64 }

var _ framework.ReplicaCounter = seats{}

func (s seats) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if int64(len(n.Pods)) >= s.perNode {
		return framework.UnschedulableStatus("no seat is free")
	}
	return framework.Status{}
}

func (s seats) Replicas(_ *framework.PodInfo, n *framework.NodeInfo) (int64, bool) {
	return s.perNode - int64(len(n.Pods)), true
}

func ExampleReplicaCounter() {
	var f framework.ReplicaCounter = seats{perNode: 4}
	count, ok := f.Replicas(nil, &framework.NodeInfo{})
	fmt.Println(count, ok)
	// Output: 4 true
}
