package workload_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

// TestWeightOf: ordinary pods count once, also large ones; pods of many terms count for the memory that they take.
func TestWeightOf(t *testing.T) {
	plain := api.MakePod("p").Requests("1", "1Gi").Obj()
	for range 100 {
		plain.Spec.Volumes = append(plain.Spec.Volumes, api.Volume{Name: "a-volume-of-some-length"})
	}
	if w := workload.WeightOf(&api.PodTemplateSpec{Spec: plain.Spec}); w != 1 {
		t.Errorf("a plain pod counts as %d", w)
	}
	last := 1
	for _, terms := range []int{100, 1000, 10_000} {
		pod := api.MakePod("p").Obj()
		affinity := &api.PodAffinity{}
		for i := range terms {
			affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.PreferredDuringSchedulingIgnoredDuringExecution, api.WeightedPodAffinityTerm{Weight: 1, PodAffinityTerm: api.PodAffinityTerm{
				TopologyKey: api.LabelHostname, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}},
			}})
		}
		pod.Spec.Affinity = &api.Affinity{PodAffinity: affinity}
		w := workload.WeightOf(&api.PodTemplateSpec{Spec: pod.Spec})
		if w < 5*last || w < terms/20 || w > terms {
			t.Errorf("a pod of %d terms counts as %d, one of a tenth as %d", terms, w, last)
		}
		last = w
	}
}
