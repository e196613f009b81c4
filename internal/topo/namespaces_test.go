package topo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// TestNamespaceSets changes namespaces in forks and transactions at random, and compares what
// selectors select with a look at all namespaces. Sets are digested alike exactly if they are
// equal, wherever they were found.
func TestNamespaceSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		forks := []*framework.Snapshot{framework.NewSnapshot(framework.Arrival)}
		byNames, byDigest := map[string]string{}, map[string]string{}
		pick := func() *framework.Snapshot { return rapid.SampledFrom(forks).Draw(t, "fork") }
		change := func(s *framework.Snapshot) {
			o := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("n", rapid.IntRange(0, 20).Draw(t, "name"))}}
			o.Labels = map[string]string{"team": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "team")}
			if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
				framework.Delete[api.Namespace](s, o.Name)
			} else if err := framework.Put(s, o); err != nil {
				t.Fatal(err)
			}
		}
		check := func(s *framework.Snapshot) {
			for _, selector := range []match.LabelSelector{
				match.LabelsOf(map[string]string{"team": "a"}), match.LabelsOf(map[string]string{"team": "b"}), match.LabelsOf(map[string]string{"team": "c"}), {},
			} {
				want := map[string]bool{}
				for _, o := range framework.List[api.Namespace](s) {
					if selector.Matches(o.Labels) {
						want[o.Name] = true
					}
				}
				set := Of(s).selected(&selector)
				got := slices.Collect(set.all)
				if !slices.Equal(got, slices.Sorted(maps.Keys(want))) || set.count != len(want) {
					t.Fatalf("%d namespaces are selected, %v, want %v", set.count, got, want)
				}
				for i := range 22 {
					if name := fmt.Sprint("n", i); set.has(name) != want[name] {
						t.Fatalf("has(%s) = %t, want %t", name, !want[name], want[name])
					}
				}
				names, digest := strings.Join(got, ","), string(set.digest[:])
				if was, ok := byNames[names]; ok && was != digest {
					t.Fatalf("%s has two digests", names)
				}
				if was, ok := byDigest[digest]; ok && was != names {
					t.Fatalf("%s and %s have one digest", names, was)
				}
				byNames[names], byDigest[digest] = digest, names
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"change": func(*rapid.T) { change(pick()) },
			"fork": func(*rapid.T) {
				if len(forks) < 4 {
					forks = append(forks, pick().Fork())
				}
			},
			"roll back": func(t *rapid.T) {
				s := pick()
				mark := s.Begin()
				for range rapid.IntRange(0, 3).Draw(t, "changes") {
					change(s)
					if rapid.Bool().Draw(t, "asked") {
						check(s)
					}
				}
				s.Rollback(mark)
			},
			"": func(*rapid.T) {
				for _, s := range forks {
					check(s)
				}
			},
		})
	})
}

// TestNamespaceSetsAreShared: terms and pods with equal selectors have one set, selectors that
// differ have one if they select the same, and many selectors do not stay.
func TestNamespaceSetsAreShared(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	put := func(name, team string) {
		t.Helper()
		if err := framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: name, Labels: map[string]string{"team": team}}}); err != nil {
			t.Fatal(err)
		}
	}
	put("m", "a")
	put("n", "a")
	put("z", "b")
	add(t, s, api.MakePod("other").Namespace("m").Labels("app", "web").Obj(), "a")
	chosen := func(name, app string, selectors ...api.LabelSelectorRequirement) *framework.PodInfo {
		p := hermit(name, zone)
		p.Labels = map[string]string{"own": app}
		terms := &p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = nil
		for _, e := range selectors {
			*terms = append(*terms, api.PodAffinityTerm{
				TopologyKey: zone, LabelSelector: selectsWeb,
				NamespaceSelector: &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{e}},
			})
		}
		return info(t, s, p)
	}
	isA := api.LabelSelectorRequirement{Key: "team", Operator: api.LabelSelectorOpIn, Values: []string{"a"}}
	notB := api.LabelSelectorRequirement{Key: "team", Operator: api.LabelSelectorOpNotIn, Values: []string{"b"}}
	tables := Of(s)
	one, two := tables.Affinity(chosen("p", "1", isA, isA, notB)), tables.Affinity(chosen("q", "2", notB))
	x := &tables.namespaceSets
	if len(x.bySelector) != 2 || len(x.byBits) != 1 {
		t.Errorf("%d selectors and %d sets are kept, want 2 and 1", len(x.bySelector), len(x.byBits))
	}
	if got := [...]int32{one.Repel[0].id, one.Repel[1].id, one.Repel[2].id}; got != [...]int32{two.Repel[0].id, two.Repel[0].id, two.Repel[0].id} {
		t.Errorf("the counters are %d, want all %d", got, two.Repel[0].id)
	}
	names := x.names
	put("z", "c") // which the selectors do not select either
	three := tables.Affinity(chosen("r", "3", isA))
	if three.Repel[0].id != two.Repel[0].id || &x.names[0] != &names[0] {
		t.Error("a set that is the same in a new version of the namespaces has another counter, or names of its own")
	}
	put("m", "b") // which has the pod
	if four := tables.Affinity(chosen("r", "4", isA)); len(four.Repel) != 0 {
		t.Errorf("%d pods are counted in namespaces that are selected no more", four.Repel[0].Total())
	}
	checkTables(t, tables)

	for i := range namespaceSetsMost + 10 {
		selector := match.LabelsOf(map[string]string{"team": fmt.Sprint(i)})
		tables.selected(&selector)
	}
	if got := len(x.bySelector); got > 20 || len(x.byBits) != 1 {
		t.Errorf("%d selectors and %d sets are kept of %d, want at most 20 and 1", got, len(x.byBits), namespaceSetsMost)
	}
	for i := range 1000 {
		var e []api.LabelSelectorRequirement
		e = append(e, api.LabelSelectorRequirement{Key: "team", Operator: api.LabelSelectorOpIn, Values: []string{strings.Repeat("x", 60), fmt.Sprint(i)}})
		for k := range 10 {
			e = append(e, api.LabelSelectorRequirement{Key: fmt.Sprint(strings.Repeat("y", 50), k), Operator: api.LabelSelectorOpExists})
		}
		selector, err := match.NewLabelSelector(&api.LabelSelector{MatchExpressions: e})
		if err != nil {
			t.Fatal(err)
		}
		tables.selected(&selector)
	}
	for key := range x.bySelector {
		if len(key) > keyShort {
			t.Fatalf("a key has %d bytes", len(key))
		}
	}
}

// TestNamespaceSetsOfForks: forks look for sets at the same time.
func TestNamespaceSetsOfForks(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	if err := framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "n", Labels: map[string]string{"team": "1"}}}); err != nil {
		t.Fatal(err)
	}
	ask := func(s *framework.Snapshot, from int) {
		for i := from; i < from+100; i++ {
			selector := match.LabelsOf(map[string]string{"team": fmt.Sprint(i)})
			if got := Of(s).selected(&selector).has("n"); got != (i == 1) {
				t.Errorf("has(n) = %t for the team %d", got, i)
			}
		}
	}
	ask(s, 0)
	f := s.Fork()
	var both sync.WaitGroup
	both.Go(func() { ask(f, 100) })
	ask(s, 200)
	both.Wait()
}
