package karmada118

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/karmada-io/karmada/pkg/estimator/pb"
	estimatorframework "github.com/karmada-io/karmada/pkg/estimator/server/framework"
	"github.com/karmada-io/karmada/pkg/estimator/server/framework/plugins/resourcequota"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"
)

// A handle is the part of the server that Karmada's plugin needs.
type handle struct {
	factory informers.SharedInformerFactory
}

func (handle) ClientSet() clientset.Interface                           { return nil }
func (h handle) SharedInformerFactory() informers.SharedInformerFactory { return h.factory }
func (handle) Parallelism() int                                         { return 1 }

func resourceQuota(r *rand.Rand, name string) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: random.Pick(r, namespace, namespace, namespace, "other")}}
	q.Status.Hard, q.Status.Used = corev1.ResourceList{}, corev1.ResourceList{}
	bound := func(name corev1.ResourceName, hard, used string) {
		q.Status.Hard[name] = random.Quantity(hard)
		if random.Chance(r, 95) {
			q.Status.Used[name] = random.Quantity(used)
		}
	}
	for range r.IntN(4) {
		switch r.IntN(6) {
		case 0:
			bound(random.Pick[corev1.ResourceName](r, "cpu", "requests.cpu"), random.Pick(r, "4", "20500m", "64", "5G"), random.Pick(r, "0", "950m", "3", "5"))
		case 1:
			bound(random.Pick[corev1.ResourceName](r, "memory", "requests.memory"), random.Pick(r, "8Gi", "100G", "4Ei"), random.Pick(r, "0", "1Gi", "7900M"))
		case 2:
			bound("requests.nvidia.com/gpu", random.Pick(r, "0", "8"), random.Pick(r, "0", "3"))
		case 3:
			bound(random.Pick[corev1.ResourceName](r, "limits.cpu", "pods", "requests.storage", "count/jobs.batch"), "5", "5")
		case 4:
			bound("requests.ephemeral-storage", "1Gi", "1Gi")
		}
	}
	if random.Chance(r, 30) {
		q.Spec.Scopes = []corev1.ResourceQuotaScope{random.Pick(r, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeBestEffort)}
	}
	if random.Chance(r, 30) {
		e := corev1.ScopedResourceSelectorRequirement{
			ScopeName: random.Pick(r, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeTerminating),
			Operator:  random.Pick(r, corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn, corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist),
		}
		if e.Operator == corev1.ScopeSelectorOpIn || e.Operator == corev1.ScopeSelectorOpNotIn {
			e.Values = []string{random.Pick(r, "high", "low"), "top"}
		}
		q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{e}}
	}
	return q
}

// A quotaCase holds quotas and the requests to check against them.
type quotaCase struct {
	quotas     []*corev1.ResourceQuota
	components []*pb.Component // one with one replica, if not sets
	sets       bool
	others     []*pb.AssumedWorkload
}

func (q *quotaCase) ask() int64 {
	factory := informers.NewSharedInformerFactory(nil, 0)
	for _, x := range q.quotas {
		if err := factory.Core().V1().ResourceQuotas().Informer().GetIndexer().Add(x); err != nil {
			panic(err)
		}
	}
	p, err := resourcequota.New(handle{factory})
	if err != nil {
		panic(err)
	}
	if q.sets {
		n, _ := p.(estimatorframework.EstimateComponentsPlugin).EstimateComponents(context.Background(),
			estimatorframework.ComponentEstimationContext{Components: q.components, Namespace: namespace, AssumedWorkloads: q.others})
		return int64(n)
	}
	one := q.components[0].ReplicaRequirements
	request, err := one.UnmarshalResourceRequest()
	if err != nil {
		panic(err)
	}
	requirements := (&pb.ReplicaRequirements{Namespace: namespace, PriorityClassName: one.PriorityClassName}).MustSetResourceRequest(request)
	n, _ := p.(estimatorframework.EstimateReplicasPlugin).Estimate(context.Background(),
		estimatorframework.ReplicaEstimationContext{ReplicaRequirements: requirements, AssumedWorkloads: q.others})
	return int64(n)
}

// protobuf returns components in the form that the estimator's server receives.
func protobuf(components []capacity.Component) []*pb.Component {
	var list []*pb.Component
	for _, k := range components {
		request := live.Convert[corev1.ResourceList](k.Request)
		list = append(list, &pb.Component{
			Name: k.Name, Replicas: int32(k.Replicas),
			ReplicaRequirements: (&pb.ComponentReplicaRequirements{PriorityClassName: k.Pod.Spec.PriorityClassName}).MustSetResourceRequest(request),
		})
	}
	return list
}

func quota(r *rand.Rand) live.Outcome {
	q := quotaCase{sets: random.Chance(r, 50)}
	ours := capacity.Quota{Quotas: map[string][]*api.ResourceQuota{}}
	for i := range r.IntN(4) {
		q.quotas = append(q.quotas, resourceQuota(r, random.Name(i)))
		ours.Quotas["m"] = append(ours.Quotas["m"], live.Convert[*api.ResourceQuota](q.quotas[i]))
	}
	_, set := components(r, 3)
	if !q.sets {
		set = set[:1]
		set[0].Replicas = 1
	}
	others := assumptions(r)
	ours.Assumed = assumed(others)
	q.components = protobuf(set)
	for _, f := range others {
		q.others = append(q.others, &pb.AssumedWorkload{Namespace: f.namespace, Components: protobuf(f.ours)})
	}
	input := []any{q.quotas, set, ours.Assumed}
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	var got capacity.Estimate
	var err error
	if q.sets {
		got, err = ours.EstimateSets(c, set)
	} else {
		got, err = ours.Estimate(c, &capacity.Replica{Request: set[0].Request, Pod: set[0].Pod})
	}
	if err != nil {
		return live.Differ("Quota", q.ask(), err.Error(), input)
	}
	mine := got.Replicas
	if got.NoOpinion {
		mine = math.MaxInt32
	}
	want := q.ask()
	switch {
	case want == mine:
		return live.Outcome{}
	case want < 0 && mine == 0:
		return live.Outcome{Fault: "overdrawn"}
	case twoNames(q.quotas):
		return live.Outcome{Fault: "two names"}
	}
	again := q
	again.quotas = q.relevant()
	if want == 0 && max(0, again.ask()) == mine {
		return live.Outcome{Fault: "not requested"}
	}
	return live.Differ("Quota", want, got, input)
}

// relevant returns the quotas without the resources that none of their workloads
// requests.
func (q *quotaCase) relevant() []*corev1.ResourceQuota {
	var list []*corev1.ResourceQuota
	for _, x := range q.quotas {
		kept := x.DeepCopy()
		for name := range x.Status.Hard {
			alone := x.DeepCopy()
			alone.Status.Hard = corev1.ResourceList{name: x.Status.Hard[name]}
			one := *q
			one.quotas, one.others = []*corev1.ResourceQuota{alone}, nil
			if one.ask() == math.MaxInt32 {
				delete(kept.Status.Hard, name)
			}
		}
		list = append(list, kept)
	}
	return list
}

func twoNames(quotas []*corev1.ResourceQuota) bool {
	for _, q := range quotas {
		for name := range q.Status.Hard {
			if _, ok := q.Status.Hard["requests."+name]; ok {
				return true
			}
		}
	}
	return false
}
