package workload

import (
	"encoding/json"

	"github.com/berth-sched/berth/framework/api"
)

// weightBytes is how much text of a spec takes as much memory for each pod as a plain pod, which is about 3 KB.
const weightBytes = 1 << 10

// WeightOf returns how many plain pods a pod of the spec counts as where the number of pods is bounded: 1 for most, and more
// if much is derived from it for each pod, from affinity terms, constraints and resources. Pods of a template share the rest.
func WeightOf(s *api.PodSpec) int {
	size := sizeOf(s.Affinity) + sizeOf(s.TopologySpreadConstraints) + sizeOf(s.ResourceClaims)
	for _, list := range [2][]api.Container{s.InitContainers, s.Containers} {
		for i := range list {
			size += sizeOf(list[i].Resources)
		}
	}
	return 1 + size/weightBytes
}

// sizeOf returns the length of a value as JSON.
func sizeOf(v any) int {
	text, _ := json.Marshal(v) // cannot fail: it holds no values that JSON has not got
	return len(text)
}
