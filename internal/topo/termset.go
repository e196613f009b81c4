package topo

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/cow"
	"github.com/berth-sched/berth/internal/digest"
)

// termsFew is how many terms of pods in the cluster may match a pod before they are summed
// up in a TermSet. Anybody can make any number of terms that match everybody.
const termsFew = 16

// A TermSet is a set of terms of pods in the cluster: those that match some pods to be
// placed, if they are many. It sums up their counters, so a look at a node costs one lookup
// for each topology key. Pods with the same set share it.
//
// It follows the counters by the tables' log of changes. Several goroutines may read it at
// once, as long as no pod moves.
type TermSet struct {
	tables *Tables
	text   string // its key in Tables.termSets: a digest of the counters
	users  int    // number of bindings with the set
	ids    []int32
	terms  map[uint64]setTerm // by counter.born

	barsKeys, preferKeys, scoreKeys []int32 // topology keys of the terms, each once

	following sync.Mutex
	at        atomic.Uint64 // clock of the sums
	bars      termSums
	prefer    termSums
	demand    termSums
}

// A setTerm is what a TermSet knows of the counter of a term.
type setTerm struct {
	sums   *termSums
	key    int32
	weight int64
}

// termSums are the sums of the counters of some terms.
type termSums struct {
	byKey []keySums // only topology keys with a domain that was counted
	total int64     // as in counter, without weights
	last  uint64    // time of the latest change
}

// keySums are sums of weighted counts by domain of a topology key.
type keySums struct {
	key    int32
	counts []int64
}

// digestOf identifies the set of the counters of terms.
func (t *Tables) digestOf(ids []int32) string {
	b := t.text[:0]
	for _, id := range ids {
		b = binary.AppendUvarint(b, t.counters[id].serial)
	}
	t.text = b
	sum := digest.Sum(b)
	return string(sum[:])
}

// join makes the terms with these counters the pod's set.
func (a *Affinity) join(ids []int32) {
	t := a.tables
	text := t.digestOf(ids)
	if a.Others != nil && a.Others.text == text {
		return
	}
	x := t.termSets[text]
	if x == nil {
		if len(t.termSets) == 0 {
			t.termSets, t.termLog = map[string]*TermSet{}, newHistory[termEvent](t.clock, termHistoryLimit)
		}
		x = newTermSet(t, text, ids)
		t.termSets[text] = x
		t.setTerms += len(ids)
	}
	x.users++
	a.leave()
	a.Others = x
}

// leave takes the pod's set away, if it has one.
func (a *Affinity) leave() {
	x, t := a.Others, a.tables
	if x == nil {
		return
	}
	a.Others = nil
	if x.users--; x.users > 0 {
		return
	}
	delete(t.termSets, x.text)
	t.setTerms -= len(x.ids)
	if len(t.termSets) == 0 {
		t.termLog = history[termEvent]{}
	}
}

func newTermSet(t *Tables, text string, ids []int32) *TermSet {
	x := &TermSet{tables: t, text: text, ids: slices.Clone(ids), terms: make(map[uint64]setTerm, len(ids))}
	type use struct {
		key  int32
		list *[]int32
	}
	used := map[use]bool{}
	note := func(list *[]int32, key int32) {
		if u := (use{key, list}); !used[u] {
			used[u] = true
			*list = append(*list, key)
		}
	}
	for _, id := range ids {
		c := t.counters[id]
		term := setTerm{key: c.key, weight: 1}
		switch c.kind {
		case required:
			term.sums = &x.demand
			note(&x.scoreKeys, c.key)
		case requiredAnti:
			term.sums = &x.bars
			note(&x.barsKeys, c.key)
		case preferred, preferredAnti:
			term.sums, term.weight = &x.prefer, c.preference()
			note(&x.preferKeys, c.key)
			note(&x.scoreKeys, c.key)
		}
		x.terms[c.born] = term
	}
	x.count()
	return x
}

// preference is the weight of a preferred term in scores.
func (c *counter) preference() int64 {
	if c.kind == preferredAnti {
		return -c.term.Weight
	}
	return c.term.Weight
}

// count sums up all counters.
func (x *TermSet) count() {
	t := x.tables
	x.bars, x.prefer, x.demand = termSums{}, termSums{}, termSums{}
	for _, id := range x.ids {
		c := t.counters[id]
		term := x.terms[c.born]
		term.sums.total += c.total
		term.sums.last = max(term.sums.last, c.log.last)
		for i, page := range c.counts {
			if page == nil {
				continue
			}
			for k, n := range page.Values {
				if n != 0 {
					term.sums.add(term.key, int32(i*cow.PageSize+k), term.weight*int64(n))
				}
			}
		}
	}
	x.at.Store(t.clock)
}

// add adds to the sum of a domain.
func (s *termSums) add(key, domain int32, by int64) {
	i := slices.IndexFunc(s.byKey, func(k keySums) bool { return k.key == key })
	if i < 0 {
		i = len(s.byKey)
		s.byKey = append(s.byKey, keySums{key: key})
	}
	counts := &s.byKey[i].counts
	if more := int(domain) + 1 - len(*counts); more > 0 {
		*counts = append(*counts, make([]int64, more)...)
	}
	(*counts)[domain] += by
}

// follow makes the sums those of now.
func (x *TermSet) follow() {
	t := x.tables
	if x.at.Load() == t.clock {
		return
	}
	x.following.Lock()
	defer x.following.Unlock()
	if x.at.Load() == t.clock {
		return
	}
	events, ok := t.termLog.since(x.at.Load())
	if !ok {
		x.count()
		return
	}
	for _, e := range events {
		if term, ok := x.terms[e.is.born]; ok {
			term.sums.add(term.key, e.is.domain, term.weight*int64(e.is.by))
			term.sums.total += int64(e.is.by)
			term.sums.last = e.at
		}
	}
	x.at.Store(t.clock)
}

// in returns the sum for a node.
func (s *termSums) in(t *Tables, slot int) (sum int64) {
	for i := range s.byKey {
		k := &s.byKey[i]
		if d := t.keys[k.key].of(slot); d >= 0 && int(d) < len(k.counts) {
			sum += k.counts[d]
		}
	}
	return sum
}

// Bars reports whether a required anti-affinity term of the set keeps the pod off the node.
func (x *TermSet) Bars(n *framework.NodeInfo) bool {
	x.follow()
	return x.bars.in(x.tables, n.Slot()) > 0
}

// Preference returns the sum of the set's preferred terms for a node, plus demand for each
// required affinity term.
func (x *TermSet) Preference(n *framework.NodeInfo, demand int64) int64 {
	x.follow()
	sum := x.prefer.in(x.tables, n.Slot())
	if demand > 0 {
		sum += demand * x.demand.in(x.tables, n.Slot())
	}
	return sum
}

// barred returns the counts of the required anti-affinity terms of the set.
func (x *TermSet) barred() (list []Count) {
	for _, id := range x.ids {
		if x.tables.counters[id].kind == requiredAnti {
			list = append(list, Count{x.tables, id})
		}
	}
	return list
}

// filterVersion is the part of the set in Affinity.FilterVersion; scoreVersion that in
// ScoreVersion.
func (x *TermSet) filterVersion() uint64 {
	x.follow()
	return x.bars.last
}

func (x *TermSet) scoreVersion(demand bool) uint64 {
	x.follow()
	if demand {
		return max(x.prefer.last, x.demand.last)
	}
	return x.prefer.last
}

// filterChanged is the part of the set in Affinity.FilterChanged, scoreChanged that in
// ScoreChanged.
func (x *TermSet) filterChanged(since uint64, dirty func(slot int)) bool {
	return x.filterVersion() <= since ||
		x.changed(since, func(e termEvent, s *termSums) bool { return e.crossed && s == &x.bars }, dirty)
}

func (x *TermSet) scoreChanged(demand bool, since uint64, dirty func(slot int)) bool {
	return x.scoreVersion(demand) <= since ||
		x.changed(since, func(_ termEvent, s *termSums) bool { return s == &x.prefer || demand && s == &x.demand }, dirty)
}

// changed calls dirty for every node of the domains with changes that matter, each once for
// a topology key.
func (x *TermSet) changed(since uint64, matters func(termEvent, *termSums) bool, dirty func(slot int)) bool {
	t := x.tables
	events, ok := t.termLog.since(since)
	if !ok {
		return false
	}
	type place struct{ key, domain int32 }
	seen := map[place]bool{}
	for _, e := range events {
		term, ok := x.terms[e.is.born]
		if p := (place{term.key, e.is.domain}); ok && !seen[p] && matters(e.is, term.sums) {
			seen[p] = true
			t.keys[p.key].each(p.domain, dirty)
		}
	}
	return true
}

// appendAll appends numbers that differ from each other, if the list has not got them.
func appendAll(list, more []int32) []int32 {
	had := list
	for _, n := range more {
		if !slices.Contains(had, n) {
			list = append(list, n)
		}
	}
	return list
}
