package framework

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// checkRequests reports the first quantity of the pod that is negative.
func checkRequests(p *api.Pod) error {
	if !hasNegative(p) {
		return nil
	}
	check := func(field string, l resource.List) error { return checkList("pod "+p.Key(), field, l, "", nil) }
	// A request that equals a negative limit may be a default made from it.
	requirements := func(field string, r *api.ResourceRequirements) error {
		if r == nil {
			return nil
		}
		return checkList("pod "+p.Key(), field+".requests", r.Requests, field+".limits", r.Limits)
	}
	containers := func(field string, list []api.Container) error {
		for i := range list {
			if err := requirements(fmt.Sprintf("%s[%d].resources", field, i), &list[i].Resources); err != nil {
				return err
			}
		}
		return nil
	}
	statuses := func(field string, list []api.ContainerStatus) error {
		for i := range list {
			if err := check(fmt.Sprintf("%s[%d].allocatedResources", field, i), list[i].AllocatedResources); err != nil {
				return err
			}
			if err := requirements(fmt.Sprintf("%s[%d].resources", field, i), list[i].Resources); err != nil {
				return err
			}
		}
		return nil
	}
	return firstError(
		containers("spec.containers", p.Spec.Containers),
		containers("spec.initContainers", p.Spec.InitContainers),
		requirements("spec.resources", p.Spec.Resources),
		check("spec.overhead", p.Spec.Overhead),
		statuses("status.containerStatuses", p.Status.ContainerStatuses),
		statuses("status.initContainerStatuses", p.Status.InitContainerStatuses),
		requirements("status.resources", p.Status.Resources),
		check("status.allocatedResources", p.Status.AllocatedResources),
	)
}

// requestsOnlyInContainers reports whether checkRequests reads nothing but the containers'
// requests and the overhead. These sumRequests reads too, and refuses negative ones.
func requestsOnlyInContainers(p *api.Pod) bool {
	s := &p.Status
	return p.Spec.Resources == nil && s.Resources == nil && len(s.AllocatedResources) == 0 &&
		len(s.ContainerStatuses)+len(s.InitContainerStatuses) == 0
}

// hasNegative reports whether checkRequests may find a negative quantity. It is much
// faster, since it builds no names of fields.
func hasNegative(p *api.Pod) bool {
	negative := func(l resource.List) bool {
		for _, q := range l {
			if q.Sign() < 0 {
				return true
			}
		}
		return false
	}
	for _, list := range [...][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			if negative(list[i].Resources.Requests) {
				return true
			}
		}
	}
	for _, list := range [...][]api.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range list {
			if s := &list[i]; negative(s.AllocatedResources) || s.Resources != nil && negative(s.Resources.Requests) {
				return true
			}
		}
	}
	return negative(p.Spec.Overhead) || negative(p.Status.AllocatedResources) ||
		p.Spec.Resources != nil && negative(p.Spec.Resources.Requests) ||
		p.Status.Resources != nil && negative(p.Status.Resources.Requests)
}

// checkList reports the first quantity of a list that is negative. If the list that
// defaults come from has the same quantity, checkList reports that one: it is wrong
// whether or not the other was made from it.
func checkList(object, field string, l resource.List, sourceField string, source resource.List) error {
	for _, name := range l.Names() {
		q := l[name]
		if q.Sign() >= 0 {
			continue
		}
		if from, ok := source[name]; ok && from.Cmp(q) == 0 {
			field = sourceField
		}
		return &api.InvalidError{Object: object, Field: fmt.Sprintf("%s[%s]", field, name), Value: q.String(), Err: errNegative}
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
