package incremental

import "github.com/berth-sched/berth/framework"

// A NodeKeyer is a bound scorer that says which nodes it scores alike. Nodes with equal keys
// must have equal scores, for the pod that the scorer is bound to, as long as none of them
// changes. The incremental path asks about one node of each key when a class of pods is
// new, and many nodes of a cluster are equal, such as those that are empty.
//
// A key and its look-up cost about 50 ns, so keys are worth it if a score costs a few times
// that.
type NodeKeyer interface {
	framework.NodeScorer
	// AppendNodeKey appends the key of a node, which has all that the score reads of it.
	AppendNodeKey(b []byte, pod *framework.PodInfo, n *framework.NodeInfo) []byte
}
