package preemption

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Refuse returns what PostFilter returns if it follows from the snapshot's totals: the
// pod may not preempt, or no pod on any node has a lower priority. Otherwise it returns
// false. The pod must not be nominated; unschedulable is how many nodes have a status
// that is Unschedulable. A scheduler calls it before PostFilter, so a pod of the lowest
// priority that waits for room costs no look at the nodes.
//
// Cost: O(1) but for [framework.Snapshot.PodsBelow].
func (p DefaultPreemption) Refuse(snap *framework.Snapshot, pod *framework.PodInfo, unschedulable int) (framework.PostFiltered, framework.Status, bool) {
	switch policy := pod.Pod.Spec.PreemptionPolicy; {
	case pod.IsNominated():
		return framework.PostFiltered{}, framework.Status{}, false
	case policy != nil && *policy == api.PreemptNever:
		return framework.PostFiltered{}, framework.UnschedulableStatus(prefix + neverPreempts), true
	case snap.PodsBelow(pod.Priority) > 0, p.PodGroups && groupsIn(snap):
		return framework.PostFiltered{}, framework.Status{}, false
	}
	var list []reason
	if unschedulable > 0 {
		list = []reason{{noVictims, unschedulable}}
	}
	return framework.PostFiltered{Override: true}, framework.UnschedulableStatus(noRoom(snap.Len(), unschedulable, list)), true
}
