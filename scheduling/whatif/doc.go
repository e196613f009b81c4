// Package whatif answers an operator's questions about a cluster as library calls:
// what fits, why not, what would help, what if.
//
//	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
//	room, err := plan.Headroom(pod, 0)        // how many more, where, and what limits
//	drain, err := plan.Drain("n1", "n2")      // where their pods go
//	why, err := plan.WhyNot(pod, "n3")        // every no, and what would help
//	err = why.WriteTable(os.Stdout)
//
// # Questions
//
//	Headroom      how many more of a pod fit, per node and in all, and what limits
//	Place         which pods of a list fit, where, and why the others do not
//	NodesNeeded   which nodes to buy so that pods fit
//	Drain         where the pods of nodes go, in which batches, and which are stuck
//	Removable     which nodes an autoscaler may remove, each on its own
//	Consolidate   which nodes may go together, cheapest first
//	Rebalance     which pods leave overused nodes, each with a proved place elsewhere
//	WhyNot        every filter that rejects a node, and the changes that would help
//	Compare       what changes under another profile
//	Sweep         where pods go under thousands of weightings
//
// Every answer is data with a stable JSON form and a table for people (WriteTable).
//
// # How
//
// A Planner takes a fork of the snapshot when it is made. It works in transactions and
// forks of that fork, with the scheduler itself: it never estimates what it can decide.
// So the snapshot of its caller stays as it was, and a Planner does not see later
// changes; make another one, or call Renew, which keeps what the scheduler has learnt.
//
// # What it leaves to you
//
// Nothing here changes a cluster. Preemption is not asked: a pod fits if it fits
// without victims. Pods of the lists are placed in the order given. Extenders of the
// profile are asked, and may block.
//
// # Claims
//
// What controllers do about claims is part of a question. A pod that leaves its node takes the claims with
// it that were made for it; a claim for devices that no other pod uses then gives them back. The pod
// that is placed in its stead gets others: from its templates for devices, which the snapshot must have, and from
// those of its ephemeral volumes. A storage class that provisions at once gives it a volume that every
// node can use. Claims that a pod names stay, and so do their volumes. Of pods that name one for devices, the
// first that is placed chooses for all. One that waits for its first pod gets a volume when that is placed. The
// nodes that reach the volume equal the pod's in the labels of the driver, as its CSINode says, or of the class.
// If neither is known, all nodes reach a volume for many of them, and those of the zone another one.
//
// Differs: claims for devices that more than 256 pods share.
// Original: an API server refuses a claim with more users, so the 257th pod is never bound.
// Here: all of them are placed, as by the filters of kube-scheduler; simulations run them, too.
// Why: no filter rejects the pod, so there is no reason to name.
//
// # Determinism
//
// An answer depends on the profile with its seed, the snapshot, and the question, not
// on questions asked before. Lists are sorted, or in the order of decisions. Ties are
// broken as in a scheduler's first decisions, or as in those after [Planner.Seek].
//
// # Concurrency
//
// One goroutine at a time may use a Planner. Make one per goroutine; each has its own
// fork.
//
// # Cost
//
// Questions cost the decisions that they take: about a microsecond for a pod of a known
// class, and what a scheduler without kept answers takes for one of a class of its own.
// Benchmarks of the package show each question at 5,000 nodes and 100,000 pods.
//
// The first question of a Planner also builds what decisions keep: counts of pods by
// topology domain and verdicts of every node. These are tenths of a second on a large
// cluster. What a Planner learns is its own, so keep it, and call Renew when the cluster
// has changed: it goes on with what stays right.
package whatif
