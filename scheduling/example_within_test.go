package scheduling_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A decision within a rack, taken back without a trace in later decisions.
func ExampleNodeSet() {
	snapshot := framework.NewSnapshot(framework.Arrival)
	for _, n := range []api.NodeBuilder{
		api.MakeNode("a", "8", "16Gi").Labels("rack", "r1"), api.MakeNode("b", "2", "16Gi").Labels("rack", "r2"), api.MakeNode("c", "2", "16Gi").Labels("rack", "r2"),
	} {
		if err := snapshot.AddNode(n.Obj()); err != nil {
			fmt.Println(err)
		}
	}
	sched, _ := scheduling.New(scheduling.Kubernetes137())
	pod, _ := snapshot.NewPodInfo(api.MakePod("web").Requests("1", "1Gi").Obj())
	large, _ := snapshot.NewPodInfo(api.MakePod("large").Requests("4", "1Gi").Obj())

	var set *scheduling.NodeSet
	set, err := scheduling.NewNodeSet(snapshot, []*framework.NodeInfo{snapshot.Node("c"), snapshot.Node("b")})
	fmt.Println(set.Len(), err)
	var before scheduling.Position = sched.Position()
	d, err := sched.ScheduleWithin(snapshot, pod, set)
	fmt.Println(d.Node, d.Feasible, err)
	_, err = sched.ScheduleWithin(snapshot, large, set)
	fmt.Println(err)
	sched.Seek(before)
	d, err = sched.Schedule(snapshot, pod)
	fmt.Println(d.Node, d.Number, err)
	// Output:
	// 2 <nil>
	// b 2 <nil>
	// 0/2 nodes are available: 2 Insufficient cpu.
	// a 0 <nil>
}
