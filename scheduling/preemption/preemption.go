package preemption

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/runner"
)

// DefaultPreemption is the PostFilter plugin of that name. Its zero value has
// upstream's defaults.
//
// Source: kube-scheduler 1.37, plugin DefaultPreemption.
type DefaultPreemption struct {
	// MinCandidateNodesPercentage and MinCandidateNodesAbsolute bound the search. It
	// ends once the number of candidates reaches the larger of the two, and one of
	// them violates no budget. nil means 10 percent of the nodes where removing pods
	// may help, and 100 nodes. If both come to less than one node, for instance 10
	// percent of nine and no absolute number, no candidate is kept and preemption
	// never succeeds.
	MinCandidateNodesPercentage *int32
	MinCandidateNodesAbsolute   *int32

	// Eligible reports whether the victim, whose priority is lower, may be removed
	// for the pod; nil means that it may.
	Eligible func(pod, victim *framework.PodInfo) bool
	// MoreImportant orders pods, the more important first; nil means
	// [MoreImportant].
	MoreImportant func(a, b *framework.PodInfo) int
	// Criteria choose among candidates; nil means [Criteria].
	Criteria []Criterion

	// PodGroups says that the feature gate GenericWorkload is on: pods leave in units, by
	// the PodGroups and CompositePodGroups of the snapshot. See [Unit]. A unit leaves as a
	// whole, wherever its pods are, so victims may be on other nodes than the nominated
	// one. Nodes are compared by the victims' own priorities. Eligible must allow all pods
	// of a unit, and MoreImportant sees the first one on the node.
	//
	// Differs: the order of the pods of one unit.
	// Original: kube-scheduler follows map order; nodes are compared by the first of them.
	// Here: the order of the snapshot.
	// Why: the answer must be the same on every run.
	PodGroups bool
}

// Name returns "DefaultPreemption".
func (DefaultPreemption) Name() string { return "DefaultPreemption" }

// Validate reports numbers out of range, and two that are both 0: preemption would
// never succeed.
func (p DefaultPreemption) Validate() error {
	const percentageField, absoluteField = "minCandidateNodesPercentage", "minCandidateNodesAbsolute"
	var errs []error
	invalid := func(field string, value int32, text string) {
		errs = append(errs, fmt.Errorf("DefaultPreemption: %s: Invalid value: %d: %s", field, value, text))
	}
	percentage, absolute := p.least()
	if percentage < 0 || percentage > 100 {
		invalid(percentageField, percentage, "not in valid range [0, 100]")
	}
	if absolute < 0 {
		invalid(absoluteField, absolute, "not in valid range [0, inf)")
	}
	if percentage == 0 && absolute == 0 {
		invalid(percentageField, 0, "cannot be zero at the same time as "+absoluteField)
		invalid(absoluteField, 0, "cannot be zero at the same time as "+percentageField)
	}
	return errors.Join(errs...)
}

func (p DefaultPreemption) mayPreempt(pod, victim *framework.PodInfo) bool {
	return victim.Priority < pod.Priority && (p.Eligible == nil || p.Eligible(pod, victim))
}

// mayRemove is mayPreempt for a unit.
func (p DefaultPreemption) mayRemove(pod *framework.PodInfo, u *Unit) bool {
	if u.priority >= pod.Priority {
		return false
	}
	return p.Eligible == nil || !slices.ContainsFunc(u.Pods, func(v UnitPod) bool { return !p.Eligible(pod, v.Pod) })
}

func (p DefaultPreemption) criteria() []Criterion {
	if p.Criteria != nil {
		return p.Criteria
	}
	return Criteria()
}

// run is the state of one PostFilter call.
type run struct {
	plugin    DefaultPreemption
	cycle     *framework.Cycle
	verdicts  framework.Verdicts
	budgets   budgets
	potential []placed // memory for the pods of one node that may be removed
	victims   []placed // memory for the ones that must be removed
	asked     guards   // budgets that the last candidate depends on
	failed    bool     // a filter failed while the last candidate was found, and another time it may not
	memory    *memory  // nil: nothing is cached
	local     bool     // no filter reads other nodes than the one that it is asked about
	elsewhere bool     // some answer depends on other nodes, because of groups

	units map[*framework.PodInfo]*Unit // of all pods on nodes; made when one is needed
}

// PostFilter looks for a node and for victims on it. Success nominates the pod to
// the node; Unschedulable explains in upstream's words why there is none, and clears
// an earlier nomination.
//
// Cost: one dry run per node whose verdict is Unschedulable, until enough candidates
// are found. A dry run removes every lower pod from the node and calls all filters
// once more for each. A scheduler keeps its result as long as the node does not
// change: an attempt then costs a few nanoseconds for each node, and less than 100
// microseconds at 5,000 nodes. If all nodes refused the class before, it costs only the
// nodes that have changed since.
func (p DefaultPreemption) PostFilter(ctx context.Context, c *framework.Cycle, verdicts framework.Verdicts) (framework.PostFiltered, framework.Status) {
	r := &run{plugin: p, cycle: c, verdicts: verdicts, memory: p.memoryOf(c), local: isLocal(c)}
	if text := r.ineligible(); text != "" {
		return framework.PostFiltered{}, framework.UnschedulableStatus(prefix + text)
	}
	r.memory.begin(c.Snapshot)
	found, refused, err := r.candidates(ctx)
	if runner.Checks && err == nil && r.memory != nil && c.Runner().DryRuns.Verify {
		err = r.checkMemory()
	}
	r.memory.end(c.Snapshot)
	if err != nil {
		return framework.PostFiltered{}, framework.AsStatus(fmt.Errorf("%s%w", prefix, err))
	}
	if len(found) == 0 {
		return framework.PostFiltered{Override: true}, framework.UnschedulableStatus(refused.text(c.Snapshot.Len()))
	}
	chosen, err := r.choose(ctx, found)
	if err != nil {
		return framework.PostFiltered{}, framework.AsStatus(fmt.Errorf("%s%w", prefix, err))
	}
	if chosen == nil {
		return framework.PostFiltered{}, framework.UnschedulableStatus(prefix + "no candidate node for preemption")
	}
	text := fmt.Sprintf("%sfound a potential placement for pod on node %s, preempting %d victims", prefix, chosen.Node, len(chosen.Victims))
	return framework.PostFiltered{Nominated: chosen.Node, Override: true, Victims: slices.Clone(chosen.Victims)},
		framework.NewStatus(framework.Success, framework.Text(text))
}

const prefix = "preemption: "

// Narrow, set in a cycle, is called with the candidates before one of them is
// chosen. It returns the remaining ones, perhaps with other victims. Extenders take
// part through it.
//
// Source: kube-scheduler 1.37, framework/preemption, callExtenders.
var Narrow = framework.NewKey[func(context.Context, []*Candidate) ([]*Candidate, error)]("narrow the candidates of a preemption down")

// Awaits says that a pod does not preempt, because its victims are still leaving.
const Awaits = prefix + string(awaits)

const awaits framework.Text = "not eligible due to a terminating pod on the nominated node."

const neverPreempts framework.Text = "not eligible due to preemptionPolicy=Never."

// ineligible returns why the pod may not preempt, "" if it may.
//
// Source: kube-scheduler 1.37, DefaultPreemption.PodEligibleToPreemptOthers.
func (r *run) ineligible() framework.Text {
	pod := r.cycle.Pod.Pod
	if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == api.PreemptNever {
		return neverPreempts
	}
	node := r.cycle.Snapshot.Node(pod.Status.NominatedNodeName)
	if node == nil {
		return ""
	}
	if _, status := r.verdicts.Verdict(node); status.Code() == framework.UnschedulableAndUnresolvable {
		return "" // removing pods does not help there: it may look elsewhere
	}
	if slices.ContainsFunc(node.Pods, func(p *framework.PodInfo) bool { return leaving(p.Pod) && r.mayGo(p) }) {
		return awaits
	}
	return ""
}

// mayGo reports whether a pod may be removed, whatever its unit has elsewhere.
func (r *run) mayGo(p *framework.PodInfo) bool {
	if !r.plugin.PodGroups {
		return r.plugin.mayPreempt(r.cycle.Pod, p)
	}
	return PriorityOf(r.cycle.Snapshot, p) < r.cycle.Pod.Priority && (r.plugin.Eligible == nil || r.plugin.Eligible(r.cycle.Pod, p))
}

// leaving reports whether a preemption is removing the pod.
func leaving(p *api.Pod) bool {
	if p.DeletionTimestamp == nil {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == api.DisruptionTarget {
			return c.Status == api.ConditionTrue && c.Reason == api.PodReasonPreemptionByScheduler
		}
	}
	return false
}

// choose returns the best of the candidates; nil if extenders leave none.
func (r *run) choose(ctx context.Context, found []*answer) (*Candidate, error) {
	narrow, narrows := Narrow.Get(r.cycle)
	if !narrows && r.plugin.Criteria == nil {
		return bestOf(found).candidate, nil
	}
	candidates := make([]*Candidate, len(found))
	for i, a := range found {
		if candidates[i] = a.candidate; r.memory != nil {
			candidates[i] = a.candidate.clone() // callers may change their copy
		}
	}
	if narrows {
		var err error
		if candidates, err = narrow(ctx, candidates); err != nil || len(candidates) == 0 {
			return nil, err
		}
	}
	return Choose(candidates, r.plugin.criteria()), nil
}

// candidates tries the nodes, starting at a random one, until there are enough.
// Candidates without violated budgets come first.
//
// Source: kube-scheduler 1.37, framework/preemption, DryRunPreemption.
func (r *run) candidates(ctx context.Context) (list []*answer, refused refusals, err error) {
	if r.memory != nil {
		r.budgets = r.memory.class.budgets
	} else {
		r.budgets = budgetsOf(r.cycle.Snapshot)
	}
	mayTally := ctx.Err() == nil && r.mayTally()
	if mayTally {
		if refused, ok := r.tallied(); ok {
			return nil, refused, nil
		}
	}
	slots := r.slots()
	if len(slots) == 0 {
		return nil, refused, nil
	}
	enough := r.enough(len(slots))
	start, _ := bits.Mul64(r.cycle.Seed, uint64(len(slots)))
	var all *tally
	if mayTally && enough > 0 { // otherwise no node refuses, and yet none is a candidate
		all = &r.memory.class.tally
		all.reset(r.cycle.Snapshot.SlotLimit())
	}
	clean, violating := make([]*answer, 0, enough), []*answer(nil)
	for i := range slots {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		at := int(start) + i
		if at >= len(slots) {
			at -= len(slots)
		}
		switch a := r.ask(slots[at]); {
		case a.failed():
			err = firstOf(err, fmt.Errorf("node %s: %w", r.cycle.Snapshot.AtSlot(slots[at]).Name(), a.refused.Err()))
		case a.refused != nil && all != nil:
			all.count(slots[at], *a.refused)
		case a.refused != nil:
			refused.add(*a.refused)
		case !a.violates && len(clean) < enough:
			clean = append(clean, a)
		case a.violates && len(violating) < enough:
			violating = append(violating, a)
		}
		if len(clean) > 0 && len(clean)+len(violating) >= enough {
			break
		}
	}
	list = append(clean, violating...)
	if len(list) > 0 {
		err = nil // failures elsewhere do not matter
	}
	if all != nil {
		all.on, refused = len(list) == 0 && err == nil && !r.elsewhere, all.refused
	}
	return list, refused, err
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// enough is how many candidates end the search among n nodes.
//
// Source: kube-scheduler 1.37, DefaultPreemption.calculateNumCandidates.
func (r *run) enough(n int) int {
	percentage, absolute := r.plugin.least()
	return int(min(int64(n), max(int64(n)*int64(percentage)/100, int64(absolute), 0)))
}

// least returns the bounds of the search, with the defaults filled in.
func (p DefaultPreemption) least() (percentage, absolute int32) {
	percentage, absolute = 10, 100
	if p.MinCandidateNodesPercentage != nil {
		percentage = *p.MinCandidateNodesPercentage
	}
	if p.MinCandidateNodesAbsolute != nil {
		absolute = *p.MinCandidateNodesAbsolute
	}
	return percentage, absolute
}

// DryRun tries every node where removing pods may help, not only as many as
// PostFilter needs. Use it to inspect the candidates, or to choose yourself. Pass
// the cycle and verdicts of a PostFilter call. Candidates are in the snapshot's
// order of nodes; failed has the status of each other node, with the reason.
func (p DefaultPreemption) DryRun(c *framework.Cycle, verdicts framework.Verdicts) (candidates []*Candidate, failed map[string]framework.Status) {
	r := &run{plugin: p, cycle: c, verdicts: verdicts, budgets: budgetsOf(c.Snapshot)}
	failed = map[string]framework.Status{}
	for _, slot := range r.slots() {
		node := c.Snapshot.AtSlot(slot)
		if candidate, status := r.try(node); status.IsSuccess() {
			candidates = append(candidates, candidate)
		} else {
			failed[node.Name()] = status
		}
	}
	return candidates, failed
}
