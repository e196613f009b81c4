package devices

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A pod may own several claims for its extended resources: each cycle that failed to clean up
// leaves one. State.special has the keys of all, sorted, so the first does not depend on the
// order of events. State.owners has the way back, for a claim that is changed or deleted.
// The lists never change.

// madeExtendedClaim returns the claim for a pod's extended resources that was made in an
// earlier cycle, the first one by name, nil if there is none.
func (x *State) madeExtendedClaim(s *framework.Snapshot, pod *api.Pod) *api.ResourceClaim {
	keys, _ := x.special.Get(podIDOf(pod))
	for _, key := range keys {
		if c := framework.Lookup[api.ResourceClaim](s, key); c != nil && c.Namespace == pod.Namespace && isExtendedClaimOf(c, pod) {
			return c
		}
	}
	return nil
}

func isExtendedClaimOf(c *api.ResourceClaim, pod *api.Pod) bool {
	return c.Annotations[api.AnnExtendedResourceClaim] == "true" &&
		slices.ContainsFunc(c.OwnerReferences, func(o api.OwnerReference) bool {
			return o.Name == pod.Name && o.UID == pod.UID && isSet(o.Controller)
		})
}

// specialFor returns the pods whose claim for extended resources this is. The claim may be nil.
func specialFor(c *api.ResourceClaim) (pods []objectID) {
	if c == nil || c.Annotations[api.AnnExtendedResourceClaim] != "true" {
		return nil
	}
	for i := range c.OwnerReferences {
		if o := &c.OwnerReferences[i]; isSet(o.Controller) {
			if id := idOf(o.UID, c.Namespace, o.Name); !slices.Contains(pods, id) {
				pods = append(pods, id)
			}
		}
	}
	return pods
}

// readSpecial notes a claim while the state is made. Nothing is recorded.
func (x *State) readSpecial(c *api.ResourceClaim) {
	pods := specialFor(c)
	if pods == nil {
		return
	}
	key := api.KeyOf(c)
	x.owners.Set(key, pods)
	for _, pod := range pods {
		keys, _ := x.special.Get(pod)
		x.special.Set(pod, withKey(keys, key))
	}
}

// noteSpecial follows the claim of a key, which is nil if it is deleted.
func (x *State) noteSpecial(s *framework.Snapshot, key string, c *api.ResourceClaim) {
	now := specialFor(c)
	before, _ := x.owners.Get(key)
	if slices.Equal(before, now) {
		return // both are nil for nearly all claims
	}
	for _, pod := range before {
		keys, _ := x.special.Get(pod)
		if keys = withoutKey(keys, key); len(keys) > 0 {
			change(s, &x.special, pod, keys)
		} else {
			cut(s, &x.special, pod)
		}
	}
	for _, pod := range now {
		keys, _ := x.special.Get(pod)
		change(s, &x.special, pod, withKey(keys, key))
	}
	if now != nil {
		change(s, &x.owners, key, now)
	} else {
		cut(s, &x.owners, key)
	}
}

func withKey(keys []string, key string) []string {
	i, _ := slices.BinarySearch(keys, key)
	return slices.Insert(slices.Clone(keys), i, key)
}

func withoutKey(keys []string, key string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == key })
}

// checkSpecial looks for the claims of extended resources again.
func (x *State) checkSpecial(s *framework.Snapshot) error {
	want := new(State)
	for _, c := range framework.List[api.ResourceClaim](s) {
		want.readSpecial(c)
	}
	special, owners := maps.Collect(x.special.All()), maps.Collect(x.owners.All())
	if w := maps.Collect(want.special.All()); !maps.EqualFunc(special, w, slices.Equal[[]string]) {
		return fmt.Errorf("claims of extended resources by pod are %v, want %v", special, w)
	}
	if w := maps.Collect(want.owners.All()); !maps.EqualFunc(owners, w, slices.Equal[[]objectID]) {
		return fmt.Errorf("pods of claims of extended resources are %v, want %v", owners, w)
	}
	return nil
}
