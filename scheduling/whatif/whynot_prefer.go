package whatif

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/scheduling"
)

// maxTrialWeight bounds the weights that WhyNot tries.
const maxTrialWeight = 10_000

// preferred finds remedies for a node that is feasible but not chosen: a change of one
// weight, or a pin.
func (x *whyNot) preferred() ([]Remedy, error) {
	list := []Remedy{}
	for i := range x.planner.profile.Score {
		c, ok, err := x.reweigh(x.table, i)
		if err != nil {
			return nil, err
		}
		if ok { // the table has decided with this weight
			list = append(list, Remedy{Changes: []Change{c}})
		}
	}
	pin := []Change{{Kind: ChangePin, To: x.node.Name}}
	name, err := x.decide(pin)
	if err == nil && name == x.node.Name {
		list = append(list, Remedy{Changes: pin})
	}
	return list, err
}

// with returns the changes and one more.
func with(changes []Change, more ...Change) []Change {
	return append(slices.Clone(changes), more...)
}

// reweigh finds the weight of a scorer, as near to its own as possible, under which the
// node is chosen; false if there is none. Of two that are as near it takes the higher one.
//
// The node can be chosen only between two weights. Inside of these the same nodes tie with
// it, so the tie rule decides alike; so only weights near the ends have to be tried. The
// rules Reservoir and Custom may decide otherwise, and then there may be a nearer weight.
func (x *whyNot) reweigh(t *scheduling.ScoreTable, scorer int) (c Change, ok bool, err error) {
	weights := x.sched.Weights()
	own := weights[scorer]
	lo, hi, ok, err := t.WeightRange(x.node.Name, weights, scorer, maxTrialWeight)
	if !ok || err != nil {
		return c, false, err
	}
	list := []int64{lo, lo + 1, hi - 1, hi}
	slices.SortFunc(list, func(a, b int64) int {
		return cmp.Or(cmp.Compare(max(a-own, own-a), max(b-own, own-b)), cmp.Compare(b, a))
	})
	for _, weight := range list {
		weights[scorer] = weight
		if weight == own || weight < lo || weight > hi || !slices.ContainsFunc(weights, func(w int64) bool { return w > 0 }) {
			continue
		}
		switch d, err := t.Choose(weights); {
		case err != nil:
			return c, false, err
		case d.Node == x.node.Name:
			name := nameOf(x.planner.profile.Score[scorer].Plugin)
			return Change{Kind: ChangeWeight, Name: name, Was: own, Amount: weight}, true, nil
		}
	}
	return c, false, nil
}

// between returns a number, from one for which ok is false towards one for which it is
// true, for which it is true but not one step back.
func between(no, yes int64, ok func(int64) bool) int64 {
	for yes-no > 1 || no-yes > 1 {
		if middle := no + (yes-no)/2; ok(middle) {
			yes = middle
		} else {
			no = middle
		}
	}
	return yes
}
