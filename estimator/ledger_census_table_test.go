//go:build full

package estimator

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A table of pods by name with few different hashes gives the same answers as a
// list of all pods in order of arrival.
func TestCensusTableKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table censusTable
		var model []censusEntry
		hashOf := func(name string) uint64 { return uint64(name[0]-'a') * 3 } // neighbours collide
		for step := range rapid.IntRange(0, 60).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"}).Draw(t, "name")
			is := func(e censusEntry) bool { return e.pod.Pod.Name == name }
			if rapid.IntRange(0, 2).Draw(t, "remove") == 0 && slices.ContainsFunc(model, is) {
				table.remove(table.first(podName{"", name}, hashOf(name)))
				i := slices.IndexFunc(model, is)
				model = slices.Delete(model, i, i+1)
			} else {
				pod := &framework.PodInfo{Pod: &api.Pod{ObjectMeta: api.ObjectMeta{Name: name}}}
				e := censusEntry{hashOf(name), located{pod, step}}
				table.add(e)
				model = append(model, e)
			}
			for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "absent"} {
				var got, want []int
				key := podName{"", name}
				for at := table.first(key, hashOf(name)); at >= 0; at = table.next(key, hashOf(name), at) {
					got = append(got, table.entries[at].slot)
				}
				for _, e := range model {
					if e.pod.Pod.Name == name {
						want = append(want, e.slot)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("after step %d, pods named %q (-want +got):\n%s", step, name, diff)
				}
			}
			if 2*len(model) > len(table.entries) {
				t.Fatalf("%d pods in a table of %d places, want at most half", len(model), len(table.entries))
			}
		}
	})
}

// The census knows whether two pods have the same name, after any additions and
// removals.
func TestCensusUnambiguous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &census{owner: &ledgerOwner{}}
		var model []located
		for step := range rapid.IntRange(0, 30).Draw(t, "steps") {
			if len(model) > 0 && rapid.Bool().Draw(t, "remove") {
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				p := model[i]
				if !c.remove(p, nameOf(p.pod.Pod).hash()) {
					t.Fatalf("pod %s of slot %d is not found", p.pod.Pod.Name, p.slot)
				}
				model = slices.Delete(model, i, i+1)
			} else {
				name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
				p := located{&framework.PodInfo{Pod: &api.Pod{ObjectMeta: api.ObjectMeta{Name: name}}}, step}
				only := !slices.ContainsFunc(model, func(o located) bool { return o.pod.Pod.Name == name })
				if got := c.add(p, nameOf(p.pod.Pod).hash()); got != only {
					t.Fatalf("add(%s) = %t, want %t", name, got, only)
				}
				model = append(model, p)
			}
			pods := map[string]int{}
			want := true
			for _, p := range model {
				pods[p.pod.Pod.Name]++
				want = want && pods[p.pod.Pod.Name] == 1
			}
			if got := c.unambiguous(); got != want {
				t.Fatalf("unambiguous = %t with %v, want %t", got, pods, want)
			}
		}
	})
}

// A pod that comes and goes on a node whose metric reports it leaves nothing
// behind, and is matched with the metric each time.
func TestMatchesForgetNothing(t *testing.T) {
	metric := &api.NodeMetric{}
	for k := range 3 {
		metric.Status.PodsMetric = append(metric.Status.PodsMetric, &api.PodMetricInfo{
			Name: fmt.Sprint("p", k), PodUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(1)}),
		})
	}
	var m matches
	var s matcher
	s.run(&m, metric)
	for range 5 {
		for k := range 3 {
			name := podName{"", fmt.Sprint("p", k)}
			if !m.mentions(name.hash()) {
				t.Fatalf("the metric reports %s, mentions = false", name.name)
			}
			m.enter(metric, name)
			if got := m.places[0]; got != int32(k) {
				t.Fatalf("place of %s = %d, want %d", name.name, got, k)
			}
			m.drop(0)
		}
	}
	if len(m.strange) != 3 {
		t.Errorf("%d strange names are kept, want the 3 that are reported", len(m.strange))
	}
	if other := (podName{"", "p3"}); m.mentions(other.hash()) {
		t.Errorf("mentions(%s) = true, but the metric does not", other.name)
	}
}
