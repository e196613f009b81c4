package estimator

import (
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/podsum"
	"github.com/berth-sched/berth/resource"
)

// podResources returns the pod's requests and limits, with overhead: the larger of
// the sum of its containers and the peak during initialization, unless resources of
// the pod as a whole replace it. The lists may be the pod's own, so do not change
// them.
//
// Source: k8s.io/component-helpers 0.35, PodRequests and PodLimits; for the
// older rules Kubernetes 1.28 and, without sidecars, 1.24.
func podResources(p *api.Pod, t *traits) (requests, limits resource.List) {
	if len(p.Spec.Containers) == 1 && len(p.Spec.InitContainers) == 0 && len(p.Spec.Overhead) == 0 && p.Spec.Resources == nil {
		// The common case needs no addition and no new list.
		r := &p.Spec.Containers[0].Resources
		return r.Requests, r.Limits
	}
	requests = addUp(p, t, func(r *api.ResourceRequirements) resource.List { return r.Requests })
	limits = addUp(p, t, func(r *api.ResourceRequirements) resource.List { return r.Limits })
	requests = requests.Add(p.Spec.Overhead)
	for name, q := range p.Spec.Overhead {
		if limit, ok := limits[name]; ok && !limit.IsZero() {
			limits[name] = limit.Add(q)
		}
	}
	return requests, limits
}

func addUp(p *api.Pod, t *traits, of func(*api.ResourceRequirements) resource.List) resource.List {
	var adder podsum.Sum
	for i := range p.Spec.Containers {
		for name, q := range of(&p.Spec.Containers[i].Resources) {
			adder.Container(name, q)
		}
	}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		add := adder.Init
		if !t.plainInit && c.IsSidecar() {
			add = adder.Sidecar
		}
		for name, q := range of(&c.Resources) {
			add(name, q)
		}
	}
	sum := adder.Total()
	if t.podLevel && p.Spec.Resources != nil {
		for name, q := range of(p.Spec.Resources) {
			if name == resource.CPU || name == resource.Memory || name.IsHugePages() {
				sum[name] = q
			}
		}
	}
	return sum
}
