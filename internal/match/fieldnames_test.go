package match

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
)

// TestNamesOfTerm compares the names that all requirements allow with a plain comparison.
func TestNamesOfTerm(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfN(name, 0, 5), 0, 4).Draw(t, "values")
		var term api.NodeSelectorTerm
		for _, values := range lists {
			term.MatchFields = append(term.MatchFields, api.NodeSelectorRequirement{Key: nodeNameField, Operator: api.NodeSelectorOpIn, Values: values})
		}
		got, ok := namesOfTerm(&term)
		if ok != (len(lists) > 0) {
			t.Fatalf("%t for %d requirements", ok, len(lists))
		}
		for _, n := range []string{"a", "b", "c", "d"} {
			all := ok && !slices.ContainsFunc(lists, func(l []string) bool { return !slices.Contains(l, n) })
			if slices.Contains(got, n) != all {
				t.Fatalf("%v of %v", got, lists)
			}
		}
	})
}

// Two requirements with thousands of names cost little more than one.
func TestManyNamesOfTerm(t *testing.T) {
	names := make([]string, 20_000)
	for i := range names {
		names[i] = fmt.Sprint("node-", i)
	}
	in := api.NodeSelectorRequirement{Key: nodeNameField, Operator: api.NodeSelectorOpIn, Values: names}
	took := func(requirements ...api.NodeSelectorRequirement) time.Duration {
		least := time.Hour
		for range 5 {
			start := time.Now()
			if got, _ := namedNodes(&api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchFields: requirements}}}); len(got) != len(names) {
				t.Fatalf("%d names", len(got))
			}
			least = min(least, time.Since(start))
		}
		return least
	}
	if one, two := took(in), took(in, in); two > 30*one {
		t.Errorf("two requirements take %v, one takes %v", two, one)
	}
}
