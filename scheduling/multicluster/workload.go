package multicluster

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
)

// A Workload describes the replicas to place on clusters. Karmada calls it the spec
// of a ResourceBinding.
type Workload struct {
	// Name identifies the workload in errors and explanations, as
	// "namespace/name".
	Name string
	// UID decides the direction in which ties are broken; see [NameOrderOf].
	UID api.UID
	// APIVersion and Kind name the object that a cluster must be able to hold, such
	// as "apps/v1" and "Deployment". If both are empty, this is not checked.
	APIVersion, Kind string
	// Labels holds the labels of the object; [AffinityToWorkloads] reads them.
	Labels map[string]string
	// Replicas is how many copies are wanted; 0 for objects without replicas.
	Replicas int64
	// Replica describes the requests of one copy. If nil, a copy takes only the
	// place of a pod.
	Replica *capacity.Replica
	// Components are set for workloads with several components, each with its own
	// pods. Such a workload goes as a whole to every chosen cluster, and Replicas
	// and Replica are not read.
	Components []capacity.Component
	Placement  Placement
	// Clusters says where the workload is now.
	Clusters []Target
	// Evicting names the clusters that the workload is moving away from.
	Evicting []string
	// Fresh makes the division start anew, without regard to Clusters.
	Fresh bool

	names *workloadNames // nil outside a decision
}

// wanted returns how much room one cluster should have, in the unit of estimates:
// replicas, or sets of components.
func (w *Workload) wanted() int64 {
	if len(w.Components) > 0 {
		return 1
	}
	return w.Replicas
}

func (w *Workload) check() error {
	if w == nil {
		return &api.InvalidError{Object: "workload", Value: "null", Err: errNil}
	}
	var all []error
	if w.Replicas < 0 || w.Replicas > capacity.MaxReplicas {
		all = append(all, &api.InvalidError{Field: "spec.replicas", Value: fmt.Sprint(w.Replicas), Err: errReplicas})
	}
	if n := len(w.Components); n > maxComponents {
		all = append(all, &api.InvalidError{Field: "spec.components", Value: fmt.Sprintf("%d components", n), Err: errComponents})
	}
	for i, c := range w.Components {
		if c.Replicas < 0 {
			all = append(all, &api.InvalidError{Field: fmt.Sprintf("spec.components[%d].replicas", i), Value: fmt.Sprint(c.Replicas), Err: errNegative})
		}
	}
	seen := make(map[string]bool, len(w.Clusters))
	for i, t := range w.Clusters {
		field := fmt.Sprintf("spec.clusters[%d].", i)
		if t.Replicas < 0 || t.Replicas > capacity.MaxReplicas {
			all = append(all, &api.InvalidError{Field: field + "replicas", Value: fmt.Sprint(t.Replicas), Err: errReplicas})
		}
		if seen[t.Name] {
			all = append(all, &api.InvalidError{Field: field + "name", Value: t.Name, Err: errNamedTwice})
		}
		seen[t.Name] = true
	}
	all = append(all, w.Placement.Validate())
	return errors.Join(all...)
}

// maxComponents bounds the components of a workload. What so many cost, checkEstimates bounds.
const maxComponents = 1000

var errComponents = fmt.Errorf("must be at most %d", maxComponents)

var errReplicas = errors.New("must be 0 to 2147483647")
