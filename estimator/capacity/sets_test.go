package capacity_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func TestEstimateSets(t *testing.T) {
	job := []capacity.Component{
		{Name: "manager", Replicas: 1, Request: list("cpu", "1", "memory", "2Gi")},
		{Name: "worker", Replicas: 3, Request: list("cpu", "2", "memory", "4Gi")},
	}
	sums := func() *api.Cluster {
		return withSummary(list("cpu", "100", "memory", "64Gi", "pods", "100"), nil)
	}
	withTwo := sums() // two nodes of 4 CPUs and 32Gi
	withTwo.Spec.ResourceModels = capacity.DefaultModels()
	withTwo.Status.ResourceSummary.AllocatableModelings = []api.AllocatableModeling{{Grade: 3, Count: 2}}
	for _, c := range []struct {
		name       string
		general    capacity.General
		cluster    *api.Cluster
		components []capacity.Component
		want       int64
	}{
		{"no summary", capacity.General{}, &api.Cluster{}, job, 0},
		{"no components", capacity.General{}, sums(), nil, 100},
		{"no replicas", capacity.General{}, sums(), []capacity.Component{{}}, 100},
		{"no requests", capacity.General{}, sums(), []capacity.Component{{Replicas: 2}}, 50},
		{"by the sums", capacity.General{}, sums(), job, 4},                                 // 64Gi / 14Gi
		{"by the nodes", capacity.General{}, withTwo, job, 1},                               // 7 of 8 CPUs
		{"by the sums, with models", capacity.General{IgnoreModels: true}, withTwo, job, 4}, // the gate is off
		{"decimal or binary", capacity.General{}, sums(), []capacity.Component{{Replicas: 1, Request: list("memory", "1G")}}, 68},
		{"missing", capacity.General{}, sums(), []capacity.Component{{Replicas: 1, Request: list("nvidia.com/gpu", "1")}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.general.EstimateSets(c.cluster, c.components)
			if err != nil {
				t.Fatal(err)
			}
			if got.Replicas != c.want {
				t.Errorf("EstimateSets = %d, want %d", got.Replicas, c.want)
			}
		})
	}
	_, err := capacity.General{}.EstimateSets(sums(), []capacity.Component{{Name: "x", Replicas: -1}})
	if want := `cluster m: components[0].replicas: "-1": must not be negative`; fmt.Sprint(err) != want {
		t.Errorf("EstimateSets: %v, want %s", err, want)
	}
}

// Here sets are placed replica by replica, each on the first node with room.
func TestEstimateSetsIsPlacingOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &api.Cluster{}
		c.Spec.ResourceModels = drawModels(t)
		c.Status.ResourceSummary = &api.ResourceSummary{}
		withPlenty(c)
		type room struct{ cpu, memory, pods int64 }
		var nodes []room
		for _, m := range c.Spec.ResourceModels {
			n := rapid.IntRange(0, 4).Draw(t, "count")
			c.Status.ResourceSummary.AllocatableModelings = append(c.Status.ResourceSummary.AllocatableModelings, api.AllocatableModeling{Grade: m.Grade, Count: n})
			for range n {
				nodes = append(nodes, room{m.Ranges[0].Min.MilliValue(), m.Ranges[1].Min.Value(), 110})
			}
		}
		var components []capacity.Component
		var needs []room
		for range rapid.IntRange(1, 3).Draw(t, "components") {
			k := room{rapid.Int64Range(0, 3000).Draw(t, "cpu"), rapid.Int64Range(0, 20).Draw(t, "memory"), rapid.Int64Range(1, 4).Draw(t, "replicas")}
			needs = append(needs, k)
			components = append(components, capacity.Component{
				Replicas: k.pods, Request: resource.List{"cpu": resource.Milli(k.cpu), "memory": resource.New(k.memory, resource.BinarySI)},
			})
		}
		place := func(k room) bool {
			for i := range nodes {
				if n := &nodes[i]; n.pods > 0 && n.cpu >= k.cpu && n.memory >= k.memory {
					n.pods--
					n.cpu -= k.cpu
					n.memory -= k.memory
					return true
				}
			}
			return false
		}
		var want int64
	placing:
		for {
			for _, k := range needs {
				for range k.pods {
					if !place(k) {
						break placing
					}
				}
			}
			want++
		}
		got, err := capacity.General{}.EstimateSets(c, components)
		if err != nil {
			t.Fatal(err)
		}
		if got.Replicas != want {
			t.Fatalf("EstimateSets = %d, want %d", got.Replicas, want)
		}
	})
}

// A summary of absurd size takes no absurd time.
func TestEstimateSetsOfManyPods(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	c := withSummary(list("pods", "2G", "cpu", "1G"), nil)
	c.Spec.ResourceModels = capacity.DefaultModels()
	c.Status.ResourceSummary.AllocatableModelings = []api.AllocatableModeling{{Grade: 8, Count: 1_000_000}}
	got, err := capacity.General{}.EstimateSets(c, []capacity.Component{{Replicas: 1, Request: list("cpu", "1m")}, {Replicas: 1}})
	if want := int64(1_000_000 * 110 / 2); err != nil || got.Replicas != want {
		t.Errorf("EstimateSets = %d, %v, want %d", got.Replicas, err, want)
	}
	// Two billion nodes, each for one half of a set.
	c.Name = "m"
	c.Status.ResourceSummary.AllocatableModelings[0].Count = 2_000_000_000
	c.Status.ResourceSummary.Allocatable = list("pods", "4G", "cpu", "1000G")
	_, err = capacity.General{}.EstimateSets(c, []capacity.Component{{Replicas: 2, Request: list("cpu", "100")}})
	if want := `cluster m: status.resourceSummary.allocatableModelings: "more than 4194304 nodes": too many to place sets on them`; fmt.Sprint(err) != want {
		t.Errorf("EstimateSets: %v, want %s", err, want)
	}
}
