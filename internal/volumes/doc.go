// Package volumes holds what the volume plugins of packages filter and scoring
// share: which claims a pod uses, which volumes match them, where new ones can
// be made, and what is attached to a node already.
//
//	pod.go         the claims and disks that a pod mounts
//	lookup.go      claims, volumes and classes, and the texts where one is missing
//	migrate.go     in-tree disks that a CSI driver has taken over
//	topology.go    the nodes from which a volume can be used
//	catalog.go     volumes and storage capacities, compiled once
//	index.go       candidates by a label that their nodes must have
//	candidates.go  the volumes that could be bound to a claim
//	provision.go   where a volume could be made for a claim
//	finder.go      what one pod's claims would get on a node
//	reserve.go     giving it to them, and taking it back
//	uses.go        how many pods use a claim
//	disks.go       disks of the kinds that were counted before CSI
//	disklimit.go   how many of them a node takes
//	attached.go    the CSI volumes that a node's pods use
//	cow.go         maps that forks share until one of them changes
//
// Everything is read from the snapshot, where [framework.Put] has put it.
// What is derived from objects is kept in extensions of the snapshot and
// renewed when the version of their kind differs, so forks and transactions
// cover it. No value here may be used while the snapshot changes, but several
// goroutines may ask a [Finder] and an [Attached] about different nodes.
//
// Source: kube-scheduler 1.37.1, pkg/scheduler/framework/plugins/volumebinding
// and nodevolumelimits, k8s.io/component-helpers/storage/volume and
// k8s.io/csi-translation-lib, v0.37.1.
package volumes
