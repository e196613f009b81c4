package preemption_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// A budget that allows one disruption: the second removal violates it.
func ExampleBudgets() {
	snapshot := framework.NewSnapshot(framework.Arrival)
	budget := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "web"}}
	budget.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	budget.Status.DisruptionsAllowed = 1
	if err := framework.Put(snapshot, budget); err != nil {
		fmt.Println(err)
	}
	var budgets *preemption.Budgets = preemption.BudgetsOf(snapshot)
	for _, name := range []string{"web-0", "web-1"} {
		fmt.Println(name, budgets.Charge(api.MakePod(name).Namespace("default").Labels("app", "web").Obj()))
	}
	// Output:
	// web-0 false
	// web-1 true
}

// The pods of a group whose disruption mode is all are one unit.
func ExampleUnitsOf() {
	snapshot := framework.NewSnapshot(framework.Arrival)
	if err := snapshot.AddNode(api.MakeNode("a", "4", "8Gi").Obj()); err != nil {
		fmt.Println(err)
	}
	group := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "train"}}
	group.Spec.DisruptionMode = &api.DisruptionMode{All: &api.AllDisruptionMode{}}
	if err := framework.Put(snapshot, group); err != nil {
		fmt.Println(err)
	}
	for _, name := range []string{"train-0", "train-1", "web"} {
		pod := api.MakePod(name).Namespace("default").Requests("1", "1Gi").Obj()
		if name != "web" {
			pod.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &group.Name}
		}
		info, err := snapshot.NewPodInfo(pod)
		if err != nil {
			fmt.Println(err)
		}
		if err := snapshot.AddPod(info, "a"); err != nil {
			fmt.Println(err)
		}
	}
	for _, u := range preemption.UnitsOf(snapshot) {
		var unit *preemption.Unit = u
		var first preemption.UnitPod = unit.Pods[0]
		fmt.Println(unit.Group, len(unit.Pods), first.Pod.Pod.Name, first.Node.Name())
	}
	// Output:
	// default/train 2 train-0 a
	//  1 web a
}
