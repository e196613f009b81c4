package engine

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// A Filter is a bound filter, with what its answers read.
type Filter struct {
	At     int // place in the profile: the first filter that says no decides
	Filter framework.NodeFilter
	Batch  incremental.BatchFilter // the filter, if it can look at many nodes in one call
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
	Batch   incremental.BatchScorer // the scorer, if it can score many nodes in one call
	Keys    incremental.NodeKeyer   // the scorer, if it says which nodes it scores alike
}

// A Source binds the plugins of a profile to the pod of the decision that is being
// made. Live plugins read more than the pod and one node. They are bound in every
// decision, even if they had nothing to do in the last one, unless Idle rules them
// out. The answers of the other plugins are kept.
//
// The filters and scorers that it returns must be in the order of their places,
// each place once. The lists are valid until the next call; filters and scorers answer
// until the cycle that they were bound with is reset.
type Source interface {
	// BaseKey is equal for pods that all plugins that are not live answer alike.
	BaseKey(pod *framework.PodInfo) string
	// Live reports whether some filters, or some scorers, are live. It is the same for
	// all pods of a class.
	Live() (filters, scorers bool)
	// Idle reports whether all live filters, or all live scorers, are known, without being
	// bound, to have nothing to do for the pod. It may be false although they have nothing
	// to do.
	Idle(c *framework.Cycle) (filters, scorers bool)
	// Kept returns what the filters and the scorers that are not live read, including
	// plugins that had nothing to do for the pod when they were to be bound.
	Kept() (filters, scorers framework.Reads)
	// BindKeptFilters runs the PreFilters of the filters that are not live. false means
	// that the incremental path has no answer for this pod: a PreFilter rejected it,
	// restricted the nodes, or failed.
	BindKeptFilters(c *framework.Cycle) ([]Filter, bool)
	// BindLiveFilters does the same for the live filters. It lists them in the order of
	// the profile.
	BindLiveFilters(c *framework.Cycle) ([]Filter, bool)
	// BindKeptScorers runs the PreScores of the scorers that are not live over the
	// feasible nodes; false if one failed.
	BindKeptScorers(c *framework.Cycle, feasible Feasible) ([]Scorer, bool)
	// BindLiveScorers does the same for the live scorers.
	BindLiveScorers(c *framework.Cycle, feasible Feasible) ([]Scorer, bool)
}

// Feasible is the set of feasible nodes that PreScore plugins see.
type Feasible interface {
	// List lists them in the snapshot's order.
	List() []*framework.NodeInfo
	// Groups shows them to the scorer of that place in the profile by its own
	// groups; nil if the scorer must see the list.
	Groups(at int) incremental.FeasibleNodes
}

// trackerOf returns what the bound filter or scorer tells of changes. One that may read the whole cluster is not heeded:
// it may say more of the pod than the class key does, and its answers are never kept.
func trackerOf(bound any, r framework.Reads) (t incremental.DomainTracker, ok bool) {
	if r&framework.ReadsCluster == 0 {
		t, ok = bound.(incremental.DomainTracker)
	}
	return t, ok
}

// nodeOnly reports whether an answer stands while only the node's pods change.
func nodeOnly(r framework.Reads) bool {
	return r&(framework.ReadsPods|framework.ReadsTime|framework.ReadsCluster) == 0
}
