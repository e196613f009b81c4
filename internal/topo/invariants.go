package topo

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/cow"
)

// The invariants of the tables as checks, which count everything again without indexes.

// Check implements [framework.Checker].
func (t *Tables) Check(s *framework.Snapshot) error {
	if t.snapshot != s {
		return fmt.Errorf("tables of terms: they are another snapshot's")
	}
	r := recount{tables: t, classes: map[string]*present{}, terms: map[int32]map[int32]int32{}, holders: map[int32]int{}}
	for _, check := range []func() error{r.countPods, r.checkMemory, r.checkClasses, r.checkCounters, r.checkKeys} {
		if err := check(); err != nil {
			return fmt.Errorf("tables of terms: %w", err)
		}
		if !t.tracking {
			return nil
		}
	}
	return nil
}

// A recount is what the pods on nodes say that the tables must have.
type recount struct {
	tables  *Tables
	classes map[string]*present       // by text; those that the tables know are taken out
	terms   map[int32]map[int32]int32 // counts by domain, by counter of a term
	holders map[int32]int             // how often the classes have a term
	pairs   int                       // of counters and classes that list them
}

// present is where the pods of a class are.
type present struct {
	pods   int
	places map[int]int32
}

// countPods finds classes and terms of all pods.
func (r *recount) countPods() error {
	t := r.tables
	for _, n := range t.snapshot.All() {
		for _, p := range n.Pods {
			text := string(appendTraits(nil, p.Pod, &noTerms))
			if hasTerms(p) {
				text = traitsOf.Of(p).text
			}
			c := r.classes[text]
			if c == nil {
				c = &present{places: map[int]int32{}}
				r.classes[text] = c
			}
			c.pods++
			c.places[n.Slot()]++
			if !t.tracking {
				continue
			}
			if err := r.countTerms(p, n.Slot()); err != nil {
				return err
			}
		}
	}
	if !t.tracking && (len(t.classes) > 0 || len(t.counters) > 0) {
		return fmt.Errorf("%d classes and %d counters are known, but not tracked", len(t.classes), len(t.counters))
	}
	return nil
}

// countTerms counts the terms of a pod on a node.
func (r *recount) countTerms(p *framework.PodInfo, slot int) error {
	t := r.tables
	for kind := range kinds {
		for _, term := range TermsOf(p).list(kind) {
			id, ok := t.index.get(string(term.appendKey([]byte{'t', byte(kind)})))
			if !ok {
				return fmt.Errorf("a term of %s has no counter", p.Pod.Name)
			}
			if r.terms[id] == nil {
				r.terms[id] = map[int32]int32{}
			}
			if d := t.domain(t.counters[id], slot); d != none {
				r.terms[id][d]++
			}
		}
	}
	return nil
}

// checkMemory adds up what is bounded.
func (r *recount) checkMemory() error {
	t := r.tables
	texts, held, setBytes := 0, 0, 0
	for _, e := range t.empty {
		texts += len(t.classes[e.class].text)
	}
	for _, a := range t.affinities {
		held += a.size
	}
	for key := range t.spreads {
		held += sizeOf(key.text)
	}
	for _, x := range t.termSets {
		setBytes += x.bytes
	}
	if t.emptyBytes != texts || t.held != held {
		return fmt.Errorf("%d bytes of classes without pods and %d of bindings, want %d and %d", t.emptyBytes, t.held, texts, held)
	}
	if t.setBytes != setBytes {
		return fmt.Errorf("sets of terms have %d bytes, counted %d", setBytes, t.setBytes)
	}
	return nil
}

// checkClasses checks that there is each class of the pods, and what it counts in.
func (r *recount) checkClasses() error {
	t := r.tables
	live := len(t.freeClasses)
	for id, c := range t.classes {
		if c == nil {
			continue
		}
		live++
		if got, ok := t.classIndex.get(c.text); !ok || got != int32(id) {
			return fmt.Errorf("the index of classes has %d, want %d", got, id)
		}
		if err := r.checkClass(int32(id), c); err != nil {
			return fmt.Errorf("class %q: %w", c.text, err)
		}
	}
	for text := range r.classes {
		return fmt.Errorf("class %q is not known", text)
	}
	if live != len(t.classes) {
		return fmt.Errorf("%d of %d classes are live or free", live, len(t.classes))
	}
	if r.pairs != t.pairs {
		return fmt.Errorf("classes list %d counters, counted %d", r.pairs, t.pairs)
	}
	return nil
}

func (r *recount) checkClass(id int32, c *class) error {
	t, want := r.tables, r.classes[c.text]
	if want == nil {
		want = &present{}
	}
	delete(r.classes, c.text)
	places := map[int]int32{}
	c.places.each(func(slot int, pods int32) {
		if places[slot] += pods; places[slot] == 0 {
			delete(places, slot)
		}
	})
	if c.pods != want.pods || !maps.Equal(places, want.places) {
		return fmt.Errorf("%d pods on %v, want %d on %v", c.pods, places, want.pods, want.places)
	}
	if c.pods == 0 && !c.queued || c.queued != slices.ContainsFunc(t.empty, func(e emptied) bool { return e.class == id }) {
		return fmt.Errorf("%d pods, queued %t", c.pods, c.queued)
	}
	for _, term := range c.terms {
		r.holders[term]++
	}
	r.pairs += c.pairs()
	if !c.listed && c.pairs() > 0 {
		return fmt.Errorf("it is not listed, and has %d queries and %d exceptions", len(c.queries), len(c.except))
	}
	var queries []int32
	for id, q := range t.counters {
		if q != nil && q.pods != nil && q.pods.has(c.looks) {
			queries = append(queries, int32(id))
		}
	}
	got := slices.AppendSeq(slices.Clone(c.queries), t.broads.of(c))
	slices.Sort(got)
	if c.listed && !slices.Equal(got, queries) {
		return fmt.Errorf("it counts in the queries %v, want %v", got, queries)
	}
	return nil
}

// checkCounters checks who uses the counters, and counts again.
func (r *recount) checkCounters() error {
	t := r.tables
	users := make([]int, len(t.counters))
	for _, a := range t.affinities {
		for _, id := range a.usage.ids {
			users[id]++
		}
		if id := a.unknown(); id != none && !a.Dropped() {
			return fmt.Errorf("the counts for %q are not given up, and list counter %d, which is of no term", a.text, id)
		}
	}
	for _, s := range t.spreads {
		for _, id := range s.usage.ids {
			users[id]++
		}
	}
	setUsers, terms, said := make([]int, len(t.nodeSets)), 0, mentions{}
	for id, c := range t.counters {
		if users[id] != t.users[id] {
			return fmt.Errorf("counter %d has %d users, want %d", id, t.users[id], users[id])
		}
		if c == nil {
			if !slices.Contains(t.free, int32(id)) {
				return fmt.Errorf("counter %d is lost", id)
			}
			continue
		}
		if c.nodes != none {
			setUsers[c.nodes]++
		}
		if c.term != nil && c.holders > 0 && !c.asleep {
			terms++
			said.add(t.snapshot, c.term, 1)
		}
		if c.asleep && c.holders > 0 && t.keys[c.key].hasNodes() {
			return fmt.Errorf("counter %d: no pod is matched against the term, although nodes have its topology key", id)
		}
		if err := r.checkCounter(int32(id), c); err != nil {
			return fmt.Errorf("counter %d: %w", id, err)
		}
	}
	if terms != t.termCount {
		return fmt.Errorf("%d terms, want %d", t.termCount, terms)
	}
	if got, want := maps.Collect(t.mentions.keys.All()), maps.Collect(said.keys.All()); !maps.Equal(got, want) {
		return fmt.Errorf("terms name the keys %v, want %v", got, want)
	}
	if got, want := maps.Collect(t.mentions.values.All()), maps.Collect(said.values.All()); !maps.Equal(got, want) {
		return fmt.Errorf("terms name the labels %v, want %v", got, want)
	}
	for i, set := range t.nodeSets {
		if setUsers[i] != t.setUsers[i] || set == nil != (setUsers[i] == 0) {
			return fmt.Errorf("node set %d has %d users, want %d", i, t.setUsers[i], setUsers[i])
		}
	}
	return nil
}

func (r *recount) checkCounter(id int32, c *counter) error {
	t := r.tables
	known, ok := t.index.get(c.text)
	ok = ok && known == id
	want := r.terms[id]
	switch {
	case c.term == nil && !ok:
		return fmt.Errorf("the query is not found")
	case c.term == nil:
		want = r.countQuery(c)
	case c.holders != r.holders[id] || ok != (c.holders > 0):
		return fmt.Errorf("%d classes have the term, want %d; found %t", c.holders, r.holders[id], ok)
	case !ok && !slices.ContainsFunc(t.unused, func(u unused) bool { return u.born == c.born }):
		return fmt.Errorf("the dropped term is kept for ever")
	}
	got, total := map[int32]int32{}, int64(0)
	for i, page := range c.counts {
		for k := 0; page != nil && k < cow.PageSize; k++ {
			if page.Values[k] != 0 {
				got[int32(i*cow.PageSize+k)] = page.Values[k]
				total += int64(page.Values[k])
			}
		}
	}
	if !maps.Equal(got, want) || total != c.total {
		return fmt.Errorf("it counts %v, in total %d, want %v", got, c.total, want)
	}
	if c.extent == nil {
		return nil
	}
	return r.checkExtent(c)
}

// countQuery counts the pods of a query by domain.
func (r *recount) countQuery(c *counter) map[int32]int32 {
	counts := map[int32]int32{}
	for _, n := range r.tables.snapshot.All() {
		d := r.tables.domain(c, n.Slot())
		if d == none {
			continue
		}
		for _, p := range n.Pods {
			if c.pods.has(looksOf(p.Pod)) {
				counts[d]++
			}
		}
	}
	return counts
}

// checkExtent counts the nodes of each domain again, and finds the least count.
func (r *recount) checkExtent(c *counter) error {
	nodes := map[int32]int32{}
	for _, n := range r.tables.snapshot.All() {
		if d := r.tables.domain(c, n.Slot()); d != none {
			nodes[d]++
		}
	}
	least, atLeast := int32(math.MaxInt32), 0
	var tally [tallied]int32
	for d := range nodes {
		if count := c.counts.At(int(d)); count < tallied {
			tally[count]++
		}
		switch count := c.counts.At(int(d)); {
		case count < least:
			least, atLeast = count, 1
		case count == least:
			atLeast++
		}
	}
	e := c.extent
	for i, page := range e.present {
		for k := 0; page != nil && k < cow.PageSize; k++ {
			if d := int32(i*cow.PageSize + k); page.Values[k] != nodes[d] {
				return fmt.Errorf("%d nodes in domain %d, want %d", page.Values[k], d, nodes[d])
			}
		}
	}
	if e.domains != len(nodes) || e.least != least || e.atLeast != atLeast {
		return fmt.Errorf("%d domains, the least count %d in %d of them, want %d, %d, %d", e.domains, e.least, e.atLeast, len(nodes), least, atLeast)
	}
	for n, want := range tally {
		if n < len(e.tally) && e.tally[n] != want || n >= len(e.tally) && want != 0 {
			return fmt.Errorf("domains by count are %v, want %v", e.tally, tally)
		}
	}
	return nil
}

// checkKeys checks the index of topology keys.
func (r *recount) checkKeys() error {
	t := r.tables
	for i, k := range t.keys {
		if free := slices.Contains(t.freeKeys, int32(i)); free != (k == nil) {
			return fmt.Errorf("key %d is free: %t, given up: %t", i, free, k == nil)
		}
		if k == nil {
			continue
		}
		if at, ok := t.keyIndex.Get(k.name()); !ok || at != int32(i) {
			return fmt.Errorf("key %d is found at %d, %t", i, at, ok)
		}
	}
	return nil
}

// unknown returns a counter of a term that the Affinity lists and the tables do not have, none if there is none.
func (a *Affinity) unknown() int32 {
	list := slices.Concat(a.Barred, a.Demand)
	for _, w := range a.Prefer[a.own:] {
		list = append(list, w.Count)
	}
	for _, c := range list {
		if is := a.tables.counters[c.id]; is == nil || is.term == nil {
			return c.id
		}
	}
	return none
}
