package filter

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/volumes"
)

// onClaims registers for events about claims.
func onClaims(a queueing.ActionType, helps func(pod *framework.PodInfo, before, after *api.PersistentVolumeClaim) bool) queueing.EventHint {
	return on(queueing.ResourcePersistentVolumeClaim, a, helps)
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
// another volume or none. has reports whether a claim is one of the pod's.
func volumeEvents(has func(*framework.PodInfo, *api.PersistentVolumeClaim) bool) []queueing.EventHint {
	return []queueing.EventHint{
		onClaims(queueing.ActionAll, func(pod *framework.PodInfo, before, after *api.PersistentVolumeClaim) bool {
			return has(pod, after) || before != nil && !sameVolume(before, after)
		}),
		onAny(queueing.ResourcePersistentVolume, queueing.ActionAll),
		onAny(queueing.ResourceStorageClass, queueing.ActionAll),
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
