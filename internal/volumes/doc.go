// Package volumes holds the shared parts of the volume plugins in packages filter
// and scoring: the claims of a pod, the volumes that match them, where new volumes
// can be made, and the volumes already attached to a node.
//
//	pod.go         the claims and disks that a pod mounts
//	lookup.go      claims, volumes and classes, and the error texts for missing ones
//	migrate.go     in-tree disks that a CSI driver has taken over
//	topology.go    the nodes from which a volume can be used
//	catalog.go     volumes and storage capacities, compiled once
//	index.go       candidates by a label that their nodes must have
//	candidates.go  the volumes that could be bound to a claim
//	provision.go   where a volume could be made for a claim
//	finder.go      the volumes that one pod's claims would get on a node
//	reserve.go     reserving these volumes, and reverting that
//	uses.go        how many pods use a claim
//	disks.go       disks of the kinds that plugins before CSI count
//	disklimit.go   how many of these disks a node takes
//	attached.go    the CSI volumes that a node's pods use
//	cow.go         maps that forks share until one of them changes
//
// All input comes from the snapshot, where [framework.Put] puts it. Derived data is
// in extensions of the snapshot, and is renewed when the version of its kind of
// object changes. Do not use a value here while the snapshot changes. Several
// goroutines may ask a [Finder] and an [Attached] about different nodes.
//
// A runner keeps bound filters over transactions, and a rollback restores versions and
// generations but does not renew derived data. So a value that is kept must not rely on
// an extension having the data of its own version: see [Attached].
//
// Source: kube-scheduler 1.37.1, pkg/scheduler/framework/plugins/volumebinding
// and nodevolumelimits, k8s.io/component-helpers/storage/volume and
// k8s.io/csi-translation-lib, v0.37.1.
package volumes
