package queueing

import "github.com/berth-sched/berth/framework"

// An EventResource names what an event in the cluster is about. Objects that have no
// constant here go by their kind, such as "Namespace" or "NodeMetric".
type EventResource string

// The resources that plugins register for.
const (
	// ResourcePod stands for the three kinds of events about pods that follow.
	ResourcePod EventResource = "Pod"
	// ResourceAssignedPod: a pod that is on a node, or was on one.
	ResourceAssignedPod EventResource = "AssignedPod"
	// ResourceUnscheduledPod: another pod without a node.
	ResourceUnscheduledPod EventResource = "UnscheduledPod"
	// ResourceTargetPod: the waiting pod itself.
	ResourceTargetPod EventResource = "TargetPod"

	ResourceNode                  EventResource = "Node"
	ResourcePersistentVolume      EventResource = "PersistentVolume"
	ResourcePersistentVolumeClaim EventResource = "PersistentVolumeClaim"
	ResourceCSINode               EventResource = "CSINode"
	ResourceCSIDriver             EventResource = "CSIDriver"
	ResourceVolumeAttachment      EventResource = "VolumeAttachment"
	ResourceCSIStorageCapacity    EventResource = "CSIStorageCapacity"
	ResourceStorageClass          EventResource = "StorageClass"
	ResourceResourceClaim         EventResource = "ResourceClaim"
	ResourceResourceSlice         EventResource = "ResourceSlice"
	ResourceDeviceClass           EventResource = "DeviceClass"
	ResourcePodGroup              EventResource = "PodGroup"
	ResourceCompositePodGroup     EventResource = "CompositePodGroup"

	// ResourceAny stands for every resource.
	ResourceAny EventResource = "*"
)

// An ActionType says what happened to an object: one or more of the bits below. Their
// order is upstream's, because [ClusterEvent.Matches] compares their numbers.
type ActionType uint32

// The actions.
const (
	ActionAdd ActionType = 1 << iota
	ActionDelete
	ActionUpdateNodeAllocatable
	ActionUpdateNodeLabel
	ActionUpdateNodeTaint // also: the node became schedulable
	ActionUpdateNodeCondition
	ActionUpdateNodeAnnotation
	ActionUpdateNodeDeclaredFeature
	ActionUpdateNodePreemptionPolicy
	ActionUpdatePodLabel
	ActionUpdatePodScaleDown // some request became smaller
	ActionUpdatePodScaleUp
	ActionUpdatePodToleration
	ActionUpdatePodSchedulingGatesEliminated
	ActionUpdatePodGeneratedResourceClaim

	// ActionAll stands for every action, ActionUpdate for all but ActionAdd and
	// ActionDelete. As an event, ActionUpdate is a change that no bit describes.
	ActionAll    ActionType = 1<<iota - 1
	ActionUpdate            = ActionAll &^ (ActionAdd | ActionDelete)
)

// A ClusterEvent is something that may happen in the cluster, or a set of such
// things.
type ClusterEvent struct {
	Resource EventResource
	Action   ActionType
}

// IsWildcard reports whether the event stands for everything.
func (e ClusterEvent) IsWildcard() bool { return e.Resource == ResourceAny && e.Action == ActionAll }

// Matches reports whether a plugin that registered for e is told of the event that
// happened. The wildcard matches everything. Otherwise the resource must be the same,
// or e's must stand for it; some action must be in both; and the number of the actions
// that happened must not be larger than the number of e's.
//
// Source: kube-scheduler 1.37, framework/events.go; the comparison of numbers
// is upstream's.
func (e ClusterEvent) Matches(happened ClusterEvent) bool {
	if e.IsWildcard() {
		return true
	}
	return e.Resource.covers(happened.Resource) && e.Action&happened.Action != 0 && happened.Action <= e.Action
}

func (r EventResource) covers(other EventResource) bool {
	if r == ResourceAny || r == other {
		return true
	}
	return r == ResourcePod &&
		(other == ResourceAssignedPod || other == ResourceUnscheduledPod || other == ResourceTargetPod)
}

// A QueueingHint says what an event means for a pod that waits.
type QueueingHint uint8

// The hints.
const (
	QueueSkip QueueingHint = iota // the event cannot help the pod
	Queue                         // the pod may fit now: try it again
)

// A QueueingHintFunc looks at one event. before and after are the object before and
// after it: a *[framework.PodInfo] for a pod, otherwise a pointer to the object such as
// *[api.Node]; before is nil for an added object, after for a deleted one. The pod of
// an event about an assigned pod need not name its node: it may only be assumed or
// nominated there. An error and a panic count as Queue.
type QueueingHintFunc func(pod *framework.PodInfo, before, after any) (QueueingHint, error)

// An EventHint registers for a class of events.
type EventHint struct {
	Event ClusterEvent
	// Hint is asked about every event that matches. nil means Queue for all of them. If
	// several waiting pods are alike ([framework.Scope]), it is asked about one of them.
	Hint QueueingHintFunc
	// Subjects narrows a registration: Hint is asked only if an event is about a subject of the
	// waiting pod, as About says. So thousands of waiting pods cost an event nothing if it is about
	// another object. nil means that Hint is asked about all; a panic is the answer "any object". If
	// several waiting pods are alike, it is asked about one of them.
	Subjects func(pod *framework.PodInfo) []Subject
	// About says what an event is about, for Subjects. The zero Subject means that it may help any
	// pod, and so does a panic; an event about nothing helps none. It is asked once for each event. nil
	// narrows only [ResourceAssignedPod], by namespace and labels: such an event is about the pod
	// before and after it. If the pod had required anti-affinity terms before, it may help any.
	About func(before, after any) []Subject
	// Matters reports whether an event may help any pod at all, by the objects alone. If it returns
	// false, Hint would be QueueSkip for every pod, and is not asked. It is asked once for each event, so
	// an event that helps nobody costs the same however many pods wait. nil means that every event
	// matters; a panic is the answer true.
	Matters func(before, after any) bool
	// Frees says that an event only gives back what others use. Hint is then not asked about pods that
	// the plugin rejected before any node was looked at, in PreEnqueue, or in PreFilter as
	// [framework.UnschedulableAndUnresolvable].
	Frees bool
}

// A Subject stands for objects by their namespace and one property of theirs. That is a label of
// a pod, or what [EventHint.About] tells objects apart by, such as a name or a host port. The zero
// value is any object.
type Subject struct {
	Namespace string // "" means any
	Key       string // what the property is, such as the key of a label; "" means any object of the namespace
	Value     string // of the property
	AnyValue  bool   // whatever the value is; not for About
}

// Covers reports whether an event about other is about the subject.
func (s Subject) Covers(other Subject) bool {
	return other == Subject{} || (s.Namespace == "" || s.Namespace == other.Namespace) &&
		(s.Key == "" || s.Key == other.Key && (s.AnyValue || s.Value == other.Value))
}

// EnqueueExtensions is implemented by a plugin that knows which events may make a pod
// schedulable that it rejected (in PreEnqueue, PreFilter, Filter, Reserve or Permit).
// No other event takes such a pod out of the unschedulable part of the queue. Without
// it every event does; if the list is empty, none does.
type EnqueueExtensions interface {
	framework.Plugin
	// EventsToRegister returns the same list whenever it is called.
	EventsToRegister() []EventHint
}
