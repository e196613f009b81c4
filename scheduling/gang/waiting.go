package gang

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// PluginName is the name of kube-scheduler's plugin that keeps groups together.
const PluginName = "GangScheduling"

// PreEnqueue says whether a pod of a group may enter the queue: object is the group's
// object, nil if there is none yet, and known how many pods of the group there are, those
// on nodes included. One pod that may not keeps out the whole group.
//
// Source: kube-scheduler 1.37, plugin GangScheduling.
func PreEnqueue(name string, object *api.PodGroup, known int) framework.Status {
	switch {
	case object == nil:
		return framework.UnresolvableStatus(framework.Text(fmt.Sprintf("waiting for pods's pod group %q to appear in scheduling queue", name)))
	case object.Spec.SchedulingPolicy.Gang != nil && known < object.MinCount():
		return framework.UnresolvableStatus("waiting for minCount pods from a gang to appear in scheduling queue")
	}
	return framework.Status{}
}

// A Waiting is a pod of a group in a queue.
type Waiting struct {
	Pod *framework.PodInfo
	// Attempts counts the attempts so far.
	Attempts int
	// Since is when the pod entered the queue last. A pod that comes back after a failed
	// attempt gets a new time.
	Since time.Time
}

// CompareWaiting orders the pods of a group as kube-scheduler tries them: higher priority
// first, then more attempts, then earlier times, then names. It is negative if a comes
// first.
//
// Source: kube-scheduler 1.37, backend/queue.
func CompareWaiting(a, b Waiting) int {
	return cmp.Or(
		cmp.Compare(b.Pod.Priority, a.Pod.Priority), cmp.Compare(b.Attempts, a.Attempts), a.Since.Compare(b.Since),
		strings.Compare(a.Pod.Pod.Name, b.Pod.Pod.Name),
	)
}
