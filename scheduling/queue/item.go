package queue

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// An Item is a pod in the queue, or taken from it. The queue makes and changes
// items; others read them.
type Item struct {
	// QueuedPod is what QueueSort plugins see.
	framework.QueuedPod
	// Unschedulable counts the attempts that ended with a rejection, Errors
	// those that ended with an error since the last rejection.
	Unschedulable, Errors int
	// Plugins are the plugins that rejected the pod in its last attempt, or at
	// the gate; Pending are those of them that only want it to be tried again.
	Plugins, Pending []string
	// Gate is the PreEnqueue plugin that keeps the pod out, "" for none.
	Gate string
	// Flushed tells that the pod is tried again because it has waited so long,
	// not because of an event.
	Flushed bool

	at       place
	timed    bool   // expires is computed
	held     bool   // by Hold
	serial   uint64 // order of arrival, for ties
	index    int    // in the heap that holds it; negative in a lane
	profile  *profile
	latest   *framework.PodInfo // came while the pod was in flight
	since    uint64             // number of the first event after Pop
	flushed  time.Duration      // last time that the pod was flushed, since the queue's start
	expires  time.Duration      // end of the backoff, since the queue's start
	previous *Item              // in the list that holds it
	next     *Item
}

// place is where an item is.
type place uint8

const (
	nowhere place = iota
	active
	backingOff
	failing  // backing off after an error
	standing // backing off, until time passes not to be tried early
	unschedulable
	inFlight
)

// isOf reports whether the item is of that pod.
func (it *Item) isOf(p *api.Pod) bool {
	q := it.Pod.Pod
	if p.UID != "" || q.UID != "" {
		return p.UID == q.UID
	}
	return p.Namespace == q.Namespace && p.Name == q.Name
}

// addPlugin notes a plugin that rejects the pod.
func addPlugin(list []string, plugin string) []string {
	if slices.Contains(list, plugin) {
		return list
	}
	return append(slices.Clip(list), plugin)
}
