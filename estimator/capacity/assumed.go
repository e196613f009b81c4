package capacity

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// An Assumed is a workload that was given to a cluster and whose pods the cluster
// does not count yet. Estimators deduct it, so that two decisions in quick
// succession do not promise the same room twice.
//
// Estimators deduct the pods and their requests from the cluster's sums. If the
// nodes are known, by grade ([Karmada118]) or one by one, each assumed workload is
// placed on them first: its components in the given order, each replica on the
// first node with room. If a component does not fit completely, the replicas
// already placed stay, and the components after it are skipped.
//
// Valid assumed workloads never make an estimate fail. They are placed on grades as far as
// about 0.2 s and four million nodes suffice, and the others count only in the sums.
// If it then takes too long to place sets beside them, they all count only in the
// sums. The estimate may be too high then.
//
// Source: Karmada 1.18, with the gate SchedulingOvercommitProtection.
//
// Differs: the order in which assumed workloads are placed.
// Original: Karmada's order is random.
// Here: the given order.
// Why: the answer must be the same on every run.
//
// Differs: negative requests of assumed workloads.
// Original: Karmada subtracts them, so they add room.
// Here: they count as no request.
// Why: a workload cannot add room to a cluster.
type Assumed struct {
	// Namespace is the namespace of the workload; only [Quota] reads it.
	Namespace string `json:"namespace,omitempty"`
	// Components are its components, with their replicas in the cluster.
	Components []Component `json:"components"`
}

// checkAssumed returns an error for a negative number of replicas.
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

// besides returns the summary including the assumed workloads, as pods without a
// node, as far as they request what is allocatable.
func besides(s *api.ResourceSummary, assumed []Assumed) *api.ResourceSummary {
	if len(assumed) == 0 {
		return s
	}
	more := resource.List{resource.Pods: resource.New(podsAssumed(assumed), resource.DecimalSI)}
	for name := range s.Allocatable { // there may be thousands of others in a request
		for _, a := range assumed {
			for _, c := range a.Components {
				if q := c.Request[name]; q.Sign() > 0 {
					more[name] = more[name].Add(quantityOf(name, resource.SatMul(c.Replicas, unitsOf(name, q))))
				}
			}
		}
	}
	sum := *s
	sum.Allocating = waitingForNodes(s).Add(more)
	return &sum
}
