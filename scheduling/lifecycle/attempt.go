package lifecycle

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// An Attempt is one attempt to schedule one pod.
type Attempt struct {
	// Pod is the pod as it was when the attempt began. Profile is the name of its
	// profile.
	Pod     *framework.PodInfo
	Profile string
	// Number counts the attempts of this pod, from 1.
	Number int
	// Decision is where the pod goes, or would have gone.
	Decision scheduling.Decision
	// State is how far the attempt has come.
	State State
	// Err is why it failed: a [*scheduling.FitError] if the pod was rejected.
	Err error
	// Nominated is the node that a failed pod was nominated to, and Victims are the
	// pods that must leave it.
	Nominated string
	Victims   []framework.Victim
	// Alike is how many more pods failed with this one: they were next in the queue, and are
	// like pods that failed just before, so their attempts were bound to fail. It is 0 if
	// there is an Observer or a [Reporter], unless the observer is an [AlikeObserver]:
	// otherwise each pod has an attempt of its own.
	Alike int
	// Group is "namespace/name" of the pod's group, "" if it is scheduled alone. Cycle is
	// what came of an attempt for a whole group, whose first pod is Pod.
	Group string
	Cycle *gang.Cycle
	// InitialAttempt is when the pod was first ready for an attempt; time behind
	// scheduling gates does not count. It is zero for a pod of a group.
	InitialAttempt time.Time
	// Queued is when the pod was last put into the queue. Started is when the
	// attempt began, Decided when its scheduling cycle ended, and Ended when the
	// attempt ended. The last three are zero if there is no observer. The first three of a pod of a group
	// are those of the attempt for the group.
	Queued, Started, Decided, Ended time.Time
}

// State is how far an attempt has come.
type State uint8

// The states.
const (
	// Skipped: there was nothing to do, because the pod is being deleted.
	Skipped State = iota
	// Waiting: a node is reserved, and Permit plugins make the pod wait.
	Waiting
	// Binding: a node is reserved, and the pod is being bound to it.
	Binding
	// Bound: the pod is bound.
	Bound
	// Failed: the pod is back in the queue, unless it no longer exists.
	Failed
)

var stateNames = [...]string{"Skipped", "Waiting", "Binding", "Bound", "Failed"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}
