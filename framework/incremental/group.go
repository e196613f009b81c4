package incremental

import "github.com/berth-sched/berth/framework"

// Groups divides the nodes of a snapshot into groups that get the same answer, such as
// all nodes of a zone.
type Groups struct {
	// Of holds the number of each node's group, from 0 on, by slot; the entries of
	// slots without a node are not read. It must not change, and must be right as long
	// as [framework.Snapshot.NodeSet] is the same.
	Of []int32
	// Count is how many groups there are; 0 means that there are none, and each node
	// is asked about.
	Count int
	// If Prepared is set, only PreScoreGroups treats the nodes of a group alike;
	// otherwise Filter and Score do too.
	Prepared bool
}

// A Grouper is a bound filter or scorer whose answer for a node depends on the node's
// group alone. The incremental path asks it about one node of each group, so a change
// of a whole zone costs one step. All filters or scorers that are bound for one class
// of pods must return the same groups while the snapshot has the same set of nodes.
type Grouper interface {
	Groups() Groups
}

// FeasibleNodes is the set of feasible nodes, as the incremental path keeps it from
// decision to decision: by groups of nodes that are alike (see [Grouper]), or one by
// one.
type FeasibleNodes interface {
	// Len returns how many nodes are feasible.
	Len() int
	// Each calls f for one node of every group that has feasible nodes, in no
	// particular order, with the number of its feasible nodes.
	Each(f func(node *framework.NodeInfo, nodes int))
}

// A GroupPreScorePlugin is a PreScorePlugin that needs to see only one node of each
// group. Both methods must give the same answer for the same set. The incremental path
// calls PreScoreGroups in every decision. The plugin must not keep the set.
type GroupPreScorePlugin interface {
	framework.PreScorePlugin
	PreScoreGroups(c *framework.Cycle, feasible FeasibleNodes) (framework.NodeScorer, framework.Status)
}

// An ExceptionScorer is a bound scorer whose raw score for a node is that of the node's
// group, but for a few exceptions, such as the nodes with pods of the same app. Groups
// must then have Prepared set. The incremental path asks once for each group and once for
// each exception, instead of once for each node. A [framework.RangeExcluder] must exclude
// all nodes of a group, its exceptions among them, or none.
type ExceptionScorer interface {
	framework.NodeScorer
	Grouper
	DomainTracker
	// GroupScore returns the raw score of all nodes in the group of the given node that are
	// no exceptions. The node itself may be one.
	GroupScore(pod *framework.PodInfo, node *framework.NodeInfo) int64
	// Exceptions calls visit with the slot of each node whose raw score may differ from
	// that of its group.
	Exceptions(visit func(slot int))
	// ExceptionsChanged calls visit with the slot of each node that may have become an
	// exception, or ceased to be one, or may have another raw score as an exception,
	// between the version since and now. known has the slots of all nodes that were
	// exceptions then; it must not be kept. If it cannot tell, it returns false.
	ExceptionsChanged(since uint64, known []int32, visit func(slot int)) bool
}
