// Package replica is the part of the plugin contract that counts: what a filter may add so
// that programs which ask how many replicas of a pod fit need not place them one by one.
//
//	// seats has room for four pods on every node.
//	func (seats) Replicas(_ *framework.PodInfo, node *framework.NodeInfo) (int64, bool) {
//		return max(0, 4-int64(len(node.Pods))), true
//	}
//
// A bound filter that reads the pods of the node alone is a [Counter]. One that spreads
// replicas over the domains of a topology key is a [Spreader]. Package scheduling/whatif
// asks both; a filter that is neither is right as well, and then replicas are placed.
//
// # What it leaves to you
//
// The counts must be true: they must equal what placing one replica after the other gives.
//
// # Errors and costs
//
// A filter that cannot tell says so by its second result. A count should cost what one
// call of Filter costs.
//
// # Determinism
//
// The same snapshot and pod must give the same count.
//
// # Concurrency
//
// The methods follow the rules of [framework.NodeFilter].
package replica
