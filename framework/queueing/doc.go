// Package queueing is the part of the plugin contract that the scheduling queue uses:
// which pods may enter it, in which order they leave it, and which events bring back a
// pod that fitted nowhere.
//
//	type Zoned struct{} // a filter that rejects pods outside of their zone
//
//	func (Zoned) EventsToRegister() []queueing.EventHint {
//		return []queueing.EventHint{{Event: queueing.ClusterEvent{
//			Resource: queueing.ResourceNode, Action: queueing.ActionAdd | queueing.ActionUpdateNodeLabel,
//		}}}
//	}
//
// A plugin that implements [EnqueueExtensions] names the events that can help the pods
// that it rejected; no other event wakes them. Without it, every event does.
//
// # What it leaves to you
//
// Nothing here queues: package scheduling/queue does, and scheduling/lifecycle turns
// changes of objects into events.
//
// # Determinism and concurrency
//
// There is no state here. A hint must be safe for concurrent calls, and must depend on
// its arguments only.
//
// Source: kube-scheduler 1.37, framework/events.go and interface.go.
package queueing
