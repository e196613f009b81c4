package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// refusedRoom keeps what DefaultPreemption answered where it found no candidate, as long as
// nothing changes: when a pod leaves a full cluster, many that wait are tried again, and
// most of them are alike. The answers are for at most classesMost keys.
//
// Invariant: each answer is what makeRoom without kept answers finds for the pods with the
// key, if the snapshot is as it was.
type refusedRoom struct {
	snap             *framework.Snapshot
	version, objects uint64
	by               map[roomKey]proposal
}

// A roomKey is equal for pods that filters and DefaultPreemption treat alike.
type roomKey struct {
	class    *class
	priority int32
	policy   api.PreemptionPolicy
	// unschedulable is how many nodes removing pods may help on, if the answer depends on
	// that number of the decision alone. anyNumber: it depends on the nodes and their pods.
	unschedulable int
}

const anyNumber = -1

// roomKey returns the key of a pod that was decided about last. It is not ok if answers
// are not to be kept: they may depend on which pods were nominated, on a user's function,
// or on pods elsewhere.
func (s *Scheduler) roomKey(snap *framework.Snapshot, pod *framework.PodInfo, only *preemption.DefaultPreemption) (k roomKey, ok bool) {
	f := s.incremental
	if f == nil || snap.Nominations() > 0 || only.Eligible != nil || only.MoreImportant != nil || only.PodGroups {
		return k, false
	}
	n := f.notes.Load(pod.Runner())
	if n == nil || n.epoch != f.keys.epoch {
		return k, false
	}
	k = roomKey{class: n.class, priority: pod.Priority, unschedulable: anyNumber}
	if policy := pod.Pod.Spec.PreemptionPolicy; policy != nil {
		k.policy = *policy
	}
	return k, true
}

// stands reports whether the snapshot is as it was.
func (r *refusedRoom) stands(snap *framework.Snapshot) bool {
	return r.snap == snap && r.version == snap.Version() && r.objects == snap.Objects()
}

// find returns the answer for a key.
func (r *refusedRoom) find(snap *framework.Snapshot, k roomKey) (p proposal, ok bool) {
	if r.stands(snap) {
		p, ok = r.by[k]
	}
	return p, ok
}

// keep keeps an answer, and forgets those that do not stand.
func (r *refusedRoom) keep(snap *framework.Snapshot, k roomKey, p proposal) {
	if !r.stands(snap) || len(r.by) >= classesMost {
		r.snap, r.version, r.objects = snap, snap.Version(), snap.Objects()
		if r.by == nil {
			r.by = map[roomKey]proposal{}
		}
		clear(r.by)
	}
	p.answers = nil // of this decision alone
	r.by[k] = p
}
