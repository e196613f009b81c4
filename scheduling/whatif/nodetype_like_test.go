package whatif_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// A node of the cluster is the pattern of new ones, although it is cordoned; the names that the cluster
// has are left out.
func ExampleTypeLike() {
	s := framework.NewSnapshot(framework.Arrival)
	cordoned := api.MakeNode("worker-1", "8", "32Gi").Labels("pool", "workers").
		Taint("node.kubernetes.io/unschedulable:NoSchedule", "dedicated=workers:NoSchedule").Unschedulable()
	if err := s.AddNode(cordoned.Obj()); err != nil {
		panic(err)
	}
	for _, p := range []api.PodBuilder{api.MakePod("agent").Owner("DaemonSet", "agent"), api.MakePod("web").Owner("ReplicaSet", "web")} {
		info, err := s.NewPodInfo(p.Requests("1", "1Gi").Obj())
		if err != nil {
			panic(err)
		}
		if err := s.AddPod(info, "worker-1"); err != nil {
			panic(err)
		}
	}
	t := whatif.TypeLike("worker", s.Node("worker-1"))
	names, err := t.AddNodes(s, 2)
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		n := s.Node(name)
		fmt.Println(name, n.Node.Labels["pool"], n.Node.Spec.Unschedulable, n.Node.Spec.Taints)
		for _, p := range n.Pods {
			fmt.Println("  with", p.Pod.Key())
		}
	}
	// Output:
	// worker-0 workers false [{dedicated workers NoSchedule <nil>}]
	//   with default/agent-worker-0
	// worker-2 workers false [{dedicated workers NoSchedule <nil>}]
	//   with default/agent-worker-2
}
