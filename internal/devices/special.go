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
// deleted. Anybody may write owner references, so many claims of one pod may not cost more than each
// by itself.

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
	owner, ok := specialFor(c)
	return ok && owner.name == pod.Name && owner.uid == pod.UID
}

// PodOfExtendedClaim returns the name of the pod for whose extended resources a claim was made.
func PodOfExtendedClaim(c *api.ResourceClaim) (name string, ok bool) {
	owner, ok := specialFor(c)
	return owner.name, ok
}

// specialFor returns the pod whose claim for extended resources this is: its controller. An
// API server accepts only one. The claim may be nil.
func specialFor(c *api.ResourceClaim) (pod ownerPod, ok bool) {
	if c == nil || c.Annotations[api.AnnExtendedResourceClaim] != "true" {
		return ownerPod{}, false
	}
	for i := range c.OwnerReferences {
		if o := &c.OwnerReferences[i]; isSet(o.Controller) {
			return ownerPod{c.Namespace, o.Name, o.UID}, true
		}
	}
	return ownerPod{}, false
}

// readSpecial notes a claim while the state is made. Nothing is recorded.
func (x *State) readSpecial(c *api.ResourceClaim) {
	pod, ok := specialFor(c)
	if !ok {
		return
	}
	key := api.KeyOf(c)
	x.owners.Set(key, pod)
	own, _ := x.special.Get(pod)
	x.special.Set(pod, own.with(key))
}

// noteSpecial follows the claim of a key, which is nil if it is deleted.
func (x *State) noteSpecial(s *framework.Snapshot, key string, c *api.ResourceClaim) {
	now, is := specialFor(c)
	before, was := x.owners.Get(key)
	if before == now {
		return // nearly all claims are no such claims, before and now
	}
	if was {
		own, _ := x.special.Get(before)
		if own = own.without(key); len(own.keys) == 0 && own.more > 0 {
			own = read(s, before)
		}
		if len(own.keys) > 0 {
			change(s, &x.special, before, own)
		} else {
			cut(s, &x.special, before)
		}
	}
	if !is {
		cut(s, &x.owners, key)
		return
	}
	own, _ := x.special.Get(now)
	change(s, &x.special, now, own.with(key))
	change(s, &x.owners, key, now)
}

// read reads the claims of an owner from the snapshot.
func read(s *framework.Snapshot, pod ownerPod) (own ownClaims) {
	for _, c := range framework.List[api.ResourceClaim](s) { // by key
		if of, ok := specialFor(c); ok && of == pod {
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
	if w := maps.Collect(want.owners.All()); !maps.Equal(owners, w) {
		return fmt.Errorf("pods of claims of extended resources are %v, want %v", owners, w)
	}
	return nil
}
