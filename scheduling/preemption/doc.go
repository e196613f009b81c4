// Package preemption makes room for a pod of high priority by taking pods of
// lower priority off one node.
//
//	profile := scheduling.Kubernetes137() // has it already
//	profile.PostFilter = []framework.Plugin{preemption.DefaultPreemption{Eligible: mayGo}}
//
// # What it does
//
// [DefaultPreemption] is the plugin: a PostFilter that runs when no node is
// feasible. It tries, inside transactions of the snapshot, which pods would
// have to go from each node that a removal could help, chooses the node where
// that hurts least, and returns the node and the victims as data.
//
//	candidates ◀── dry run on each node ◀── nodes whose verdict is Unschedulable
//	     │             remove all lower pods, filter, put back what still fits,
//	     ▼             pods protected by a PodDisruptionBudget first
//	criteria, in order: fewest violated budgets, lowest first victim, least sum
//	of priorities, fewest victims, victims that started last, first candidate
//
// # What it leaves to you
//
// Who drives the scheduler removes the victims and nominates the pod, as package
// lifecycle does. Nothing is removed here: after PostFilter the snapshot is as it
// was.
//
// # What makes it fast
//
// An attempt whose class is known costs a look at an array of answers. A scheduler
// keeps what the dry run on a node came to, and what the criteria say of it, for as
// long as the node and the budgets do not change; and the nodes that a removal could
// help are listed from the answers that the scheduler keeps anyhow. Only for the first
// attempt of a class, and for nodes that changed, is anybody asked to go.
//
// # Determinism and concurrency
//
// Node and victims are a function of the configuration, the snapshot and the
// decision's seed. The plugin is a value without run state; a call uses the
// snapshot, which belongs to one goroutine at a time.
//
// Differs: kube-scheduler tries nodes in a random order from a random one on,
// follows map order among candidates that all criteria leave tied, and tries nodes in parallel. Here
// the start is a function of the decision's seed, nodes are tried one after the
// other, the first of the candidates that all criteria leave tied is taken, and
// pods that have not started are taken to start later than all others rather
// than at the time of the comparison. Budgets that match one pod are counted in
// the order of their keys, and one that allows -2147483648 disruptions allows
// none, where the original's number wraps around. What the original does besides is left to you: it
// deletes the victims, keeps the pod out of the queue until they have gone, and
// takes the nomination from pods of lower priority nominated to the node.
//
// Source: kube-scheduler 1.37, plugin DefaultPreemption and
// framework/preemption.
package preemption
