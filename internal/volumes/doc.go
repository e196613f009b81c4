// Package volumes holds the shared parts of the volume plugins in packages filter
// and scoring: the claims of a pod, the volumes that match them, where new volumes
// can be made, and the volumes already attached to a node.
//
//	pod.go         the claims and disks that a pod mounts
//	lookup.go      claims, volumes and classes, and the error texts for missing ones
//	migrate.go     in-tree disks that a CSI driver has taken over
//	topology.go    the nodes from which a volume can be used
//	catalog.go     free volumes and storage capacities by class, compiled once
//	index.go       candidates by a label that their nodes must have
//	candidates.go  the volumes that could be bound to a claim
//	provision.go   where a volume could be made for a claim
//	finder.go      the volumes that one pod's claims would get on a node
//	classkey.go    what the claims of a pod allow, for its class
//	reserve.go     reserving these volumes, and reverting that
//	uses.go        how many pods use a claim
//	distinct.go    lists of different values
//	disks.go       disks of the kinds that plugins before CSI count
//	disklimit.go   how many of these disks a node takes
//	handles.go     the CSI volumes of a pod, by name
//	nodevolumes.go the CSI volumes that a node's pods use
//	attached.go    these volumes of all nodes, as pods and objects change
//	users.go       the claims and volumes that these were read from
//	attachments.go volumes that are attached to a node
//
// All input comes from the snapshot, where [framework.Put] puts it. Derived data is
// in extensions of the snapshot, which follow pods, nodes and objects. Do not use a value
// here while the snapshot changes. Several goroutines may ask a [Finder] and an [Attached]
// about different nodes.
//
// A rollback restores the generations of nodes, by which answers are kept. So what an extension
// has read in a transaction is read again after its rollback, and counts as changed.
//
// Source: kube-scheduler 1.37.1, pkg/scheduler/framework/plugins/volumebinding
// and nodevolumelimits, k8s.io/component-helpers/storage/volume and
// k8s.io/csi-translation-lib, v0.37.1.
package volumes
