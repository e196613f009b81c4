package engine

import "github.com/berth-sched/berth/framework"

// A Filter is a bound filter, with what its answers read.
type Filter struct {
	At     int // place in the profile: the first filter that says no decides
	Filter framework.NodeFilter
	Batch  framework.BatchFilter // the filter, if it can look at many nodes in one call
	Reads  framework.Reads
}

// A Scorer is a bound scorer. At most one of ByRange and ByNodes is set: how
// its scores are normalized. Except may go with ByRange.
type Scorer struct {
	At      int
	Scorer  framework.NodeScorer
	Reads   framework.Reads
	Weight  int64
	ByRange framework.RangeNormalizer
	ByNodes framework.ScoreNormalizer
	Except  framework.RangeExcluder
	Batch   framework.BatchScorer // the scorer, if it can score many nodes in one call
}

// A Source binds the plugins of a profile to the pod of the decision that is
// being made.
//
// Invariant: filters and scorers that it returns are in the order of their
// places, each place once; the lists are valid until the next call, and what they
// hold answers as long as the cycle that they were bound with is not reset.
// Live plugins are those that read more than the pod and one node:
// they are bound for every decision that they are not known to have nothing to do
// with, even if they had nothing to do in the last one. The answers of the others
// are kept.
type Source interface {
	// BaseKey is equal for pods that all plugins answer alike that are not
	// live.
	BaseKey(pod *framework.PodInfo) string
	// Outside reports whether some filters, or some scorers, are live.
	Outside() (filters, scorers bool)
	// Idle reports whether it is known, without binding them, that all live plugins
	// have nothing to do for the pod. It may be false where they have nothing to do.
	Idle(c *framework.Cycle) bool
	// Kept returns what the filters and the scorers read that are not live, those
	// included that had nothing to do for the pod when they were to be bound.
	Kept() (filters, scorers framework.Reads)
	// BindFilters runs the PreFilters. false says that the fast road has
	// nothing to offer for this pod: a PreFilter rejected it, restricted the
	// nodes, or failed.
	BindFilters(c *framework.Cycle, live bool) ([]Filter, bool)
	// BindScorers runs the PreScores over the feasible nodes; false when one
	// failed.
	BindScorers(c *framework.Cycle, live bool, feasible Feasible) ([]Scorer, bool)
}

// Feasible is the set of feasible nodes that PreScore plugins see.
type Feasible interface {
	// List lists them in the snapshot's order.
	List() []*framework.NodeInfo
	// Groups shows them to the scorer of that place in the profile by its own
	// groups; nil when it has to see the list.
	Groups(at int) framework.FeasibleNodes
}

// ofNode reports whether an answer stands while only the node's pods change.
func ofNode(r framework.Reads) bool {
	return r&(framework.ReadsPods|framework.ReadsTime|framework.ReadsCluster) == 0
}
