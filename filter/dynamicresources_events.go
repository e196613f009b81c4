package filter

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/devices"
)

// EventsToRegister names the events that may help a rejected pod: a node is added, or its
// labels or allocatable change; a class is added or changes; a slice or a taint rule is added,
// changes or is deleted; a claim loses its devices, or a claim of the pod is added or changes
// its status; a template that the pod names is added or changes; a pod with devices in flight
// leaves, or one that names a claim of the pod; the pod's generated claims change. Devices that others give
// back do not help a pod whose claims cannot be used yet. As in kube-scheduler, the deletion of a class is none of these.
func (p DynamicResources) EventsToRegister() []queueing.EventHint {
	const came = queueing.ActionAdd | queueing.ActionUpdate
	return []queueing.EventHint{
		onAny(queueing.ResourceNode, queueing.ActionAdd|queueing.ActionUpdateNodeLabel|queueing.ActionUpdateNodeAllocatable),
		onAny(queueing.ResourceDeviceClass, came),
		onAny(queueing.ResourceResourceSlice, queueing.ActionAll),
		onAny("DeviceTaintRule", queueing.ActionAll),
		aboutThese(on("ResourceClaimTemplate", came, templateHelps), templatesOf, aboutTemplate),
		aboutThese(on(queueing.ResourceResourceClaim, queueing.ActionAll, claimHelps), deviceClaimsOf, aboutDeviceClaim),
		freeing(ifAny(on(queueing.ResourceResourceClaim, queueing.ActionAll, func(_ *framework.PodInfo, before, after *api.ResourceClaim) bool {
			return freesDevices(before, after)
		}), freesDevices)),
		aboutThese(onPods(queueing.ActionDelete, func(pod, before, _ *framework.PodInfo) bool { return mayShareClaim(pod, before) }),
			namedClaimsOf, func(before, _ *framework.PodInfo) []queueing.Subject { return namedClaimsOf(before) }),
		freeing(ifAny(onPods(queueing.ActionDelete, func(_, before, _ *framework.PodInfo) bool { return mayNeedDevices(before) }),
			func(before, _ *framework.PodInfo) bool { return mayNeedDevices(before) })),
		onSelf(p),
	}
}

// templateHelps reports whether a template is one that the pod names.
func templateHelps(pod *framework.PodInfo, before, after *api.ResourceClaimTemplate) bool {
	return slices.Contains(templatesOf(pod), aboutTemplate(before, after)[0])
}

// templatesOf are the templates that the pod names.
func templatesOf(pod *framework.PodInfo) (list []queueing.Subject) {
	entries := pod.Pod.Spec.ResourceClaims
	for i := range entries {
		if name := entries[i].ResourceClaimTemplateName; name != nil {
			list = append(list, queueing.Subject{Namespace: pod.Pod.Namespace, Key: "template", Value: *name})
		}
	}
	return list
}

func aboutTemplate(before, after *api.ResourceClaimTemplate) []queueing.Subject {
	t := cmp.Or(after, before)
	return []queueing.Subject{{Namespace: t.Namespace, Key: "template", Value: t.Name}}
}

func mayNeedDevices(pod *framework.PodInfo) bool { return pod == nil || devices.MayNeed(pod) }

// keyed is what AppendClassKey reads of a pod: its claims, and the names of those that were made for
// it, and its requests for extended resources.
func (DynamicResources) keyed(*framework.PodInfo) framework.PodFields {
	return framework.FieldClaims | framework.FieldRequests
}

// mayShareClaim reports whether a pod names a claim that another one names, too: that may be in flight.
func mayShareClaim(pod, other *framework.PodInfo) bool {
	if other == nil {
		return true
	}
	if pod.Pod.Namespace != other.Pod.Namespace {
		return false
	}
	few, many := claimNamesOf.Of(pod), claimNamesOf.Of(other)
	if len(few.names) > len(many.names) {
		few, many = many, few
	}
	for name := range few.names {
		if many.names[name] {
			return true
		}
	}
	return false
}

// claimNames are the names of a pod's claims. They are found once: a pod that leaves is compared with all
// waiting pods that may share one.
type claimNames struct{ names map[string]bool }

var claimNamesOf = framework.NewPodDerived(func(p *framework.PodInfo) *claimNames {
	x := new(claimNames)
	for name := range devices.NamesIn(p.Pod) {
		if x.names == nil {
			x.names = map[string]bool{}
		}
		x.names[name] = true
	}
	return x
})

// freesDevices reports whether a change of a claim gives back its devices, or some of them: it may have lost them and got
// others between two reports. Another claim of its name has others.
func freesDevices(before, after *api.ResourceClaim) bool {
	if before == nil || before.Status.Allocation == nil {
		return false
	}
	return after == nil || after.Status.Allocation == nil || after.UID != before.UID ||
		!reflect.DeepEqual(before.Status.Allocation.Devices.Results, after.Status.Allocation.Devices.Results)
}

// claimHelps reports whether a change of a claim of a pod may help it, not counting that its devices
// may help any.
func claimHelps(pod *framework.PodInfo, before, after *api.ResourceClaim) bool {
	switch {
	case after == nil:
		return devices.MayName(pod, before) // one that was made for the pod in vain, too
	case !devices.MayName(pod, after):
		return false
	case before != nil && isSameClaim(before, after) && reflect.DeepEqual(before.Status, after.Status):
		return false
	}
	return devices.Names(pod.Pod, after)
}

// namedClaimsOf are the claims that a pod names, and those that were made for it.
func namedClaimsOf(pod *framework.PodInfo) (list []queueing.Subject) {
	for name := range devices.NamesIn(pod.Pod) {
		list = append(list, queueing.Subject{Namespace: pod.Pod.Namespace, Key: "claim", Value: name})
	}
	return list
}

// deviceClaimsOf are the claims that a pod may use. An event about the one for its extended resources
// finds the pod by name.
func deviceClaimsOf(pod *framework.PodInfo) []queueing.Subject {
	list := namedClaimsOf(pod)
	if pod.HasExtended() {
		list = append(list, queueing.Subject{Namespace: pod.Pod.Namespace, Key: "extended resources", Value: pod.Pod.Name})
	}
	return list
}

// aboutDeviceClaim says which pods a change of a claim may help, as claimHelps.
func aboutDeviceClaim(before, after *api.ResourceClaim) []queueing.Subject {
	c := cmp.Or(after, before)
	list := []queueing.Subject{{Namespace: c.Namespace, Key: "claim", Value: c.Name}}
	if pod, ok := devices.PodOfExtendedClaim(c); ok {
		list = append(list, queueing.Subject{Namespace: c.Namespace, Key: "extended resources", Value: pod})
	}
	return list
}

// isSameClaim reports whether two versions of a claim are those of one object with one owner, and
// both are deleted, or neither.
func isSameClaim(before, after *api.ResourceClaim) bool {
	was, is := before.ControllerRef(), after.ControllerRef()
	return before.UID == after.UID && (before.DeletionTimestamp == nil) == (after.DeletionTimestamp == nil) &&
		(was == nil) == (is == nil) && (was == nil || was.UID == is.UID)
}
