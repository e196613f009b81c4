package incremental

import "github.com/berth-sched/berth/framework"

// A BatchFilter is a bound filter that can look at many nodes in one call. It must
// append to rejected the index of each node that Filter would reject, in ascending
// order, and return the result. The runner asks Filter about these nodes for the
// reason.
type BatchFilter interface {
	framework.NodeFilter
	FilterNodes(pod *framework.PodInfo, nodes []*framework.NodeInfo, rejected []int) []int
}

// A BatchScorer is a bound scorer that can score many nodes in one call. For
// every i it must set scores[i] to Score(pod, nodes[i]).
type BatchScorer interface {
	framework.NodeScorer
	ScoreNodes(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64)
}
