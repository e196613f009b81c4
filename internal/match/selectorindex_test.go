package match_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// A long selector selects the same objects as a short one, if what it says besides holds anyway.
func TestLongSelectors(t *testing.T) {
	keys, values := []string{"a", "b", "c"}, []string{"", "1", "2"}
	rapid.Check(t, func(t *rapid.T) {
		var list []api.LabelSelectorRequirement
		for range rapid.IntRange(0, 8).Draw(t, "requirements") {
			op := rapid.SampledFrom([]api.LabelSelectorOperator{"In", "In", "NotIn", "Exists", "DoesNotExist"}).Draw(t, "operator")
			e := expression(rapid.SampledFrom(keys).Draw(t, "key"), op)
			if op == "In" || op == "NotIn" {
				e.Values = rapid.SliceOfN(rapid.SampledFrom(values), 1, 3).Draw(t, "values")
			}
			list = append(list, e)
		}
		short, err := match.NewLabelSelector(selector(list...))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			list = append(list, expression(fmt.Sprint("absent", i), "DoesNotExist"))
		}
		long, err := match.NewLabelSelector(selector(list...))
		if err != nil {
			t.Fatal(err)
		}
		half, err := match.NewLabelSelector(selector(list[20:]...))
		if err != nil {
			t.Fatal(err)
		}
		both := short.And(half)
		for i := range 128 { // all objects with these keys and values, with few or many others
			labels := map[string]string{"other": "x"}
			if i >= 64 {
				for k := range 100 {
					labels[fmt.Sprint("other", k)] = "x"
				}
			}
			for k, key := range keys {
				if v := i >> (2 * k) & 3; v > 0 {
					labels[key] = values[v-1]
				}
			}
			want := short.Matches(labels)
			if got, joined := long.Matches(labels), both.Matches(labels); got != want || joined != want {
				t.Fatalf("%v: the long selector says %v for %v, joined %v, want %v", list, got, labels, joined, want)
			}
		}
	})
}

// Comparing an object takes time for its labels or for the keys of the selector, whichever are
// fewer: a large selector costs no more than a small one, nor does an object of many labels.
func BenchmarkLongSelectors(b *testing.B) {
	labels := map[string]string{"zone": "a", "disk": "fast", "app": "db"}
	many := map[string]string{}
	for i := range 100_000 {
		many[fmt.Sprint("label", i)] = ""
	}
	for _, n := range []int{3, 40, 30_000} {
		var list []api.LabelSelectorRequirement
		for i := range n {
			list = append(list, expression(fmt.Sprint("k", i), "DoesNotExist"))
		}
		s, err := match.NewLabelSelector(selector(list...))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint("requirements=", n), func(b *testing.B) {
			for b.Loop() {
				s.Matches(labels)
			}
		})
		if n == 40 {
			b.Run(fmt.Sprint("requirements=", n, "/labels=", len(many)), func(b *testing.B) {
				for b.Loop() {
					s.Matches(many)
				}
			})
		}
	}
}
