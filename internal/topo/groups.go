package topo

import (
	"slices"

	"github.com/berth-sched/berth/framework/incremental"
)

// groupsMost is the maximum number of groups: if there are more, nodes are visited
// one by one.
const groupsMost = 64

// A division numbers the nodes by their domains of several keys.
type division struct {
	keys   []int32 // nodes in different domains are in different groups
	labels []int32 // nodes with and without the label are in different groups
	groups incremental.Groups
}

// divide returns groups of nodes that are in the same domains of the keys and have
// the same of the labels. It caches the answer until nodes move between domains.
// Count is 0 if there are too many groups.
func (t *Tables) divide(keys, labels []int32) incremental.Groups {
	for i := range t.divisions {
		if d := &t.divisions[i]; slices.Equal(d.keys, keys) && slices.Equal(d.labels, labels) {
			return d.groups
		}
	}
	if len(t.divisions) == divisionsMost {
		t.divisions = t.divisions[:0]
	}
	d := division{keys: slices.Clone(keys), labels: slices.Clone(labels), groups: t.commons.divide(t, keys, labels)}
	t.divisions = append(t.divisions, d)
	return d.groups
}

func (t *Tables) newGroups(keys, labels []int32) incremental.Groups {
	of := make([]int32, t.snapshot.SlotLimit())
	count := int32(1)
	refine := func(domain func(slot int) int32) bool {
		numbers := map[[2]int32]int32{}
		for _, slot := range t.snapshot.Slots() {
			pair := [2]int32{of[slot], domain(slot)}
			n, ok := numbers[pair]
			if !ok {
				n = int32(len(numbers))
				if n == groupsMost {
					return false
				}
				numbers[pair] = n
			}
			of[slot] = n
		}
		count = max(1, int32(len(numbers)))
		return true
	}
	for _, key := range keys {
		if !t.keys[key].single && len(t.keys[key].values) == 0 {
			continue // no node has the label
		}
		if t.keys[key].single || !refine(t.keys[key].of) {
			return incremental.Groups{}
		}
	}
	for _, key := range labels {
		has := func(slot int) int32 { return min(t.keys[key].of(slot), 0) }
		if !refine(has) {
			return incremental.Groups{}
		}
	}
	return incremental.Groups{Of: of, Count: int(count)}
}

// FilterGroups returns the groups of nodes that a filter treats alike.
func (a *Affinity) FilterGroups() incremental.Groups {
	t := a.tables
	keys := t.scratch[:0]
	for _, list := range [...][]Count{a.Attract, a.Repel, a.Barred} {
		for _, c := range list {
			keys = appendNew(keys, t.counters[c.id].key)
		}
	}
	if a.Others != nil {
		keys = appendAll(keys, a.Others.barsKeys)
	}
	t.scratch = keys
	return t.divide(keys, nil)
}

// ScoreGroups returns the groups of nodes that a scorer treats alike; see
// ScoreVersion.
func (a *Affinity) ScoreGroups(demand bool) incremental.Groups {
	t := a.tables
	keys := t.scratch[:0]
	for i := range a.Prefer {
		keys = appendNew(keys, t.counters[a.Prefer[i].id].key)
	}
	if demand {
		for _, c := range a.Demand {
			keys = appendNew(keys, t.counters[c.id].key)
		}
	}
	switch x := a.Others; {
	case x == nil:
	case demand:
		keys = appendAll(keys, x.scoreKeys)
	default:
		keys = appendAll(keys, x.preferKeys)
	}
	t.scratch = keys
	return t.divide(keys, nil)
}

// HardGroups returns the groups of nodes that a filter treats alike.
func (s *Spread) HardGroups() incremental.Groups {
	t := s.tables
	keys := t.scratch[:0]
	for _, c := range s.Counts {
		keys = appendNew(keys, t.counters[c.id].key)
	}
	t.scratch = keys
	return t.divide(keys, nil)
}

// SoftGroups returns the same for a scorer. A rule about single nodes treats the
// nodes of a group alike only when it weighs the rules, so Prepared is set for it.
func (s *Spread) SoftGroups() incremental.Groups {
	t := s.tables
	if s.grouped.at == t.anew {
		return s.grouped.groups
	}
	keys, labels := t.scratch[:0], t.scratch2[:0]
	prepared := false
	for i, c := range s.Counts {
		if !t.keys[t.counters[c.id].key].single {
			keys = appendNew(keys, s.keys[i])
			continue
		}
		prepared = true
		labels = appendNew(labels, s.keys[i])
	}
	t.scratch, t.scratch2 = keys, labels
	g := t.divide(keys, labels)
	g.Prepared = prepared
	s.grouped.at, s.grouped.groups = t.anew, g
	return g
}

// appendNew appends a number if it is missing. Lists are short.
func appendNew(list []int32, n int32) []int32 {
	if slices.Contains(list, n) {
		return list
	}
	return append(list, n)
}
