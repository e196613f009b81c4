//go:build full

package preemption

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"pgregory.net/rapid"
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
	compiled := func(b *budget) uintptr { return reflect.ValueOf(b.selector).FieldByName("requirements").Pointer() }
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
	now, before := budgetsOf(s), map[string]*budget{}
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
		same := before[b.object.Key()]
		if same != nil && same.object == b.object && compiled(before[b.object.Key()]) != compiled(b) {
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

// TestBudgetsAfterNestedRollbacks asks first within a transaction that another one holds.
func TestBudgetsAfterNestedRollbacks(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	outer := s.Begin()
	if err := framework.Put(s, protect("x", "b", 1)); err != nil {
		t.Fatal(err)
	}
	inner := s.Begin()
	for _, mark := range []framework.Mark{inner, outer} {
		if got := len(budgetsOf(s)); got != 1 {
			t.Errorf("%d budgets in the transaction, want 1", got)
		}
		s.Rollback(mark)
	}
	if got := len(budgetsOf(s)); got != 0 {
		t.Errorf("%d budgets after it, want 0", got)
	}
}

// TestBudgetsFollowChanges compares the list with one made anew, after random changes,
// forks and rollbacks.
func TestBudgetsFollowChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		var marks []framework.Mark
		odd := rapid.IntRange(0, 9).Draw(t, "odd") == 0
		compare := func() {
			var want []string
			for _, o := range framework.List[api.PodDisruptionBudget](s) {
				if b := compile(o); b != nil {
					want = append(want, fmt.Sprintf("%q %q %p", o.Namespace, o.Name, o))
				}
			}
			slices.Sort(want)
			var got []string
			list := budgetsOf(s)
			for i, b := range list {
				if i > 0 && compareBudgets(list[i-1], b) >= 0 {
					t.Fatalf("%s follows %s", b.object.Key(), list[i-1].object.Key())
				}
				if !reflect.DeepEqual(b.selector, compile(b.object).selector) {
					t.Fatalf("%s has the selector of another", b.object.Key())
				}
				got = append(got, fmt.Sprintf("%q %q %p", b.object.Namespace, b.object.Name, b.object))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("budgets %v, want %v", got, want)
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			b := &api.PodDisruptionBudget{}
			b.Namespace, b.Name = rapid.SampledFrom([]string{"a", "a-b", "b"}).Draw(t, "namespace"), rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "name")
			if odd && rapid.Bool().Draw(t, "no namespace") {
				b.Namespace, b.Name = "", rapid.SampledFrom([]string{"x", "a/x"}).Draw(t, "odd name")
			}
			if app := rapid.IntRange(0, 3).Draw(t, "app"); app > 0 {
				b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(app)}}
			}
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1, 2:
				if err := framework.Put(s, b); err != nil {
					t.Fatal(err)
				}
			case 3:
				framework.Delete[api.PodDisruptionBudget](s, api.KeyOf(b))
			case 4:
				marks = append(marks, s.Begin())
			case 5:
				if last := len(marks) - 1; last >= 0 {
					s.Rollback(marks[last])
					marks = marks[:last]
				}
			case 6:
				if len(marks) == 0 {
					s = s.Fork()
				}
			case 7:
				compare()
			}
		}
		compare()
	})
}

func compareBudgets(a, b *budget) int { return compare(a, b.object) }

// TestManyBudgetsChange: where a budget changes again and again and nobody asks, what is
// noted does not grow.
func TestManyBudgetsChange(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	budgetsOf(s)
	for i := range 10000 {
		if err := framework.Put(s, protect("a", fmt.Sprint(i), 1)); err != nil {
			t.Fatal(err)
		}
		framework.Delete[api.PodDisruptionBudget](s, fmt.Sprint("a/", i))
	}
	if x := budgetsKey.Of(s); len(x.changed) > fewChanges {
		t.Errorf("%d changes are noted, want at most %d", len(x.changed), fewChanges)
	}
	if got := len(budgetsOf(s)); got != 0 {
		t.Errorf("%d budgets, want 0", got)
	}
}

// TestBudgetsRenewCheaply: a budget that changes costs one copy of the list, 8 bytes for
// each of the others, and neither compiles nor sorts any.
func TestBudgetsRenewCheaply(t *testing.T) {
	const most = 25 // allocations, most for the object itself
	for _, n := range []int{1000, 10000} {
		s := framework.NewSnapshot(framework.Arrival)
		put := func(i int) {
			if err := framework.Put(s, protect("a", fmt.Sprint("b", i), 1)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			put(i)
		}
		budgetsOf(s)
		var before, after runtime.MemStats
		const times = 20
		allocs := testing.AllocsPerRun(times, func() { put(n / 2); budgetsOf(s) })
		runtime.ReadMemStats(&before)
		for range times {
			put(n / 2)
			budgetsOf(s)
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / times; allocs > most || each > uint64(12*n+8192) {
			t.Errorf("%v allocations and %d bytes for one of %d budgets, want at most %d and %d", allocs, each, n, most, 12*n+8192)
		}
	}
}
