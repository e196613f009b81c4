package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/volumes"
)

// onClaims registers for events about claims.
func onClaims(a framework.ActionType, helps func(pod *framework.PodInfo, before, after *api.PersistentVolumeClaim) bool) framework.EventHint {
	return on(framework.ResourcePersistentVolumeClaim, a, helps)
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

// volumeEvents are the events by which a limit on the number of volumes may be
// kept again: one of the pod's claims comes, and any claim, of a pod that is on a
// node, turns out to be another volume or none.
func volumeEvents() []framework.EventHint {
	return []framework.EventHint{
		onClaims(framework.ActionAll, func(pod *framework.PodInfo, before, after *api.PersistentVolumeClaim) bool {
			return mounts(pod, after) || before != nil && !sameVolume(before, after)
		}),
		onAny(framework.ResourcePersistentVolume, framework.ActionAll),
		onAny(framework.ResourceStorageClass, framework.ActionAll),
	}
}

// sameVolume reports whether two versions of a claim have, or would get, the
// same volume.
func sameVolume(before, after *api.PersistentVolumeClaim) bool {
	return after != nil && before.Spec.VolumeName == after.Spec.VolumeName && volumes.ClassOfClaim(before) == volumes.ClassOfClaim(after)
}
