package devices

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A pod may own several claims for its extended resources: each cycle that failed to clean up
// leaves one. State.special has the first of them by key, so that which one is taken does not
// depend on the order of events. State.owners has the way back, for a claim that is changed or
// deleted. Anybody may write owner references, so neither many of them in one claim nor many
// claims with one of them may cost more than each by itself.

// An ownerPod is what a claim for extended resources says of the pod that owns it.
type ownerPod struct {
	namespace, name string
	uid             api.UID
}

// ownClaims are the claims of an owner. They never change.
type ownClaims struct {
	keys []string // the first, sorted; empty only if there are no claims
	more int      // how many come behind these
}

// mostKeys bounds the keys that are kept of an owner.
const mostKeys = 64

// madeExtendedClaim returns the claim for a pod's extended resources that was made in an
// earlier cycle, the first one by name, nil if there is none.
func (x *State) madeExtendedClaim(s *framework.Snapshot, pod *api.Pod) *api.ResourceClaim {
	own, ok := x.special.Get(ownerPod{pod.Namespace, pod.Name, pod.UID})
	if !ok {
		return nil
	}
	return framework.Lookup[api.ResourceClaim](s, own.keys[0])
}

func isExtendedClaimOf(c *api.ResourceClaim, pod *api.Pod) bool {
	return c.Annotations[api.AnnExtendedResourceClaim] == "true" &&
		slices.ContainsFunc(c.OwnerReferences, func(o api.OwnerReference) bool {
			return o.Name == pod.Name && o.UID == pod.UID && isSet(o.Controller)
		})
}

// specialFor returns the pods whose claim for extended resources this is, each once. The claim
// may be nil.
func specialFor(c *api.ResourceClaim) (pods []ownerPod) {
	if c == nil || c.Annotations[api.AnnExtendedResourceClaim] != "true" {
		return nil
	}
	for i := range c.OwnerReferences {
		if o := &c.OwnerReferences[i]; isSet(o.Controller) {
			pods = append(pods, ownerPod{c.Namespace, o.Name, o.UID})
		}
	}
	if len(pods) > 1 {
		seen := make(map[ownerPod]bool, len(pods))
		pods = slices.DeleteFunc(pods, func(p ownerPod) bool {
			again := seen[p]
			seen[p] = true
			return again
		})
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
		own, _ := x.special.Get(pod)
		x.special.Set(pod, own.with(key))
	}
}

// noteSpecial follows the claim of a key, which is nil if it is deleted.
func (x *State) noteSpecial(s *framework.Snapshot, key string, c *api.ResourceClaim) {
	now := specialFor(c)
	before, _ := x.owners.Get(key)
	if slices.Equal(before, now) {
		return // both are nil for nearly all claims
	}
	is, was := among(now), among(before)
	for _, pod := range before {
		if is(pod) {
			continue
		}
		own, _ := x.special.Get(pod)
		if own = own.without(key); len(own.keys) == 0 && own.more > 0 {
			own = read(s, pod)
		}
		if len(own.keys) > 0 {
			change(s, &x.special, pod, own)
		} else {
			cut(s, &x.special, pod)
		}
	}
	for _, pod := range now {
		if !was(pod) {
			own, _ := x.special.Get(pod)
			change(s, &x.special, pod, own.with(key))
		}
	}
	if now != nil {
		change(s, &x.owners, key, now)
	} else {
		cut(s, &x.owners, key)
	}
}

// among returns the function that finds a pod in a list.
func among(list []ownerPod) func(ownerPod) bool {
	if len(list) <= fewClaims {
		return func(p ownerPod) bool { return slices.Contains(list, p) }
	}
	set := make(map[ownerPod]bool, len(list))
	for _, p := range list {
		set[p] = true
	}
	return func(p ownerPod) bool { return set[p] }
}

// read reads the claims of an owner from the snapshot.
func read(s *framework.Snapshot, pod ownerPod) (own ownClaims) {
	for _, c := range framework.List[api.ResourceClaim](s) { // by key
		if c.Namespace == pod.namespace && slices.Contains(specialFor(c), pod) {
			own = own.with(api.KeyOf(c))
		}
	}
	return own
}

func (o ownClaims) with(key string) ownClaims {
	i, _ := slices.BinarySearch(o.keys, key)
	if i == len(o.keys) && (o.more > 0 || i == mostKeys) {
		o.more++
		return o
	}
	o.keys = slices.Insert(slices.Clone(o.keys), i, key)
	if len(o.keys) > mostKeys {
		o.keys = o.keys[:mostKeys]
		o.more++
	}
	return o
}

// without may return no keys although there are more.
func (o ownClaims) without(key string) ownClaims {
	if i, ok := slices.BinarySearch(o.keys, key); ok {
		o.keys = slices.Delete(slices.Clone(o.keys), i, i+1)
	} else {
		o.more--
	}
	return o
}

// checkSpecial looks for the claims of extended resources again.
func (x *State) checkSpecial(s *framework.Snapshot) error {
	want := new(State)
	for _, c := range framework.List[api.ResourceClaim](s) {
		want.readSpecial(c)
	}
	special, owners := maps.Collect(x.special.All()), maps.Collect(x.owners.All())
	same := func(own, w ownClaims) bool {
		n := len(own.keys) // after deletions, fewer are kept
		return n > 0 && n <= len(w.keys) && slices.Equal(own.keys, w.keys[:n]) && n+own.more == len(w.keys)+w.more
	}
	if w := maps.Collect(want.special.All()); !maps.EqualFunc(special, w, same) {
		return fmt.Errorf("claims of extended resources by pod are %v, want %v", special, w)
	}
	if w := maps.Collect(want.owners.All()); !maps.EqualFunc(owners, w, slices.Equal[[]ownerPod]) {
		return fmt.Errorf("pods of claims of extended resources are %v, want %v", owners, w)
	}
	return nil
}
