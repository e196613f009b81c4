package topo

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/cow"
)

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkExtent counts the nodes of each domain again, and finds the least count.
func checkExtent(m fataler, t *Tables, c *counter, id int32) {
	m.Helper()
	nodes := map[int32]int32{}
	for _, n := range t.snapshot.All() {
		if d := t.domain(c, n.Slot()); d != none {
			nodes[d]++
		}
	}
	least, atLeast := int32(math.MaxInt32), 0
	for d := range nodes {
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
				m.Fatalf("counter %d: %d nodes in domain %d, want %d", id, page.Values[k], d, nodes[d])
			}
		}
	}
	if e.domains != len(nodes) || e.least != least || e.atLeast != atLeast {
		m.Fatalf("counter %d: %d domains, the least count %d in %d of them, want %d, %d, %d", id, e.domains, e.least, e.atLeast, len(nodes), least, atLeast)
	}
}

// checkTables compares the state of the tables with a recount without indexes.
func checkTables(m fataler, t *Tables) {
	m.Helper()
	s := t.snapshot
	type present struct {
		pods   int
		places map[int]int32
		info   *framework.PodInfo
	}
	classes := map[string]*present{}
	terms := map[int32]map[int32]int32{} // counts by domain by counter
	for _, n := range s.All() {
		for _, p := range n.Pods {
			text := t.textOf(p)
			c := classes[text]
			if c == nil {
				c = &present{places: map[int]int32{}, info: p}
				classes[text] = c
			}
			c.pods++
			c.places[n.Slot()]++
			for kind := range kinds {
				for _, term := range TermsOf(p).list(kind) {
					id, ok := t.index.get(string(term.appendKey([]byte{'t', byte(kind)})))
					if !ok {
						m.Fatalf("a term of %s has no counter", p.Pod.Name)
					}
					if terms[id] == nil {
						terms[id] = map[int32]int32{}
					}
					if d := t.domain(t.counters[id], n.Slot()); d != none {
						terms[id][d]++
					}
				}
			}
		}
	}
	if !t.tracking {
		if len(terms) > 0 || len(t.classes) > 0 || len(t.counters) > 0 {
			m.Fatalf("%d terms and %d classes are known, but not tracked", len(terms), len(t.classes))
		}
		return
	}
	texts, held := 0, 0
	for _, e := range t.empty {
		texts += len(t.classes[e.class].text)
	}
	for text := range t.affinities {
		held += sizeOf(text)
	}
	for key := range t.spreads {
		held += sizeOf(key.text)
	}
	if t.emptyBytes != texts || t.held != held {
		m.Fatalf("%d bytes of classes without pods and %d of bindings, want %d and %d", t.emptyBytes, t.held, texts, held)
	}
	setBytes := 0
	for _, x := range t.termSets {
		setBytes += x.bytes
	}
	if t.setBytes != setBytes {
		m.Fatalf("sets of terms have %d bytes, counted %d", setBytes, t.setBytes)
	}
	holders := map[int32]int{}
	live := 0
	for id, c := range t.classes {
		if c == nil {
			continue
		}
		live++
		if got, ok := t.classIndex.get(c.text); !ok || got != int32(id) {
			m.Fatalf("the index of classes has %d, want %d", got, id)
		}
		want := classes[c.text]
		if want == nil {
			want = &present{}
		}
		delete(classes, c.text)
		places := map[int]int32{}
		c.places.each(func(slot int, pods int32) {
			if places[slot] += pods; places[slot] == 0 {
				delete(places, slot)
			}
		})
		if c.pods != want.pods || !maps.Equal(places, want.places) {
			m.Fatalf("class %q: %d pods on %v, want %d on %v", c.text, c.pods, places, want.pods, want.places)
		}
		if c.pods == 0 && !c.queued || c.queued != slices.ContainsFunc(t.empty, func(e emptied) bool { return e.class == int32(id) }) {
			m.Fatalf("class %q: %d pods, queued %t", c.text, c.pods, c.queued)
		}
		for _, term := range c.counters[:c.terms] {
			holders[term]++
		}
		var queries []int32
		for id, q := range t.counters {
			if q != nil && q.pods != nil && q.pods.has(c.looks) {
				queries = append(queries, int32(id))
			}
		}
		got := slices.Sorted(slices.Values(c.counters[c.terms:]))
		if !slices.Equal(got, queries) {
			m.Fatalf("class %q counts in the queries %v, want %v", c.text, got, queries)
		}
	}
	for text := range classes {
		m.Fatalf("class %q is not known", text)
	}
	live += len(t.freeClasses)
	users := make([]int, len(t.counters))
	for _, a := range t.affinities {
		for _, id := range a.ids {
			users[id]++
		}
	}
	for _, s := range t.spreads {
		for _, id := range s.ids {
			users[id]++
		}
	}
	setUsers := make([]int, len(t.nodeSets))
	count := 0
	for id, c := range t.counters {
		if users[id] != t.users[id] {
			m.Fatalf("counter %d has %d users, want %d", id, t.users[id], users[id])
		}
		if c == nil {
			if !slices.Contains(t.free, int32(id)) {
				m.Fatalf("counter %d is lost", id)
			}
			continue
		}
		if c.nodes != none {
			setUsers[c.nodes]++
		}
		known, ok := t.index.get(c.text)
		ok = ok && known == int32(id)
		want := terms[int32(id)]
		if c.term != nil {
			if c.holders != holders[int32(id)] || ok != (c.holders > 0) {
				m.Fatalf("term %d has %d holders, want %d; found %t", id, c.holders, holders[int32(id)], ok)
			}
			if ok {
				count++
			} else if !slices.ContainsFunc(t.unused, func(u unused) bool { return u.born == c.born }) {
				m.Fatalf("dropped term %d is kept for ever", id)
			}
		} else {
			want = map[int32]int32{}
			for _, n := range s.All() {
				for _, p := range n.Pods {
					if d := t.domain(c, n.Slot()); d != none && c.pods.has(looksOf(p.Pod)) {
						want[d]++
					}
				}
			}
			if !ok {
				m.Fatalf("query %d is not found", id)
			}
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
		if c.extent != nil {
			checkExtent(m, t, c, int32(id))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) && len(got)+len(want) > 0 || total != c.total {
			m.Fatalf("counter %d counts %v, in total %d, want %v", id, got, c.total, want)
		}
	}
	if count != t.termCount {
		m.Fatalf("%d terms, want %d", t.termCount, count)
	}
	if live != len(t.classes) {
		m.Fatalf("%d of %d classes are live or free", live, len(t.classes))
	}
	for i, k := range t.keys {
		if free := slices.Contains(t.freeKeys, int32(i)); free != (k == nil) {
			m.Fatalf("key %d is free: %t, given up: %t", i, free, k == nil)
		}
		if k == nil {
			continue
		}
		if at, ok := t.keyIndex[k.name()]; !ok || at != int32(i) {
			m.Fatalf("key %d is found at %d, %t", i, at, ok)
		}
	}
	for i, set := range t.nodeSets {
		if setUsers[i] != t.setUsers[i] || set == nil != (setUsers[i] == 0) {
			m.Fatalf("node set %d has %d users, want %d", i, t.setUsers[i], setUsers[i])
		}
	}
}
