package api

import (
	"maps"

	"github.com/berth-sched/berth/internal/podsum"
	"github.com/berth-sched/berth/resource"
)

// DefaultCPURequest and DefaultMemoryRequest stand in for a missing request of a
// container in scores (not in filters): 100 milli-CPU and 200 MiB, as in
// kube-scheduler.
const (
	DefaultCPURequest    int64 = 100
	DefaultMemoryRequest int64 = 200 * 1024 * 1024
)

// RequestOptions chooses among kube-scheduler's ways to add up the requests of a
// pod.
type RequestOptions struct {
	// PodLevel: requests of CPU, memory or huge pages in spec.resources replace the
	// sum of the containers.
	PodLevel bool
	// Status: allocated and enforced resources of a running pod count too, so that
	// an in-place resize is never underestimated.
	Status bool
	// NonZero: a container without a CPU (memory) request counts as
	// DefaultCPURequest (DefaultMemoryRequest). A request of 0 stays 0.
	NonZero bool
}

// PodRequests returns the requests of the pod. Per resource, it takes the larger of
// the sum of the containers and the peak during initialization, where sidecars
// (restartable init containers) keep running. Then it applies pod-level requests,
// and adds the overhead. It does not read limits; see [Objects.Default]. A nil pod
// requests nothing.
//
// Source: k8s.io/component-helpers/resource v0.37, PodRequests.
func PodRequests(p *Pod, o RequestOptions) resource.List {
	if p == nil {
		return resource.List{}
	}
	var missing resource.List
	if o.NonZero {
		missing = nonZeroDefaults()
	}
	podLevel := o.PodLevel && p.HasPodLevelRequests()
	if podLevel && missing != nil {
		// A default applies only to resources without a pod-level request.
		plain := PodRequests(p, RequestOptions{PodLevel: true, Status: o.Status})
		for name := range missing {
			if _, ok := plain[name]; ok {
				delete(missing, name)
			}
		}
	}

	sum := containerRequests(p, o.Status, missing)
	if podLevel {
		for name, q := range podLevelRequests(p, o.Status) {
			if isPodLevelResource(name) {
				sum[name] = q
			}
		}
	}
	if len(p.Spec.Overhead) > 0 {
		sum = sum.Add(p.Spec.Overhead)
	}
	return sum
}

// RequestsCPUAndMemory reports whether every container requests CPU and memory, so
// that [RequestOptions.NonZero] changes nothing.
func (p *Pod) RequestsCPUAndMemory() bool {
	for _, list := range [...][]Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			r := list[i].Resources.Requests
			if _, ok := r[resource.CPU]; !ok {
				return false
			}
			if _, ok := r[resource.Memory]; !ok {
				return false
			}
		}
	}
	return true
}

func nonZeroDefaults() resource.List {
	return resource.List{
		resource.CPU:    resource.Milli(DefaultCPURequest),
		resource.Memory: resource.New(DefaultMemoryRequest, resource.BinarySI),
	}
}

// containerRequests adds up the containers in up to three ways: from the spec, from
// the allocated resources, and from the enforced ones. If the node reports the last
// two for the pod as a whole, these reports replace the sums.
func containerRequests(p *Pod, status bool, missing resource.List) resource.List {
	spec := func(c *Container) resource.List { return c.Resources.Requests }
	if !status || !p.HasRequestStatus() {
		return aggregate(p, missing, spec)
	}
	infeasible := resizeInfeasible(p)
	allocated, inForce := p.Status.AllocatedResources, resource.List(nil)
	if p.Status.Resources != nil {
		inForce = p.Status.Resources.Requests
	}
	if allocated == nil || inForce == nil {
		known := statusesOf(p)
		ofNode := func(c *Container) resource.List {
			if s := known.of(c.Name); s != nil && s.AllocatedResources != nil {
				return s.AllocatedResources
			}
			if infeasible {
				return nil
			}
			return c.Resources.Requests
		}
		allocated = aggregate(p, missing, ofNode)
		inForce = aggregate(p, missing, func(c *Container) resource.List {
			if s := known.of(c.Name); s != nil && s.Resources != nil && s.Resources.Requests != nil {
				return s.Resources.Requests
			}
			return ofNode(c)
		})
	}
	sum := inForce.Max(allocated)
	if !infeasible {
		sum = aggregate(p, missing, spec).Max(sum)
	}
	return sum
}

// HasRequestStatus reports whether the requests in the status may differ from the
// spec, so that [RequestOptions.Status] may change the sum. The status of a pod that
// was never resized repeats its spec.
func (p *Pod) HasRequestStatus() bool {
	s := &p.Status
	if s.Resources != nil || resizeInfeasible(p) {
		return true
	}
	if len(s.ContainerStatuses)+len(s.InitContainerStatuses) == 0 {
		return false
	}
	if s.AllocatedResources != nil {
		return true
	}
	known := statusesOf(p)
	return !known.repeat(p.Spec.Containers) || !known.repeat(p.Spec.InitContainers)
}

// repeat reports whether the node has allocated and enforced just what the
// containers request, as far as it says so.
func (x *statuses) repeat(list []Container) bool {
	for i := range list {
		c := &list[i]
		s := x.of(c.Name)
		if s == nil {
			continue
		}
		if s.AllocatedResources != nil && !sameAmounts(s.AllocatedResources, c.Resources.Requests) {
			return false
		}
		if s.Resources != nil && s.Resources.Requests != nil && !sameAmounts(s.Resources.Requests, c.Resources.Requests) {
			return false
		}
	}
	return true
}

// sameAmounts reports whether two lists have the same names with equal quantities.
func sameAmounts(l, m resource.List) bool { return maps.EqualFunc(l, m, resource.Quantity.Equal) }

// aggregate returns the larger of the sum of the containers and the peak while the
// init containers run one after another.
func aggregate(p *Pod, missing resource.List, requests func(*Container) resource.List) resource.List {
	var sum podsum.Sum
	each := func(c *Container, add func(resource.Name, resource.Quantity)) {
		r := requests(c)
		for name, q := range r {
			add(name, q)
		}
		for name, q := range missing {
			if _, ok := r[name]; !ok {
				add(name, q)
			}
		}
	}
	for i := range p.Spec.Containers {
		each(&p.Spec.Containers[i], sum.Container)
	}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.IsSidecar() {
			each(c, sum.Sidecar)
		} else {
			each(c, sum.Init)
		}
	}
	return sum.Total()
}

// IsSidecar reports whether an init container is a sidecar. A sidecar has the
// restart policy Always and keeps running beside the containers.
func (c *Container) IsSidecar() bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == ContainerRestartPolicyAlways
}

// statuses finds the status of a container by its name: the first one of the containers'
// statuses or, failing that, of the init containers'. It costs O(1) a name.
type statuses struct {
	pod    *Pod
	byName map[string]*ContainerStatus // nil for few statuses, which are looked through
}

// fewStatuses are so few that to look through them is faster than a map.
const fewStatuses = 16

func statusesOf(p *Pod) statuses {
	x := statuses{pod: p}
	if n := len(p.Status.ContainerStatuses) + len(p.Status.InitContainerStatuses); n > fewStatuses {
		x.byName = make(map[string]*ContainerStatus, n)
		for _, list := range x.lists() {
			for i := range list {
				if _, ok := x.byName[list[i].Name]; !ok {
					x.byName[list[i].Name] = &list[i]
				}
			}
		}
	}
	return x
}

func (x *statuses) lists() [2][]ContainerStatus {
	return [2][]ContainerStatus{x.pod.Status.ContainerStatuses, x.pod.Status.InitContainerStatuses}
}

func (x *statuses) of(name string) *ContainerStatus {
	if x.byName != nil {
		return x.byName[name]
	}
	for _, list := range x.lists() {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

func resizeInfeasible(p *Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == PodResizePending {
			return c.Reason == PodReasonInfeasible
		}
	}
	return false
}

func isPodLevelResource(name resource.Name) bool {
	return name == resource.CPU || name == resource.Memory || name.IsHugePages()
}

// HasPodLevelRequests reports whether spec.resources requests CPU, memory or huge
// pages for the pod as a whole.
func (p *Pod) HasPodLevelRequests() bool {
	if p.Spec.Resources == nil {
		return false
	}
	for name := range p.Spec.Resources.Requests {
		if isPodLevelResource(name) {
			return true
		}
	}
	return false
}

func podLevelRequests(p *Pod, status bool) resource.List {
	spec := p.Spec.Resources.Requests
	if !status || p.Status.Resources == nil {
		return spec
	}
	if resizeInfeasible(p) {
		spec = nil
	}
	return spec.Max(p.Status.Resources.Requests).Max(p.Status.AllocatedResources)
}
