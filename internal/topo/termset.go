package topo

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/cow"
	"github.com/berth-sched/berth/internal/digest"
)

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
	ids    *idSet // counters of the terms
	made   uint64 // clock when it was made: counters born later are others
	bytes  int    // of it in Tables.setBytes

	barsKeys, preferKeys, scoreKeys []int32 // topology keys of the terms, each once

	following sync.Mutex
	at        atomic.Uint64 // clock of the sums
	bars      termSums
	prefer    termSums
	demand    termSums
}

// termSums are the sums of the counters of some terms.
type termSums struct {
	byKey  []keySums     // only topology keys with a domain that was counted
	places map[int32]int // of keys in byKey; nil while they are few
	total  int64         // as in counter, without weights
	last   uint64        // time of the latest change
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
		if !t.logsTerms() {
			t.termLog = newHistory[termEvent](t.clock, t.limits.termChanges)
		}
		if t.termSets == nil {
			t.termSets = map[string]*TermSet{}
		}
		x = newTermSet(t, text, ids)
		t.termSets[text] = x
		x.weigh()
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
	t.setBytes -= x.bytes
	if len(t.termSets) == 0 {
		t.termLog = history[termEvent]{}
	}
}

// logsTerms reports whether the log of changes of terms is kept.
func (t *Tables) logsTerms() bool { return t.termLog.known > 0 }

func newTermSet(t *Tables, text string, ids []int32) *TermSet {
	x := &TermSet{tables: t, text: text, ids: newIDSet(ids), made: t.clock}
	type use struct {
		key  int32
		list *[]int32
	}
	var last use
	used := map[use]bool{}
	note := func(list *[]int32, key int32) {
		if u := (use{key, list}); u != last && !used[u] {
			last, used[u] = u, true
			*list = append(*list, key)
		}
	}
	for _, id := range ids {
		c := t.counters[id]
		switch c.kind {
		case required:
			note(&x.scoreKeys, c.key)
		case requiredAnti:
			note(&x.barsKeys, c.key)
		case preferred, preferredAnti:
			note(&x.preferKeys, c.key)
			note(&x.scoreKeys, c.key)
		}
	}
	x.count()
	return x
}

// sumsOf returns the sums to which the terms of a kind belong.
func (x *TermSet) sumsOf(kind int) *termSums {
	switch kind {
	case required:
		return &x.demand
	case requiredAnti:
		return &x.bars
	}
	return &x.prefer
}

// has reports whether the term of an event is in the set.
func (x *TermSet) has(e *termEvent) bool { return e.born <= x.made && x.ids.has(e.id) }

// weigh counts the memory that the set takes now.
func (x *TermSet) weigh() {
	t := x.tables
	t.setBytes -= x.bytes
	x.bytes = int(unsafe.Sizeof(*x)) + x.ids.bytes() + 4*(len(x.barsKeys)+len(x.preferKeys)+len(x.scoreKeys))
	for _, s := range [...]*termSums{&x.bars, &x.prefer, &x.demand} {
		x.bytes += 24 * len(s.places)
		for i := range s.byKey {
			x.bytes += int(unsafe.Sizeof(s.byKey[i])) + 8*cap(s.byKey[i].counts)
		}
	}
	t.setBytes += x.bytes
}

// preference is the weight of a preferred term in scores, and 1 for a required term.
func (c *counter) preference() int64 {
	switch c.kind {
	case preferred:
		return c.term.Weight
	case preferredAnti:
		return -c.term.Weight
	}
	return 1
}

// count sums up all counters.
func (x *TermSet) count() {
	t := x.tables
	x.bars, x.prefer, x.demand = termSums{}, termSums{}, termSums{}
	for id := range x.ids.all {
		c := t.counters[id]
		sums, weight := x.sumsOf(c.kind), c.preference()
		sums.total += c.total
		sums.last = max(sums.last, c.log.last)
		for i, page := range c.counts {
			if page == nil {
				continue
			}
			for k, n := range page.Values {
				if n != 0 {
					sums.add(c.key, int32(i*cow.PageSize+k), weight*int64(n))
				}
			}
		}
	}
	x.at.Store(t.clock)
}

// add adds to the sum of a domain.
func (s *termSums) add(key, domain int32, by int64) {
	counts := &s.byKey[s.place(key)].counts
	if more := int(domain) + 1 - len(*counts); more > 0 {
		*counts = append(*counts, make([]int64, more)...)
	}
	(*counts)[domain] += by
}

// fewKeys is up to how many topology keys are looked through for one.
const fewKeys = 16

// place returns where a topology key is in byKey.
func (s *termSums) place(key int32) int {
	if s.places == nil {
		if i := slices.IndexFunc(s.byKey, func(k keySums) bool { return k.key == key }); i >= 0 {
			return i
		}
	} else if i, ok := s.places[key]; ok {
		return i
	}
	i := len(s.byKey)
	s.byKey = append(s.byKey, keySums{key: key})
	switch {
	case s.places != nil:
		s.places[key] = i
	case len(s.byKey) > fewKeys: // terms of many keys would look through them again and again
		s.places = make(map[int32]int, len(s.byKey))
		for k := range s.byKey {
			s.places[s.byKey[k].key] = k
		}
	}
	return i
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
	for i := range events {
		if e := &events[i].is; x.has(e) {
			sums := x.sumsOf(e.kind)
			sums.add(e.key, e.domain, e.weight*int64(e.by))
			sums.total += int64(e.by)
			sums.last = events[i].at
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
	for id := range x.ids.all {
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
		x.changed(since, func(e *termEvent, s *termSums) bool { return e.crossed && s == &x.bars }, dirty)
}

func (x *TermSet) scoreChanged(demand bool, since uint64, dirty func(slot int)) bool {
	return x.scoreVersion(demand) <= since ||
		x.changed(since, func(_ *termEvent, s *termSums) bool { return s == &x.prefer || demand && s == &x.demand }, dirty)
}

// changed calls dirty for every node of the domains with changes that matter, each once for
// a topology key.
func (x *TermSet) changed(since uint64, matters func(*termEvent, *termSums) bool, dirty func(slot int)) bool {
	t := x.tables
	events, ok := t.termLog.since(since)
	if !ok {
		return false
	}
	type place struct{ key, domain int32 }
	seen := map[place]bool{}
	for i := range events {
		e := &events[i].is
		if p := (place{e.key, e.domain}); x.has(e) && !seen[p] && matters(e, x.sumsOf(e.kind)) {
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
