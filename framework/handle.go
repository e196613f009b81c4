package framework

import (
	"context"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// A Handle is what a plugin may use for as long as it lives, not only during a cycle.
// A plugin that needs one gets it when it is made, as a field or from its factory;
// most plugins need none.
//
// All methods but Snapshot may be called by any goroutine. Their changes take effect
// when the scheduling cycle that is running has ended.
type Handle interface {
	// Snapshot returns the cluster, nil if the scheduler has none. Use it only
	// during calls of the scheduling cycle, from PreEnqueue to Permit, and do not
	// keep it.
	Snapshot() *Snapshot
	// Clock returns the scheduler's clock.
	Clock() Clock
	// Seed returns the scheduler's seed.
	Seed() uint64

	// WaitingPods returns the pods that wait on Permit, the one that has waited
	// longest first.
	WaitingPods() []WaitingPod
	// WaitingPod returns the waiting pod of that UID, or, for a pod without a UID,
	// of that key ("namespace/name"); nil if there is none.
	WaitingPod(id string) WaitingPod

	// Nominate notes that the pod is to be placed on the node as soon as there
	// is room; "" takes an earlier nomination back.
	Nominate(pod *api.Pod, node string)
	// Activate moves the pods to the active part of the queue, wherever in the queue
	// they wait.
	Activate(pods ...*api.Pod)
	// Bind binds the pod in the outside world, as the scheduler does when no
	// Bind plugin does. It may block.
	Bind(ctx context.Context, pod *api.Pod, node string) error
}

// A WaitingPod is a pod whose node is chosen and reserved, and which one or more Permit
// plugins keep waiting. The first decision counts. Any goroutine may make it.
type WaitingPod interface {
	// Pod returns the pod.
	Pod() *PodInfo
	// Node returns the name of the node that is reserved for it.
	Node() string
	// Pending returns the names of the plugins that still wait, sorted.
	Pending() []string
	// Allow takes away one plugin's objection. When no plugin waits any more, the
	// pod is bound. A plugin that does not wait is ignored.
	Allow(plugin string)
	// Reject decides that the pod is not bound: it goes back to the queue as
	// unschedulable, rejected by the plugin. It returns false if another decision
	// was made before.
	Reject(plugin, message string) bool
	// Preempt is Reject for a pod that makes room for another one: it is not
	// unschedulable, and is tried again.
	Preempt(plugin, message string) bool
}

// MaxPermitWait is the longest time that a Permit plugin can make a pod wait.
const MaxPermitWait = 15 * time.Minute
