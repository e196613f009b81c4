package framework

import (
	"context"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// A Handle is what a plugin may use for as long as it lives, beyond the cycle
// that it is called with. A plugin that needs one is given it when it is made,
// as a field or by its factory; most plugins need none.
//
// All methods but Snapshot may be called by any goroutine. What they change
// takes effect when the scheduling cycle that is running has ended.
type Handle interface {
	// Snapshot returns the cluster. It may be used only during calls of the
	// scheduling cycle, from PreEnqueue to Permit, and not be kept; nil when the
	// scheduler has none.
	Snapshot() *Snapshot
	// Clock returns the scheduler's clock.
	Clock() Clock
	// Seed returns the scheduler's seed.
	Seed() uint64

	// WaitingPods returns the pods that wait on Permit, in the order in which
	// they began to.
	WaitingPods() []WaitingPod
	// WaitingPod returns the waiting pod of that UID, or, for a pod without
	// one, of that key ("namespace/name"); nil if there is none.
	WaitingPod(id string) WaitingPod

	// Nominate notes that the pod is to be placed on the node as soon as there
	// is room; "" takes an earlier nomination back.
	Nominate(pod *api.Pod, node string)
	// Activate moves the pods, wherever they wait in the queue, to its active
	// part.
	Activate(pods ...*api.Pod)
	// Bind binds the pod in the outside world, as the scheduler does when no
	// Bind plugin does. It may block.
	Bind(ctx context.Context, pod *api.Pod, node string) error
}

// A WaitingPod is a pod whose node is chosen and reserved, and that one or
// more Permit plugins keep waiting. The first decision counts; it may be taken
// by any goroutine.
type WaitingPod interface {
	// Pod returns the pod.
	Pod() *PodInfo
	// Node returns the name of the node that is reserved for it.
	Node() string
	// Pending returns the names of the plugins that still wait, sorted.
	Pending() []string
	// Allow takes away one plugin's objection. When no plugin waits any more,
	// the pod goes on to be bound. A plugin that does not wait is ignored.
	Allow(plugin string)
	// Reject decides that the pod is not bound: it goes back to the queue as
	// unschedulable, rejected by the plugin. It reports whether that was the
	// decision: false when another came before.
	Reject(plugin, message string) bool
	// Preempt is Reject for a pod that has to go for another one: it is not
	// unschedulable, and is tried again.
	Preempt(plugin, message string) bool
}

// MaxPermitWait is the longest time that a Permit plugin can make a pod wait.
const MaxPermitWait = 15 * time.Minute
