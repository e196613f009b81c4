package karmada118

import (
	"fmt"
	"math/rand/v2"

	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/features"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"

	berthresource "github.com/berth-sched/berth/resource"
)

// Kinds returns all kinds of cases, and opens Karmada's gates.
func Kinds() ([]live.Kind, error) {
	for _, gate := range []string{
		"SchedulingOvercommitProtection", "MultiplePodTemplatesScheduling", "WorkloadAffinity", "ResourceQuotaEstimate",
	} {
		if err := features.FeatureGate.Set(gate + "=true"); err != nil {
			return nil, err
		}
	}
	return []live.Kind{
		{Name: "general", Run: general},
		{Name: "sets", Run: sets},
		{Name: "quota", Run: quota},
		{Name: "schedule", Run: schedule},
		{Name: "weights", Run: weights},
	}, nil
}

const namespace = "default"

// components returns random components, for both. Their memory is always written in
// powers of two, because the unit in which Karmada counts sets depends on it.
func components(r *rand.Rand, most int) ([]workv1.Component, []capacity.Component) {
	var theirs []workv1.Component
	var ours []capacity.Component
	for i := range 1 + r.IntN(most) {
		request, class := binary(random.Request(r)), random.Pick(r, "", "high", "low")
		k := workv1.Component{Name: fmt.Sprint("k", i), Replicas: int32(r.IntN(5))}
		if random.Chance(r, 95) {
			k.ReplicaRequirements = &workv1.ComponentReplicaRequirements{ResourceRequest: request, PriorityClassName: class}
		} else {
			request, class = nil, ""
		}
		theirs = append(theirs, k)
		ours = append(ours, capacity.Component{
			Name: k.Name, Replicas: int64(k.Replicas), Request: live.Convert[berthresource.List](request),
			Pod: &api.Pod{ObjectMeta: api.ObjectMeta{Namespace: namespace}, Spec: api.PodSpec{PriorityClassName: class}},
		})
	}
	return theirs, ours
}

// An inFlight is an assumed workload, for both.
type inFlight struct {
	namespace string
	theirs    []workv1.Component
	ours      []capacity.Component
}

func assumptions(r *rand.Rand) []inFlight {
	var list []inFlight
	for random.Chance(r, 45) {
		f := inFlight{namespace: random.Pick(r, namespace, namespace, "other")}
		f.theirs, f.ours = components(r, 3)
		list = append(list, f)
	}
	return list
}

func assumed(list []inFlight) map[string][]capacity.Assumed {
	m := map[string][]capacity.Assumed{}
	for _, f := range list {
		m["m"] = append(m["m"], capacity.Assumed{Namespace: f.namespace, Components: f.ours})
	}
	return m
}

// binary writes bytes in powers of two.
func binary(l corev1.ResourceList) corev1.ResourceList {
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "storage"} {
		if q, ok := l[name]; ok {
			l[name] = *resource.NewQuantity(q.Value(), resource.BinarySI)
		}
	}
	return l
}
