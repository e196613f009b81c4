package queueing

import (
	"context"
	"time"

	"github.com/berth-sched/berth/framework"
)

// A PreEnqueuePlugin may keep a pod out of the queue until something changes.
type PreEnqueuePlugin interface {
	framework.Plugin
	PreEnqueue(ctx context.Context, pod *framework.PodInfo) framework.Status
}

// A QueuedPod is a pod in the scheduling queue.
type QueuedPod struct {
	Pod *framework.PodInfo
	// Timestamp is when the pod was last put in a queue.
	Timestamp time.Time
	// InitialAttempt is when the pod first entered the active queue.
	InitialAttempt time.Time
	// Attempts counts how often the pod was taken from the queue.
	Attempts int
}

// A QueueSortPlugin orders the scheduling queue. Less must be a strict weak
// order. A profile has exactly one.
type QueueSortPlugin interface {
	framework.Plugin
	Less(a, b *QueuedPod) bool
}
