package gang

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// What a search may leave out, and what it proves: both depend on how the pods of a group
// differ, and on what they take from each other.

// orderMatters reports whether the pods of the group may stand in one order and not in
// another: then a search in one order proves nothing.
//
//   - A pod may fit only after another, or its filters read other nodes. Anti-affinity does
//     not count: pods that stand together stand in every order.
//   - Filters take the first device and the smallest volume for a claim, so the pod that
//     comes first may take the one that a later pod needs.
//   - A pod keeps its nominated node from the others until it is placed.
func (a *attempt) orderMatters() bool {
	return slices.ContainsFunc(a.g.Pods, func(pod *framework.PodInfo) bool {
		return needsOtherPods(pod.Pod) || holdsClaims(pod) || a.nominated(pod) || !a.nodeOnly(pod) || a.isOneSided(pod)
	})
}

// isOneSided reports whether the pod's anti-affinity may select the namespace of a pod of the group only because
// the snapshot does not have it: pods on nodes keep others off by that, but not a pod that comes after them.
func (a *attempt) isOneSided(pod *framework.PodInfo) bool {
	x := pod.Pod.Spec.Affinity
	if x == nil || x.PodAntiAffinity == nil {
		return false
	}
	selects := func(t api.PodAffinityTerm) bool { return t.NamespaceSelector != nil }
	return slices.ContainsFunc(x.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, selects) &&
		slices.ContainsFunc(a.g.Pods, func(p *framework.PodInfo) bool {
			return framework.Lookup[api.Namespace](a.snap, p.Pod.Namespace) == nil
		})
}

// nodeOnly reports whether the filters of the pod read one node only, but for its
// anti-affinity, and no Reserve plugin of another module more. A profile may have constraints for
// all pods.
func (a *attempt) nodeOnly(pod *framework.PodInfo) bool {
	if readsOtherPods(pod.Pod) {
		plain, affinity := *pod.Pod, *pod.Pod.Spec.Affinity
		affinity.PodAntiAffinity = nil
		plain.Spec.Affinity = &affinity
		var err error
		if pod, err = a.snap.NewPodInfo(&plain); err != nil {
			return false
		}
	}
	f, err := a.sched.Filtering(a.snap, pod)
	return err == nil && f.NodeOnly() && !f.ReservesByOthers()
}

// holdsClaims reports whether the pod has claims on devices or volumes: which ones it gets
// depends on what other pods got before.
func holdsClaims(pod *framework.PodInfo) bool { return pod.HasClaims() || pod.HasVolumeClaims() }

// nominated reports whether the pod is nominated to a node of the snapshot.
func (a *attempt) nominated(pod *framework.PodInfo) bool {
	if a.snap.Nominations() == 0 {
		return false
	}
	key := pod.Pod.Key()
	return slices.ContainsFunc(a.snap.NominatedSlots(), func(slot int) bool {
		return slices.ContainsFunc(a.snap.AtSlot(slot).Nominated, func(p *framework.PodInfo) bool { return p.Pod.Key() == key })
	})
}

// alike reports whether two pods can change places: they are of one class and priority, no
// selector tells them apart, and neither has terms about other pods, claims or a nominated
// node that may be its own alone.
func (a *attempt) alike(i, k int) bool {
	p, q := a.g.Pods[i], a.g.Pods[k]
	if p.Priority != q.Priority || p.Pod.Namespace != q.Pod.Namespace || !maps.Equal(p.Pod.Labels, q.Pod.Labels) {
		return false
	}
	for _, pod := range []*framework.PodInfo{p, q} {
		if readsOtherPods(pod.Pod) || holdsClaims(pod) || a.nominated(pod) {
			return false
		}
	}
	_, ok, err := a.sched.CommonClassKey(a.snap, p, q)
	return ok && err == nil
}
