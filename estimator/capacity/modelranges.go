package capacity

import (
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// fewRanges is how many ranges of a model are searched one by one.
const fewRanges = 16

// A rangeFinder finds the ranges of models by the name of their resource. Models of many
// resources get a map each, once one of their ranges is looked for.
type rangeFinder struct {
	models []api.ResourceModel
	maps   []map[resource.Name]int // by model
}

// find returns the index of the first range of model i with the name, or -1.
func (f *rangeFinder) find(i int, name resource.Name) int {
	ranges := f.models[i].Ranges
	if len(ranges) <= fewRanges {
		return rangeOf(ranges, name)
	}
	if f.maps == nil {
		f.maps = make([]map[resource.Name]int, len(f.models))
	}
	if f.maps[i] == nil {
		f.maps[i] = make(map[resource.Name]int, len(ranges))
		for j := range ranges {
			if _, twice := f.maps[i][ranges[j].Name]; !twice {
				f.maps[i][ranges[j].Name] = j
			}
		}
	}
	if j, ok := f.maps[i][name]; ok {
		return j
	}
	return -1
}

func rangeOf(ranges []api.ResourceModelRange, name resource.Name) int {
	for j := range ranges {
		if ranges[j].Name == name {
			return j
		}
	}
	return -1
}
