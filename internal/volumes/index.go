package volumes

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// A label is a node label with a value. The zero label means none.
type label struct{ key, value string }

// mustOfTerm returns a label of every node that the term selects.
func mustOfTerm(t *api.NodeSelectorTerm) label {
	for i := range t.MatchExpressions {
		if r := &t.MatchExpressions[i]; r.Operator == api.NodeSelectorOpIn && len(r.Values) == 1 {
			return label{r.Key, r.Values[0]}
		}
	}
	return label{}
}

// mustOfSelector returns a label of every object that the selector selects.
func mustOfSelector(s *api.LabelSelector) label {
	if s == nil || len(s.MatchLabels) == 0 {
		return label{}
	}
	first := slices.Min(slices.Collect(maps.Keys(s.MatchLabels)))
	return label{first, s.MatchLabels[first]}
}

// An index finds the first of ranked items that fits a node without visiting all
// items. Most local volumes and capacities are for one node, which a label names.
type index struct {
	anywhere []int // ranks of items that no label excludes, ascending
	keys     []string
	by       map[label][]int
}

// add adds an item with a rank above all earlier ranks.
func (x *index) add(rank int, must label) {
	if must.key == "" {
		x.anywhere = append(x.anywhere, rank)
		return
	}
	if !slices.Contains(x.keys, must.key) {
		x.keys = append(x.keys, must.key)
	}
	if x.by == nil {
		x.by = map[label][]int{}
	}
	x.by[must] = append(x.by[must], rank)
}

// first returns the lowest rank that fits a node with these labels, or -1. It tries
// only items that the labels do not exclude.
func (x *index) first(labels map[string]string, fits func(rank int) bool) int {
	var buffer [8]int
	cursors := buffer[:]
	if n := x.lists(); n > len(buffer) {
		cursors = make([]int, n)
	}
	return x.next(labels, cursors, fits)
}

// lists returns how many lists of ranks a node may have.
func (x *index) lists() int { return 1 + len(x.keys) }

// next is first for several questions about one node, if what did not fit once never does.
// Each cursor is a place in one list, 0 for the first question: the items before it do not
// fit. All questions together try each item about once.
func (x *index) next(labels map[string]string, cursors []int, fits func(rank int) bool) int {
	best := firstOf(x.anywhere, &cursors[0], -1, fits)
	for i, k := range x.keys {
		if value, ok := labels[k]; ok {
			best = firstOf(x.by[label{k, value}], &cursors[1+i], best, fits)
		}
	}
	return best
}

// firstOf returns the first of the ranks that fits, from the cursor on, unless best is
// lower. It moves the cursor there.
func firstOf(ranks []int, cursor *int, best int, fits func(rank int) bool) int {
	for ; *cursor < len(ranks); *cursor++ {
		rank := ranks[*cursor]
		if best >= 0 && rank > best {
			break
		}
		if fits(rank) {
			return rank
		}
	}
	return best
}
