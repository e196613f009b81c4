package preemption

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// DefaultPreemption is the PostFilter plugin of that name. Its zero value has
// upstream's defaults.
type DefaultPreemption struct {
	// MinCandidateNodesPercentage and MinCandidateNodesAbsolute bound the
	// search: it ends when there are as many candidates as the larger of the two
	// says, one of them without violated budgets. nil means 10 percent and 100
	// nodes.
	MinCandidateNodesPercentage *int32
	MinCandidateNodesAbsolute   *int32

	// MayPreempt says whether the victim may go for the pod; nil means that its
	// priority is lower.
	MayPreempt func(pod, victim *framework.PodInfo) bool
	// MoreImportant orders pods; nil means [MoreImportant].
	MoreImportant func(a, b *framework.PodInfo) int
	// Criteria choose among candidates; nil means [Criteria].
	Criteria []Criterion
}

// Name returns "DefaultPreemption".
func (DefaultPreemption) Name() string { return "DefaultPreemption" }

func (p DefaultPreemption) mayPreempt(pod, victim *framework.PodInfo) bool {
	if p.MayPreempt != nil {
		return p.MayPreempt(pod, victim)
	}
	return victim.Priority < pod.Priority
}

func (p DefaultPreemption) order() func(a, b *framework.PodInfo) int {
	if p.MoreImportant != nil {
		return p.MoreImportant
	}
	return MoreImportant
}

func (p DefaultPreemption) criteria() []Criterion {
	if p.Criteria != nil {
		return p.Criteria
	}
	return Criteria()
}

// run is one PostFilter.
type run struct {
	plugin   DefaultPreemption
	cycle    *framework.Cycle
	verdicts framework.Verdicts
	budgets  budgets
}

// PostFilter looks for a node and for victims on it. Success nominates the pod
// to the node; Unschedulable says in upstream's words why there is none, and
// clears an earlier nomination.
//
// Cost: one dry run per node whose verdict is Unschedulable, until enough
// candidates are found.
func (p DefaultPreemption) PostFilter(ctx context.Context, c *framework.Cycle, verdicts framework.Verdicts) (framework.PostFiltered, framework.Status) {
	r := &run{plugin: p, cycle: c, verdicts: verdicts}
	if text := r.ineligible(); text != "" {
		return framework.PostFiltered{}, framework.Reject(prefix + text)
	}
	candidates, refused, err := r.candidates(ctx)
	if err != nil {
		return framework.PostFiltered{}, framework.AsStatus(fmt.Errorf("%s%w", prefix, err))
	}
	if len(candidates) == 0 {
		return framework.PostFiltered{Override: true}, framework.Reject(prefix + framework.Text(refused.text(c.Snapshot.Len())))
	}
	chosen := Choose(candidates, p.criteria())
	return framework.PostFiltered{Nominated: chosen.Node, Override: true, Victims: chosen.Victims}, framework.Status{}
}

const prefix = "preemption: "

// ineligible says why the pod may not preempt, "" if it may.
//
// Source: kube-scheduler 1.37, DefaultPreemption.PodEligibleToPreemptOthers.
func (r *run) ineligible() framework.Text {
	pod := r.cycle.Pod.Pod
	if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == framework.PreemptNever {
		return "not eligible due to preemptionPolicy=Never."
	}
	node := r.cycle.Snapshot.Node(pod.Status.NominatedNodeName)
	if node == nil {
		return ""
	}
	if _, status := r.verdicts.Verdict(node); status.Code() == framework.UnschedulableAndUnresolvable {
		return "" // nobody's leaving helps there: it may look elsewhere
	}
	if slices.ContainsFunc(r.lower(node), leaving) {
		return "not eligible due to a terminating pod on the nominated node."
	}
	return ""
}

// leaving reports whether the pod is being removed by a preemption.
func leaving(p *framework.PodInfo) bool {
	if p.Pod.DeletionTimestamp == nil {
		return false
	}
	for _, c := range p.Pod.Status.Conditions {
		if c.Type == framework.DisruptionTarget {
			return c.Status == framework.ConditionTrue && c.Reason == framework.PodReasonPreemptionByScheduler
		}
	}
	return false
}

// candidates tries the nodes from a random one on, until there are enough.
// Those without violated budgets come first.
//
// Source: kube-scheduler 1.37, framework/preemption, DryRunPreemption.
func (r *run) candidates(ctx context.Context) (list []*Candidate, refused refusals, err error) {
	nodes := r.potential()
	if len(nodes) == 0 {
		return nil, refused, nil
	}
	enough := r.enough(len(nodes))
	start, _ := bits.Mul64(r.cycle.Seed, uint64(len(nodes)))
	r.budgets = budgetsOf(r.cycle.Snapshot)
	var clean, violating []*Candidate
	for i := range nodes {
		if err := ctx.Err(); err != nil {
			return nil, refused, err
		}
		node := nodes[(int(start)+i)%len(nodes)]
		c, status := r.try(node)
		switch {
		case status.Code() == framework.Error:
			err = firstOf(err, fmt.Errorf("node %s: %w", node.Name(), status.Err()))
		case !status.IsSuccess():
			refused.add(status)
		case c.Violations == 0:
			clean = append(clean, c)
		default:
			violating = append(violating, c)
		}
		if len(clean) > 0 && len(clean)+len(violating) >= enough {
			break
		}
	}
	list = append(clean, violating[:min(len(violating), enough)]...)
	if len(list) > 0 {
		err = nil // what failed elsewhere does not matter
	}
	return list, refused, err
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// potential lists the nodes that a removal could help, in the snapshot's order.
func (r *run) potential() []*framework.NodeInfo {
	var nodes []*framework.NodeInfo
	for _, n := range r.cycle.Snapshot.All() {
		if _, status := r.verdicts.Verdict(n); status.Code() == framework.Unschedulable {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// enough is how many candidates end the search among n nodes.
func (r *run) enough(n int) int {
	percentage, absolute := int64(10), int64(100)
	if p := r.plugin.MinCandidateNodesPercentage; p != nil {
		percentage = int64(*p)
	}
	if a := r.plugin.MinCandidateNodesAbsolute; a != nil {
		absolute = int64(*a)
	}
	return int(min(int64(n), max(int64(n)*percentage/100, absolute)))
}

// DryRun tries every node that a removal could help, not only as many as
// PostFilter needs: for those who want to see or choose for themselves. The
// cycle must be one of a running PostFilter. Nodes without a candidate are
// returned with their status.
func (p DefaultPreemption) DryRun(c *framework.Cycle, verdicts framework.Verdicts) ([]*Candidate, map[string]framework.Status) {
	r := &run{plugin: p, cycle: c, verdicts: verdicts, budgets: budgetsOf(c.Snapshot)}
	var list []*Candidate
	failed := map[string]framework.Status{}
	for _, node := range r.potential() {
		if candidate, status := r.try(node); status.IsSuccess() {
			list = append(list, candidate)
		} else {
			failed[node.Name()] = status
		}
	}
	return list, failed
}
