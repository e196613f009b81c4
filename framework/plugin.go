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

// PreFiltered is what a PreFilter plugin returns before any node is looked at.
type PreFiltered struct {
	// Filter answers for every node in this cycle. It may be the plugin itself.
	// If it is nil, there is nothing to check for this pod.
	Filter NodeFilter
	// NodeNames holds the names of the only nodes that can be feasible, sorted and
	// without duplicates. nil means all nodes; an empty list that is not nil means
	// none. Names that the snapshot does not have are ignored. The list must not
	// be changed later, but may be returned again: what is known of it is then found at
	// once.
	NodeNames []string
}

// A PreFilterPlugin prepares a filter for one pod. The filter that it returns holds
// what it computed, typed; the Kubernetes framework keeps that under string keys.
//
// Skip says that the plugin has nothing to check. UnschedulableAndUnresolvable ends
// the cycle at once, Unschedulable after the remaining PreFilter plugins ran.
type PreFilterPlugin interface {
	Plugin
	PreFilter(c *Cycle) (PreFiltered, Status)
}

// A FilterUpdater is a bound filter whose answers also depend on pods of other
// nodes, and which has copied what it needs of them. A filter that reads other pods
// only through the NodeInfo that it is given, or from the snapshot, does not need it.
type FilterUpdater interface {
	NodeFilter
	// AddPod counts the other pod on the node from now on.
	AddPod(c *Cycle, other *PodInfo, node *NodeInfo) Status
	// RemovePod no longer counts the other pod on the node.
	RemovePod(c *Cycle, other *PodInfo, node *NodeInfo) Status
	// Fork returns an independent copy, to try changes on.
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

// A PreScorePlugin prepares a scorer for one pod. It sees the feasible nodes, in no
// particular order: no score may depend on it. It must not keep the slice. Skip leaves
// the plugin out of this cycle: its scores count as absent, not as zero. A rejecting or
// failing code fails the cycle.
type PreScorePlugin interface {
	Plugin
	PreScore(c *Cycle, feasible []*NodeInfo) (NodeScorer, Status)
}

// A RangeNormalizer maps raw scores to [0,100] by a rule that needs only the
// node's raw score and the smallest and largest raw score among the feasible
// nodes. The scorer that PreScore returned is asked first, then the plugin.
// Prefer it to ScoreNormalizer: the incremental path keeps its results exact
// without visiting every node.
type RangeNormalizer interface {
	NormalizeScore(raw, smallest, largest int64) int64
}

// A RangeExcluder is a bound scorer, and a [RangeNormalizer], that leaves nodes out of
// its range. A node that Excludes reports true for does not count for the smallest and
// the largest raw score, and its normalized score is 0.
type RangeExcluder interface {
	RangeNormalizer
	Excludes(node *NodeInfo) bool
}

// A ScoreNormalizer maps the raw scores of the feasible nodes to [0,100] in
// place; scores[i] belongs to nodes[i]. The order of the nodes means nothing, as in
// PreScore. The scorer that PreScore returned is asked first, then the plugin.
type ScoreNormalizer interface {
	NormalizeScores(nodes []*NodeInfo, scores []int64)
}

// A ReservePlugin takes what the chosen node gives to the pod, in the snapshot. The
// pod is counted on the node already when Reserve runs: node.Pods and node.Requested
// include it, and extensions have been told. If a later step fails, the runner calls
// Unreserve of all reserve plugins in reverse order, also of plugins whose Reserve did
// not run, so Unreserve must be idempotent. Afterwards the pod leaves the node.
// Neither method may block.
//
// Reserve is not called for pods that come to a node in another way: see "A plugin
// that holds state" on the page of the package. A rollback of the snapshot, as after each
// trial of a group of pods, takes a pod back without Unreserve: keep state in an extension.
type ReservePlugin interface {
	Plugin
	// Reserve takes what the pod uses of the node, besides what the node counts. Any
	// code but Success takes the decision back.
	Reserve(c *Cycle, node *NodeInfo) Status
	// Unreserve gives back what Reserve took, if it took anything.
	Unreserve(c *Cycle, node *NodeInfo)
}

// A ReserveDetailer is a ReservePlugin that says in a few words what a pod gets of a node
// besides what the node counts, such as "gpu 3". Runners show it with a decision and never
// decide by it.
//
// Reserves says what the pod has, if the node counts the pod, and otherwise what it would
// get if it came to the node as it is now; "" if that is nothing. For a node that all
// filters accept, both must be the same. It must not change anything.
type ReserveDetailer interface {
	ReservePlugin
	Reserves(s *Snapshot, pod *PodInfo, node *NodeInfo) string
}

// Verdicts holds what each node answered after no feasible node was found.
type Verdicts interface {
	// Verdict returns the name of the plugin that rejected the node and its
	// status. A node that was never looked at has the status of absent nodes,
	// UnschedulableAndUnresolvable.
	Verdict(node *NodeInfo) (plugin string, s Status)
}

// A Victim is a pod that must be removed so that another one fits.
type Victim struct {
	Pod *PodInfo
	// ViolatesBudget is set if removing it violates a PodDisruptionBudget.
	ViolatesBudget bool
}

// PostFiltered is what a PostFilter proposes.
type PostFiltered struct {
	// Nominated is the node that the pod is nominated to. If it is "" and Override
	// is set, an earlier nomination is cleared.
	Nominated string
	Override  bool
	// Victims are to be removed from the nominated node, most important first.
	Victims []Victim
	// Claims are to be changed so that the pod may fit later, whatever the status.
	Claims []ClaimRelease
}

// A ClaimRelease is a ResourceClaim whose devices are to be given back: its allocation,
// reservations and device status are to be cleared.
type ClaimRelease struct {
	// Claim is "namespace/name".
	Claim string
	// Delete says that the claim is to be deleted instead.
	Delete bool
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

// As returns p as a T, or else the first plugin that p wraps and that is a T. A
// wrapper implements Unwrap() Plugin. Runners find optional interfaces with As, so a
// wrapper does not hide what the inner plugin can do.
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
