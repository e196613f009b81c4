package gang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/resource"
)

// How groups are placed under the rules that are not kube-scheduler's. Candidates are
// tried in stages: the domains of the finest Preferred level, then of the next coarser
// one, and at last those of the finest Required level, or the whole cluster. A domain of a
// Preferred level must take all pods, or as many as the last stage places. Counts only
// propose a domain and how many pods go where; the pods are then placed by the filters.

// stuckError says why the members that are present leave no domain.
type stuckError struct{ text string }

func (e *stuckError) Error() string { return e.text }

func (a *attempt) own() error {
	bases, err := a.bases()
	if stuck, ok := err.(*stuckError); ok {
		a.out.Status, a.out.Text, a.out.Proved = Stuck, stuck.text, true
		a.leaveAll()
		return nil
	}
	if len(bases) == 0 || len(a.keys) > 0 && len(a.root.slots) == 0 {
		a.noDomain()
		return nil
	}
	a.measure()
	a.mean = meanOf(a.g)
	for i := len(a.g.Topology) - 1; i >= a.required(); i-- {
		if a.g.Topology[i].Mode != Preferred {
			continue
		}
		var list []*domain
		for _, b := range bases {
			list = b.at(i+1, list)
		}
		if done, err := a.stage(list, a.want()); done || err != nil {
			return err
		}
	}
	if done, err := a.stage(bases, a.g.need()); done || err != nil {
		return err
	}
	if done, err := a.keepMost(a.fewer); done || err != nil {
		return err
	}
	return a.refuseOwn()
}

// required is how many levels are Required.
func (a *attempt) required() (n int) {
	for _, l := range a.g.Topology {
		if l.Mode == Required {
			n++
		}
	}
	return n
}

// bases lists the domains of the finest Required level, or the one that the members
// which are present are in.
func (a *attempt) bases() ([]*domain, error) {
	depth := a.required()
	if depth == 0 || len(a.g.Present) == 0 {
		return a.root.at(depth, nil), nil
	}
	var pinned *domain
	first := ""
	for _, m := range a.g.Present {
		d := a.root.of(a.snap.Node(m.Node), a.keys, depth)
		switch {
		case d == nil:
			return nil, &stuckError{fmt.Sprintf("pod %s is on node %s, which is in no domain of %s", m.Pod.Pod.Key(), m.Node, a.keys[depth-1])}
		case pinned != nil && d != pinned:
			return nil, &stuckError{fmt.Sprintf("pods %s and %s are in domains %s and %s of %s", first, m.Pod.Pod.Key(), pinned.name, d.name, a.keys[depth-1])}
		case pinned == nil:
			pinned, first = d, m.Pod.Pod.Key()
		}
	}
	return []*domain{pinned}, nil
}

// A candidate is a domain that the group may go to.
type candidate struct {
	d     *domain
	trial *Trial
	fits  int // how many pods it takes; estimated if the pods are not of one class
	fill  int64
	steps int // how many the search had taken before the trial
	ties  int // how many candidates of its stage only names tell apart from it
}

// stage tries the group in the domains, in the order of the rule, until one takes as many
// pods as asked for. done reports that it stands. Domains that take the minimum and no
// more than that are noted as fewer.
func (a *attempt) stage(list []*domain, least int) (done bool, err error) {
	candidates := make([]*candidate, len(list))
	for i, d := range list {
		candidates[i] = a.candidate(d)
	}
	a.sort(candidates)
	var stand []*candidate
	for _, c := range candidates {
		a.out.Trials = append(a.out.Trials, c.trial)
		switch {
		case c.trial.Bound != "":
			continue
		case a.room != nil && c.fits < least:
			c.trial.Succeeded, c.steps, c.ties = true, a.steps, a.tied(candidates, c)
			a.fewer = append(a.fewer, c)
			continue
		}
		mark := a.snap.Begin()
		if err := a.settle(c); err != nil {
			a.snap.Rollback(mark)
			return false, err
		}
		c.ties = a.tied(candidates, c)
		switch {
		case !c.trial.Succeeded:
			a.snap.Rollback(mark)
		case c.trial.Pods < least:
			a.snap.Rollback(mark)
			a.fewer = append(a.fewer, c)
		case a.rules.Compare == nil && !a.anyFewer(c.trial.Pods):
			a.snap.Commit(mark)
			a.out.TiedDomains = c.ties
			return true, a.stood(c.trial)
		default:
			a.snap.Rollback(mark)
			if stand = append(stand, c); a.rules.Compare == nil {
				return a.keepMost(append(a.fewer, c))
			}
		}
	}
	if len(stand) == 0 {
		return false, nil
	}
	best, err := a.first(stand)
	if err != nil {
		return false, err
	}
	return a.keepMost(append(a.fewer, best))
}

// candidate returns what is known of a domain before the group is tried there: how many
// pods it may take, and why it cannot take the minimum.
func (a *attempt) candidate(d *domain) *candidate {
	c := &candidate{d: d, trial: newTrial(d)}
	if a.room != nil {
		c.fits = a.g.whole(a.takes[d.id])
		c.trial.Capacity, c.trial.Pods = c.fits, min(c.fits, len(a.g.Pods))
	} else {
		c.fits = a.estimate(d)
	}
	switch need := a.g.need(); {
	case len(a.g.Pods) < need:
		c.trial.Bound = fmt.Sprintf("the group has %d of %d pods", len(a.g.Pods), need)
	case a.room == nil:
		c.trial.Bound = a.bound(d)
	case c.fits < need:
		c.trial.Bound = fmt.Sprintf("takes %d of %d pods", c.fits, need)
	}
	return c
}

// anyFewer reports whether a domain of a Preferred level takes as many pods, although not
// all.
func (a *attempt) anyFewer(pods int) bool {
	return slices.ContainsFunc(a.fewer, func(c *candidate) bool { return c.trial.Pods >= pods })
}

// first returns the candidate whose trial the user's rule puts first.
func (a *attempt) first(stand []*candidate) (best *candidate, err error) {
	err = errtext.Guard("Rules.Compare", func() error {
		best = slices.MinFunc(stand, func(x, y *candidate) int { return a.rules.Compare(x.trial, y.trial) })
		best.ties = 0
		for _, c := range stand {
			if a.rules.Compare(best.trial, c.trial) == 0 {
				best.ties++
			}
		}
		return nil
	})
	return best, err
}

// keepMost places the group in the candidate that takes the most pods, the first of
// several. The trial of each has said how many, or a count has, which is no more than a
// proposal. It returns false if all of them were such proposals and failed.
func (a *attempt) keepMost(list []*candidate) (bool, error) {
	for list = slices.Clone(list); len(list) > 0; {
		most := 0
		for i, c := range list {
			if c.trial.Pods > list[most].trial.Pods {
				most = i
			}
		}
		c := list[most]
		pods := c.trial.Pods
		mark := a.snap.Begin()
		if err := a.resettle(c); err != nil {
			a.snap.Rollback(mark)
			return false, err
		}
		if c.trial.Succeeded && c.trial.Pods >= pods {
			a.snap.Commit(mark)
			a.out.TiedDomains = c.ties
			return true, a.stood(c.trial)
		}
		a.snap.Rollback(mark)
		if !c.trial.Succeeded {
			list = slices.Delete(list, most, most+1)
		}
	}
	return false, nil
}

// resettle settles a candidate as if nothing had been searched since its first trial.
func (a *attempt) resettle(c *candidate) error {
	steps, gaveUp := a.steps, a.gaveUp
	a.steps, a.gaveUp = c.steps, false
	c.trial.Placed, c.trial.Left = nil, nil
	err := a.settle(c)
	a.steps, a.gaveUp = max(a.steps, steps), a.gaveUp || gaveUp
	return err
}

// stood fills in the outcome from the trial that was kept. If pods wait, and none of them
// is new there, the group is Short although its minimum stands.
func (a *attempt) stood(t *Trial) error {
	if len(t.Placed) > 0 || len(a.g.Pods) == 0 {
		a.finish(t)
		return nil
	}
	a.out.Status, a.out.Text = Short, textMinimumStands
	if a.want() > 0 {
		if err := a.explore(t); err != nil {
			return err
		}
		if len(t.Left) > 0 && t.Left[0].Err != nil {
			a.out.Text += fmt.Sprintf(", and no further pod fits; %s: %s", t.Left[0].Pod, t.Left[0].Err)
		}
	}
	a.finish(t)
	return nil
}

const textMinimumStands = "the minimum stands already"

// sort orders the candidates by the rule: first domains that take all pods, then those
// that take the minimum, then the others.
func (a *attempt) sort(list []*candidate) {
	want := a.want()
	enough := func(c *candidate) int {
		switch {
		case c.trial.Bound != "":
			return 2
		case c.fits < want:
			return 1
		}
		return 0
	}
	for _, c := range list {
		c.fill = -1
	}
	packed := func(c *candidate) int64 {
		if c.fill < 0 {
			c.fill = NodeResourcesFit{}.ScorePlacement(Proposal{Snapshot: a.snap, Group: a.g, Slots: c.d.slots})
		}
		return c.fill
	}
	slices.SortStableFunc(list, func(x, y *candidate) int {
		e := enough(x)
		if c := cmp.Compare(e, enough(y)); c != 0 {
			return c
		}
		if e > 0 {
			return cmp.Or(cmp.Compare(y.fits, x.fits), strings.Compare(x.d.name, y.d.name))
		}
		bySize := cmp.Compare(x.fits, y.fits)
		if a.rules.Choice == MostPacked {
			return cmp.Or(cmp.Compare(packed(y), packed(x)), bySize, strings.Compare(x.d.name, y.d.name))
		}
		if bySize != 0 {
			return bySize
		}
		return cmp.Or(cmp.Compare(packed(y), packed(x)), strings.Compare(x.d.name, y.d.name))
	})
}

// tied counts the candidates that only their names tell apart from the chosen one.
func (a *attempt) tied(list []*candidate, chosen *candidate) (n int) {
	for _, c := range list {
		if c.trial.Bound == "" && c.fits == chosen.fits && c.fill == chosen.fill {
			n++
		}
	}
	return n
}

// want is how many pods are to be placed if they all fit.
func (a *attempt) want() int {
	if a.rules.Exact {
		return a.g.need()
	}
	return len(a.g.Pods)
}

// settle places the group in the candidate's domain. The trial says whether the minimum
// stands.
func (a *attempt) settle(c *candidate) error {
	t := c.trial
	c.steps = a.steps
	a.sched.Seek(a.position)
	mark := a.snap.Begin()
	if err := a.settleGreedily(c); err != nil {
		return err
	}
	t.Pods = len(t.Placed)
	t.Succeeded = t.Pods >= a.g.need()
	if t.Succeeded || a.room != nil && !a.g.sliced() || a.rules.Search == 0 {
		a.snap.Commit(mark)
		return nil
	}
	a.snap.Rollback(mark)
	t.Placed = nil
	return a.search(c)
}

func (a *attempt) settleGreedily(c *candidate) error {
	t := c.trial
	all := a.order(c.d)
	if a.room != nil {
		n := min(a.want(), c.fits)
		ok, err := a.fill(c.d, all[:n], t)
		switch {
		case err != nil:
			return err
		case !ok:
			if err := a.cut(t, a.g.whole(len(t.Placed))); err != nil { // the last slice is not whole
				return err
			}
		}
		for _, i := range all[n:] {
			t.Left = append(t.Left, Left{Pod: a.g.Pods[i].Pod.Key(), index: i})
		}
		return nil
	}
	if a.rules.Order != Both || a.g.sliced() {
		return a.walk(c.d, all, t)
	}
	return a.bothOrders(c, all)
}

// bothOrders keeps the better of the given order and the largest first.
func (a *attempt) bothOrders(c *candidate, given []int) error {
	mark := a.snap.Begin()
	first := newTrial(c.d)
	if err := a.walk(c.d, given, first); err != nil {
		a.snap.Rollback(mark)
		return err
	}
	if len(first.Placed) >= a.want() {
		a.snap.Commit(mark)
		c.trial.Placed, c.trial.Left = first.Placed, first.Left
		return nil
	}
	a.snap.Rollback(mark)
	mark = a.snap.Begin()
	a.sched.Seek(a.position)
	second := newTrial(c.d)
	if err := a.walk(c.d, a.largestFirst(c.d), second); err != nil {
		a.snap.Rollback(mark)
		return err
	}
	if len(second.Placed) > len(first.Placed) {
		a.snap.Commit(mark)
		c.trial.Placed, c.trial.Left = second.Placed, second.Left
		return nil
	}
	a.snap.Rollback(mark)
	a.sched.Seek(a.position)
	return a.walk(c.d, given, c.trial)
}

// order lists the numbers of the pods in the order in which they are tried.
func (a *attempt) order(d *domain) []int {
	if a.rules.Order == LargestFirst && !a.g.sliced() && a.room == nil {
		return a.largestFirst(d)
	}
	list := make([]int, len(a.g.Pods))
	for i := range list {
		list[i] = i
	}
	return list
}

// largestFirst sorts the pods by the largest part of the domain that they ask for.
func (a *attempt) largestFirst(d *domain) []int {
	var total resource.Vector
	for _, slot := range d.slots {
		total = total.Add(a.snap.AtSlot(slot).Allocatable)
	}
	list, part := make([]int, len(a.g.Pods)), make([]int64, len(a.g.Pods))
	for i, p := range a.g.Pods {
		list[i] = i
		for k, x := range p.Requests {
			if has := total.At(k); has > 0 {
				const scale = 1 << 20
				part[i] = max(part[i], resource.SatMul(x, scale)/has)
			}
		}
	}
	slices.SortStableFunc(list, func(x, y int) int { return cmp.Compare(part[y], part[x]) })
	return list
}
