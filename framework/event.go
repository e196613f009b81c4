package framework

// An EventResource names what an event in the cluster is about. The kinds of
// objects that have no constant here are named by their kind, such as
// "Namespace" or "NodeMetric".
type EventResource string

// The resources that plugins register for.
const (
	// ResourcePod stands for the three kinds of events about pods that follow.
	ResourcePod EventResource = "Pod"
	// ResourceAssignedPod: a pod that is on a node, or was.
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

// An ActionType says what happened to an object: one or several of the bits
// below. Their order is upstream's, which matters for [ClusterEvent.Matches].
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

	// ActionAll stands for every action, ActionUpdate for every one but
	// ActionAdd and ActionDelete. As an event, ActionUpdate is a change that no
	// bit describes.
	ActionAll    ActionType = 1<<iota - 1
	ActionUpdate            = ActionAll &^ (ActionAdd | ActionDelete)
)

// A ClusterEvent is something that may happen in the cluster, or a class of
// such things.
type ClusterEvent struct {
	Resource EventResource
	Action   ActionType
}

// IsWildcard reports whether the event stands for everything.
func (e ClusterEvent) IsWildcard() bool { return e.Resource == ResourceAny && e.Action == ActionAll }

// Matches reports whether a plugin that registered for e is to be told of the
// event that happened: the wildcard matches everything; otherwise the resource
// must be the same, or e's stand for it, some action must be in both, and the
// number of what happened must not be larger than that of e's actions.
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

// A QueueingHintFunc looks at one event. before and after are the object
// before and after it: a *[PodInfo] for a pod, else a pointer to the object such
// as *[api.Node]; nil where there is none, as before an object came. The pod of an
// event about an assigned pod need not name its node: it may only have been
// assumed or nominated there. An error, and a panic, count as Queue.
type QueueingHintFunc func(pod *PodInfo, before, after any) (QueueingHint, error)

// An EventHint registers for a class of events.
type EventHint struct {
	Event ClusterEvent
	// Hint is asked about every event that matches; nil means always Queue.
	Hint QueueingHintFunc
}

// EnqueueExtensions is implemented by plugins that can tell which events may
// make schedulable a pod that they rejected (in PreEnqueue, PreFilter, Filter,
// Reserve or Permit). The scheduling queue wakes such a pod by no other event.
// Without it every event wakes the pod; an empty list means that none does.
type EnqueueExtensions interface {
	Plugin
	// EventsToRegister returns the same list whenever it is called.
	EventsToRegister() []EventHint
}
