// Package devices finds devices for the claims of pods, as dynamic resource allocation
// does it with structured parameters. The plugins of filter and scoring share it.
//
// # Parts
//
//	claims.go     which claims a pod has, also virtual ones
//	extended.go   the claim for extended resources that device classes stand behind
//	classes.go    which class stands behind an extended resource
//	device.go     slices and devices with what is derived from them; taints, tolerations
//	catalog.go    all slices; the pools that a node sees, by generation and completeness
//	selectors.go  conditions on devices and their answers; package expr is the built-in
//	              compiler
//	capacity.go   what requests consume of devices that can be shared
//	request.go    a claim as the search needs it
//	search.go     the search for devices on one node; prune.go, what it may leave out
//	result.go     what a claim got
//	finder.go     the verdicts about the nodes for one pod
//	details.go    the numbers behind a rejection, and the devices in words
//	reserve.go    what Reserve takes, what a driver writes, and scores
//	state.go      which devices are in use, kept from change to change; flight.go, claims
//	              that are decided but not written; layered.go, maps that forks share
//	offer.go      how many devices a node has for an extended resource
//
// # State
//
// What is allocated follows the claims of the snapshot one by one and is never read in
// full again. A change touches the nodes that can use the pool, so that answers kept for
// them are renewed: one node for most pools, every node for pools of several nodes.
//
// # Determinism and concurrency
//
// The search is exactly kube-scheduler's: depth first, the first solution. A branch is left
// out only if it can have neither a solution nor an error. Where kube-scheduler depends on
// the order of a map, names decide here. A [Finder] may be asked about several nodes at
// once; all else belongs to the goroutine of the snapshot.
//
// # Cost
//
// A node costs O(requests x devices) if no constraint, counter or alternative makes the
// search go back. Selectors are evaluated once per device, for all pods.
//
// Source: kube-scheduler 1.37, plugin DynamicResources, and
// k8s.io/dynamic-resource-allocation/structured 0.37, the allocator called incubating.
package devices
