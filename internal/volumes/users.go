package volumes

import (
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
}

func (u *users) fork() users { return users{u.claims.fork(), u.volumes.fork()} }

// claimFacts are what counts of a claim for the volumes of a node.
type claimFacts struct {
	exists        bool
	owner, volume string
	handle        Handle
}

func claimFactsOf(s *framework.Snapshot, key string) (f claimFacts) {
	c := framework.Lookup[api.PersistentVolumeClaim](s, key)
	if c == nil {
		return f
	}
	f = claimFacts{exists: true, volume: c.Spec.VolumeName, handle: handleOfClaim(s, c, true)}
	if owner := c.ControllerRef(); owner != nil {
		f.owner = string(owner.UID)
	}
	return f
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
// were read from. Lists never change.
type readers[F comparable] struct{ by cow.Map[string, readBy[F]] }

type readBy[F comparable] struct {
	facts F
	slots []int32
}

func (r *readers[F]) fork() readers[F] { return readers[F]{r.by.Fork()} }

// add notes a node that has just been read.
func (r *readers[F]) add(key string, slot int32, facts F) {
	x, _ := r.by.Get(key)
	r.by.Set(key, readBy[F]{facts, append(slices.Clip(x.slots), slot)})
}

// remove forgets a node.
func (r *readers[F]) remove(key string, slot int32) {
	x, _ := r.by.Get(key)
	if len(x.slots) == 1 {
		r.by.Remove(key)
		return
	}
	i := slices.Index(x.slots, slot)
	x.slots = slices.Delete(slices.Clone(x.slots), i, i+1)
	r.by.Set(key, x)
}

// changed returns the nodes that a change of an object concerns.
func (r *readers[F]) changed(key string, facts F) []int32 {
	x, ok := r.by.Get(key)
	if !ok || x.facts == facts {
		return nil
	}
	return x.slots
}
