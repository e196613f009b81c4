package capacity

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// An Assumed is a workload that was given to a cluster, and whose pods are not
// yet counted there. Estimators deduct it, so that decisions made one shortly
// after the other do not promise the same room twice.
//
// The pods and what they request are deducted from the cluster's sums. Where
// nodes are known, by grade ([Karmada118]) or one by one, each assumed workload
// is placed on them first: its components in the order given, each replica on
// the first node that has room. If a component does not fit, those of its
// replicas that do stay where they are, and the components after it are left
// out.
//
// Source: Karmada 1.18, with the gate SchedulingOvercommitProtection.
//
// Differs: workloads are placed in the order given; in Karmada it is random.
// Negative requests count as not requested.
type Assumed struct {
	// Namespace is that of the workload; only [Quota] reads it.
	Namespace string `json:"namespace,omitempty"`
	// Components are its kinds of pods, with their replicas in the cluster.
	Components []Component `json:"components"`
}

// checkAssumed refuses negative numbers of replicas.
func checkAssumed(assumed []Assumed) error {
	for i, a := range assumed {
		for j, c := range a.Components {
			if c.Replicas < 0 {
				return &api.InvalidError{
					Field: fmt.Sprintf("assumed[%d].components[%d].replicas", i, j), Value: fmt.Sprint(c.Replicas), Err: errNegative,
				}
			}
		}
	}
	return nil
}

func podsAssumed(assumed []Assumed) int64 {
	var pods int64
	for _, a := range assumed {
		for _, c := range a.Components {
			pods = resource.SatAdd(pods, c.Replicas)
		}
	}
	return pods
}

// besides returns the summary as it will be when the assumed workloads are
// counted: their pods wait for nodes.
func besides(s *api.ResourceSummary, assumed []Assumed) *api.ResourceSummary {
	if len(assumed) == 0 {
		return s
	}
	more := resource.List{resource.Pods: resource.New(podsAssumed(assumed), resource.DecimalSI)}
	for _, a := range assumed {
		for _, c := range a.Components {
			for _, d := range demands(c.Request) {
				more[d.name] = more[d.name].Add(quantityOf(d.name, resource.SatMul(c.Replicas, d.units)))
			}
		}
	}
	sum := *s
	sum.Allocating = s.Allocating.Add(more)
	return &sum
}
