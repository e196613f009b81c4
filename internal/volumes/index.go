package volumes

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/berth-sched/berth/framework/api"
)

// A label is a node label with a value. The zero label means none.
type label struct{ key, value string }

// musts are labels of every node that an item is for.
type musts struct {
	all []label
	// rarest is the one of them that the fewest items of the catalog have: that of a node, rather
	// than that of its region. Of several, it is one whose key the most items have, because each
	// key costs a lookup for each node. It is the zero label if there are none.
	rarest label
	ranked bool // rarest is known
}

// mustsOfTerm returns labels of every node that the term selects.
func mustsOfTerm(t *api.NodeSelectorTerm) (m musts) {
	for i := range t.MatchExpressions {
		if r := &t.MatchExpressions[i]; r.Operator == api.NodeSelectorOpIn && len(r.Values) == 1 {
			m.all = append(m.all, label{r.Key, r.Values[0]})
		}
	}
	return m
}

// mustsOfSelector returns labels of every object that the selector selects.
func mustsOfSelector(s *api.LabelSelector) (m musts) {
	if s == nil {
		return m
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		m.all = append(m.all, label{key, s.MatchLabels[key]})
	}
	return m
}

// A rarity is how many items have a label. It never changes.
type rarity struct {
	counts map[label]int // nil if no item had a choice
	ofKey  map[string]int
	items  int // that were counted
	others int // that have come since
}

// recountPart is which part of the items may come before labels are counted anew. What is rare
// matters for the time of a search alone.
const recountPart = 16

// rank finds the rarest labels of the items that have come since the labels were counted, and of
// all if it counts them anew. One that had another rarest label is replaced by a copy, because
// forks may have it.
func rank[T any](r rarity, items []*T, of func(*T) *musts) rarity {
	for _, item := range items {
		if !of(item).ranked {
			r.others++
		}
	}
	again := r.others > r.items/recountPart
	if again {
		r = countLabels(items, of)
	}
	for i, item := range items {
		m := of(item)
		if !again && m.ranked {
			continue
		}
		rarest := r.rarestOf(m.all)
		if m.ranked && m.rarest == rarest {
			continue
		}
		if m.ranked {
			c := *item
			items[i], m = &c, of(&c)
		}
		m.rarest, m.ranked = rarest, true
	}
	return r
}

func countLabels[T any](items []*T, of func(*T) *musts) rarity {
	r := rarity{items: len(items)}
	if !slices.ContainsFunc(items, func(item *T) bool { return len(of(item).all) > 1 }) {
		return r
	}
	r.counts, r.ofKey = map[label]int{}, map[string]int{}
	for _, item := range items {
		for _, l := range of(item).all {
			r.counts[l]++
			r.ofKey[l.key]++
		}
	}
	return r
}

func (r *rarity) rarestOf(all []label) label {
	switch len(all) {
	case 0:
		return label{}
	case 1:
		return all[0]
	}
	return slices.MinFunc(all, func(a, b label) int {
		return cmp.Or(cmp.Compare(r.counts[a], r.counts[b]), cmp.Compare(r.ofKey[b.key], r.ofKey[a.key]))
	})
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
	return x.next(labels, 0, cursors, fits)
}

// on returns the ranks of the items that the labels of a node do not exclude, one bit for each of so many
// items.
func (x *index) on(labels map[string]string, items int) []uint64 {
	bits := make([]uint64, items/64+1)
	note := func(ranks []int) {
		for _, rank := range ranks {
			bits[rank/64] |= 1 << (rank % 64)
		}
	}
	note(x.anywhere)
	for _, k := range x.keys {
		if value, ok := labels[k]; ok {
			note(x.by[label{k, value}])
		}
	}
	return bits
}

// lists returns how many lists of ranks a node may have.
func (x *index) lists() int { return 1 + len(x.keys) }

// next is first for several questions about one node, if what did not fit once never does, among the
// ranks from a number on, which never becomes less. Each cursor is a place in one list, 0 for the first question: the items before it do not
// fit. All questions together try each item about once.
func (x *index) next(labels map[string]string, from int, cursors []int, fits func(rank int) bool) int {
	best := firstOf(x.anywhere, from, &cursors[0], -1, fits)
	for i, k := range x.keys {
		if value, ok := labels[k]; ok {
			best = firstOf(x.by[label{k, value}], from, &cursors[1+i], best, fits)
		}
	}
	return best
}

// firstOf returns the first of the ranks that fits, from the cursor and the number from on, unless
// best is lower. It moves the cursor there.
func firstOf(ranks []int, from int, cursor *int, best int, fits func(rank int) bool) int {
	if i := *cursor; i < len(ranks) && ranks[i] < from {
		*cursor = i + sort.SearchInts(ranks[i:], from)
	}
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
