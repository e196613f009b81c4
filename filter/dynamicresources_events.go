package filter

import (
	"reflect"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/devices"
)

// EventsToRegister names the events that may help a rejected pod: a node is added, or its
// labels or allocatable change; a class is added or changes; a slice or a taint rule is added,
// changes or is deleted; a claim loses its devices, or a claim of the pod is added or changes
// its status; a template is added or changes; a pod with devices in flight leaves; the pod's
// generated claims change. As in kube-scheduler, the deletion of a class is none of these.
func (p DynamicResources) EventsToRegister() []queueing.EventHint {
	const came = queueing.ActionAdd | queueing.ActionUpdate
	return []queueing.EventHint{
		onAny(queueing.ResourceNode, queueing.ActionAdd|queueing.ActionUpdateNodeLabel|queueing.ActionUpdateNodeAllocatable),
		onAny(queueing.ResourceDeviceClass, came),
		onAny(queueing.ResourceResourceSlice, queueing.ActionAll),
		onAny("DeviceTaintRule", queueing.ActionAll),
		onAny("ResourceClaimTemplate", came),
		on(queueing.ResourceResourceClaim, queueing.ActionAll, claimHelps),
		ifAny(onPods(queueing.ActionDelete, func(_, before, _ *framework.PodInfo) bool { return mayNeedDevices(before) }),
			func(before, _ *framework.PodInfo) bool { return mayNeedDevices(before) }),
		onSelf(p),
	}
}

func mayNeedDevices(pod *framework.PodInfo) bool { return pod == nil || devices.MayNeed(pod) }

// keyed is what AppendClassKey reads of a pod: its claims, and the names of those that were made for
// it, and its requests for extended resources.
func (DynamicResources) keyed(*framework.PodInfo) framework.PodFields {
	return framework.FieldClaims | framework.FieldRequests
}

// claimHelps reports whether a change of a claim may help a pod.
func claimHelps(pod *framework.PodInfo, before, after *api.ResourceClaim) bool {
	switch {
	case after == nil:
		return before.Status.Allocation != nil || devices.MayName(pod.Pod, before) // one that was made for the pod in vain, too
	case before != nil && before.Status.Allocation != nil && after.Status.Allocation == nil:
		return true
	case !devices.MayName(pod.Pod, after):
		return false
	case before != nil && isSameClaim(before, after) && reflect.DeepEqual(before.Status, after.Status):
		return false
	}
	return devices.Names(pod.Pod, after)
}

// isSameClaim reports whether two versions of a claim are those of one object with one owner, and
// both are deleted, or neither.
func isSameClaim(before, after *api.ResourceClaim) bool {
	was, is := before.ControllerRef(), after.ControllerRef()
	return before.UID == after.UID && (before.DeletionTimestamp == nil) == (after.DeletionTimestamp == nil) &&
		(was == nil) == (is == nil) && (was == nil || was.UID == is.UID)
}
