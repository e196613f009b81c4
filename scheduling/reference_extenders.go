package scheduling

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/pick"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// extended is the extenders' part in a decision. Its zero value suits profiles
// without extenders.
type extended struct {
	ctx context.Context
	// replay holds earlier answers of the extenders' filters for this same decision;
	// nil: ask them.
	replay *extenderAnswer
	answer extenderAnswer // the extenders' answer
	// nominated is their answer about the node that the pod was nominated to. Within a
	// decision they are asked once.
	nominated extenderAnswer

	scores   [][]extenderScore // by extender, by place among the feasible
	answered []bool            // by place among the feasible: in some extender's answer
}

// extenderAnswer is the combined answer of all extenders' filters about the nodes
// that the plugins found feasible.
type extenderAnswer struct {
	known   bool
	number  uint64 // of the decision
	kept    []int  // slots, in the extenders' order
	refused []refused
	emptied bool
}

// refused is a node that an extender does not take.
type refused struct {
	slot   int
	status framework.Status
}

// extenderScore is one extender's score of a node.
type extenderScore struct {
	given bool
	score int64
}

// askExtenders asks the extenders in turn and keeps the feasible nodes that all of
// them accept. If an extender fails, it is skipped if it is ignorable; otherwise the
// cycle fails.
//
// Source: kube-scheduler 1.37, schedule_one.go, findNodesThatPassExtenders.
func (r *referencePath) askExtenders(s *framework.Snapshot) error {
	r.rated = nil
	if len(r.plugins.extenders) == 0 || len(r.feasible) == 0 {
		return nil
	}
	a, err := r.answerExtenders((*extenderAnswer).take)
	if err != nil {
		return err
	}
	r.take(s, a)
	r.refuse(s, a)
	return nil
}

// A takeFunc applies the verdict of one extender about the nodes and returns those that it
// takes.
type takeFunc func(a *extenderAnswer, e *Extender, nodes []*framework.NodeInfo, v ExtenderVerdict) ([]*framework.NodeInfo, error)

// answerExtenders returns the extenders' answer about the feasible nodes, an earlier one
// if it is of the same decision.
func (r *referencePath) answerExtenders(take takeFunc) (*extenderAnswer, error) {
	a := &r.extended.answer
	if replay := r.extended.replay; replay != nil && replay.known && replay.number == r.cycle.Number {
		*a = *replay
		return a, nil
	}
	*a = extenderAnswer{number: r.cycle.Number, kept: a.kept[:0], refused: a.refused[:0]}
	return a, a.ask(r, r.feasible, take)
}

// extendersTake asks about the node that the pod was nominated to. If an extender
// refuses it with a reason, it also returns that status. An error counts as a no
// here: the node is looked at again with the others.
func (r *referencePath) extendersTake(node *framework.NodeInfo) (taken bool, refusal framework.Status) {
	a := &r.extended.nominated
	if !a.known || a.number != r.cycle.Number {
		*a = extenderAnswer{number: r.cycle.Number}
		if err := a.ask(r, []*framework.NodeInfo{node}, (*extenderAnswer).take); err != nil {
			return false, refusal
		}
	}
	for _, n := range a.refused {
		if len(n.status.Reasons()) > 0 {
			refusal = n.status
		}
	}
	return len(a.kept) > 0, refusal
}

// ask asks all extenders, each about the nodes that the earlier ones left.
func (a *extenderAnswer) ask(r *referencePath, nodes []*framework.NodeInfo, take takeFunc) error {
	for i := range r.plugins.extenders {
		e := &r.plugins.extenders[i]
		if len(nodes) == 0 {
			break
		}
		if e.Filter == nil || !e.interested(r.cycle.Pod) {
			continue
		}
		said, err := e.filter(r.extended.ctx, r.cycle.Pod, nodes)
		var taken []*framework.NodeInfo
		if err == nil {
			taken, err = take(a, e, nodes, said)
		}
		switch {
		case err == nil:
			nodes = taken
		case !e.Ignorable:
			return err
		}
	}
	a.kept = slices.Grow(a.kept, len(nodes))
	for _, n := range nodes {
		a.kept = append(a.kept, n.Slot())
	}
	a.known = true
	return nil
}

// take applies the verdict of one extender. If there is no error, it notes the nodes
// that the extender refuses.
func (a *extenderAnswer) take(e *Extender, nodes []*framework.NodeInfo, v ExtenderVerdict) ([]*framework.NodeInfo, error) {
	asked := make(map[string]*framework.NodeInfo, len(nodes))
	for _, n := range nodes {
		asked[n.Name()] = n
	}
	left := make(map[string]bool, len(v.Nodes))
	taken := make([]*framework.NodeInfo, 0, len(v.Nodes))
	for _, name := range v.Nodes {
		n := asked[name]
		if n == nil {
			return nil, &ExtenderError{e.Name, "Filter", fmt.Errorf("it claims a filtered node %q which is not found in the input node list", name)}
		}
		if !left[name] {
			left[name] = true
			taken = append(taken, n)
		}
	}
	for _, n := range nodes {
		if left[n.Name()] {
			continue
		}
		a.refused = append(a.refused, refused{n.Slot(), v.refusal(n)})
	}
	a.emptied = a.emptied || v.Emptied
	return taken, nil
}

// refusal is the status of a node that is not among those taken.
func (v *ExtenderVerdict) refusal(n *framework.NodeInfo) framework.Status {
	if text, ok := v.Unresolvable[n.Name()]; ok {
		return framework.UnresolvableStatus(framework.Text(text))
	}
	if text, ok := v.Failed[n.Name()]; ok {
		return framework.UnschedulableStatus(framework.Text(text))
	}
	return framework.NewStatus(framework.UnschedulableAndUnresolvable, nil)
}

// take leaves the feasible nodes that the extenders take.
func (r *referencePath) take(s *framework.Snapshot, a *extenderAnswer) {
	r.feasible = r.feasible[:0]
	for _, slot := range a.kept {
		r.feasible = append(r.feasible, s.AtSlot(slot))
	}
	if a.emptied {
		for _, n := range r.feasible {
			r.rated = append(r.rated, emptied(n))
		}
	}
}

// refuse notes the verdicts on nodes that the extenders do not take.
func (r *referencePath) refuse(s *framework.Snapshot, a *extenderAnswer) {
	if len(a.refused) == 0 {
		return
	}
	places := make([]int, s.SlotLimit())
	for place, slot := range r.slots {
		places[slot] = place
	}
	for _, n := range a.refused {
		r.verdicts[places[n.slot]] = verdict{byExtender, n.status}
	}
}

// emptied returns a node as if no pods were on it.
func emptied(n *framework.NodeInfo) *framework.NodeInfo {
	e := *n
	e.Requested = make(resource.Vector, len(n.Requested))
	e.NonZeroRequested = [2]int64{}
	e.Pods, e.UsedPorts, e.Nominated = nil, nil, nil
	return &e
}

// toRate returns the feasible nodes as the scorers see them.
func (r *referencePath) toRate() []*framework.NodeInfo {
	if r.rated != nil {
		return r.rated
	}
	return r.feasible
}

// prioritize adds the extenders' scores to the totals. It asks all extenders at
// once, and skips those that fail.
//
//	total += score * weight * (100 / 10)
//
// Source: kube-scheduler 1.37, schedule_one.go, prioritizeNodes.
//
// Sums saturate; see Extender.Prioritize.
func (r *referencePath) prioritize() {
	x := &r.extended
	x.scores, x.answered = nil, nil
	extenders := r.plugins.extenders
	if len(extenders) == 0 {
		return
	}
	nodes := r.toRate()
	places := make(map[string]int, len(nodes))
	for i, n := range nodes {
		places[n.Name()] = i
	}
	x.scores, x.answered = make([][]extenderScore, len(extenders)), make([]bool, len(nodes))
	for i, answer := range r.askPrioritize(nodes) {
		for _, a := range answer {
			k, ok := places[a.Host]
			if !ok {
				continue
			}
			if x.scores[i] == nil {
				x.scores[i] = make([]extenderScore, len(nodes))
			}
			given := &x.scores[i][k]
			given.given, given.score = true, resource.SatAdd(given.score, a.Score)
			x.answered[k] = true
		}
	}
	for i, scores := range x.scores {
		for k, s := range scores {
			r.totals[k] = resource.SatAdd(r.totals[k], extenders[i].weighted(s.score))
		}
	}
}

// askPrioritize asks all extenders for scores at once, and notes the nodes of those that
// are interested and do not score: they count as scoring every node 0, with weight 0.
func (r *referencePath) askPrioritize(nodes []*framework.NodeInfo) [][]HostScore {
	x := &r.extended
	answers := make([][]HostScore, len(r.plugins.extenders))
	var wg sync.WaitGroup
	for i := range r.plugins.extenders {
		e := &r.plugins.extenders[i]
		switch {
		case !e.interested(r.cycle.Pod):
		case e.Prioritize == nil:
			for k := range x.answered {
				x.answered[k] = true
			}
		default:
			wg.Go(func() {
				if scores, err := e.prioritize(x.ctx, r.cycle.Pod, nodes); err == nil {
					answers[i] = scores
				}
			})
		}
	}
	wg.Wait()
	return answers
}

// weighted returns what a score adds to a total.
func (e *Extender) weighted(score int64) int64 {
	return resource.SatMul(resource.SatMul(score, e.Weight), framework.MaxNodeScore/maxExtenderScore)
}

// chooseAnswered breaks a tie by the rule Heap if extenders have scored. Upstream
// gives the nodes in their answers a random number, and the largest wins. The heap
// decides only if no tied node has one.
func (r *referencePath) chooseAnswered(seed uint64) (place int, ok bool) {
	var tied []int
	for _, k := range r.tied {
		if k < len(r.extended.answered) && r.extended.answered[k] {
			tied = append(tied, k)
		}
	}
	if len(tied) == 0 {
		return 0, false
	}
	return tied[pick.Draw(seed, len(tied))], true
}

// narrow returns the function for [preemption.Narrow] that asks the extenders about
// the candidates of a preemption; nil if no extender takes part.
func (t *plugins) narrow(c *framework.Cycle) func(context.Context, []*preemption.Candidate) ([]*preemption.Candidate, error) {
	var asked []*Extender
	for i := range t.extenders {
		if e := &t.extenders[i]; e.Preempt != nil && e.interested(c.Pod) {
			asked = append(asked, e)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	return func(ctx context.Context, candidates []*preemption.Candidate) ([]*preemption.Candidate, error) {
		for _, e := range asked {
			if len(candidates) == 0 {
				break
			}
			kept, err := e.preempt(ctx, c.Pod, c.Snapshot, candidates)
			switch {
			case err == nil:
				candidates = kept
			case !e.Ignorable:
				return nil, err
			}
		}
		return candidates, nil
	}
}
