package karmada

import (
	"context"
	"math"
	"math/rand/v2"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"
)

func general(r *rand.Rand) live.Outcome {
	c := random.Cluster(r, "m")
	var requirements *workv1.ReplicaRequirements
	var replica *capacity.Replica
	if random.Chance(r, 95) {
		requirements = &workv1.ReplicaRequirements{ResourceRequest: random.Request(r)}
		replica = &capacity.Replica{Request: live.Convert[resource.List](requirements.ResourceRequest)}
	}
	input := []any{c, requirements}
	ours := live.Convert[*api.Cluster](c)
	got, err := capacity.General{Rules: capacity.Karmada113}.Estimate(ours, replica)

	var want []workv1.TargetCluster
	if p := live.Guard(func() {
		want, _ = client.NewGeneralEstimator().MaxAvailableReplicas(context.Background(), []*clusterv1.Cluster{c}, requirements)
	}); p != nil {
		if err == nil {
			return live.Differ("Estimate", "panic", got, input)
		}
		return live.Outcome{Fault: "panic"}
	}
	if err != nil {
		s := c.Status.ResourceSummary
		if s != nil && len(s.AllocatableModelings) < len(c.Spec.ResourceModels) {
			return live.Outcome{Fault: "panic"} // it happened not to look at the missing count
		}
		return live.Differ("Estimate", want, err.Error(), input)
	}
	if got.Replicas == int64(want[0].Replicas) {
		return live.Outcome{}
	}
	if fault := generalFault(c, requirements, int64(want[0].Replicas), got.Replicas); fault != "" {
		return live.Outcome{Fault: fault}
	}
	return live.Differ("Estimate", want, got, input)
}

// generalFault explains a difference, if it can.
func generalFault(c *clusterv1.Cluster, requirements *workv1.ReplicaRequirements, want, got int64) string {
	s := c.Status.ResourceSummary
	pods := s.Allocatable.Pods().Value() - s.Allocated.Pods().Value() - s.Allocating.Pods().Value()
	nodes := 0
	for _, m := range s.AllocatableModelings {
		nodes += m.Count
	}
	nothing := requirements != nil
	if requirements != nil {
		for _, q := range requirements.ResourceRequest {
			nothing = nothing && q.Sign() <= 0
		}
	}
	switch {
	case pods > math.MaxInt32 && (want == int64(int32(pods)) && got == math.MaxInt32):
		return "wrap"
	case want == 0 && randomOrder(c, requirements):
		return "random order"
	case nothing && want == int64(-nodes) && got == min(pods, math.MaxInt32):
		return "nothing"
	}
	return ""
}

// randomOrder reports whether Karmada's answer depends on the order in which it
// happens to look at the requested resources. This needs two resources: one is in no
// model, so Karmada falls back to the summary, and another exceeds every grade, so
// it answers 0.
func randomOrder(c *clusterv1.Cluster, requirements *workv1.ReplicaRequirements) bool {
	s := c.Status.ResourceSummary
	if s == nil || len(s.AllocatableModelings) == 0 || requirements == nil {
		return false
	}
	missing, exceeding := false, false
	for name, q := range requirements.ResourceRequest {
		if q.Sign() <= 0 {
			continue
		}
		modelled, covered := false, false
		for _, m := range c.Spec.ResourceModels {
			for _, r := range m.Ranges {
				if r.Name == name {
					modelled = true
					covered = covered || r.Min.Cmp(q) >= 0
				}
			}
		}
		missing = missing || !modelled
		exceeding = exceeding || modelled && !covered
	}
	return missing && exceeding
}
