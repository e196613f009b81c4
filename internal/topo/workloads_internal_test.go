package topo

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestServicesLeaveNothing: services of ever new labels come and go.
func TestServicesLeaveNothing(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	workloadsOf(s)
	for i := range 100 {
		o := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "x", Name: fmt.Sprint("s", i)}}
		o.Spec.Selector = map[string]string{"app": fmt.Sprint("app", i/2)}
		if err := framework.Put(s, o); err != nil {
			t.Fatal(err)
		}
		if i >= 10 {
			framework.Delete[api.Service](s, fmt.Sprint("x/s", i-10))
		}
	}
	labels, selectors, services, keys := 0, 0, 0, 0
	for i := range shardCount {
		if part := workloadsOf(s).services.parts[i]; part != nil {
			labels += len(part.values)
			for _, near := range part.values {
				selectors += len(near.bySelector)
				for _, alike := range near.bySelector {
					services += len(alike.list)
				}
			}
		}
		if part := workloadsOf(s).keys.parts[i]; part != nil {
			keys += len(part.values)
		}
	}
	if labels != 5 || selectors != 5 || services != 10 || keys != 10 {
		t.Errorf("%d labels, %d selectors, %d services and %d keys are kept of 10 services of 5 apps", labels, selectors, services, keys)
	}
}

// TestServicesOfManySelectors changes services of a few selectors in a snapshot and its forks, and
// compares those of a pod with what a look at all of them gives.
func TestServicesOfManySelectors(t *testing.T) {
	selectors := []map[string]string{
		nil, {}, {"app": "web"}, {"app": "web", "a": "1"}, {"a": "1", "app": "web"}, {"app": "web", "b": "2"}, {"app": "web", "c": "3"}, {"b": "2"}, {"app": "db"},
	}
	rapid.Check(t, func(t *rapid.T) {
		forks := []*framework.Snapshot{framework.NewSnapshot(framework.Arrival)}
		change := func(s *framework.Snapshot) {
			o := &api.Service{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("s", rapid.IntRange(0, 12).Draw(t, "name")), Namespace: rapid.SampledFrom([]string{"x", "x", "y"}).Draw(t, "namespace")}}
			o.Spec.Selector = rapid.SampledFrom(selectors).Draw(t, "selector")
			if rapid.IntRange(0, 2).Draw(t, "gone") == 0 {
				framework.Delete[api.Service](s, o.Key())
			} else if err := framework.Put(s, o); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"change": func(*rapid.T) { change(rapid.SampledFrom(forks).Draw(t, "fork")) },
			"roll back": func(*rapid.T) {
				s := rapid.SampledFrom(forks).Draw(t, "fork")
				mark := s.Begin()
				for range rapid.IntRange(1, 4).Draw(t, "steps") {
					if rapid.Bool().Draw(t, "look") {
						workloadsOf(s)
					} else {
						change(s)
					}
				}
				s.Rollback(mark)
			},
			"fork": func(*rapid.T) {
				if len(forks) < 4 {
					forks = append(forks, rapid.SampledFrom(forks).Draw(t, "fork").Fork())
				}
			},
			"": func(*rapid.T) {
				for i, s := range forks {
					for _, labels := range []map[string]string{nil, {"app": "web"}, {"app": "web", "a": "1", "b": "2"}, {"b": "2", "c": "4"}} {
						p := &api.Pod{ObjectMeta: api.ObjectMeta{Namespace: "x", Name: "p", Labels: labels}}
						var want []*api.Service
						merged := map[string]string{}
						for _, o := range framework.List[api.Service](s) {
							if o.Namespace == "x" && o.Spec.Selector != nil && hasLabels(labels, labelsOf(o.Spec.Selector)) {
								want = append(want, o)
								maps.Copy(merged, o.Spec.Selector)
							}
						}
						slices.SortFunc(want, byName)
						if got := workloadsOf(s).of(p); !slices.Equal(got, want) {
							t.Fatalf("fork %d: %d services of %v, want %d, by name", i, len(got), labels, len(want))
						}
						if got := workloadsOf(s).selectors(p); !maps.Equal(got, merged) {
							t.Fatalf("fork %d: the services of %v want %v, want %v", i, labels, got, merged)
						}
					}
				}
			},
		})
	})
}

// TestServicesOfQuestions: an index that a question has made, in a transaction, serves the next ones, too. Only
// one that saw objects change is made again.
func TestServicesOfQuestions(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	put := func(name string) {
		o := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "x", Name: name}}
		o.Spec.Selector = map[string]string{"app": "web"}
		if err := framework.Put(s, o); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	versions := map[uint64]bool{}
	for range 5 {
		mark := s.Begin()
		versions[workloadsOf(s).version] = true
		s.Rollback(mark)
	}
	if len(versions) != 1 {
		t.Errorf("five questions made %d indexes, want one", len(versions))
	}
	mark := s.Begin()
	put("b")
	workloadsOf(s)
	s.Rollback(mark)
	p := &api.Pod{ObjectMeta: api.ObjectMeta{Namespace: "x", Name: "p", Labels: map[string]string{"app": "web"}}}
	if n := len(workloadsOf(s).of(p)); n != 1 {
		t.Errorf("%d services after a rollback, want 1", n)
	}
}

// TestServicesAfterNestedTransactions: what a transaction within another one learned of the services goes with the outer one.
func TestServicesAfterNestedTransactions(t *testing.T) {
	put := func(s *framework.Snapshot, name string) {
		o := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "x", Name: name}, Spec: api.ServiceSpec{Selector: map[string]string{"app": "web"}}}
		if err := framework.Put(s, o); err != nil {
			t.Fatal(err)
		}
	}
	for _, before := range []bool{false, true} { // services are asked for before
		s := framework.NewSnapshot(framework.Arrival)
		p := info(t, s, api.MakePod("p").Namespace("x").Labels("app", "web").Obj())
		ask := func(want int) {
			t.Helper()
			if got := len(ServicesOf(s, p)); got != want {
				t.Errorf("asked before: %t: %d services, want %d", before, got, want)
			}
		}
		put(s, "always")
		if before {
			ask(1)
		}
		outer := s.Begin()
		put(s, "tried")
		for range 2 {
			inner := s.Begin()
			ask(2)
			s.Rollback(inner)
			ask(2)
		}
		s.Rollback(outer)
		ask(1)
	}
}
