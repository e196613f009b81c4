package scoring

import (
	"fmt"

	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/resource"
)

// A ResourceSpec names a resource that takes part in a score, and its weight.
type ResourceSpec struct {
	// Name of the resource. "pods" and names unknown to schedulers (see
	// resource.Name.IsScalar) take no part.
	Name resource.Name `json:"name"`
	// Weight from 1 to 100; 0 means 1.
	Weight int64 `json:"weight,omitempty"`
}

// defaultResources are used if a plugin names none.
var defaultResources = []ResourceSpec{{Name: resource.CPU, Weight: 1}, {Name: resource.Memory, Weight: 1}}

func orDefault(specs []ResourceSpec) []ResourceSpec {
	if len(specs) == 0 {
		return defaultResources
	}
	return specs
}

func (s ResourceSpec) weight() int64 {
	if s.Weight == 0 {
		return 1
	}
	return s.Weight
}

// checkWeights reports the first weight outside [0, limit].
func checkWeights(plugin string, specs []ResourceSpec, limit int64) error {
	for i, s := range specs {
		if s.Weight < 0 || s.Weight > limit {
			return fmt.Errorf("%s: resources[%d]: weight %d of %s is not from 0 to %d", plugin, i, s.Weight, s.Name, limit)
		}
	}
	return nil
}

// A term is a resource that takes part in the score of one pod.
type term struct {
	index  int
	pod    int64 // what the pod adds
	weight int64
	offer  devices.Offer // devices for an extended resource
}

// appendTerms resolves the specs for a pod with the given requests. Scalar resources
// that the pod does not request take no part, nor do resources that no node of the
// snapshot has.
func appendTerms(terms []term, specs []ResourceSpec, schema *resource.Schema, requests resource.Vector) []term {
	for _, s := range specs {
		index, ok := schema.Index(s.Name)
		if !ok {
			continue
		}
		amount := requests.At(index)
		if index > resource.IndexEphemeralStorage && amount == 0 {
			continue
		}
		terms = append(terms, term{index: index, pod: amount, weight: s.weight()})
	}
	return terms
}
