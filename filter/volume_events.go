package filter

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/volumes"
)

// onOwnClaims registers for events about claims of the waiting pod. helps says yes to no others.
func onOwnClaims(a queueing.ActionType, helps func(pod *framework.PodInfo, before, after *api.PersistentVolumeClaim) bool) queueing.EventHint {
	return aboutThese(on(queueing.ResourcePersistentVolumeClaim, a, helps), claimsOf, aboutClaim)
}

// claimsOf are the claims that the pod mounts, also those made for it.
func claimsOf(pod *framework.PodInfo) []queueing.Subject {
	claims := volumes.Of(pod).Claims
	list := make([]queueing.Subject, len(claims))
	for i := range claims {
		list[i] = claimSubject(pod.Pod.Namespace, claims[i].Name)
	}
	return list
}

func aboutClaim(before, after *api.PersistentVolumeClaim) []queueing.Subject {
	c := cmp.Or(after, before)
	return []queueing.Subject{claimSubject(c.Namespace, c.Name)}
}

// claimSubject stands for a claim, and for the pods that mount it.
func claimSubject(namespace, name string) queueing.Subject {
	return queueing.Subject{Namespace: namespace, Key: string(queueing.ResourcePersistentVolumeClaim), Value: name}
}

// shared are the claims that the pod mounts and the disks that it may not share with other pods.
func shared(pod *framework.PodInfo) []queueing.Subject {
	list := claimsOf(pod)
	for _, name := range volumes.Of(pod).ExclusiveNames() {
		list = append(list, queueing.Subject{Key: "disk", Value: name})
	}
	return list
}

// mounted are the claims that the pod mounts. A disk that it names may be any claim's.
func mounted(pod *framework.PodInfo) []queueing.Subject {
	if volumes.Of(pod).HasDisks() {
		return anything
	}
	return claimsOf(pod)
}

// onVolumes registers for events about persistent volumes.
func onVolumes(a queueing.ActionType, helps func(pod *framework.PodInfo, before, after *api.PersistentVolume) bool) queueing.EventHint {
	return on(queueing.ResourcePersistentVolume, a, helps)
}

// onCSINodes registers for all events about the drivers of nodes.
func onCSINodes(helps func(before, after *api.CSINode) bool) queueing.EventHint {
	return on(queueing.ResourceCSINode, queueing.ActionAll, func(_ *framework.PodInfo, before, after *api.CSINode) bool {
		return helps(before, after)
	})
}

// mounts reports whether the pod mounts the claim.
func mounts(pod *framework.PodInfo, c *api.PersistentVolumeClaim) bool {
	if c == nil || c.Namespace != pod.Pod.Namespace {
		return false
	}
	for _, ref := range volumes.Of(pod).Claims {
		if ref.Name == c.Name {
			return true
		}
	}
	return false
}

// names reports whether a volume of the pod names the claim. Claims that are made for the
// pod are not named: plugins that ignore them must not ask for the pod's name.
func names(pod *framework.PodInfo, c *api.PersistentVolumeClaim) bool {
	if c == nil || c.Namespace != pod.Pod.Namespace {
		return false
	}
	return slices.Contains(volumes.Of(pod).Claims, volumes.ClaimRef{Name: c.Name})
}

// volumeEvents are the events that may bring a node back under its volume limit: one
// of the pod's claims is added, or the claim of a pod on a node turns out to be
// another volume or none; a pod leaves, or is added and uses the pod's volumes; drivers
// of a node change. has reports whether a claim is one of the pod's, may whether a pod
// may have volumes that count.
func volumeEvents(plugin framework.Scoper, has func(*framework.PodInfo, *api.PersistentVolumeClaim) bool, may func(*framework.PodInfo) bool) []queueing.EventHint {
	return []queueing.EventHint{
		aboutThese(on(queueing.ResourcePersistentVolumeClaim, queueing.ActionAll, func(pod *framework.PodInfo, before, after *api.PersistentVolumeClaim) bool {
			return has(pod, after) || before != nil && !sameVolume(before, after)
		}), claimsOf, func(before, after *api.PersistentVolumeClaim) []queueing.Subject {
			if before != nil && !sameVolume(before, after) {
				return anything
			}
			return aboutClaim(before, after)
		}),
		onVolumes(queueing.ActionAll, func(_ *framework.PodInfo, before, after *api.PersistentVolume) bool {
			return before == nil || after == nil || !volumes.SameDisk(before, after)
		}),
		onAny(queueing.ResourceStorageClass, queueing.ActionAll),
		onCSINodes(func(before, after *api.CSINode) bool {
			return before == nil || after == nil || migrates(before) != migrates(after) || !reflect.DeepEqual(before.Spec, after.Spec)
		}),
		aboutThese(ifAny(onPods(queueing.ActionAll, func(pod, before, after *framework.PodInfo) bool {
			switch {
			case before == nil && after != nil:
				return may(after) && volumes.Of(pod).MayShare(volumes.Of(after))
			case after == nil && before != nil:
				return may(before)
			}
			return (before == nil || may(before) || may(after)) && readsOther(plugin, before, after)
		}), func(before, after *framework.PodInfo) bool {
			if before != nil && after != nil {
				return (may(before) || may(after)) && readsOther(plugin, before, after)
			}
			return may(cmp.Or(before, after))
		}), mounted, func(before, after *framework.PodInfo) []queueing.Subject {
			if before != nil {
				return anything // what leaves may have been in the way of any
			}
			return mounted(after)
		}),
		onSelf(plugin),
	}
}

// sameVolume reports whether two versions of a claim have, or would get, the
// same volume, for the same pod.
func sameVolume(before, after *api.PersistentVolumeClaim) bool {
	return after != nil && before.Spec.VolumeName == after.Spec.VolumeName && volumes.ClassOfClaim(before) == volumes.ClassOfClaim(after) &&
		ownerOf(before) == ownerOf(after)
}

// ownerOf returns the UID of the pod for which an ephemeral volume's claim was made, or "".
func ownerOf(c *api.PersistentVolumeClaim) api.UID {
	if owner := c.ControllerRef(); owner != nil {
		return owner.UID
	}
	return ""
}
