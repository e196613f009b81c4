package args

import (
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// NodeResourcesBalancedAllocation holds the arguments of the plugin of that name.
//
// Source: NodeResourcesBalancedAllocationArgs, kubescheduler.config.k8s.io/v1.
type NodeResourcesBalancedAllocation struct {
	api.TypeMeta `json:",inline"`

	// Resources are the resources whose utilization should be balanced, each named
	// once, with weight 1. Empty becomes cpu and memory.
	Resources []ResourceSpec `json:"resources,omitempty"`
}

// NewNodeResourcesBalancedAllocation returns the default arguments.
func NewNodeResourcesBalancedAllocation() *NodeResourcesBalancedAllocation {
	a := new(NodeResourcesBalancedAllocation)
	a.complete()
	return a
}

func (a *NodeResourcesBalancedAllocation) complete() {
	a.TypeMeta = meta("NodeResourcesBalancedAllocation")
	a.Resources = completeResources(a.Resources)
}

// Validate returns every violated rule. path prefixes the field paths; it may be
// empty.
func (a *NodeResourcesBalancedAllocation) Validate(path string) []FieldError {
	var errs []FieldError
	seen := make(map[resource.Name]bool, len(a.Resources))
	for i, r := range a.Resources {
		at := index(child(path, "resources"), i)
		if seen[r.Name] {
			errs = append(errs, Duplicate(child(at, "name"), string(r.Name)))
		}
		seen[r.Name] = true
		if r.Weight != 1 {
			errs = append(errs, Invalid(child(at, "weight"), r.Weight, "must be 1"))
		}
	}
	return errs
}
