//go:build full

package preemption

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestBudgetsAreShared checks that all that keep the budgets of a snapshot keep one list, and
// that a budget is compiled once. Budgets are any user's, and there may be very many.
func TestBudgetsAreShared(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	put := func(namespace string, i int, selector *api.LabelSelector) {
		b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("b", i)}}
		b.Spec.Selector = selector
		if err := framework.Put(s, b); err != nil {
			t.Fatal(err)
		}
	}
	app := func(i int) *api.LabelSelector {
		return &api.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}
	}
	// compiled tells apart the compilations of a budget's selector.
	compiled := func(b budget) uintptr { return reflect.ValueOf(b.selector).FieldByName("requirements").Pointer() }
	const n = 20
	for i := range n {
		put("a-b", i, app(i)) // the key sorts before those of the namespace a
		put("a", i, app(i))
	}
	put("a", n, nil)
	put("a", n+1, &api.LabelSelector{})
	one, two := budgetsOf(s), budgetsOf(s)
	if len(one) != 2*n || &one[0] != &two[0] {
		t.Fatalf("two lists of %d and %d budgets, want one of %d", len(one), len(two), 2*n)
	}
	if fork := budgetsOf(s.Fork()); &one[0] != &fork[0] {
		t.Error("a fork has a list of its own")
	}
	put("a", 3, app(3))                                    // a new version
	put("a", 4, nil)                                       // protects no pod any more
	put("a", n, app(n))                                    // protects some
	framework.Delete[api.PodDisruptionBudget](s, "a-b/b5") // goes
	put("a-b", n, app(n))                                  // comes
	now, before := budgetsOf(s), map[string]budget{}
	for _, b := range one {
		before[b.object.Key()] = b
	}
	if len(now) != 2*n {
		t.Errorf("%d budgets, want %d", len(now), 2*n)
	}
	for i, b := range now {
		if i > 0 && now[i-1].object.Namespace > b.object.Namespace {
			t.Errorf("%s follows %s", b.object.Key(), now[i-1].object.Key())
		}
		same := before[b.object.Key()].object == b.object
		if same && compiled(before[b.object.Key()]) != compiled(b) {
			t.Errorf("%s was compiled again", b.object.Key())
		}
		if !b.selector.Matches(b.object.Spec.Selector.MatchLabels) {
			t.Errorf("%s does not select the labels %v", b.object.Key(), b.object.Spec.Selector.MatchLabels)
		}
	}
	if &one[0] == &now[0] || one[3].object == now[3].object && one[3].object.Name == "b3" {
		t.Error("a list was changed in place")
	}
}

// TestBudgetsAfterRollback asks within a transaction.
func TestBudgetsAfterRollback(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Namespace: "x", Name: "b"}}
	b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	m := s.Begin()
	if err := framework.Put(s, b); err != nil {
		t.Fatal(err)
	}
	if got := len(budgetsOf(s)); got != 1 {
		t.Errorf("%d budgets in the transaction, want 1", got)
	}
	s.Rollback(m)
	if got := len(budgetsOf(s)); got != 0 {
		t.Errorf("%d budgets after it, want 0", got)
	}
}

// TestBudgetsRenewCheaply: a budget that changes costs no memory for each of the others but
// a place in the lists.
func TestBudgetsRenewCheaply(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	put := func(i int) {
		b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Namespace: "a", Name: fmt.Sprint("b", i)}}
		b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		if err := framework.Put(s, b); err != nil {
			t.Fatal(err)
		}
	}
	const n, most = 1000, 100
	for i := range n {
		put(i)
	}
	budgetsOf(s)
	if got := testing.AllocsPerRun(20, func() { put(n / 2); budgetsOf(s) }); got > most {
		t.Errorf("%v allocations for one of %d budgets, want at most %d", got, n, most)
	}
}
