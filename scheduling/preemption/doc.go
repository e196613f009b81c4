// Package preemption makes room for a pod of high priority by removing pods of lower
// priority from one node.
//
//	profile := scheduling.Kubernetes137() // has it already
//	profile.PostFilter = []framework.Plugin{preemption.DefaultPreemption{Eligible: mayGo}}
//
// # What it does
//
// [DefaultPreemption] is the plugin: a PostFilter that runs if no node is feasible.
// For each node where removing pods may help, it finds out, inside a transaction of
// the snapshot, which pods would have to leave. It chooses the node with the least
// harm, and returns the node and the victims as data.
//
//	candidates ◀── dry run on each node ◀── nodes whose verdict is Unschedulable
//	     │             remove all lower pods, filter, put back what still fits,
//	     ▼             pods protected by a PodDisruptionBudget first
//	criteria, in order: fewest violated budgets, lowest first victim, least sum
//	of priorities, fewest victims, victims that started last, first candidate
//
// # What it leaves to you
//
// Your driver must remove the victims and nominate the pod, as package lifecycle
// does. This package removes nothing: after PostFilter the snapshot is unchanged.
//
// # What makes it fast
//
// If the equivalence class of a pod is known, an attempt costs one lookup per node
// in an array of answers. A scheduler keeps the result of a dry run on a node, and its
// values under the criteria, as long as the node and the budgets do not change. The
// engine's cached verdicts list the nodes where removing pods may help. So
// only the first attempt of a class, and changed nodes, need dry runs.
//
// Most attempts fail while pods wait in a full cluster, so they cost least. If no pod on
// any node has a lower priority ([framework.Snapshot.PodsBelow]), the answer follows
// from counts ([DefaultPreemption.Refuse]). If every node has refused the class, a tally
// of the refusals answers, and only changed nodes are looked at.
//
// # Determinism and concurrency
//
// Node and victims are a function of the configuration, the snapshot and the
// decision's seed. The plugin is a value without run state. A call uses the
// snapshot, which belongs to one goroutine at a time.
//
// Differs: the order in which nodes are tried.
// Original: kube-scheduler's is random, from a random node on, and it tries nodes in
// parallel.
// Here: the decision's seed gives the start, and nodes are tried one after the other.
// Why: the answer must be the same on every run.
//
// Differs: candidates that all criteria leave tied.
// Original: kube-scheduler follows map order.
// Here: the first of them wins.
// Why: the answer must be the same on every run.
//
// Differs: pods that have not started.
// Original: they count as started at the time of the comparison.
// Here: they count as started later than all others.
// Why: the answer must not depend on a clock.
//
// Differs: several budgets that match one pod.
// Original: kube-scheduler's order is random.
// Here: they are counted in the order of their keys.
// Why: the answer must be the same on every run.
//
// Differs: a budget that allows -2147483648 disruptions.
// Original: the number wraps around.
// Here: it allows none.
// Why: a wrapped number helps nobody.
//
// Differs: what follows the choice.
// Original: kube-scheduler deletes the victims, keeps the pod out of the queue until
// they have gone, and takes the nomination from pods of lower priority nominated to
// the node.
// Here: these steps are left to you.
// Why: the library decides and does not act; package lifecycle takes these steps.
//
// Source: kube-scheduler 1.37, plugin DefaultPreemption and
// framework/preemption.
package preemption
