// Package devices finds devices for the claims of pods, as dynamic resource allocation
// does it with structured parameters. The plugins of filter and scoring share it.
//
// # Parts
//
//	claims.go     which claims a pod has, also virtual ones
//	classkey.go   which pods are alike, by what their claims ask for
//	extended.go   the claim for extended resources that device classes stand behind
//	classes.go    which class stands behind an extended resource
//	device.go     slices and devices with what is derived from them; taints, tolerations
//	catalog.go    all slices; the pools that a node sees, by generation and completeness
//	selectors.go  conditions on devices; package expr is the built-in compiler
//	programs.go   compiled conditions, by text; questions.go, the answers that are kept;
//	              expense.go, who gives up what if too much is kept
//	capacity.go   what requests consume of devices that can be shared; counters.go, what
//	              devices consume of the counters of their pool
//	request.go    a claim as the search needs it
//	direct.go     claims for one device, which need no search
//	search.go     the search for devices on one node; constraint.go, what devices of a
//	              claim must have in common; prune.go, what the search may leave out
//	pack.go       another choice among the solutions: least leftover
//	memo.go       what was found out about a slice; costly.go, which searches are in vain
//	result.go     what a claim got
//	finder.go     the verdicts about the nodes for one pod; share.go, the steps that each has
//	details.go    the numbers behind a rejection, and the devices in words
//	reserve.go    what Reserve takes, what a driver writes, and scores
//	check.go      counts what is in use again
//	state.go      which devices are in use, kept from change to change; pooluse.go, the
//	              use of one pool; flight.go, claims that are decided but not written
//	offer.go      how many devices a node has for an extended resource
//
// # State
//
// What is allocated follows the claims of the snapshot one by one and is never read in
// full again. A change touches the nodes that can use the pool, so that answers kept for
// them are renewed: one node for most pools, the selected nodes for pools on the network.
//
// # Kept answers
//
// The plugins are bound in every decision and declare ReadsDomain, so the engine asks
// them only about nodes that changed. Three things make an answer:
//
//	what the pod asks   the class key ([AppendKey]): the requests and constraints of its
//	                    claims or, for an allocated claim, where it can be used. The key
//	                    has no name of a claim, so a claim, its twin for another pod and
//	                    the template of both are alike.
//	                    New for: a claim, a template or a class that changes. The key of
//	                    a pod is then found anew.
//	what a node has     its generation: a device that is given or taken, and a slice that
//	                    changes, touch the nodes that can use the pool. A pool on the
//	                    network touches the nodes that its slices select.
//	what all nodes see  the version of the [Finder]: classes, taint rules, the time as long
//	                    as an allocated claim waits for binding conditions, and the
//	                    snapshot that the state was read from.
//
// Before the state of a snapshot is made, changes touch no node. So making it touches all if
// an answer may have been kept about a fork that was asked before.
//
// Beside them, classes and requests keep the answers of their selectors, for all pods and
// nodes. Nobody can drive out the answers of others: what is kept for claims has a bound for
// each namespace that wants more than its share. The snapshot keeps the last Finder, and what it found on the last node, because
// the filter, the scorer, the words of a decision and Reserve ask for the same.
//
// A claim that two pods share is the first hard case. Before the first pod is placed, both
// are of the class of the demand. Reserve puts the claim into flight: PreFilter, which is
// asked in every decision, then rejects the second pod, and its class is as it was. Once the
// claim is written, the key of the second pod holds the allocation, and no device is looked
// for.
//
// A request for all devices (mode All) over a pool with a taint rule is the second. The
// list of devices belongs to the node and is found on each. A rule changes no device and
// touches no node, but the version, so every node is asked again; the slices are derived
// anew, so no answer of a selector stands for another set of taints.
//
// # Determinism and concurrency
//
// The search is exactly kube-scheduler's: depth first, the first solution. A branch is left
// out only if it can have neither a solution nor an error. Where kube-scheduler depends on
// the order of a map, names decide here. [LeastLeftover] is the only choice that takes
// another solution, and changes no verdict. A [Finder] may be asked about several nodes at
// once; all else belongs to the goroutine of the snapshot.
//
// # Cost
//
// A claim for one device takes the first that is free in a list. Otherwise a node costs
// O(requests x devices) if no constraint, counter or alternative makes the
// search go back. Selectors are evaluated once per device, for all pods. What they cost counts
// in the bound of the search, whether an answer is kept or not: a verdict must not depend on
// who asked before.
//
// Source: kube-scheduler 1.37, plugin DynamicResources, and
// k8s.io/dynamic-resource-allocation/structured 0.37, the allocator called incubating.
package devices
