package whatif

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// maxTrialWeight bounds the weights that WhyNot tries.
const maxTrialWeight = 10_000

// preferred finds remedies for a node that is feasible with the changes but not chosen:
// a change of one weight, or a pin.
func (x *whyNot) preferred(changes []Change) ([]Remedy, error) {
	var list []Remedy
	table, err := x.tableOf(changes)
	if err != nil {
		return nil, err
	}
	for i := range x.planner.profile.Score {
		c, ok, err := x.reweigh(table, i)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if err := x.keep(&list, with(changes, c)); err != nil {
			return nil, err
		}
	}
	return list, x.keep(&list, with(changes, Change{Kind: ChangePin, To: x.node.Name}))
}

// with returns the changes and one more.
func with(changes []Change, more ...Change) []Change {
	return append(slices.Clone(changes), more...)
}

// keep adds the changes to the list if a decision with them chooses the node.
func (x *whyNot) keep(list *[]Remedy, changes []Change) error {
	name, err := x.decide(changes)
	if err == nil && name == x.node.Name {
		*list = append(*list, x.remedy(changes))
	}
	return err
}

// tableOf keeps the scores of the decision with the changes.
func (x *whyNot) tableOf(changes []Change) (t *scheduling.ScoreTable, err error) {
	if len(changes) == 0 && x.table != nil {
		return x.table, nil
	}
	err = x.with(changes, func(s *framework.Snapshot, pod *framework.PodInfo, _ *trial) error {
		t, err = x.sched.ScoreTable(s, pod)
		return err
	})
	return t, err
}

// reweigh finds the weight of a scorer, as near to its own as possible, under which the
// node is chosen; false if there is none. One step back it is not chosen.
func (x *whyNot) reweigh(t *scheduling.ScoreTable, scorer int) (c Change, ok bool, err error) {
	weights := x.sched.Weights()
	own := weights[scorer]
	wins := func(w int64) bool {
		weights[scorer] = w
		if !slices.ContainsFunc(weights, func(w int64) bool { return w > 0 }) {
			return false
		}
		d, e := t.Choose(weights)
		if e != nil {
			err = e
		}
		return d.Node == x.node.Name
	}
	up, upOK := int64(0), own < maxTrialWeight && wins(maxTrialWeight)
	if upOK {
		up = between(own, maxTrialWeight, wins)
	}
	down, downOK := int64(0), own > 0 && wins(0)
	if downOK {
		down = between(own, 0, wins)
	}
	weight := up
	if downOK && (!upOK || own-down < up-own) {
		weight = down
	}
	name := x.planner.profile.Score[scorer].Plugin.Name()
	return Change{Kind: ChangeWeight, Name: name, Was: own, Amount: weight}, upOK || downOK, err
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
