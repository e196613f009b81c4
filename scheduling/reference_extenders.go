package scheduling

import (
	"context"
	"fmt"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/errtext"
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

	left     candidates        // the nodes that all of them take
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
	last    lastRefusal // of the last one of refused
	emptied bool
}

// lastRefusal is why an extender does not take a node. Many nodes in a row often have one
// reason.
type lastRefusal struct {
	code   framework.Code
	text   string
	status framework.Status
}

// candidates are nodes that extenders are asked about, or that they take.
type candidates struct {
	nodes []*framework.NodeInfo
	slots []int
	names []string
}

func candidatesOf(nodes []*framework.NodeInfo) candidates {
	c := candidates{nodes, make([]int, 0, len(nodes)), make([]string, 0, len(nodes))}
	for _, n := range nodes {
		c.slots, c.names = append(c.slots, n.Slot()), append(c.names, n.Name())
	}
	return c
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
	a, err := r.answerExtenders(s, candidatesOf(r.feasible), (*extenderAnswer).take)
	if err != nil {
		return err
	}
	r.refuse(s, a)
	return nil
}

// A takeFunc applies the verdict of one extender about the nodes and returns those that it
// takes.
type takeFunc func(a *extenderAnswer, e *Extender, asked candidates, v ExtenderVerdict) (candidates, error)

// answerExtenders returns the extenders' answer about nodes, an earlier one if it is of the
// same decision. Only the nodes that they take stay feasible.
func (r *referencePath) answerExtenders(s *framework.Snapshot, asked candidates, take takeFunc) (*extenderAnswer, error) {
	x := &r.extended
	a := &x.answer
	if replay := x.replay; replay != nil && replay.known && replay.number == r.cycle.Number {
		*a = *replay
		nodes := make([]*framework.NodeInfo, 0, len(a.kept))
		for _, slot := range a.kept {
			nodes = append(nodes, s.AtSlot(slot))
		}
		x.left = candidatesOf(nodes)
	} else {
		*a = extenderAnswer{number: r.cycle.Number, kept: a.kept[:0], refused: a.refused[:0]}
		var err error
		if x.left, err = a.ask(r, asked, take); err != nil {
			return a, err
		}
	}
	r.feasible = append(r.feasible[:0], x.left.nodes...)
	if a.emptied {
		for _, n := range r.feasible {
			r.rated = append(r.rated, emptied(n))
		}
	}
	return a, nil
}

// extendersTake asks about the node that the pod was nominated to. If an extender
// refuses it with a reason, it also returns that status. An error counts as a no
// here: the node is looked at again with the others.
func (r *referencePath) extendersTake(node *framework.NodeInfo) (taken bool, refusal framework.Status) {
	a := &r.extended.nominated
	if !a.known || a.number != r.cycle.Number {
		*a = extenderAnswer{number: r.cycle.Number}
		if _, err := a.ask(r, candidatesOf([]*framework.NodeInfo{node}), (*extenderAnswer).take); err != nil {
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

// ask asks all extenders, each about the nodes that the earlier ones left. It returns those
// that all of them take.
func (a *extenderAnswer) ask(r *referencePath, asked candidates, take takeFunc) (candidates, error) {
	for i := range r.plugins.extenders {
		e := &r.plugins.extenders[i]
		if len(asked.nodes) == 0 {
			break
		}
		if e.Filter == nil || !e.interested(r.cycle.Pod) {
			continue
		}
		said, err := e.filter(r.extended.ctx, r.cycle.Pod, asked.nodes)
		var taken candidates
		if err == nil {
			taken, err = take(a, e, asked, said)
		}
		switch {
		case err == nil:
			asked = taken
		case !e.Ignorable:
			return candidates{}, err
		}
	}
	a.kept = append(a.kept, asked.slots...)
	a.known = true
	return asked, nil
}

// maxClaimed bounds how much of the name of a node that an extender made up an error repeats.
const maxClaimed = 512

// take applies the verdict of one extender. If there is no error, it notes the nodes
// that the extender refuses.
func (a *extenderAnswer) take(e *Extender, asked candidates, v ExtenderVerdict) (taken candidates, err error) {
	places := make(map[string]int, len(asked.nodes))
	for k, name := range asked.names {
		places[name] = k
	}
	left := make(map[string]bool, len(v.Nodes))
	for _, name := range v.Nodes {
		k, ok := places[name]
		if !ok {
			return taken, &ExtenderError{e.Name, "Filter", fmt.Errorf("it claims a filtered node %q which is not found in the input node list", errtext.Cut(name, maxClaimed))}
		}
		if !left[name] {
			left[name] = true
			taken.nodes, taken.slots, taken.names = append(taken.nodes, asked.nodes[k]), append(taken.slots, asked.slots[k]), append(taken.names, asked.names[k])
		}
	}
	for k, name := range asked.names {
		if !left[name] {
			a.refuse(asked.slots[k], name, &v)
		}
	}
	a.emptied = a.emptied || v.Emptied
	return taken, nil
}

// refuse notes that an extender does not take a node.
func (a *extenderAnswer) refuse(slot int, name string, v *ExtenderVerdict) {
	code, text, ok := v.refusal(name)
	switch {
	case !ok:
		a.refused = append(a.refused, refused{slot, framework.NewStatus(framework.UnschedulableAndUnresolvable, nil)})
		return
	case a.last.code != code || a.last.text != text:
		a.last = lastRefusal{code, text, framework.NewStatus(code, framework.Text(text))}
	}
	a.refused = append(a.refused, refused{slot, a.last.status})
}

// refusal is why a node is not feasible, for one that is not among those taken; not ok if
// the verdict does not say.
func (v *ExtenderVerdict) refusal(name string) (code framework.Code, text string, ok bool) {
	if text, ok = v.Unresolvable[name]; ok {
		return framework.UnschedulableAndUnresolvable, text, true
	}
	text, ok = v.Failed[name]
	return framework.Unschedulable, text, ok
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

// askPrioritize asks all extenders for scores, several at once, and notes the nodes of those that
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
			ask := func() {
				if scores, err := e.prioritize(x.ctx, r.cycle.Pod, nodes); err == nil {
					answers[i] = scores
				}
			}
			if len(answers) == 1 {
				ask()
			} else {
				wg.Go(ask)
			}
		}
	}
	wg.Wait()
	return answers
}

// smallWeight bounds scores and weights: the product of two small ones and 10 does not
// overflow.
const smallWeight = 1 << 28

// weighted returns what a score adds to a total.
func (e *Extender) weighted(score int64) int64 {
	if -smallWeight < score && score < smallWeight && e.Weight < smallWeight {
		return score * e.Weight * (framework.MaxNodeScore / maxExtenderScore)
	}
	return resource.SatMul(resource.SatMul(score, e.Weight), framework.MaxNodeScore/maxExtenderScore)
}

// addWeighted adds the weighted scores of the nodes, in their order, to their totals.
func (e *Extender) addWeighted(totals []int64, scores []HostScore) {
	factor := int64(0) // what a small score is multiplied with, see weighted
	if e.Weight < smallWeight {
		factor = e.Weight * (framework.MaxNodeScore / maxExtenderScore)
	}
	totals = totals[:len(scores)]
	for k := range scores {
		x := scores[k].Score
		if factor > 0 && -smallWeight < x && x < smallWeight {
			x *= factor
		} else {
			x = e.weighted(x)
		}
		totals[k] = resource.SatAdd(totals[k], x)
	}
}

// chooseAnswered breaks a tie by the rule Heap if extenders have scored. Upstream
// gives the nodes in their answers a random number, and the largest wins. The heap
// decides only if no tied node has one.
func (r *referencePath) chooseAnswered(seed uint64) (place int, ok bool) {
	if len(r.extended.answered) == 0 { // mostly
		return 0, false
	}
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
