package filter_test

import (
	"fmt"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A plugin filters for a pod in two steps: PreFilter prepares the pod, and the
// filter it returns decides about nodes. Package scheduling does that for whole
// profiles.
func ExampleNodeResourcesFit() {
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []api.NodeBuilder{
		api.MakeNode("small", "2", "4Gi"), api.MakeNode("busy", "8", "32Gi"), api.MakeNode("large", "16", "64Gi"),
	} {
		if err := s.AddNode(n.Obj()); err != nil {
			fmt.Println(err)
			return
		}
	}
	running, err := s.NewPodInfo(api.MakePod("db").Requests("6", "8Gi").Obj())
	if err == nil {
		err = s.AddPod(running, "busy")
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	pod, err := s.NewPodInfo(api.MakePod("web").Requests("4", "8Gi").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	bound, status := filter.NodeResourcesFit{}.PreFilter(&c)
	if !status.IsSuccess() {
		fmt.Println(status)
		return
	}
	for _, n := range s.All() {
		fmt.Printf("%s: %v\n", n.Name(), bound.Filter.Filter(pod, n))
	}
	// Output:
	// small: UnschedulableAndUnresolvable: Insufficient cpu, Insufficient memory
	// busy: Unschedulable: Insufficient cpu
	// large: Success
}

func ExampleNodeResourcesFit_ignoredResources() {
	elsewhere := filter.NodeResourcesFit{IgnoredResources: []resource.Name{"example.com/license"}}
	show(elsewhere, api.MakePod("render").Requests("1", "1Gi").Request("example.com/license", "1").Obj(),
		api.MakeNode("n1", "4", "8Gi").Obj())
	// Output:
	// n1: Success
}

func ExampleNodeName() {
	show(filter.NodeName{}, api.MakePod("agent").Node("n2").Obj(),
		api.MakeNode("n1", "4", "8Gi").Obj(), api.MakeNode("n2", "4", "8Gi").Obj())
	// Output:
	// n1: UnschedulableAndUnresolvable: node(s) didn't match the requested node name
	// n2: Success
}

func ExampleNodeUnschedulable() {
	cordoned := api.MakeNode("n1", "4", "8Gi").Unschedulable().Obj()
	show(filter.NodeUnschedulable{}, api.MakePod("web").Obj(), cordoned)
	show(filter.NodeUnschedulable{}, api.MakePod("agent").Tolerates("node.kubernetes.io/unschedulable:NoSchedule").Obj(), cordoned)
	// Output:
	// n1: UnschedulableAndUnresolvable: node(s) were unschedulable
	// n1: Success
}

func ExampleTaintToleration() {
	show(filter.TaintToleration{}, api.MakePod("web").Tolerates("team=a:NoSchedule").Obj(),
		api.MakeNode("n1", "4", "8Gi").Taint("team=a:NoSchedule").Obj(),
		api.MakeNode("n2", "4", "8Gi").Taint("team=b:NoSchedule").Obj(),
		api.MakeNode("n3", "4", "8Gi").Taint("spot:PreferNoSchedule").Obj())
	// Output:
	// n1: Success
	// n2: UnschedulableAndUnresolvable: node(s) had untolerated taint(s)
	// n3: Success
}

func ExampleNodeAffinity() {
	show(filter.NodeAffinity{}, api.MakePod("db").NodeSelector("disk", "ssd").NodeAffinity("zone in (a, b)").Obj(),
		api.MakeNode("n1", "4", "8Gi").Labels("disk", "ssd", "zone", "b").Obj(),
		api.MakeNode("n2", "4", "8Gi").Labels("disk", "ssd", "zone", "c").Obj(),
		api.MakeNode("n3", "4", "8Gi").Labels("zone", "a").Obj())
	// Output:
	// n1: Success
	// n2: UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector
	// n3: UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector
}

func ExampleNodePorts() {
	show(filter.NodePorts{}, api.MakePod("web").HostPort(80).Obj(), api.MakeNode("n1", "4", "8Gi").Obj())
	// A pod without host ports has nothing to check.
	show(filter.NodePorts{}, api.MakePod("web").Obj(), api.MakeNode("n1", "4", "8Gi").Obj())
	// Output:
	// n1: Success
	// Skip
}

// show prints a plugin's verdicts on a pod for the nodes.
func show(p framework.Plugin, pod *api.Pod, nodes ...*api.Node) {
	s := snapshotOf(exampleFailer{}, nodes)
	var c framework.Cycle
	c.Reset(podInfo(exampleFailer{}, s, pod), s, 0, 0)
	list, _, status := verdicts(&c, p)
	if !status.IsSuccess() {
		fmt.Println(status)
		return
	}
	for i, verdict := range list {
		fmt.Printf("%s: %v\n", nodes[i].Name, verdict)
	}
}

// exampleFailer lets examples use the test helpers.
type exampleFailer struct{}

func (exampleFailer) Helper() {}

func (exampleFailer) Fatal(args ...any) { panic(fmt.Sprint(args...)) }
