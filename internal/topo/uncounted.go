package topo

import "github.com/berth-sched/berth/framework"

// Until somebody asks for counts, tables have none, and services are not indexed: both cost a look at
// everything in the cluster. A plugin that scores asks for them, but only if several nodes are feasible.
// A class key must not ask for them alone: who forks a snapshot for each question about a pod that fits nowhere
// would pay for them each time. So keys say then what counts would be of, as the pod has it. Pods are told apart
// by more than need be, so that ends when as many keys were found as make counting cheap beside them.

// uncounted is what tables know until they count.
type uncounted struct {
	terms  bool // pods on nodes have affinity terms
	summed bool // pods is known
	pods   int  // on nodes, when the first key was found so
	keys   int  // that were found so
}

// countingShare is how many nodes must have been looked at, for each pod, before keys make tables count.
const countingShare = 16

// followTerms notes that the first pod with affinity terms has come, or the last one has left.
func (t *Tables) followTerms() {
	if is := t.snapshot.PodsWithAffinity() > 0; is != t.uncounted.terms {
		t.uncounted.terms = is
		t.newKeys()
	}
}

// workloadsVersion identifies all that [DefaultsOf] reads besides the pod: the services and
// controllers, and whether they are indexed.
func (t *Tables) workloadsVersion() uint64 {
	switch {
	case t.snapshot.Objects() == 0:
		return 0
	case !t.tracking && !KnowsDefaults(t.snapshot):
		v := versionsOf(t.snapshot)
		return max(v.services, v.controllers, v.replicaSets, v.statefulSets, v.deployments)
	}
	return workloadsOf(t.snapshot).version
}

// KnowsDefaults reports whether the services and controllers are indexed, from which [DefaultsOf] finds
// constraints.
func KnowsDefaults(s *framework.Snapshot) bool {
	return s.Objects() == 0 || !workloadIndexes.Of(s).isStale(s)
}

// Uncounted reports whether nobody has asked for counts in the snapshot, and class keys must not
// either.
func Uncounted(s *framework.Snapshot) bool {
	t := tables.Of(s)
	if t.tracking {
		return false
	}
	u := &t.uncounted
	if !u.summed {
		u.summed, u.keys, u.pods = true, 0, 0
		for _, n := range s.All() {
			u.pods += len(n.Pods)
		}
	}
	return u.keys*s.Len() < countingShare*u.pods
}

// AppendUncounted appends what determines a pod's spread constraints, its own or default ones, and
// what they count.
func AppendUncounted(b []byte, s *framework.Snapshot, p *framework.PodInfo) []byte {
	tables.Of(s).uncounted.keys++
	const fields = framework.FieldNamespace | framework.FieldLabels | framework.FieldOwner | framework.FieldNodeChoice |
		framework.FieldTolerations | framework.FieldSpread
	return p.AppendClassKey(append(b, uncountedMark), fields)
}

// uncountedMark begins what AppendUncounted appends; see [Spread.AppendKey] and [AppendMalformed].
const uncountedMark = 3
