package incremental

import "github.com/berth-sched/berth/framework"

// A NodeKeyer is a bound scorer that says which nodes it scores alike. Nodes with equal keys
// must have equal scores, for the pod that the scorer is bound to, as long as none of them
// changes. The incremental path asks about one node of each key when a class of pods is
// new, and many nodes of a cluster are equal, such as those that are empty.
//
// It is worth it if a score costs a few times as much as a key: 50 ns are a key and its look-up.
type NodeKeyer interface {
	framework.NodeScorer
	// AppendNodeKey appends the key of a node, which has all that the score reads of it.
	AppendNodeKey(b []byte, pod *framework.PodInfo, n *framework.NodeInfo) []byte
}
