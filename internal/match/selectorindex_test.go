package match_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// A selector and its index select the same objects.
func TestSelectorIndex(t *testing.T) {
	keys, values := []string{"a", "b", "c"}, []string{"", "1", "2"}
	rapid.Check(t, func(t *rapid.T) {
		var list []api.LabelSelectorRequirement
		for range rapid.IntRange(0, 5).Draw(t, "requirements") {
			op := rapid.SampledFrom([]api.LabelSelectorOperator{"In", "In", "NotIn", "Exists", "DoesNotExist"}).Draw(t, "operator")
			e := expression(rapid.SampledFrom(keys).Draw(t, "key"), op)
			if op == "In" || op == "NotIn" {
				e.Values = rapid.SliceOfN(rapid.SampledFrom(values), 1, 3).Draw(t, "values")
			}
			list = append(list, e)
		}
		of := selector(list...)
		if rapid.IntRange(0, 9).Draw(t, "nil") == 0 {
			of = nil
		}
		s, err := match.NewLabelSelector(of)
		if err != nil {
			t.Fatal(err)
		}
		index := match.NewSelectorIndex(&s)
		for i := range 64 { // all objects with these keys and values
			labels := map[string]string{"other": "x"}
			for k, key := range keys {
				if v := i >> (2 * k) & 3; v > 0 {
					labels[key] = values[v-1]
				}
			}
			if got, want := index.Matches(labels), s.Matches(labels); got != want {
				t.Fatalf("%v: the index says %v for %v, want %v", list, got, labels, want)
			}
		}
	})
}

// Comparing an object takes time for its labels: a large selector costs no more than a small one.
func BenchmarkSelectorIndex(b *testing.B) {
	labels := map[string]string{"zone": "a", "disk": "fast", "app": "db"}
	for _, n := range []int{3, 30_000} {
		var list []api.LabelSelectorRequirement
		for i := range n {
			list = append(list, expression(fmt.Sprint("k", i), "DoesNotExist"))
		}
		s, err := match.NewLabelSelector(selector(list...))
		if err != nil {
			b.Fatal(err)
		}
		index := match.NewSelectorIndex(&s)
		b.Run(fmt.Sprint("requirements=", n), func(b *testing.B) {
			for b.Loop() {
				index.Matches(labels)
			}
		})
	}
}
