package estimator_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
)

func TestEstimateSets(t *testing.T) {
	job := []estimator.Component{
		{Name: "manager", Replicas: 1, Request: list("cpu", "1", "memory", "2Gi")},
		{Name: "worker", Replicas: 3, Request: list("cpu", "2", "memory", "4Gi")},
	}
	sums := func() *framework.Cluster {
		return withSummary(list("cpu", "100", "memory", "64Gi", "pods", "100"), nil)
	}
	withTwo := sums() // two nodes of 4 CPUs and 32Gi
	withTwo.Spec.ResourceModels = estimator.DefaultModels()
	withTwo.Status.ResourceSummary.AllocatableModelings = []framework.AllocatableModeling{{Grade: 3, Count: 2}}
	for _, c := range []struct {
		name       string
		general    estimator.General
		cluster    *framework.Cluster
		components []estimator.Component
		want       int64
	}{
		{"no summary", estimator.General{}, &framework.Cluster{}, job, 0},
		{"no components", estimator.General{}, sums(), nil, 100},
		{"no replicas", estimator.General{}, sums(), []estimator.Component{{}}, 100},
		{"no requests", estimator.General{}, sums(), []estimator.Component{{Replicas: 2}}, 50},
		{"by the sums", estimator.General{}, sums(), job, 4},                                 // 64Gi / 14Gi
		{"by the nodes", estimator.General{}, withTwo, job, 1},                               // 7 of 8 CPUs
		{"by the sums, with models", estimator.General{IgnoreModels: true}, withTwo, job, 4}, // the gate is off
		{"decimal or binary", estimator.General{}, sums(), []estimator.Component{{Replicas: 1, Request: list("memory", "1G")}}, 68},
		{"missing", estimator.General{}, sums(), []estimator.Component{{Replicas: 1, Request: list("nvidia.com/gpu", "1")}}, 0},
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
	_, err := estimator.General{}.EstimateSets(sums(), []estimator.Component{{Name: "x", Replicas: -1}})
	if want := `component x: replicas: "-1": must not be negative`; fmt.Sprint(err) != want {
		t.Errorf("EstimateSets: %v, want %s", err, want)
	}
}
