package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/devices"
)

// Alike returns a key for the pod of the last decision, d, which found no node, and for which
// PostFilter had nothing to propose. While the snapshot stays as it is, all pods with the key
// that are not nominated to a node are rejected in the same way, with the same text: use
// [Scheduler.Repeat] for them. Alike returns false if that is not sure, for instance because
// a plugin declares no scope, or reads the pod's name or the time, or the pod needs devices.
//
// Pods have equal keys if they differ in nothing but what no filter reads: their names, and
// what only the whole spec shows. So a pod's key changes only with the pod, or with the
// snapshot's schema, and pods that request different resources never have one key. A key is
// short: Alike returns false for pods whose parts take more than 16 KiB.
func (s *Scheduler) Alike(snap *framework.Snapshot, pod *framework.PodInfo, d Decision) (key string, ok bool) {
	pod, err := s.accept(snap, pod)
	f := &s.failure
	switch {
	case err != nil || f.fit == nil || f.snap != snap || f.pod != pod || f.number != d.Number:
		return "", false
	case f.fit.PreFilter != "" || len(f.fit.Pending()) > 0 || d.advance%max(1, snap.Len()) != 0:
		return "", false
	case s.incremental == nil && !s.deferred || len(s.plugins.extenders) > 0 || pod.IsNominated():
		return "", false
	case devices.Needs(snap, pod): // the key leaves out claims, also those made for the extended resources of one pod
		return "", false
	}
	if s.plugins.isGated(pod) || !s.preemptsAlike() {
		return "", false
	}
	fields := aliases
	for i := range s.plugins.filterScopes {
		x := &s.plugins.filterScopes[i]
		if !x.counts {
			continue
		}
		scope := x.of(pod)
		if scope.Reads&(framework.ReadsCluster|framework.ReadsTime) != 0 {
			return "", false
		}
		fields |= scope.Pod
	}
	if fields&framework.FieldIdentity != 0 {
		return "", false
	}
	b := pod.AppendClassKey(nil, fields)
	if len(b) > keyMost {
		return "", false
	}
	return s.profile.Name + "/" + string(shortened(b)), true
}

// Repeat counts decisions that come to what d came to, as if they had been made for other
// pods with the key that [Scheduler.Alike] returned. It returns the last of them.
func (s *Scheduler) Repeat(d Decision, times int) Decision {
	s.number += uint64(times)
	s.failure = failure{}
	d.Number = s.number - 1
	return d
}

// aliases are the parts in which pods that are alike are equal, whatever plugins read: all
// but the name, and what only the whole spec shows.
const aliases = framework.FieldsAll &^ (framework.FieldIdentity | framework.FieldSpec)

// isGated reports whether a PreEnqueue plugin may keep the pod out.
func (t *plugins) isGated(pod *framework.PodInfo) bool {
	return slices.ContainsFunc(t.preEnqueue, func(p named[queueing.PreEnqueuePlugin]) bool {
		gate, ok := p.plugin.(incremental.SelectiveGate)
		return !ok || concern(gate.Gates()).of(pod)
	})
}

// preemptsAlike reports whether PostFilter refuses pods that are alike alike.
func (s *Scheduler) preemptsAlike() bool {
	if len(s.plugins.postFilter) == 0 {
		return true
	}
	only, ok := s.plugins.onlyPreempts(&s.reference.cycle)
	return ok && only.Eligible == nil && only.MoreImportant == nil && !only.PodGroups
}
