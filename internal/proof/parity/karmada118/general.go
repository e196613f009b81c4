package karmada118

import (
	"context"
	"math"
	"math/rand/v2"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"

	berthresource "github.com/berth-sched/berth/resource"
)

// described returns a cluster of few nodes, because placing replicas one by one is
// slow.
func described(r *rand.Rand) *clusterv1.Cluster {
	c := random.Cluster(r, "m")
	for gradeTwice(c) {
		c = random.Cluster(r, "m") // to berth, that is an error
	}
	if s := c.Status.ResourceSummary; s != nil {
		for i := range s.AllocatableModelings {
			s.AllocatableModelings[i].Count = min(s.AllocatableModelings[i].Count, 3)
		}
		for _, l := range []corev1.ResourceList{s.Allocatable, s.Allocated, s.Allocating} {
			binary(l)
		}
	}
	return c
}

func gradeTwice(c *clusterv1.Cluster) bool {
	seen := map[uint]bool{}
	for _, m := range c.Spec.ResourceModels {
		if seen[m.Grade] {
			return true
		}
		seen[m.Grade] = true
	}
	return false
}

func forKarmada(list []inFlight) map[string][]client.AssumedWorkload {
	m := map[string][]client.AssumedWorkload{}
	for _, f := range list {
		m["m"] = append(m["m"], client.AssumedWorkload{Namespace: f.namespace, Components: f.theirs})
	}
	return m
}

func general(r *rand.Rand) live.Outcome {
	c, others := described(r), assumptions(r)
	var requirements *workv1.ReplicaRequirements
	var replica *capacity.Replica
	if random.Chance(r, 95) {
		requirements = &workv1.ReplicaRequirements{ResourceRequest: random.Request(r)}
		replica = &capacity.Replica{Request: live.Convert[berthresource.List](requirements.ResourceRequest)}
	}
	want, err := client.NewGeneralEstimator().MaxAvailableReplicas(context.Background(), client.ReplicaEstimationRequest{
		Clusters: []*clusterv1.Cluster{c}, ReplicaRequirements: requirements, AssumedWorkloads: forKarmada(others),
	})
	if err != nil {
		panic(err)
	}
	input := []any{c, requirements, assumed(others)}
	g := capacity.General{Assumed: assumed(others)}
	report, err := g.Explain(live.Convert[*api.Cluster](c), replica)
	if err != nil {
		return live.Differ("Estimate", want, err.Error(), input)
	}
	var all []corev1.ResourceList
	if requirements != nil {
		all = append(all, requirements.ResourceRequest)
	}
	return compare("Estimate", c, int64(want[0].Replicas), report.Replicas, report.FreePods, all, input)
}

func sets(r *rand.Rand) live.Outcome {
	c, others := described(r), assumptions(r)
	theirs, ours := components(r, 3)
	want, err := client.NewGeneralEstimator().MaxAvailableComponentSets(context.Background(), client.ComponentSetEstimationRequest{
		Clusters: []*clusterv1.Cluster{c}, Components: theirs, Namespace: namespace, AssumedWorkloads: forKarmada(others),
	})
	if err != nil {
		panic(err)
	}
	input := []any{c, theirs, assumed(others)}
	cluster := live.Convert[*api.Cluster](c)
	g := capacity.General{Assumed: assumed(others)}
	got, err := g.EstimateSets(cluster, ours)
	if err != nil {
		return live.Differ("EstimateSets", want, err.Error(), input)
	}
	pods, err := g.Explain(cluster, nil)
	if err != nil {
		return live.Differ("Explain", want, err.Error(), input)
	}
	var all []corev1.ResourceList
	for _, k := range theirs {
		if k.ReplicaRequirements != nil && k.Replicas > 0 {
			all = append(all, k.ReplicaRequirements.ResourceRequest)
		}
	}
	return compare("EstimateSets", c, int64(want[0].Sets), got.Replicas, pods.FreePods, all, input)
}

// compare compares estimates and names the fault that makes a difference.
func compare(what string, c *clusterv1.Cluster, want, got, pods int64, requests []corev1.ResourceList, input any) live.Outcome {
	switch {
	case want == got:
		return live.Outcome{}
	case pods > math.MaxInt32:
		return live.Outcome{Fault: "wrap"}
	case want == 0 && unmodelled(c, requests):
		return live.Outcome{Fault: "not modelled"}
	}
	return live.Differ(what, want, got, input)
}

// unmodelled reports whether a request includes a resource that the models should
// know but do not.
func unmodelled(c *clusterv1.Cluster, requests []corev1.ResourceList) bool {
	if c.Status.ResourceSummary == nil || len(c.Status.ResourceSummary.AllocatableModelings) == 0 || len(c.Spec.ResourceModels) == 0 {
		return false
	}
	known := map[corev1.ResourceName]bool{"storage": true, corev1.ResourcePods: true} // or never looked at
	for _, r := range c.Spec.ResourceModels[0].Ranges {
		known[r.Name] = true
	}
	for _, l := range requests {
		for name, q := range l {
			if q.Sign() > 0 && !known[name] {
				return true
			}
		}
	}
	return false
}
