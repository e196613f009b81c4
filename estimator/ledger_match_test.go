//go:build full

package estimator

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Whatever came before, a match equals a fresh matcher's, whether the strings are
// new or the pods' own.
func TestMatchesAgreeWithFreshOnes(t *testing.T) {
	names := []podName{{"a", "bc"}, {"ab", "c"}, {"a", "bd"}, {"b", "bc"}, {"", "abc"}, {"abc", ""}}
	unknown := []podName{{"a", "xx"}, {"x", "bc"}, {"a", "bb"}} // as long as some known names
	rapid.Check(t, func(t *rapid.T) {
		var m matches
		var s matcher
		var metric *api.NodeMetric
		for _, name := range names[:rapid.IntRange(0, len(names)).Draw(t, "pods")] {
			m.enter(metric, name)
		}
		reports := slices.Clone(m.names)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				name := rapid.SampledFrom(names).Draw(t, "enters")
				if !slices.Contains(m.names, name) {
					m.enter(metric, name)
				}
			case 1:
				if len(m.names) > 0 {
					m.drop(rapid.IntRange(0, len(m.names)-1).Draw(t, "leaves"))
				}
			case 2:
				reports = slices.Clone(m.names) // each of them exactly once
			case 3:
				reports = rapid.Permutation(reports).Draw(t, "reports")
			case 4:
				if i := rapid.IntRange(0, len(names)-1).Draw(t, "renamed"); i < len(reports) {
					reports[i] = rapid.SampledFrom(slices.Concat(names, unknown)).Draw(t, "to")
				}
			}
			metric = &api.NodeMetric{}
			fresh := rapid.IntRange(0, 3).Draw(t, "own strings") > 0
			for _, name := range reports {
				if fresh {
					name = podName{strings.Clone(name.namespace), strings.Clone(name.name)}
				}
				metric.Status.PodsMetric = append(metric.Status.PodsMetric, &api.PodMetricInfo{
					Namespace: name.namespace, Name: name.name,
					PodUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(1)}),
				})
			}
			s.run(&m, metric)
			for i, name := range m.names {
				want := int32(unreported)
				for k, other := range reports {
					if other == name {
						want = int32(k) // the last one counts
					}
				}
				if m.places[i] != want {
					t.Fatalf("pod %v is at place %d of %v, want %d", name, m.places[i], reports, want)
				}
				if want >= 0 && !m.repeated && m.order[want] != int32(i) {
					t.Fatalf("report %d is about pod %d, want %d", want, m.order[want], i)
				}
			}
			for _, name := range names {
				if slices.Contains(reports, name) && !m.mentions(name.hash()) {
					t.Fatalf("%v is reported, mentions = false", name)
				}
			}
		}
	})
}

// Reports with new strings in the previous order are about other pods if one name
// or namespace differs.
func TestMatchesNoticeOneName(t *testing.T) {
	names := []podName{{"a", "bc"}, {"ab", "c"}, {"b", "bc"}}
	report := func(names []podName) *api.NodeMetric {
		metric := &api.NodeMetric{}
		for _, name := range names {
			metric.Status.PodsMetric = append(metric.Status.PodsMetric, &api.PodMetricInfo{
				Namespace: strings.Clone(name.namespace), Name: strings.Clone(name.name),
				PodUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(1)}),
			})
		}
		return metric
	}
	for i, name := range names {
		for _, other := range []podName{{name.namespace, strings.Repeat("x", len(name.name))}, {strings.Repeat("x", len(name.namespace)), name.name}} {
			var m matches
			var s matcher
			for _, name := range names {
				m.enter(nil, name)
			}
			for range 3 {
				s.run(&m, report(names))
			}
			if !m.own || m.text == "" {
				t.Fatalf("own = %t, text = %q after three metrics of the same pods", m.own, m.text)
			}
			changed := slices.Clone(names)
			changed[i] = other
			s.run(&m, report(changed))
			if m.reported(i) || m.missing != 1 || m.mentions(name.hash()) || !m.mentions(other.hash()) {
				t.Errorf("%v is reported as %v: at place %d, %d pods are missing", name, other, m.places[i], m.missing)
			}
		}
	}
}
