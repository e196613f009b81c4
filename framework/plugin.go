package framework

import (
	"context"
	"time"
)

// MinNodeScore and MaxNodeScore bound a plugin's score of a node after
// normalization. A raw score may be any int64.
const (
	MinNodeScore int64 = 0
	MaxNodeScore int64 = 100
)

// A Plugin is anything that a profile can name. Plugins are configuration:
// values that can be copied and shared, without state of their own. What a
// plugin computes for one pod lives in the value that PreFilter or PreScore
// returns; what a decision changes lives in the [Snapshot].
type Plugin interface {
	// Name returns the name under which configuration knows the plugin.
	Name() string
}

// A NodeFilter says whether a pod may run on a node. The zero Status means
// yes; any rejecting code means no; every other code fails the cycle.
//
// Filter must not change the pod or the node, must give the same answer for
// the same input, and must be safe for concurrent calls on different nodes.
type NodeFilter interface {
	Filter(pod *PodInfo, node *NodeInfo) Status
}

// A FilterPlugin is a plugin that filters without preparation.
type FilterPlugin interface {
	Plugin
	NodeFilter
}

// A BatchFilter is a bound filter that can look at many nodes in one call. It
// must append to rejected the index of each node that Filter does not let pass,
// in ascending order, and return the result. The runner asks Filter about those
// for the reason.
type BatchFilter interface {
	NodeFilter
	FilterNodes(pod *PodInfo, nodes []*NodeInfo, rejected []int) []int
}

// PreFiltered is what a PreFilter found out before any node is looked at.
type PreFiltered struct {
	// Filter answers for every node in this cycle. It may be the plugin
	// itself. nil means that there is nothing to check for this pod.
	Filter NodeFilter
	// NodeNames holds the names of the only nodes that can be feasible, sorted,
	// without duplicates. nil means all nodes; an empty list that is not nil means
	// none. Names unknown to the snapshot are ignored. The list must not change
	// during the cycle.
	NodeNames []string
}

// A PreFilterPlugin prepares a filter for one pod. It takes the place of the
// string-keyed cycle state of the Kubernetes framework: what it computes is
// held, typed, in the filter that it returns.
//
// A Skip status says that the plugin has nothing to check; rejecting codes end
// the cycle as the framework specifies (UnschedulableAndUnresolvable at once,
// Unschedulable after the remaining PreFilters ran).
type PreFilterPlugin interface {
	Plugin
	PreFilter(c *Cycle) (PreFiltered, Status)
}

// A FilterUpdater is a bound filter whose answers also depend on pods of other
// nodes. AddPod and RemovePod tell it that the other pod is now, or no longer,
// counted on the node; Fork returns an independent copy to try changes on. A
// filter that reads other pods only through the NodeInfo it is given does not
// need it.
type FilterUpdater interface {
	NodeFilter
	// AddPod counts the other pod on the node from now on.
	AddPod(c *Cycle, other *PodInfo, node *NodeInfo) Status
	// RemovePod no longer counts the other pod on the node.
	RemovePod(c *Cycle, other *PodInfo, node *NodeInfo) Status
	// Fork returns a copy; what is told to one does not show in the other.
	Fork() FilterUpdater
}

// A NodeScorer ranks a node for a pod; larger is better. Score must not change
// the pod or the node, must give the same answer for the same input, and must
// be safe for concurrent calls on different nodes.
type NodeScorer interface {
	Score(pod *PodInfo, node *NodeInfo) int64
}

// A ScorePlugin is a plugin that scores without preparation.
type ScorePlugin interface {
	Plugin
	NodeScorer
}

// A PreScorePlugin prepares a scorer for one pod. It sees the feasible nodes,
// in the snapshot's order. Skip leaves the plugin out of this cycle (its
// scores count as absent, not as zero); a rejecting or failing code fails the
// cycle. It must not keep the slice.
type PreScorePlugin interface {
	Plugin
	PreScore(c *Cycle, feasible []*NodeInfo) (NodeScorer, Status)
}

// A BatchScorer is a bound scorer that can score many nodes in one call. For
// every i it must set scores[i] to Score(pod, nodes[i]).
type BatchScorer interface {
	NodeScorer
	ScoreNodes(pod *PodInfo, nodes []*NodeInfo, scores []int64)
}

// A RangeNormalizer maps raw scores to [0,100] by a rule that needs only the
// node's raw score and the smallest and largest raw score among the feasible
// nodes. The scorer that PreScore returned is asked first, then the plugin.
// Prefer it to ScoreNormalizer: the fast road can keep it exact without
// visiting every node.
type RangeNormalizer interface {
	NormalizeScore(raw, smallest, largest int64) int64
}

// A ScoreNormalizer maps the raw scores of the feasible nodes to [0,100] in
// place; scores[i] belongs to nodes[i]. The scorer that PreScore returned is
// asked first, then the plugin.
type ScoreNormalizer interface {
	NormalizeScores(nodes []*NodeInfo, scores []int64)
}

// A ReservePlugin takes what the chosen node gives to the pod, in the
// snapshot. When any later step fails, Unreserve of all reserve plugins is
// called in reverse order, also of those whose Reserve did not run: it must be
// idempotent. Neither may block.
type ReservePlugin interface {
	Plugin
	// Reserve takes what the pod uses of the node. Any code but Success takes
	// the decision back.
	Reserve(c *Cycle, node *NodeInfo) Status
	// Unreserve gives back what Reserve took, if it took anything.
	Unreserve(c *Cycle, node *NodeInfo)
}

// A PreEnqueuePlugin may keep a pod out of the queue until something changes.
type PreEnqueuePlugin interface {
	Plugin
	PreEnqueue(ctx context.Context, pod *PodInfo) Status
}

// A QueuedPod is a pod in the scheduling queue.
type QueuedPod struct {
	Pod *PodInfo
	// Timestamp is when the pod was last put in a queue.
	Timestamp time.Time
	// InitialAttempt is when the pod first entered the active queue.
	InitialAttempt time.Time
	// Attempts counts how often the pod was taken from the queue.
	Attempts int
}

// A QueueSortPlugin orders the scheduling queue. Less must be a strict weak
// order. A profile has exactly one.
type QueueSortPlugin interface {
	Plugin
	Less(a, b *QueuedPod) bool
}

// Verdicts tells, after no node was found, what each node answered.
type Verdicts interface {
	// Verdict returns the name of the plugin that rejected the node and its
	// status. A node that was never looked at has the status that the
	// framework gives to absent nodes.
	Verdict(node *NodeInfo) (plugin string, s Status)
}

// A Victim is a pod that has to go so that another fits.
type Victim struct {
	Pod *PodInfo
	// ViolatesBudget tells that removing it breaks a PodDisruptionBudget.
	ViolatesBudget bool
}

// PostFiltered is what a PostFilter proposes.
type PostFiltered struct {
	// Nominated is the node that the pod is nominated to; "" with Override set
	// clears an earlier nomination.
	Nominated string
	Override  bool
	// Victims are to be removed from the nominated node, most important first.
	Victims []Victim
}

// A PostFilterPlugin looks for a way to make room when no node is feasible.
type PostFilterPlugin interface {
	Plugin
	PostFilter(ctx context.Context, c *Cycle, verdicts Verdicts) (PostFiltered, Status)
}

// A PermitPlugin may approve the placement (Success), deny it (a rejecting
// code), or ask to wait up to the returned time (Wait).
type PermitPlugin interface {
	Plugin
	Permit(ctx context.Context, c *Cycle, node string) (Status, time.Duration)
}

// A PreBindPlugin prepares the outside world before the pod is bound. During
// binding the cycle has no snapshot; see [Cycle].
type PreBindPlugin interface {
	Plugin
	PreBind(ctx context.Context, c *Cycle, node string) Status
}

// A PreBindPreFlighter is a PreBindPlugin that says beforehand whether it will
// act (Success) or not (Skip), and whether it may run beside its neighbours.
type PreBindPreFlighter interface {
	PreBindPlugin
	PreBindPreFlight(ctx context.Context, c *Cycle, node string) (parallel bool, s Status)
}

// A BindPlugin binds the pod to the node; Skip leaves it to the next one.
type BindPlugin interface {
	Plugin
	Bind(ctx context.Context, c *Cycle, node string) Status
}

// A PostBindPlugin is told that a pod was bound.
type PostBindPlugin interface {
	Plugin
	PostBind(ctx context.Context, c *Cycle, node string)
}

// As returns p, or the first value that p wraps, as a T. A wrapper implements
// Unwrap() Plugin. It is how optional interfaces are found, so that a plugin
// that wraps another does not hide what the inner one can do.
func As[T any](p Plugin) (T, bool) {
	for p != nil {
		if t, ok := p.(T); ok {
			return t, true
		}
		w, ok := p.(interface{ Unwrap() Plugin })
		if !ok {
			break
		}
		p = w.Unwrap()
	}
	var none T
	return none, false
}
