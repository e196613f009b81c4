package whatif

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

// A Rebalance is which nodes are overused, and which of their pods leave.
type Rebalance struct {
	// Nodes holds every node with a known use, in the snapshot's order.
	Nodes []NodeUse `json:"nodes"`
	// Moves holds the evictions in their order, each with the node that the pod went to.
	Moves []Move `json:"moves"`
	// Stopped says why nothing was evicted; "" if evictions were tried.
	Stopped string `json:"stopped,omitempty"`
}

// A NodeUse is the class of a node. Shares hold its use by resource, in percent of what
// is allocatable.
type NodeUse struct {
	Node   string             `json:"node"`
	Class  UseClass           `json:"class"`
	Shares map[string]float64 `json:"shares"`
}

// Rebalance finds overused and underused nodes, and evicts pods from the former as long
// as they are overused and the latter have use to spare. Each eviction is proved: the
// pod is placed on an underused node that stays below its high thresholds, as a whole and
// by prod pods, by the Planner's profile, in the same transaction; otherwise it stays. Pods of DaemonSets,
// static pods, pods of system-critical priority, pods that are being deleted, and pods
// without a controller or beyond their PodDisruptionBudget stay.
//
// Overused nodes come in the order of their weighted use, the highest first. Their pods
// come by Koordinator's priority class, priority, Kubernetes' QoS class and deletion
// cost, the least important first; then those whose use covers what is too much with the
// least to spare, then the youngest.
//
// Source: Koordinator 1.8, descheduler plugin LowNodeLoad; with UseRequests,
// LowNodeUtilization of the descheduler of Kubernetes.
//
// Differs: where an evicted pod goes.
// Original: LowNodeLoad checks that some target fits a pod, and evicts it; several pods
// may count on the same place.
// Here: every pod is placed, and its place is taken.
// Why: an eviction that only makes a pod wait helps nobody.
//
// Differs: which pods leave.
// Original: an evicted pod counts as gone from its node, whether or not another node takes
// it. Without nodeFit, pods leave that fit nowhere, and pods without a measured use.
// Here: a pod that finds no place stays, and the next pods of its node are tried. So other
// pods leave, more or fewer. If a place is found for every pod, the same pods leave.
// Why: an eviction that only makes a pod wait helps nobody.
//
// Differs: how much a target takes.
// Original: pods of nodes overused as a whole count against the thresholds as a whole, pods
// of nodes overused by prod pods against those for prod pods. For the latter, nodes underused
// in both ways together take no more than they have to spare as a whole.
// Here: every target stays below both thresholds, whichever pod it takes.
// Why: otherwise a move makes a node overused, and the next run evicts from it.
//
// Differs: pods with local storage.
// Original: the evictor refuses them, unless its configuration says otherwise.
// Here: they may leave.
// Why: moving them is often what is wanted, and the answer is a proposal.
//
// Differs: nodes that are overused for a short time.
// Original: a node must be overused in several runs (anomalyCondition).
// Here: one look suffices, as with consecutiveAbnormalities of 1.
// Why: a question has no memory; ask again after a while and compare.
//
// Differs: order of pods by Koordinator's QoS class and eviction cost.
// Original: they count after Kubernetes' QoS class and after the deletion cost.
// Here: they do not count.
// Why: the library does not know them.
func (p *Planner) Rebalance(config RebalanceConfig) (*Rebalance, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	var r *Rebalance
	err := p.try(func(s *framework.Snapshot) error {
		x := &rebalance{planner: p, s: s, config: config, limits: config.filled(), budgets: budgetsOf(s)}
		x.measure()
		x.classify()
		r = &Rebalance{Nodes: x.report(), Moves: []Move{}}
		if r.Stopped = x.stop(); r.Stopped != "" {
			return nil
		}
		for _, prod := range []bool{false, true} {
			moves, err := x.balance(prod)
			if err != nil {
				return err
			}
			r.Moves = append(r.Moves, moves...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// rebalance is the work on a Rebalance.
type rebalance struct {
	planner *Planner
	s       *framework.Snapshot
	config  RebalanceConfig
	limits  limits
	budgets *budgets
	nodes   []*nodeUse
}

// stop says why there is nothing to do.
func (x *rebalance) stop() string {
	low, high := 0, 0
	for _, n := range x.nodes {
		switch n.class {
		case UseLow, UseProdLow, UseBothLow:
			low++
		case UseHigh, UseProdHigh:
			high++
		}
	}
	switch {
	case high == 0:
		return "no node is overused"
	case low == 0:
		return "no node is underused"
	case low <= x.config.NumberOfNodes:
		return "only " + strconv.Itoa(low) + " nodes are underused"
	case low == len(x.nodes):
		return "all nodes are underused"
	}
	return ""
}

// balance evicts pods of nodes that are overused as a whole, or by prod pods.
func (x *rebalance) balance(prod bool) (moves []Move, err error) {
	var sources, open []*nodeUse
	for _, n := range x.nodes {
		switch {
		case n.class == UseHigh && !prod, n.class == UseProdHigh && prod:
			sources = append(sources, n)
		case n.class == UseLow && !prod, n.class == UseProdLow && prod, n.class == UseBothLow:
			open = append(open, n)
		}
	}
	x.bar(open)
	t := newTargets(x.s, prod, open, len(x.limits.names))
	slices.SortStableFunc(sources, func(a, b *nodeUse) int { return cmp.Compare(b.score(x, prod), a.score(x, prod)) })
	for _, n := range sources {
		for _, pod := range x.evictable(n, prod) {
			if !x.goOn(n, t) {
				break
			}
			move, ok, err := x.move(n, pod, t)
			if err != nil {
				return nil, err
			}
			if ok {
				moves = append(moves, move)
			}
		}
	}
	return moves, nil
}

// bar lets only the targets take pods.
func (x *rebalance) bar(targets []*nodeUse) {
	state := barred.Of(x.s)
	open := make(map[int]bool, len(targets))
	for _, n := range targets {
		open[n.slot] = true
	}
	for _, slot := range slices.Clone(x.s.Slots()) {
		if n := x.s.AtSlot(slot); state.Get(n) == open[slot] {
			state.Set(n, !open[slot])
		}
	}
}

// goOn reports whether the node is still overused and the targets have use to spare of
// every resource.
func (x *rebalance) goOn(n *nodeUse, t *targets) bool {
	return over(n.usage(t.prod), n.high(t.prod)) && t.haveSpare()
}

// move places the pod on a target, or leaves everything as it was.
func (x *rebalance) move(n *nodeUse, pod *framework.PodInfo, t *targets) (m Move, ok bool, err error) {
	taken := len(x.budgets.taken)
	if x.budgets.take(pod.Pod) != "" {
		return m, false, nil
	}
	d := podDemand{n.pods[pod.Pod.Key()].amounts, isProd(pod.Pod)}
	t.open(d)
	mark := x.s.Begin()
	defer func() {
		if ok {
			x.s.Commit(mark)
			n.add(d.amounts, -1, d.prod)
			t.put(m.To)
		} else {
			x.s.Rollback(mark)
			x.budgets.undo(taken)
		}
	}()
	if err := x.planner.release(x.s, pod, n.name); err != nil {
		return m, false, err
	}
	to, miss, err := x.planner.place(x.s, pod.Pending())
	if err != nil || miss != nil {
		return m, false, err
	}
	return Move{Pod: pod.Pod.Key(), From: n.name, To: to}, true, nil
}

// systemCritical is the lowest priority of pods that the cluster itself needs.
const systemCritical = 2_000_000_000

// evictable lists the pods that may leave the node, in the order in which they go.
func (x *rebalance) evictable(n *nodeUse, prod bool) []*framework.PodInfo {
	var list []*framework.PodInfo
	for _, pod := range x.s.AtSlot(n.slot).Pods {
		_, measured := n.pods[pod.Pod.Key()]
		critical, leaves := pod.Priority >= systemCritical, pod.Pod.DeletionTimestamp != nil
		if workload.BelongsToNode(pod.Pod) || pod.Pod.ControllerRef() == nil || !measured || critical || leaves {
			continue
		}
		if prod && !isProd(pod.Pod) {
			continue
		}
		list = append(list, pod)
	}
	slices.SortStableFunc(list, func(a, b *framework.PodInfo) int {
		return cmp.Or(
			cmp.Compare(classRank(a.Pod), classRank(b.Pod)),
			cmp.Compare(a.Priority, b.Priority),
			cmp.Compare(qosRank(a.Pod), qosRank(b.Pod)),
			cmp.Compare(workload.DeletionCost(a.Pod), workload.DeletionCost(b.Pod)),
			cmp.Compare(n.cover(x, b.Pod, prod), n.cover(x, a.Pod, prod)),
			b.Pod.CreationTimestamp.Compare(a.Pod.CreationTimestamp),
			strings.Compare(a.Pod.Key(), b.Pod.Key()),
		)
	})
	return list
}

// classRank orders Koordinator's priority classes, the least important first.
func classRank(p *api.Pod) int {
	return slices.Index([]estimator.PriorityClass{
		estimator.PriorityFree, estimator.PriorityBatch, estimator.PriorityMid, estimator.PriorityProd, estimator.PriorityNone,
	}, estimator.PodPriorityClass(p))
}

// WriteTable writes the answer as text for people.
func (r *Rebalance) WriteTable(w io.Writer) error {
	var t table
	if r.Stopped != "" {
		t.line("nothing to evict: %s", r.Stopped)
	} else {
		t.line("%d pods are evicted", len(r.Moves))
	}
	t.row("NODE", "CLASS", "USE")
	for _, n := range r.Nodes {
		t.row(n.Node, n.Class, n.text())
	}
	t.end()
	writeMoves(&t, r.Moves)
	return t.write(w)
}
