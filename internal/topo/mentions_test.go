package topo

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// job is a pod with a label of its own.
func job(t *testing.T, s *framework.Snapshot, i int) *framework.PodInfo {
	t.Helper()
	return info(t, s, api.MakePod(fmt.Sprint("p", i)).Labels("app", "web", "job-name", fmt.Sprint("job", i)).Obj())
}

// averse is a pod that requires pods with other values of a label to be away, in any namespace.
func averse(name, key string, allowed ...string) *api.Pod {
	p := api.MakePod(name).PodAntiAffinity(zone, key).Obj()
	term := &p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	term.NamespaceSelector = &api.LabelSelector{}
	term.LabelSelector = &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: key, Operator: api.LabelSelectorOpNotIn, Values: allowed}}}
	return p
}

// TestPodsThatTermsSeeAsOneShare: labels that no term names, and values that none names, tell no pods apart.
func TestPodsThatTermsSeeAsOneShare(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	for i := range 100 {
		add(t, s, averse(fmt.Sprint("foe", i), "job-name", fmt.Sprint("other", i)), "a")
	}
	tables := Of(s)
	first := tables.Affinity(job(t, s, 0))
	for i := range 50 {
		if a := tables.Affinity(job(t, s, i)); a != first {
			t.Fatalf("pod %d does not share what terms count for it", i)
		}
	}
	if !first.Bars() {
		t.Error("100 terms match the pods, and nothing bars them")
	}
	checkTables(t, tables)
}

// TestPodsAreToldApartByNewTerms: as soon as a term names a value, the pods with it have counts of their own, also
// where the counts were asked for before the term came.
func TestPodsAreToldApartByNewTerms(t *testing.T) {
	for _, firstAsked := range []int{1, 2} {
		s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
		add(t, s, averse("foe", "app", "web"), "a")
		tables := Of(s)
		one, two := job(t, s, 1), job(t, s, 2)
		pods := []*framework.PodInfo{one, two}
		if firstAsked == 2 {
			pods = []*framework.PodInfo{two, one}
		}
		var held []*Affinity
		for _, p := range pods {
			held = append(held, tables.Affinity(p))
		}
		if held[0] != held[1] {
			t.Fatal("nothing tells the pods apart, and they share nothing")
		}
		check := func(what string, barred map[*framework.PodInfo]bool) {
			t.Helper()
			for i, p := range pods {
				held[i] = held[i].Renewed(p)
				if got, want := held[i].Bars(), barred[p]; got != want {
					t.Errorf("%s: pod %d of %d is barred: %t, want %t", what, i, firstAsked, got, want)
				}
			}
			for i, p := range pods {
				if got, want := tables.Affinity(p).Bars(), barred[p]; got != want {
					t.Errorf("%s: pod %d of %d, asked about anew, is barred: %t, want %t", what, i, firstAsked, got, want)
				}
			}
			checkTables(t, tables)
		}
		add(t, s, api.MakePod("foe of a third").PodAntiAffinity(zone, "job-name=job3").Obj(), "a")
		check("a key is named", nil)
		add(t, s, api.MakePod("foe of the second").PodAntiAffinity(zone, "job-name=job2").Obj(), "a")
		check("a value is named", map[*framework.PodInfo]bool{two: true})
		add(t, s, averse("foe of others", "job-name", "job2"), "a")
		check("all others are named", map[*framework.PodInfo]bool{one: true, two: true})
	}
}
