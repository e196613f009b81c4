//go:build full

package preemption

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// budgetsIn is the list of the budgets in a snapshot.
func budgetsIn(t *testing.T, objects ...*api.PodDisruptionBudget) budgets {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for _, b := range objects {
		if err := framework.Put(s, b); err != nil {
			t.Fatal(err)
		}
	}
	return budgetsOf(s)
}

func protect(namespace, app string, allowed int32) *api.PodDisruptionBudget {
	return &api.PodDisruptionBudget{
		ObjectMeta: api.ObjectMeta{Namespace: namespace, Name: app},
		Spec:       api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status:     api.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

// TestChangedBudgets checks that budgets that only allow more or less are
// distinguished from budgets that protect other pods.
func TestChangedBudgets(t *testing.T) {
	a, b := protect("x", "a", 1), protect("x", "b", 1)
	other := protect("x", "b", 1)
	other.Spec.Selector.MatchLabels["app"] = "c"
	renamed := protect("x", "b", 1)
	renamed.Name = "z"
	tests := []struct {
		name     string
		was, now []*api.PodDisruptionBudget
		want     guards
		ok       bool
	}{
		{"none", nil, nil, 0, true},
		{"the same", []*api.PodDisruptionBudget{a, b}, []*api.PodDisruptionBudget{a, b}, 0, true},
		{"one allows less", []*api.PodDisruptionBudget{a, b}, []*api.PodDisruptionBudget{a, protect("x", "b", 0)}, 2, true},
		{"both", []*api.PodDisruptionBudget{a, b}, []*api.PodDisruptionBudget{protect("x", "a", 0), protect("x", "b", 0)}, 3, true},
		{"another name", []*api.PodDisruptionBudget{a, b}, []*api.PodDisruptionBudget{a, renamed}, 2, true},
		{"one more", []*api.PodDisruptionBudget{a}, []*api.PodDisruptionBudget{a, b}, 0, false},
		{"one less", []*api.PodDisruptionBudget{a, b}, []*api.PodDisruptionBudget{b}, 0, false},
		{"another selector", []*api.PodDisruptionBudget{a, b}, []*api.PodDisruptionBudget{a, other}, 0, false},
		{"another namespace", []*api.PodDisruptionBudget{a, b}, []*api.PodDisruptionBudget{a, protect("y", "b", 1)}, 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := budgetsIn(t, test.now...).changed(budgetsIn(t, test.was...))
			if got != test.want || ok != test.ok {
				t.Errorf("changed = %b, %t; want %b, %t", got, ok, test.want, test.ok)
			}
		})
	}
}

// TestManyBudgets checks that the last of many budgets share a bit.
func TestManyBudgets(t *testing.T) {
	var was, now []*api.PodDisruptionBudget
	for i := range 100 {
		app := fmt.Sprintf("app-%03d", i)
		b := protect("default", app, 5)
		was, now = append(was, b), append(now, b)
	}
	now[99] = protect("default", "app-099", 0)
	list := budgetsIn(t, now...)
	changed, ok := list.changed(budgetsIn(t, was...))
	if !ok || changed != 1<<63 {
		t.Fatalf("changed = %b, %t; want the last bit", changed, ok)
	}
	pods := []placed{place(&framework.PodInfo{Pod: api.MakePod("p").Labels("app", "app-099").Obj()}, 0)}
	violating, others, asked := list.split(pods)
	if len(violating) != 1 || len(others) != 0 || asked&changed == 0 {
		t.Errorf("split = %d violating, %d others, guards %b; want the pod to violate a budget of the last bit", len(violating), len(others), asked)
	}
	pods = []placed{place(&framework.PodInfo{Pod: api.MakePod("p").Labels("app", "app-007").Obj()}, 0)}
	if _, _, asked := list.split(pods); asked != 1<<7 {
		t.Errorf("split asked %b, want budget 7", asked)
	}
}
