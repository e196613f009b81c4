package framework

// FeasibleNodes is the set of feasible nodes, as a runner that keeps it from
// decision to decision shows it: by groups of nodes that are alike (see
// [Grouper]), or one by one.
type FeasibleNodes interface {
	// Len returns how many nodes are feasible.
	Len() int
	// Each calls f for one node of every group that has feasible nodes, in no
	// particular order, with the number of its feasible nodes.
	Each(f func(node *NodeInfo, nodes int))
}

// A GroupPreScorePlugin is a PreScorePlugin that needs to see one node of each
// group only. Both methods must answer alike for the same set. A fast road
// calls PreScoreGroups in every decision; it must not keep the set.
type GroupPreScorePlugin interface {
	PreScorePlugin
	PreScoreGroups(c *Cycle, feasible FeasibleNodes) (NodeScorer, Status)
}

// Groups divides the nodes of a snapshot into groups that a plugin cannot tell
// apart, such as all nodes of a zone.
type Groups struct {
	// Of holds the number of the group of each node, from 0 on, by slot; for
	// slots without a node it means nothing. It must not change, and stays
	// right as long as [Snapshot.NodeSet] does.
	Of []int32
	// Count is how many groups there are; 0 says that nodes differ one by one.
	Count int
	// Prepared tells that only PreScoreGroups cannot tell the nodes of a group
	// apart. Otherwise neither can Filter or Score.
	Prepared bool
}

// A Grouper is a bound filter or scorer of which some answers depend on a
// node's group alone, and not on anything else of the node. The fast road then
// asks about one node of each group, so that a change of a whole zone costs one
// step. All bound filters or scorers of one class of pods must give the same
// groups while the snapshot has the same set of nodes.
type Grouper interface {
	Groups() Groups
}

// A RangeExcluder is a bound scorer, and a [RangeNormalizer], that leaves nodes
// out of its range. A node for which Excludes reports true does not count for
// the smallest and largest raw score, and its normalized score is 0.
type RangeExcluder interface {
	RangeNormalizer
	Excludes(node *NodeInfo) bool
}
