package scheduling

import "github.com/berth-sched/berth/framework/queueing"

// PrioritySort is the default QueueSort plugin. Pods of higher priority come first;
// among equals, the pod that entered the queue earlier does.
//
// Source: kube-scheduler 1.37, plugin PrioritySort.
type PrioritySort struct{}

// Name returns "PrioritySort".
func (PrioritySort) Name() string { return "PrioritySort" }

// Less reports whether a comes before b.
func (PrioritySort) Less(a, b *queueing.QueuedPod) bool {
	if a.Pod.Priority != b.Pod.Priority {
		return a.Pod.Priority > b.Pod.Priority
	}
	return a.Timestamp.Before(b.Timestamp)
}
