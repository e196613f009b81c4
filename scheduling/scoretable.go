package scheduling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/pick"
)

// A ScoreTable holds the scores of all feasible nodes for one decision, so that the
// decision can be made again under other weights without asking any plugin. Feasible
// nodes and normalized scores do not depend on weights.
//
// Nodes with equal scores form a group. A choice costs O(plugins) for each group, and
// what the tie rule needs: for Reservoir and Custom, O(nodes).
type ScoreTable struct {
	scheduler *Scheduler
	path      *referencePath
	decision  Decision // without node and score
	err       error    // of the decision, if it chose no node
	rows      []int    // for each plugin that scored, its index in the profile
	groups    []scoreGroup
	of        []int32 // group of each feasible node
	tied      []int   // memory of Choose

	// Memory of group.
	index  []int32
	scores []int64 // of all groups
	places []int   // of all groups
}

// scoreGroup is a set of feasible nodes with equal scores.
type scoreGroup struct {
	scores []int64 // normalized, as the rows of the table
	places []int   // among the feasible nodes, ascending
	root   int     // the first in pre-order of the implicit heap
}

// ScoreTable filters and scores for the scheduler's next decision and keeps the scores.
// It counts as that decision, so the next one has the next number. It is an error of
// Schedule if the decision cannot be made; that no node is feasible shows in Choose. A
// profile with extenders has no table, because they score too.
func (s *Scheduler) ScoreTable(snap *framework.Snapshot, pod *framework.PodInfo) (*ScoreTable, error) {
	t := &ScoreTable{scheduler: s, path: new(referencePath)}
	if err := t.Renew(snap, pod); err != nil {
		return nil, err
	}
	return t, nil
}

// Renew makes the table that [Scheduler.ScoreTable] would make now, in the memory of this
// one. After an error the table is of no use until Renew succeeds.
func (t *ScoreTable) Renew(snap *framework.Snapshot, pod *framework.PodInfo) error {
	s, r := t.scheduler, t.path
	pod, err := s.accept(snap, pod)
	if err != nil {
		return err
	}
	if len(s.plugins.extenders) > 0 {
		return &api.InvalidError{Object: "profile " + s.profile.Name, Field: "extenders", Err: errors.New("the scores of extenders cannot be kept")}
	}
	r.plugins, r.workers = &s.plugins, 1
	r.begin(context.Background())
	r.feasible = r.feasible[:0] // a decision without nodes does not search
	t.rows, t.groups, t.of, t.err = t.rows[:0], t.groups[:0], t.of[:0], nil
	d, err := s.decide(r, snap, pod, s.number, s.start)
	s.number++
	if n := snap.Len(); n > 0 {
		s.start = (d.start + d.advance) % n
	}
	t.decision = d
	t.decision.Node, t.decision.Score, t.decision.node = "", 0, nil
	var fit *FitError
	switch {
	case errors.As(err, &fit) || errors.Is(err, ErrNoNodes):
		t.err = err
		return nil
	case err != nil:
		return err
	case len(r.feasible) > 1:
		t.group()
	}
	return nil
}

// group divides the feasible nodes.
func (t *ScoreTable) group() {
	r := t.path
	for i := range r.bound.scorers {
		t.rows = append(t.rows, r.bound.scorers[i].At)
	}
	t.of = slices.Grow(t.of, len(r.feasible))[:len(r.feasible)]
	clear(t.of)
	const scores = int(framework.MaxNodeScore) + 1
	groups := 1
	for _, row := range r.norm { // each divides the groups
		// By group so far and score: the number of the new group and 1.
		index := slices.Grow(t.index[:0], groups*scores)[:groups*scores]
		clear(index)
		t.index, groups = index, 0
		for place, score := range row {
			at := &index[int(t.of[place])*scores+int(score)]
			if *at == 0 {
				groups++
				*at = int32(groups)
			}
			t.of[place] = *at - 1
		}
	}
	t.fill(groups)
}

// fill makes so many groups, from the group of each feasible node.
func (t *ScoreTable) fill(groups int) {
	norm := t.path.norm
	t.groups = slices.Grow(t.groups, groups)[:groups]
	clear(t.groups)
	t.scores = slices.Grow(t.scores[:0], groups*len(norm))[:groups*len(norm)]
	t.places = slices.Grow(t.places[:0], len(t.of))[:len(t.of)]
	sizes := slices.Grow(t.index[:0], groups)[:groups]
	t.index = sizes
	clear(sizes)
	for _, g := range t.of {
		sizes[g]++
	}
	next := 0
	for g := range t.groups {
		end := next + int(sizes[g])
		t.groups[g].places = t.places[next:next:end]
		t.groups[g].scores = t.scores[g*len(norm) : (g+1)*len(norm)]
		next = end
	}
	for place, g := range t.of {
		group := &t.groups[g]
		if len(group.places) == 0 {
			for i := range norm {
				group.scores[i] = norm[i][place]
			}
		}
		group.places = append(group.places, place)
	}
	for g := range t.groups {
		t.groups[g].root = slices.MinFunc(t.groups[g].places, preOrder)
	}
}

// preOrder compares two places by their order in a walk of the implicit binary heap
// that takes each element before those below it.
func preOrder(a, b int) int {
	if a == b {
		return 0
	}
	x, y := a+1, b+1 // the path from the root is in the bits after the first
	for x > y && bits.Len(uint(x)) > bits.Len(uint(y)) {
		if x >>= 1; x == y {
			return 1 // b lies above a
		}
	}
	for y > x && bits.Len(uint(y)) > bits.Len(uint(x)) {
		if y >>= 1; x == y {
			return -1
		}
	}
	for x>>1 != y>>1 {
		x, y = x>>1, y>>1
	}
	return cmp.Compare(x, y)
}

// Plugins returns the names of the plugins that scored, in the order of the profile.
func (t *ScoreTable) Plugins() []string {
	list := make([]string, len(t.rows))
	for i, at := range t.rows {
		list[i] = t.scheduler.plugins.scorers[at].name
	}
	return list
}

// Weights returns the profile's weights, by its scorers.
func (s *Scheduler) Weights() []int64 {
	list := make([]int64, len(s.plugins.scorers))
	for i := range s.plugins.scorers {
		list[i] = s.plugins.scorers[i].weight
	}
	return list
}

// Choose makes the decision as a scheduler with these weights would: one for each
// scorer of the profile, in its order. A weight of 0 leaves the scores of a plugin out.
// If no node is feasible it returns the error of Schedule. It is an
// [*api.InvalidError] if the number of weights differs, or one is negative or too
// large.
func (t *ScoreTable) Choose(weights []int64) (Decision, error) {
	if err := t.checkWeights(weights); err != nil {
		return Decision{}, err
	}
	d, r := t.decision, t.path
	switch {
	case t.err != nil:
		return d, t.err
	case len(r.feasible) == 1:
		d.TiedNodes = 1
		d.choose(r.feasible[0], 0)
		return d, nil
	}
	largest, count, only := int64(-1), 0, 0
	for g := range t.groups {
		total := t.total(g, weights)
		switch {
		case total > largest:
			largest, count, only = total, 1, g
		case total == largest:
			count++
		}
	}
	place, tied, err := t.pick(weights, largest, count, only)
	if err != nil {
		return d, err
	}
	d.TiedNodes = tied
	d.choose(r.feasible[place], largest)
	return d, nil
}

// maxWeight bounds weights, so that sums cannot overflow.
const maxWeight = 1 << 40

func (t *ScoreTable) checkWeights(weights []int64) error {
	if n := len(t.scheduler.plugins.scorers); len(weights) != n {
		return &api.InvalidError{Object: "weights", Value: fmt.Sprint(len(weights)), Err: fmt.Errorf("want one for each of the %d scorers", n)}
	}
	for i, w := range weights {
		if w < 0 || w > maxWeight {
			return &api.InvalidError{Object: fmt.Sprintf("weights[%d]", i), Value: fmt.Sprint(w), Err: fmt.Errorf("want a number from 0 to %d", int64(maxWeight))}
		}
	}
	return nil
}

func (t *ScoreTable) total(group int, weights []int64) (sum int64) {
	scores := t.groups[group].scores
	for i, at := range t.rows {
		sum += scores[i] * weights[at]
	}
	return sum
}

// pick breaks the tie between the groups of the highest total.
func (t *ScoreTable) pick(weights []int64, largest int64, count, only int) (place, tied int, err error) {
	rule, seed := t.scheduler.profile.TieRule, t.path.cycle.Seed
	if count == 1 && (rule == Random || rule == Heap || rule == First) {
		switch g := &t.groups[only]; rule {
		case Heap:
			return g.root, len(g.places), nil
		case First:
			return g.places[0], len(g.places), nil
		default:
			return g.places[pick.Draw(seed, len(g.places))], len(g.places), nil
		}
	}
	t.tied = t.tied[:0]
	root := -1
	for g := range t.groups {
		if t.total(g, weights) == largest {
			t.tied = append(t.tied, t.groups[g].places...)
			if x := t.groups[g].root; root < 0 || preOrder(x, root) < 0 {
				root = x
			}
		}
	}
	slices.Sort(t.tied)
	r := t.path
	switch rule {
	case Random:
		return t.tied[pick.Draw(seed, len(t.tied))], len(t.tied), nil
	case Heap:
		return root, len(t.tied), nil
	case First:
		return t.tied[0], len(t.tied), nil
	case ByName:
		return slices.MinFunc(t.tied, func(a, b int) int {
			return strings.Compare(r.feasible[a].Name(), r.feasible[b].Name())
		}), len(t.tied), nil
	}
	for i, g := range t.of {
		r.totals[i] = t.total(int(g), weights)
	}
	r.tied = append(r.tied[:0], t.tied...)
	place, err = r.choose(rule, t.scheduler.profile.TieBreak, seed)
	return place, len(t.tied), err
}

// WeightRange returns between which weights of a scorer, from 0 to a largest one, a feasible
// node has the highest total, alone or together with others. The other weights are as
// given. ok is false if there are none, or for a node that is not feasible. The errors are
// those of Choose, and one for a scorer that the profile does not have.
//
// Inside of the range the same nodes share the highest total. At its ends there may be
// more of them.
func (t *ScoreTable) WeightRange(node string, weights []int64, scorer int, largest int64) (lo, hi int64, ok bool, err error) {
	if err := t.checkWeights(weights); err != nil {
		return 0, 0, false, err
	}
	if scorer < 0 || scorer >= len(weights) {
		return 0, 0, false, &api.InvalidError{Object: "scorer", Value: fmt.Sprint(scorer), Err: fmt.Errorf("want a number from 0 to %d", len(weights)-1)}
	}
	place := slices.IndexFunc(t.path.feasible, func(n *framework.NodeInfo) bool { return n.Name() == node })
	if place < 0 || t.err != nil {
		return 0, 0, false, nil
	}
	lo, hi = 0, min(largest, maxWeight)
	if len(t.groups) > 0 {
		lo, hi = t.weightRange(int(t.of[place]), weights, scorer, hi)
	}
	return lo, hi, lo <= hi, nil
}

// weightRange is WeightRange for the nodes of a group, up to hi; it is empty if lo > hi.
func (t *ScoreTable) weightRange(group int, weights []int64, scorer int, hi int64) (int64, int64) {
	lo := int64(0)
	weights = slices.Clone(weights)
	weights[scorer] = 0
	row := slices.Index(t.rows, scorer) // -1 if it gives nothing to any node
	for g := range t.groups {
		// The group is not behind as long as ahead + gain*weight >= 0.
		ahead, gain := t.total(group, weights)-t.total(g, weights), int64(0)
		if row >= 0 {
			gain = t.groups[group].scores[row] - t.groups[g].scores[row]
		}
		switch {
		case gain > 0 && ahead < 0:
			lo = max(lo, (-ahead+gain-1)/gain)
		case gain <= 0 && ahead < 0:
			return 1, 0
		case gain < 0:
			hi = min(hi, ahead/-gain)
		}
	}
	return lo, hi
}

// Feasible returns the names of the feasible nodes, in the order of the search.
func (t *ScoreTable) Feasible() []string {
	list := make([]string, len(t.path.feasible))
	for i, n := range t.path.feasible {
		list[i] = n.Name()
	}
	return list
}

// Scores returns the normalized scores of a feasible node, as Plugins names them; nil
// for any other node, or if a single feasible node made scoring needless.
func (t *ScoreTable) Scores(node string) []int64 {
	for place := range t.of {
		if t.path.feasible[place].Name() == node {
			return slices.Clone(t.groups[t.of[place]].scores)
		}
	}
	return nil
}
