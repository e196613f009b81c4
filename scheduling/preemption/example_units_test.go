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
