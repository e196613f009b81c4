package incremental

import "github.com/berth-sched/berth/framework"

// A VaryingScoper is a [framework.Scoper] that says for which pods its scope may vary. A
// scheduler then need not ask it about each pod: it guesses from the pod before.
//
// It may declare this of pods that have none of the parts that ScopeVaries returns. Take two
// of them with exactly the same parts ([framework.PodInfo.Parts]). If they are equal in the
// fields that the scope of one of them names, the other has the same scope, whatever is in
// the cluster. No such scope reads the cluster.
//
// Like [Concerned], it is not found through wrappers.
type VaryingScoper interface {
	framework.Scoper
	// ScopeVaries returns parts of pods: a pod with one of them is always asked about. It
	// must always return the same; 0 means that no pod need be asked about.
	ScopeVaries() framework.PodParts
}
