package whatif

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// qosRank orders Kubernetes' QoS classes, the least important first.
func qosRank(p *api.Pod) int {
	return slices.Index([]api.PodQOSClass{api.PodQOSBestEffort, api.PodQOSBurstable, api.PodQOSGuaranteed}, qosOf(p))
}

// qosOf is the QoS class of a pod: that of its status or, as only an API server writes that, the one that its
// requests and limits of cpu and memory give it. A request that is absent is the limit.
//
// Source: k8s.io/kubernetes 1.37, apis/core/v1/helper/qos, ComputePodQOS.
func qosOf(p *api.Pod) api.PodQOSClass {
	if p.Status.QOSClass != "" {
		return p.Status.QOSClass
	}
	var list []*api.ResourceRequirements
	if r := p.Spec.Resources; r != nil && len(r.Requests)+len(r.Limits) > 0 {
		list = append(list, r)
	} else {
		for _, containers := range [...][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range containers {
				list = append(list, &containers[i].Resources)
			}
		}
	}
	asks, guaranteed := false, true
	for _, r := range list {
		for _, name := range [...]resource.Name{resource.CPU, resource.Memory} {
			limit, request := r.Limits[name], r.Requests[name]
			if _, ok := r.Requests[name]; !ok {
				request = limit
			}
			asks = asks || limit.Sign() > 0 || request.Sign() > 0
			guaranteed = guaranteed && limit.Sign() > 0 && request.Cmp(limit) == 0
		}
	}
	switch {
	case !asks:
		return api.PodQOSBestEffort
	case guaranteed:
		return api.PodQOSGuaranteed
	}
	return api.PodQOSBurstable
}
