package queue

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/subjects"
	"github.com/berth-sched/berth/scheduling"
)

// An Item is a pod in the queue, or taken from it. Only the queue makes and changes
// items; treat them as read-only. The fields of a waiting item that has a Class are up to
// date when [Queue.Items] returns.
type Item struct {
	// QueuedPod is the part that QueueSort plugins see.
	queueing.QueuedPod
	// Unschedulable counts the attempts that ended with a rejection. Errors counts
	// the attempts that ended with an error since the last rejection.
	Unschedulable, Errors int
	// Rejectors are the plugins that rejected the pod in its last attempt, or before
	// it entered the queue.
	Rejectors
	// NotBefore is the time set by Delay for the next attempt, zero for none.
	NotBefore time.Time
	// Gate is the PreEnqueue plugin that keeps the pod out, "" for none.
	Gate string
	// Flushed is set if the pod is tried again because it has waited for
	// MaxUnschedulable, not because of an event.
	Flushed bool

	at       place
	pods     int    // that it stands for; 0 means one
	timed    bool   // expires is computed
	held     bool   // set by Hold
	again    bool   // the last attempt was not the first at its instant
	serial   uint64 // order of arrival, for ties
	index    int    // in the heap that holds it; negative in a lane
	profile  *profile
	tried    time.Time          // instant of the last Pop
	deferred time.Time          // set by Defer
	latest   *framework.PodInfo // version that came while the pod was in flight
	since    uint64             // number of the first event after Pop
	flushed  time.Duration      // last time that the pod was flushed, since the queue's start
	expires  time.Duration      // end of the backoff, since the queue's start
	previous *Item              // in the list that holds it
	next     *Item

	// While it waits for an event:
	group  *group
	waiter subjects.Waiter[*Item] // among what its hints look at, if the group has that by subject
	waits  uint64                 // order of arrival among the waiting items
	ahead  *Item                  // in its group
	behind *Item

	rest  *Item // the root of those that follow it
	twins twins // if it follows another
}

// Rejectors are the plugins that rejected a pod. Without any, an attempt ended with an
// error.
type Rejectors struct {
	// Plugins are all of them. Pending are those that only ask for the pod to be tried
	// again.
	Plugins, Pending []string
	// Unresolvable are those for which taking pods away does not help, wherever they are; see
	// [scheduling.Scheduler.Unresolvable]. Such an event does not wake the pod for them.
	Unresolvable []string
	// Early is the plugin that rejected the pod before any node was looked at, "" for none: its
	// answer stands whatever others give back ([queueing.EventHint.Frees]).
	Early string
	// Message says for people why the pod waits, "" if nobody wants to know.
	Message string
	// Class, if there is one, is equal for pods of one profile and priority that PreEnqueue
	// plugins accept, and that hints treat alike. The queue may move such pods together.
	Class Class
}

func (r *Rejectors) none() bool { return len(r.Plugins)+len(r.Pending) == 0 }

// wakes reports whether an event that matches what a plugin registered for can change what it said.
func (r *Rejectors) wakes(x *scheduling.RegisteredEvent, e queueing.ClusterEvent) bool {
	const away = queueing.ActionDelete | queueing.ActionUpdatePodScaleDown
	switch {
	case x.Frees && x.Plugin == r.Early:
		return false
	case e.Resource == queueing.ResourceAssignedPod && e.Action&^away == 0 && slices.Contains(r.Unresolvable, x.Plugin):
		return false
	}
	return slices.Contains(r.Plugins, x.Plugin) || slices.Contains(r.Pending, x.Plugin)
}

// place is the part of the queue that holds an item.
type place uint8

const (
	nowhere place = iota
	active
	backingOff
	failing  // backing off after an error
	standing // backing off; not to be tried early until time passes
	delayed  // backing off; not to be tried early before NotBefore
	unschedulable
	inFlight
	following // another item, whose place it shares
	places
)

// isOf reports whether the item holds that pod.
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
