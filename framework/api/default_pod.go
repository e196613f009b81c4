package api

import (
	"errors"
	"slices"

	"github.com/berth-sched/berth/resource"
)

// DefaultSchedulerName is the scheduler of a pod that names none.
const DefaultSchedulerName = "default-scheduler"

// DefaultPod fills in what the API server adds to a new pod, as far as scheduling
// reads it:
//
//   - the scheduler default-scheduler;
//   - requests of containers that have only limits, equal to the limits;
//   - requests and limits of the pod as a whole, if it has some but not all;
//   - host ports equal to container ports, for pods in the host's network;
//   - the priority and preemption policy from the priority class, if the pod has no
//     priority: from the class it names, else from the global default among classes,
//     else priority 0;
//   - the requirements of matchLabelKeys and mismatchLabelKeys, in the label
//     selectors of affinity terms;
//   - the pool rbd of Ceph volumes.
//
// DefaultPod rounds quantities up to thousandths. It keeps existing values, so
// calling it again changes nothing. If the pod names a class that is neither in
// classes nor built into Kubernetes, DefaultPod returns an [*InvalidError] and
// leaves p unchanged. A nil pod is an [*InvalidError] too; nil classes are ignored.
//
// DefaultPod replaces maps and lists instead of writing to them, so pods that share
// them with p do not change.
func DefaultPod(p *Pod, classes []*PriorityClass) error {
	if p == nil {
		return &InvalidError{Object: "pod", Err: errNilPod}
	}
	class, err := priorityClass(p, classes)
	if err != nil {
		return err
	}
	s := &p.Spec
	if s.SchedulerName == "" {
		s.SchedulerName = DefaultSchedulerName
	}
	s.Containers = defaultContainers(s.Containers, s.HostNetwork)
	s.InitContainers = defaultContainers(s.InitContainers, s.HostNetwork)
	s.Overhead = wholeMilli(s.Overhead)
	defaultPodResources(s)
	defaultPriority(s, class)
	defaultAffinity(p)
	defaultVolumes(s)
	return nil
}

var errNilPod = errors.New("is nil")

// defaultContainers returns the containers with requests filled in, and with host ports
// if hostPorts is set. It copies the list if anything is missing.
func defaultContainers(list []Container, hostPorts bool) []Container {
	if !slices.ContainsFunc(list, func(c Container) bool { return incomplete(&c, hostPorts) }) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		c := &list[i]
		c.Resources.Limits = wholeMilli(c.Resources.Limits)
		c.Resources.Requests = fill(wholeMilli(c.Resources.Requests), c.Resources.Limits, everyResource)
		if hostPorts {
			c.Ports = slices.Clone(c.Ports)
			for j := range c.Ports {
				if port := &c.Ports[j]; port.HostPort == 0 {
					port.HostPort = port.ContainerPort
				}
			}
		}
	}
	return list
}

// incomplete reports whether defaultContainers changes the container.
func incomplete(c *Container, hostPorts bool) bool {
	if !isWholeMilli(c.Resources.Limits) || !isWholeMilli(c.Resources.Requests) {
		return true
	}
	for name := range c.Resources.Limits {
		if _, ok := c.Resources.Requests[name]; !ok {
			return true
		}
	}
	return hostPorts && slices.ContainsFunc(c.Ports, func(p ContainerPort) bool { return p.HostPort == 0 })
}

func everyResource(resource.Name) bool { return true }

// fill returns l with the missing entries of from that want accepts. It copies l
// only if it adds an entry.
func fill(l, from resource.List, want func(resource.Name) bool) resource.List {
	copied := false
	for name, q := range from {
		if _, ok := l[name]; ok || !want(name) {
			continue
		}
		if !copied {
			l, copied = l.Clone(), true
			if l == nil {
				l = resource.List{}
			}
		}
		l[name] = q
	}
	return l
}

// defaultVolumes names the pool of Ceph volumes without one.
func defaultVolumes(s *PodSpec) {
	cloned := false
	for i := range s.Volumes {
		if r := s.Volumes[i].RBD; r != nil && r.RBDPool == "" {
			if !cloned {
				s.Volumes, cloned = slices.Clone(s.Volumes), true
			}
			pooled := *r
			pooled.RBDPool = defaultRBDPool
			s.Volumes[i].RBD = &pooled
		}
	}
}
