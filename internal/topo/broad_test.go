package topo

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// ownLabels makes a snapshot of nodes with pods on them, each with a label of its own.
func ownLabels(t testing.TB, nodes, pods int) *framework.Snapshot {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for i := range nodes {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "1000", "4000Gi").Labels(api.LabelHostname, fmt.Sprint("n", i)).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range pods {
		p, err := s.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Labels("a", fmt.Sprint("a", i)).Obj())
		if err == nil {
			err = s.AddPod(p, fmt.Sprint("n", i%nodes))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// keepingAway makes a pod that prefers to be with all pods but one, and so on for the first ones.
func keepingAway(t testing.TB, s *framework.Snapshot, name string, terms int) *framework.PodInfo {
	t.Helper()
	return preferring(t, s, name, terms, func(i int) []api.LabelSelectorRequirement {
		return []api.LabelSelectorRequirement{{Key: "a", Operator: api.LabelSelectorOpNotIn, Values: []string{fmt.Sprint("a", i)}}}
	})
}

// preferring makes a pod that prefers to be near pods, with so many terms.
func preferring(t testing.TB, s *framework.Snapshot, name string, terms int, selector func(i int) []api.LabelSelectorRequirement) *framework.PodInfo {
	t.Helper()
	pod, affinity := api.MakePod(name).Obj(), new(api.PodAffinity)
	pod.Spec.Affinity = &api.Affinity{PodAffinity: affinity}
	for i := range terms {
		affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.PreferredDuringSchedulingIgnoredDuringExecution, api.WeightedPodAffinityTerm{
			Weight: 1, PodAffinityTerm: api.PodAffinityTerm{TopologyKey: api.LabelHostname, LabelSelector: &api.LabelSelector{MatchExpressions: selector(i)}},
		})
	}
	p, err := s.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBroadCountersAreInNoClass: what a selector that demands no label costs depends on the pods that it
// does not select.
func TestBroadCountersAreInNoClass(t *testing.T) {
	const pods, terms = 60, 20
	s := ownLabels(t, 10, pods)
	x := Of(s)
	a := x.Affinity(keepingAway(t, s, "p", terms))
	if len(a.Prefer) != terms {
		t.Fatalf("%d terms count, want %d", len(a.Prefer), terms)
	}
	for i, c := range a.Prefer {
		if c.Total() != pods-1 {
			t.Errorf("term %d counts %d pods, want %d", i, c.Total(), pods-1)
		}
	}
	excepted := 0
	for _, c := range x.classes {
		excepted += len(c.except)
		if !c.listed || len(c.queries) > 0 {
			t.Errorf("class %v lists the counters %v, want none", c.looks.labels, c.queries)
		}
	}
	if excepted != terms {
		t.Errorf("classes have %d exceptions, want one for each term", excepted)
	}
	if err := x.Check(s); err != nil {
		t.Error(err)
	}
}

// BenchmarkBroadTerms is the first look at a pod with many terms of NotIn beside many pods with labels of their
// own. The metric is the time for each pair of a term and a pod.
func BenchmarkBroadTerms(b *testing.B) {
	for _, pods := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint("pods=", pods), func(b *testing.B) {
			const terms = 200
			s := ownLabels(b, 500, pods)
			Of(s).track()
			for i := 0; b.Loop(); i++ {
				Of(s.Fork()).Affinity(keepingAway(b, s, fmt.Sprint("b", i), terms))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pods*terms), "ns/pair")
		})
	}
}
