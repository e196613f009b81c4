package api

import "github.com/berth-sched/berth/resource"

// defaultPodResources completes the resources of a pod as a whole, if it has any.
// It adds, in this order:
//
//   - a limit of huge pages, if containers have one and the pod has neither limit
//     nor request: the aggregate of the containers' limits;
//   - a request of CPU or memory: the aggregate of the containers' requests;
//   - any other request: the limit;
//   - a limit, if every container has one: the aggregate of the containers' limits,
//     but no less than the request.
//
// The containers must have their defaults already.
func defaultPodResources(s *PodSpec) {
	if s.Resources == nil || len(s.Resources.Requests) == 0 && len(s.Resources.Limits) == 0 {
		return
	}
	r := *s.Resources
	r.Requests, r.Limits = wholeMilli(r.Requests), wholeMilli(r.Limits)
	p := &Pod{Spec: *s}
	requests := aggregate(p, nil, func(c *Container) resource.List { return c.Resources.Requests })
	limits := aggregate(p, nil, func(c *Container) resource.List { return c.Resources.Limits })

	r.Limits = fill(r.Limits, limits, func(n resource.Name) bool {
		_, requested := r.Requests[n]
		return n.IsHugePages() && !requested
	})
	r.Requests = fill(r.Requests, requests, func(n resource.Name) bool { return isPodLevelResource(n) && !n.IsHugePages() })
	r.Requests = fill(r.Requests, r.Limits, isPodLevelResource)
	r.Limits = fill(r.Limits, limits.Max(r.Requests), func(n resource.Name) bool {
		_, requested := r.Requests[n]
		return requested && isPodLevelResource(n) && everyContainerLimits(s, n)
	})
	s.Resources = &r
}

// everyContainerLimits reports whether all containers have a limit of n.
func everyContainerLimits(s *PodSpec, n resource.Name) bool {
	for _, list := range [...][]Container{s.Containers, s.InitContainers} {
		for i := range list {
			if _, ok := list[i].Resources.Limits[n]; !ok {
				return false
			}
		}
	}
	return len(s.Containers)+len(s.InitContainers) > 0
}
