package devices

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Leave changes the claims of a pod that has left its node for good, as the controller of claims does:
// those that the pod owns are deleted, and one that no other pod uses gives back its devices.
func Leave(s *framework.Snapshot, pod *framework.PodInfo) error {
	for _, c := range claimsOf(s, pod) {
		switch next := withoutUser(c, pod.Pod); {
		case next == nil:
			framework.Delete[api.ResourceClaim](s, c.Key())
		case next != c:
			if err := framework.Put(s, next); err != nil {
				return err
			}
		}
	}
	return nil
}

// Settle writes into the claims that a placed pod names what its binding writes: the devices that were chosen for
// it, and that it uses them. So the next pod with such a claim gets the same devices.
func Settle(s *framework.Snapshot, pod *framework.PodInfo) error {
	if !pod.HasClaims() {
		return nil
	}
	flights := flightsOf(holdsOf(s, pod))
	for _, c := range claimsOf(s, pod) {
		next := *c
		if next.Status.Allocation == nil {
			f := flights.of(&claimRef{claim: c})
			if f == nil {
				continue
			}
			next.Status.Allocation = f.claim.Status.Allocation
		} else if len(c.Status.ReservedFor) >= usersMost || slices.ContainsFunc(c.Status.ReservedFor, isUserOf(pod.Pod)) {
			continue
		}
		user := api.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Pod.Name, UID: pod.Pod.UID}
		next.Status.ReservedFor = append(slices.Clip(c.Status.ReservedFor), user)
		if err := framework.Put(s, &next); err != nil {
			return err
		}
	}
	return nil
}

// usersMost is how many pods a claim can be reserved for.
const usersMost = 256

// holdsOf returns what a pod has in flight.
func holdsOf(s *framework.Snapshot, pod *framework.PodInfo) []*flight {
	held, _ := stateKey.Of(s).holds.Get(podIDOf(pod.Pod))
	return held
}

// AwaitsShared reports whether a pod names a claim that has no devices yet, and that others may name, too.
func AwaitsShared(s *framework.Snapshot, pod *framework.PodInfo) bool {
	return pod.HasClaims() && slices.ContainsFunc(claimsOf(s, pod), func(c *api.ResourceClaim) bool {
		return c.Status.Allocation == nil && len(c.OwnerReferences) == 0
	})
}

// isUserOf reports whether a claim is reserved for the pod.
func isUserOf(pod *api.Pod) func(api.ResourceClaimConsumerReference) bool {
	return func(r api.ResourceClaimConsumerReference) bool {
		return r.Resource == "pods" && r.Name == pod.Name && r.UID == pod.UID
	}
}

// claimsOf returns the claims of the snapshot that a pod names, and those for its extended resources, each
// once.
func claimsOf(s *framework.Snapshot, pod *framework.PodInfo) (list []*api.ResourceClaim) {
	var keys []string
	for name := range NamesIn(pod.Pod) {
		keys = append(keys, pod.Pod.Namespace+"/"+name)
	}
	if pod.HasExtended() && framework.ObjectsVersion[api.ResourceClaim](s) > 0 {
		own, _ := stateKey.Of(s).special.Get(ownerPod{pod.Pod.Namespace, pod.Pod.Name, pod.Pod.UID})
		keys = append(keys, own.keys...)
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		if c := framework.Lookup[api.ResourceClaim](s, k); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// withoutUser returns what a claim is once the pod has gone: nil if the pod owns it, and the claim itself if
// the pod does not use it.
func withoutUser(c *api.ResourceClaim, pod *api.Pod) *api.ResourceClaim {
	if slices.ContainsFunc(c.OwnerReferences, func(o api.OwnerReference) bool { return o.Name == pod.Name && o.UID == pod.UID }) {
		return nil
	}
	uses := isUserOf(pod)
	if !slices.ContainsFunc(c.Status.ReservedFor, uses) {
		return c
	}
	next := *c
	next.Status.ReservedFor = slices.DeleteFunc(slices.Clone(c.Status.ReservedFor), uses)
	if len(next.Status.ReservedFor) == 0 {
		next.Status.Allocation, next.Status.Devices = nil, nil
	}
	return &next
}
