package scheduling

import "github.com/berth-sched/berth/framework"

// PrioritySort is the default QueueSort plugin: pods of higher priority come
// first, and among equals the one that was put into the queue earlier.
//
// Source: kube-scheduler 1.37, plugin PrioritySort.
type PrioritySort struct{}

// Name returns "PrioritySort".
func (PrioritySort) Name() string { return "PrioritySort" }

// Less reports whether a comes before b.
func (PrioritySort) Less(a, b *framework.QueuedPod) bool {
	if a.Pod.Priority != b.Pod.Priority {
		return a.Pod.Priority > b.Pod.Priority
	}
	return a.Timestamp.Before(b.Timestamp)
}
