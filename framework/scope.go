package framework

// PodFields names parts of a pod that a plugin reads. On the incremental path two pods
// are of one equivalence class (a class, for short) if all parts that an enabled plugin
// reads are equal.
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
	FieldHostPorts // ports that the pod takes on its node
	FieldImages    // normalized names, in the order of PodImages
	FieldVolumes   // volumes whose source package api keeps: not projected tokens and the like
	FieldPriority  // priority, priority class and preemption policy
	FieldSpec      // the whole spec
	FieldClaims    // spec.resourceClaims, and the claims that were made for them

	// FieldsAll stands for the whole pod, its status included: no two pods
	// with different names are of one class.
	FieldsAll PodFields = 1<<iota - 1
)

// Reads names what an answer for one node may depend on besides the pod.
type Reads uint16

// What an answer may read. The values can be combined; ReadsCluster stands
// for everything.
const (
	// ReadsNode: the node object itself: labels, taints, allocatable, images.
	ReadsNode Reads = 1 << iota
	// ReadsPods: the node's pods and their totals, and what a [NodeState] or another
	// extension that uses [Snapshot.Touch] holds for this node. What an extension holds
	// without Touch is ReadsCluster.
	ReadsPods
	// ReadsNodeSet: which nodes exist and what any node object says, for
	// example how many nodes have an image.
	ReadsNodeSet
	// ReadsFeasible: which nodes are feasible (scorers only).
	ReadsFeasible
	// ReadsDomain: sums over the nodes of a topology domain. The bound filter or
	// scorer is bound in every decision, and implements incremental.DomainTracker.
	ReadsDomain
	// ReadsObjects: the snapshot's other objects: claims, volumes, services,
	// namespaces and so on.
	ReadsObjects
	// ReadsTime: the snapshot's time. The bound filter or scorer implements
	// incremental.Expirer.
	ReadsTime
	// ReadsCluster: anything. Such answers are never kept.
	ReadsCluster
	// ReadsVolumes: of what ReadsObjects stands for, persistent volumes and their claims,
	// storage classes, volume attachments, and CSI nodes, drivers and capacities.
	ReadsVolumes
	// ReadsDevices: of what ReadsObjects stands for, resource claims and their templates,
	// device classes, resource slices and device taint rules.
	ReadsDevices
)

// A Scope declares what a plugin's answers depend on. It only makes a plugin fast; a
// plugin without one is just as right. frameworktest checks that a declared scope is
// true. The zero Scope says that every answer is the same.
//
// The incremental path keeps the filter or scorer that PreFilter or PreScore returned
// and asks it about nodes as they are in later decisions. It calls PreFilter and
// PreScore again if the scope declares ReadsNodeSet, or ReadsObjects or a part of them, and these have
// changed. If it declares ReadsDomain, ReadsFeasible or ReadsCluster, it calls them in
// every decision. So these must not depend on the state of a node, its pods or the
// time, neither in what they return nor in whether they skip or reject the pod: a
// bound filter or scorer reads that from the node, or from the cycle's snapshot, when
// it is asked.
//
// The hints of a plugin with a scope, and its class key, may read any part of the pod but
// those that FieldIdentity and FieldSpec stand for. If they read these, Pod must name them.
// Pods that differ in nothing that plugins read wait together, and a hint is asked about
// one of them.
//
// A plugin that sets values for others ([Key.Set]) in PreFilter or PreScore is asked
// like one that reads the cluster, so the values are always there. An answer that
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
// The scope may differ from pod to pod, for instance if only pods with volumes are
// filtered. Two pods that are equal in the parts that the scope of one of them names
// must have the same Reads and the same answers. For an incremental.ClassKeyer, their
// keys must be equal, too, and Reads may differ. Texts of errors may differ, and so may
// rejections by PreFilter, because these are never kept.
type Scoper interface {
	Scope(pod *PodInfo) Scope
}
