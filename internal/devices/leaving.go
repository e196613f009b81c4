package devices

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Leave changes the claims of a pod that has left its node for good, as [Left] says.
func Leave(s *framework.Snapshot, pod *framework.PodInfo) error {
	changed, gone := Left(s, pod.Pod)
	for _, c := range gone {
		framework.Delete[api.ResourceClaim](s, c.Key())
	}
	return putAll(s, changed)
}

// Left returns what the controller of claims does once a pod has gone: it deletes the claims that the pod owns,
// and changes those that it used. One that no other pod uses gives back its devices.
func Left(s *framework.Snapshot, pod *api.Pod) (changed, gone []*api.ResourceClaim) {
	for _, c := range claimsOf(s, pod) {
		switch next := withoutUser(c, pod); {
		case next == nil:
			gone = append(gone, c)
		case next != c:
			changed = append(changed, next)
		}
	}
	return changed, gone
}

// Settle writes into the claims that a placed pod names what its binding writes, as [Settled] says.
func Settle(s *framework.Snapshot, pod *framework.PodInfo) error {
	return putAll(s, Settled(s, s, pod))
}

// Settled returns the claims that a placed pod names as its binding writes them: with the devices that were chosen
// for it in a snapshot, and with the pod among their users. So the next pod with such a claim gets the same devices.
func Settled(s, chosen *framework.Snapshot, pod *framework.PodInfo) (list []*api.ResourceClaim) {
	if !pod.HasClaims() {
		return nil
	}
	flights := flightsOf(holdsOf(chosen, pod))
	for _, c := range claimsOf(s, pod.Pod) {
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
		list = append(list, &next)
	}
	return list
}

func putAll(s *framework.Snapshot, list []*api.ResourceClaim) error {
	for _, c := range list {
		if err := framework.Put(s, c); err != nil {
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
	return pod.HasClaims() && slices.ContainsFunc(claimsOf(s, pod.Pod), func(c *api.ResourceClaim) bool {
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
func claimsOf(s *framework.Snapshot, pod *api.Pod) (list []*api.ResourceClaim) {
	var keys []string
	if framework.ObjectsVersion[api.ResourceClaim](s) == 0 {
		return nil
	}
	for name := range NamesIn(pod) {
		keys = append(keys, pod.Namespace+"/"+name)
	}
	if own, ok := stateKey.Of(s).special.Get(ownerPod{pod.Namespace, pod.Name, pod.UID}); ok {
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
		next.Status = api.ResourceClaimStatus{}
	}
	return &next
}
