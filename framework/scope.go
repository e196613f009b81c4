package framework

import "time"

// PodFields names parts of a pod that a plugin reads. The fast road treats
// two pods as one class when all parts that an enabled plugin reads are equal.
type PodFields uint32

// The parts of a pod. Requests stands for everything that resource accounting
// derives from containers, overhead and pod-level resources.
const (
	FieldNamespace PodFields = 1 << iota
	FieldIdentity            // name and UID
	FieldLabels
	FieldAnnotations
	FieldOwner       // the controlling owner reference
	FieldNodeName    // spec.nodeName
	FieldNominated   // status.nominatedNodeName
	FieldNodeChoice  // spec.nodeSelector and node affinity
	FieldPodAffinity // pod affinity and anti-affinity
	FieldTolerations
	FieldSpread // topology spread constraints
	FieldRequests
	FieldLimits    // the resources of each container and of the pod, as written
	FieldHostPorts // those that the pod takes on its node
	FieldImages    // normalized names, in the order of PodImages
	FieldVolumes   // those that have a source here: not projected tokens and the like
	FieldPriority  // priority, priority class and preemption policy
	FieldSpec      // the whole spec

	// FieldsAll stands for the whole pod, its status included: no two pods
	// with different names are of one class.
	FieldsAll PodFields = 1<<iota - 1
)

// Reads names what, besides the pod, an answer for one node may depend on.
type Reads uint16

// What an answer may read. The values can be combined; ReadsCluster stands
// for everything.
const (
	// ReadsNode: the node object itself: labels, taints, allocatable, images.
	ReadsNode Reads = 1 << iota
	// ReadsPods: the node's pods and their totals, and what snapshot
	// extensions hold for this node and mark with [Snapshot.Touch].
	ReadsPods
	// ReadsNodeSet: which nodes exist and what any node object says, for
	// example how many nodes have an image.
	ReadsNodeSet
	// ReadsFeasible: which nodes are feasible (scorers only).
	ReadsFeasible
	// ReadsDomain: sums over the nodes of a topology domain. The bound filter
	// or scorer implements [DomainTracker].
	ReadsDomain
	// ReadsObjects: the snapshot's other objects: claims, volumes, services,
	// namespaces and so on.
	ReadsObjects
	// ReadsTime: the snapshot's time. The bound filter or scorer implements
	// [Expirer].
	ReadsTime
	// ReadsCluster: anything. Such answers are never kept.
	ReadsCluster
)

// A Scope declares what a plugin's answers depend on. It only makes a plugin
// fast; a plugin without one is just as right. frameworktest checks that a
// declared scope is true. The zero Scope says that every answer is the same.
//
// The fast road asks what PreFilter or PreScore returned in an earlier decision
// about nodes as they are now. It calls them again when other nodes or other
// objects are there that the scope declares, and in every decision where it has
// ReadsDomain, ReadsFeasible or ReadsCluster. So whether they skip or reject the
// pod, and what they return, must not depend on what ReadsNode, ReadsPods and
// ReadsTime stand for: a bound filter or scorer reads that from the node, or
// from the cycle's snapshot, when it is asked.
//
// A plugin that sets values for others ([Key.Set]) in PreFilter or PreScore is
// asked as one that reads the cluster, so that they are there. An answer that
// depends on another plugin's value reads the cluster, too, and must say so.
type Scope struct {
	// Pod holds the parts of the pod that the plugin reads.
	Pod PodFields
	// Reads holds what else an answer for one node depends on.
	Reads Reads
}

// A Scoper declares the scope of its answers for pods like the given one.
// A plugin that does not implement it has the scope {FieldsAll, ReadsCluster}.
//
// The scope may differ from pod to pod, say by whether the pod has volumes. Two
// pods that are equal in the parts that are named for either of them must have
// the same Reads and the same answers.
type Scoper interface {
	Scope(pod *PodInfo) Scope
}

// An Expirer is a bound filter or scorer whose answer for a node holds only up
// to a time: the answer may change at the first moment that is not before the
// returned one. The zero time means that it holds as long as the node and its
// pods do not change.
type Expirer interface {
	ValidUntil(pod *PodInfo, node *NodeInfo) time.Time
}

// A DomainTracker is a bound filter or scorer whose answers depend on sums
// over topology domains. It is bound anew for every decision, and says which
// nodes' answers may differ from those of an earlier decision on the same
// snapshot, for whatever reason but a change of the node itself: also other
// objects, and for a scorer which nodes are feasible.
//
// Version returns a value that identifies the sums that answers depend on, and
// the state of all of them, and Changed calls dirty with the slot of each node
// whose answer may differ between the version since and now; it returns false
// when it cannot tell, and then every answer counts as changed.
//
// Which sums these are may change from one decision to the next, as where the
// services say which pods count. Then no version of the earlier sums may be equal
// to one of the present ones, and Changed must return false for it, also when the
// sums are those that answers depended on some time before.
type DomainTracker interface {
	// Version identifies the state of the sums.
	Version() uint64
	// Changed names the nodes whose answers may differ since a version.
	Changed(since uint64, dirty func(slot int)) bool
}
