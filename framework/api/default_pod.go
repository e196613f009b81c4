package api

import (
	"errors"
	"slices"

	"github.com/berth-sched/berth/resource"
)

// DefaultSchedulerName is the scheduler of pods that name none.
const DefaultSchedulerName = "default-scheduler"

// DefaultPod fills in what the API server adds to a pod when it is created and
// scheduling reads:
//
//   - the scheduler default-scheduler;
//   - requests of containers that have only limits, equal to the limits;
//   - requests and limits of the pod as a whole, if it has some but not all;
//   - host ports equal to container ports, for pods in the host's network;
//   - the priority and preemption policy of its priority class, if it has no
//     priority: of the class it names, else of the global default among classes,
//     else 0;
//   - in the label selectors of affinity terms, the requirements that
//     matchLabelKeys and mismatchLabelKeys stand for;
//   - the pool rbd of Ceph volumes.
//
// Quantities are rounded up to thousandths. What is already there stays, so
// calling DefaultPod again changes nothing. A pod that names a class which
// neither classes nor Kubernetes itself has is an [*InvalidError]; p is then as
// it was before. So is a nil pod; nil classes are ignored.
//
// DefaultPod changes nothing that p may share with a pod copied from it: it
// replaces maps and lists instead of writing to them.
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

// defaultContainers returns a copy of the containers with requests and, if asked
// for, host ports filled in.
func defaultContainers(list []Container, hostPorts bool) []Container {
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

func everyResource(resource.Name) bool { return true }

// fill returns l with the entries of from that it lacks and that want accepts.
// It copies l if it lacks any.
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

// defaultVolumes names the pool of Ceph volumes that name none.
func defaultVolumes(s *PodSpec) {
	for i := range s.Volumes {
		if r := s.Volumes[i].RBD; r != nil && r.RBDPool == "" {
			s.Volumes = slices.Clone(s.Volumes)
			pooled := *r
			pooled.RBDPool = defaultRBDPool
			s.Volumes[i].RBD = &pooled
		}
	}
}
