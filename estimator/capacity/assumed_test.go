package capacity_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func TestEstimateBesideAssumed(t *testing.T) {
	two := func() *api.Cluster {
		return withSummary(list("cpu", "10", "memory", "64Gi", "pods", "20"), list("cpu", "1", "pods", "2"))
	}
	graded := two()
	graded.Spec.ResourceModels = capacity.DefaultModels()
	graded.Status.ResourceSummary.AllocatableModelings = withGrades(map[uint]int{3: 2}).Status.ResourceSummary.AllocatableModelings // 4 CPUs, 32Gi
	job := capacity.Assumed{Components: []capacity.Component{
		{Replicas: 1, Request: list("cpu", "3")}, {Replicas: 2, Request: list("cpu", "1500m")},
	}}
	for _, c := range []struct {
		name    string
		cluster *api.Cluster
		rule    capacity.Rules
		assumed []capacity.Assumed
		request resource.List
		want    int64
	}{
		{"nothing assumed, sums", two(), capacity.Karmada118, nil, list("cpu", "1"), 9},
		{"sums", two(), capacity.Karmada118, []capacity.Assumed{job}, list("cpu", "1"), 3}, // 9 - 6
		{"pods", two(), capacity.Karmada118, []capacity.Assumed{{Components: []capacity.Component{{Replicas: 15}}}}, list("cpu", "1"), 3},
		{"nothing left", two(), capacity.Karmada118, []capacity.Assumed{job, job}, list("cpu", "1"), 0},
		{"grades", graded, capacity.Karmada118, nil, list("cpu", "1"), 8},
		{"on grades", graded, capacity.Karmada118, []capacity.Assumed{job}, list("cpu", "1"), 2}, // 3, then 1.5 and 1.5: 1 and 1 left
		{"older rules deduct sums only", graded, capacity.Karmada113, []capacity.Assumed{job}, list("cpu", "1"), 8},
		{"of no model", graded, capacity.Karmada118, []capacity.Assumed{{Components: []capacity.Component{
			{Replicas: 1, Request: list("cpu", "4")}, {Replicas: 1, Request: list("nvidia.com/gpu", "1")}, {Replicas: 1, Request: list("cpu", "4")},
		}}}, list("cpu", "1"), 4}, // the second component fits nowhere, so the third is skipped
	} {
		t.Run(c.name, func(t *testing.T) {
			g := capacity.General{Rules: c.rule, Assumed: map[string][]capacity.Assumed{"m": c.assumed}}
			got, err := g.Estimate(c.cluster, &capacity.Replica{Request: c.request})
			if err != nil || got.Replicas != c.want {
				t.Errorf("Estimate = %d, %v, want %d", got.Replicas, err, c.want)
			}
		})
	}
	bad := capacity.General{Assumed: map[string][]capacity.Assumed{"m": {{}, {Components: []capacity.Component{{Replicas: -2}}}}}}
	const want = `cluster m: assumed[1].components[0].replicas: "-2": must not be negative`
	if _, err := bad.Estimate(two(), nil); fmt.Sprint(err) != want {
		t.Errorf("Estimate: %v, want %s", err, want)
	}
	if _, err := bad.EstimateSets(two(), nil); fmt.Sprint(err) != want {
		t.Errorf("EstimateSets: %v, want %s", err, want)
	}
	if _, err := (capacity.Quota{Assumed: bad.Assumed}).Estimate(two(), nil); fmt.Sprint(err) != want {
		t.Errorf("Quota.Estimate: %v, want %s", err, want)
	}
}

// Here assumed workloads, and then replicas, are placed one by one.
func TestAssumedIsPlacingOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := withSummary(nil, nil)
		c.Spec.ResourceModels = drawModels(t)
		withPlenty(c)
		type room struct{ cpu, memory, pods int64 }
		var nodes []room
		for _, m := range c.Spec.ResourceModels {
			n := rapid.IntRange(0, 3).Draw(t, "count")
			c.Status.ResourceSummary.AllocatableModelings = append(c.Status.ResourceSummary.AllocatableModelings, api.AllocatableModeling{Grade: m.Grade, Count: n})
			for range n {
				nodes = append(nodes, room{m.Ranges[0].Min.MilliValue(), m.Ranges[1].Min.Value(), 110})
			}
		}
		place := func(cpu, memory int64) bool {
			for i := range nodes {
				if n := &nodes[i]; n.pods > 0 && n.cpu >= cpu && n.memory >= memory {
					n.pods, n.cpu, n.memory = n.pods-1, n.cpu-cpu, n.memory-memory
					return true
				}
			}
			return false
		}
		request := func(cpu, memory int64) resource.List {
			return resource.List{"cpu": resource.Milli(cpu), "memory": resource.New(memory, resource.BinarySI)}
		}
		var assumed []capacity.Assumed
		for range rapid.IntRange(0, 3).Draw(t, "workloads") {
			var a capacity.Assumed
			fits := true
			for range rapid.IntRange(1, 3).Draw(t, "components") {
				k := room{rapid.Int64Range(0, 3000).Draw(t, "cpu"), rapid.Int64Range(0, 20).Draw(t, "memory"), rapid.Int64Range(0, 5).Draw(t, "replicas")}
				a.Components = append(a.Components, capacity.Component{Replicas: k.pods, Request: request(k.cpu, k.memory)})
				for range k.pods {
					fits = fits && place(k.cpu, k.memory)
				}
			}
			assumed = append(assumed, a)
		}
		cpu, memory := rapid.Int64Range(0, 3000).Draw(t, "cpu"), rapid.Int64Range(0, 20).Draw(t, "memory")
		var want int64
		for place(cpu, memory) {
			want++
		}
		g := capacity.General{Assumed: map[string][]capacity.Assumed{"m": assumed}}
		r, err := g.Explain(c, &capacity.Replica{Request: request(cpu, memory)})
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, grade := range r.Grades {
			sum += grade.Replicas
		}
		if r.Replicas != want || sum != want {
			t.Fatalf("Explain = %d, grades make %d, want %d", r.Replicas, sum, want)
		}
	})
}

func TestInFlight(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	one := func(n int64) capacity.Assumed {
		return capacity.Assumed{Components: []capacity.Component{{Replicas: n}}}
	}
	var f capacity.InFlight
	f.Release("nobody")
	f.Assume("b", "m1", one(1), at(5))
	f.Assume("a", "m1", one(2), at(7))
	f.Assume("a", "m2", one(3), at(8)) // valid for m1 too
	f.Assume("a", "m2", one(4), at(9))
	for _, c := range []struct {
		minute int
		want   map[string][]capacity.Assumed
	}{
		{5, map[string][]capacity.Assumed{"m1": {one(2), one(1)}, "m2": {one(4)}}},
		{6, map[string][]capacity.Assumed{"m1": {one(2)}, "m2": {one(4)}}},
		{9, map[string][]capacity.Assumed{"m1": {one(2)}, "m2": {one(4)}}},
		{10, map[string][]capacity.Assumed{}},
	} {
		if diff := cmp.Diff(c.want, f.At(at(c.minute))); diff != "" {
			t.Errorf("At(%d) differs (-want +got):\n%s", c.minute, diff)
		}
	}
	f.At(at(5))["m1"][0].Components[0].Replicas = 99 // a copy
	if n := f.Expire(at(6)); n != 1 {
		t.Errorf("Expire = %d, want 1", n)
	}
	f.Release("a", "m1")
	if diff := cmp.Diff(map[string][]capacity.Assumed{"m2": {one(4)}}, f.At(at(6))); diff != "" {
		t.Errorf("after Release, At differs (-want +got):\n%s", diff)
	}
	f.Release("a", "m2")
	if n := f.Expire(at(100)); n != 0 {
		t.Errorf("Expire = %d, want nothing left", n)
	}
}
