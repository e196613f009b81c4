package volumes

import (
	"math/bits"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// users are the nodes, by slot, whose volumes were read from a claim or a volume, with what counted
// of it: most changes of an object change nothing of that.
type users struct {
	claims  readers[claimFacts]
	volumes readers[volumeFacts]
	bound   sharing // the claims of these, by the volume that they name
}

func (u *users) fork() users { return users{u.claims.fork(), u.volumes.fork(), u.bound.fork()} }

// addClaim notes a node that has just been read from a claim.
func (u *users) addClaim(key string, slot int32, facts claimFacts) {
	if u.claims.add(key, slot, facts) {
		u.bound.add(key, facts.volume)
	}
}

// removeClaim forgets a node that was read from a claim.
func (u *users) removeClaim(key string, slot int32) {
	if facts, last := u.claims.remove(key, slot); last {
		u.bound.remove(key, facts.volume)
	}
}

// renewClaim is readers.renew for a claim.
func (u *users) renewClaim(key string, is claimFacts) (slots slotSet, was claimFacts) {
	if slots, was = u.claims.renew(key, is); was.volume != is.volume {
		u.bound.remove(key, was.volume)
		u.bound.add(key, is.volume)
	}
	return slots, was
}

// claimFacts are what counts of a claim for the volumes of a node.
type claimFacts struct {
	volume  string
	handle  Handle
	madeFor madeFor
}

func claimFactsOf(s *framework.Snapshot, key string) claimFacts {
	c := framework.Lookup[api.PersistentVolumeClaim](s, key)
	if c == nil {
		return claimFacts{}
	}
	facts := claimFacts{volume: c.Spec.VolumeName, handle: handleOfClaim(s, c, true)}
	if ref := c.ControllerRef(); ref != nil {
		facts.madeFor = madeFor{true, ref.UID}
	}
	return facts
}

// madeFor is the pod that a claim was made for, if there is one.
type madeFor struct {
	is  bool
	uid api.UID
}

// mounts returns how many mounts of the pods on a node, which has the volumes, may use the claim of that key
// if it was made for that pod: the claim of an ephemeral volume must be.
func (m madeFor) mounts(key string, n *framework.NodeInfo, v *NodeVolumes) (count int32) {
	count = v.claims[key] - v.owned[key]
	if v.owned[key] == 0 || !m.is {
		return count
	}
	for _, p := range n.Pods {
		if p.Pod.UID != m.uid {
			continue
		}
		for _, made := range Of(p).made {
			if made == key {
				count++
			}
		}
	}
	return count
}

// volumeFacts are what counts of a volume for the volumes of a node.
type volumeFacts struct {
	exists, csi bool
	handle      Handle
}

func volumeFactsOf(s *framework.Snapshot, name string) volumeFacts {
	v := framework.Lookup[api.PersistentVolume](s, name)
	if v == nil {
		return volumeFacts{}
	}
	return volumeFacts{true, v.Spec.CSI != nil, handleOfPersistent(v, true)}
}

// readers are the slots of the nodes that were read from an object, by its key, with the facts that they
// were read from.
type readers[F comparable] struct{ by cow.Map[string, readBy[F]] }

type readBy[F comparable] struct {
	facts F
	slots slotSet
}

func (r *readers[F]) fork() readers[F] { return readers[F]{r.by.Fork()} }

// add notes a node that has just been read, and reports whether it is the first.
func (r *readers[F]) add(key string, slot int32, facts F) (first bool) {
	x, known := r.by.Get(key)
	r.by.Set(key, readBy[F]{facts, x.slots.with(slot)})
	return !known
}

// remove forgets a node, and reports whether it was the last.
func (r *readers[F]) remove(key string, slot int32) (facts F, last bool) {
	x, _ := r.by.Get(key)
	if x.slots = x.slots.without(slot); x.slots.empty() {
		r.by.Remove(key)
		return x.facts, true
	}
	r.by.Set(key, x)
	return x.facts, false
}

// renew notes what counts of an object now. It returns the nodes that this concerns, and what counted before.
func (r *readers[F]) renew(key string, facts F) (slots slotSet, before F) {
	x, known := r.by.Get(key)
	if !known || x.facts == facts {
		return slotSet{}, facts
	}
	r.by.Set(key, readBy[F]{facts, x.slots})
	return x.slots, x.facts
}

// A slotSet is a set of slots that never changes: a list of a few, or one bit for each. Most claims are
// used on one node, but some on all.
type slotSet struct {
	few  []int32
	bits []uint64
}

// fewSlots is up to how many slots are listed.
const fewSlots = 16

func (s slotSet) empty() bool { return len(s.few) == 0 && len(s.bits) == 0 }

func (s slotSet) has(slot int32) bool {
	if s.bits == nil {
		return slices.Contains(s.few, slot)
	}
	return int(slot)/64 < len(s.bits) && s.bits[slot/64]&(1<<(slot%64)) != 0
}

// with returns the set with one more slot.
func (s slotSet) with(slot int32) slotSet {
	if s.bits == nil && len(s.few) < fewSlots {
		return slotSet{few: append(slices.Clip(s.few), slot)}
	}
	size := max(len(s.bits), int(slot)/64+1)
	for _, x := range s.few {
		size = max(size, int(x)/64+1)
	}
	next := make([]uint64, size)
	copy(next, s.bits)
	for _, x := range s.few {
		next[x/64] |= 1 << (x % 64)
	}
	next[slot/64] |= 1 << (slot % 64)
	return slotSet{bits: next}
}

// without returns the set without a slot.
func (s slotSet) without(slot int32) slotSet {
	if s.bits == nil {
		return slotSet{few: slices.DeleteFunc(slices.Clone(s.few), func(x int32) bool { return x == slot })}
	}
	next := slices.Clone(s.bits)
	if int(slot)/64 < len(next) {
		next[slot/64] &^= 1 << (slot % 64)
	}
	for len(next) > 0 && next[len(next)-1] == 0 {
		next = next[:len(next)-1]
	}
	if len(next) == 0 {
		return slotSet{}
	}
	return slotSet{bits: next}
}

// each calls f with each slot.
func (s slotSet) each(f func(slot int32)) {
	for _, slot := range s.few {
		f(slot)
	}
	for i, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			f(int32(64*i + bits.TrailingZeros64(word)))
		}
	}
}

// uses are keys, with how often each is used.
type uses map[string]int32

// add counts a use, and reports whether it is the first.
func (u *uses) add(key string) bool {
	if *u == nil {
		*u = uses{}
	}
	(*u)[key]++
	return (*u)[key] == 1
}

// remove takes back a use, and reports whether it was the last.
func (u uses) remove(key string) bool {
	if u[key]--; u[key] > 0 {
		return false
	}
	delete(u, key)
	return true
}
