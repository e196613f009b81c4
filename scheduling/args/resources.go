package args

import "github.com/berth-sched/berth/resource"

// ResourceSpec names a resource that takes part in a score.
type ResourceSpec struct {
	Name   resource.Name `json:"name"`
	Weight int64         `json:"weight,omitempty"` // 0 means 1
}

// defaultResources are the resources of a score that names none.
func defaultResources() []ResourceSpec {
	return []ResourceSpec{{Name: resource.CPU, Weight: 1}, {Name: resource.Memory, Weight: 1}}
}

// completeResources returns the list with its defaults: cpu and memory for an empty
// list, weight 1 instead of 0.
func completeResources(list []ResourceSpec) []ResourceSpec {
	if len(list) == 0 {
		return defaultResources()
	}
	for i := range list {
		if list[i].Weight == 0 {
			list[i].Weight = 1
		}
	}
	return list
}
