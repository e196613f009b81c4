package filter

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/resource"
)

// EventsToRegister names the events that may help a rejected pod: a pod leaves its
// node, or lowers its request for a resource that this one wants; a node that could
// hold the pod if empty is added, or gets more of such a resource; the pod lowers
// its own requests; a device class that may stand behind an extended resource that the
// pod requests is added, or changes its resource. A node may lack an extended resource:
// a device class may stand behind it.
func (p NodeResourcesFit) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{
		onAny(queueing.ResourceAssignedPod, queueing.ActionDelete),
		onPods(queueing.ActionUpdatePodScaleDown, func(pod, before, after *framework.PodInfo) bool {
			return before == nil || after == nil || p.wantsAny(pod, func(i int) bool { return after.UsedRequests.At(i) < before.UsedRequests.At(i) })
		}),
		onNode(queueing.ActionAdd|queueing.ActionUpdateNodeAllocatable, p.helpsNode),
		on(queueing.ResourceDeviceClass, queueing.ActionAdd|queueing.ActionUpdate, classHelps),
		on(queueing.ResourceTargetPod, queueing.ActionUpdatePodScaleDown, func(_, before, after *framework.PodInfo) bool {
			return before == nil || after == nil || p.wantsAny(before, func(i int) bool { return after.Requests.At(i) < before.Requests.At(i) }) ||
				len(before.Unknown) > 0 && !slices.Equal(before.Unknown, after.Unknown)
		}),
	}
}

// wantsAny reports whether is holds for any resource that the pod wants.
func (p NodeResourcesFit) wantsAny(pod *framework.PodInfo, is func(i int) bool) bool {
	for i, amount := range pod.Requests {
		if amount > 0 && (i <= resource.IndexEphemeralStorage || !p.ignores(pod.Schema().Name(i))) && is(i) {
			return true
		}
	}
	return false
}

// helpsNode reports whether a node was added, or gets more of something that the pod
// wants, and could hold the pod if empty. Preemption may remove the other pods.
func (p NodeResourcesFit) helpsNode(pod *framework.PodInfo, before, after *api.Node) bool {
	if after == nil || given(after, resource.Pods) < 1 {
		return false
	}
	name := pod.Schema().Name
	if p.wantsAny(pod, func(i int) bool {
		offered := given(after, name(i))
		return pod.Requests[i] > offered && (offered != 0 || !devices.IsCandidate(name(i)))
	}) {
		return false
	}
	for _, u := range pod.Unknown {
		if u.Requested > given(after, u.Name) && !p.ignores(u.Name) {
			return false
		}
		if u.Requested > 0 && !p.ignores(u.Name) && before != nil && given(after, u.Name) > given(before, u.Name) {
			return true
		}
	}
	return before == nil || given(after, resource.Pods) > given(before, resource.Pods) ||
		p.wantsAny(pod, func(i int) bool {
			was, is := given(before, name(i)), given(after, name(i))
			return is > was || is == 0 && was > 0 && devices.IsCandidate(name(i)) // devices of a class may serve it now
		})
}

// classHelps reports whether a device class may now stand behind a resource that the pod
// requests, and did not before.
func classHelps(pod *framework.PodInfo, before, after *api.DeviceClass) bool {
	if after == nil {
		return false
	}
	explicit := func(c *api.DeviceClass) resource.Name {
		if c == nil || c.Spec.ExtendedResourceName == nil {
			return ""
		}
		return resource.Name(*c.Spec.ExtendedResourceName)
	}
	requests := func(name resource.Name) bool {
		i, ok := pod.Schema().Index(name)
		return name != "" && (ok && pod.Requests.At(i) != 0 ||
			pod.UnknownRequest(name).Requested != 0)
	}
	if before == nil && requests(resource.Name(api.PrefixDeviceClass+after.Name)) {
		return true
	}
	return explicit(before) != explicit(after) && requests(explicit(after))
}

// given is the node's allocatable of a resource, in the units of vectors.
func given(n *api.Node, name resource.Name) int64 {
	q := n.Status.Allocatable[name]
	if name == resource.CPU {
		return q.MilliValue()
	}
	return q.Value()
}
