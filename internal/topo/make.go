package topo

import "slices"

// termCounter returns the counter of a term of pods in the cluster. It makes the
// counter, at zero, when the first pod with the term is added.
func (t *Tables) termCounter(kind int, term *Term) int32 {
	t.text = term.appendKey(append(t.text[:0], 't', byte(kind)))
	if id, ok := t.index.look(t.text); ok {
		return id
	}
	// Nothing was counted before the first pod with the term, so all changes are
	// known to every reader.
	c := &counter{key: t.key(term.Key), nodes: none, term: term, kind: kind}
	c.asleep = !t.keys[c.key].hasNodes()
	id := t.addCounter(string(t.text), c)
	if !c.asleep {
		t.offer(id, c)
	}
	return id
}

// offer lets pods be matched against a term.
func (t *Tables) offer(id int32, c *counter) {
	c.anchors = t.terms.put(t, id, []target{c.term.target()})
	t.termCount++
	t.mentions.add(t.snapshot, c.term, 1)
	t.noteTerm(termNews{id: id, born: c.born})
}

// wake follows topology keys that a node has now, and none had before. It offers the terms of
// the keys: they have counted nothing yet, and are like new ones. Queries of the keys are vacant
// no more. It looks at the counters once, however many keys a node brings.
func (t *Tables) wake() {
	if t.vacancy.promised {
		t.newKeys()
	}
	for id, c := range t.counters {
		if c == nil || !c.asleep || c.holders == 0 || !t.keys[c.key].hasNodes() {
			continue
		}
		c = t.ownCounter(int32(id))
		t.clock++
		c.asleep, c.born, c.serial = false, t.clock, t.snapshot.NewVersion()
		t.offer(int32(id), c)
	}
}

// dropTerm drops the counter of a term that no class has. Bindings leave it out when
// they next Meet, and may read it until then.
func (t *Tables) dropTerm(id int32) {
	c := t.counters[id]
	t.index.remove(t.owner, c.text)
	t.clock++
	gone := unused{id: id, born: c.born, at: t.tick}
	if !c.asleep {
		gone.clock = t.clock
		t.terms.drop(t.owner, id, c.anchors)
		t.termCount--
		t.mentions.add(t.snapshot, c.term, -1)
		t.noteTerm(termNews{id: id, born: c.born, gone: true})
	}
	t.forgot = max(t.forgot, c.log.last)
	t.unused = append(t.unused, gone)
}

// A query identifies a counter of pods.
type query struct {
	key    int32
	nodes  int32
	loose  bool // see counter
	extent bool
	pods   *podSet
	shared *classesOf // nil if no other query has the pods
	wholes wholes     // of the binding; nil if it has no other query
}

// classesOf holds the classes of a set of pods for several queries, between which no pod comes.
type classesOf struct {
	known   bool
	classes []int32
}

// text is the key of the query in Tables.index.
func (q *query) appendKey(b []byte) []byte {
	flags := byte(0)
	if q.loose {
		flags |= 1
	}
	if q.extent {
		flags |= 2
	}
	b = appendNumber(appendNumber(append(b, 'q', flags), q.key), q.nodes)
	return q.pods.appendKey(b)
}

// podCounter returns the counter for a query. Making one costs a look at every class
// of pods with one of the required labels, and at the nodes of those selected; or, for a
// broad one, at the classes that are not selected. If no class is selected, or no node
// has the topology key, the query is vacant, and gets the counter of nobody.
func (t *Tables) podCounter(q query) (id int32, vacant bool) {
	t.text = q.appendKey(t.text[:0])
	if id, ok := t.index.look(t.text); ok {
		return id, false
	}
	t.track()
	if q.loose && t.keys[q.key].empty == none {
		t.ownKey(int(q.key)).keepEmpty()
	}
	var first beginning
	if vacant = t.vacancy.allowed() && !q.loose && !t.keys[q.key].hasNodes(); !vacant {
		first = t.beginningOf(&q)
		vacant = t.vacancy.allowed() && first.countsNone()
	}
	if vacant {
		q.pods, first = &nobody, beginning{}
		t.text = q.appendKey(t.text[:0])
		if id, ok := t.index.look(t.text); ok {
			return id, true
		}
	}
	text := string(q.appendKey(t.text[:0]))
	c := &counter{key: q.key, nodes: q.nodes, loose: q.loose, pods: q.pods}
	id = t.addCounter(text, c)
	c.forgetChanges(t.clock, t.limits.changes)
	c.anchors = t.queries.put(t, id, q.pods.targets())
	t.begin(id, &first)
	if q.extent {
		c.extent = newExtent()
		for _, n := range t.snapshot.All() {
			if d := t.domain(c, n.Slot()); d != none {
				addAt(&c.extent.present, t.owner, d, 1)
			}
		}
		c.extent.start(c.counts)
	}
	t.made += c.bytes()
	return id, vacant
}

// dropQueries drops the counters of queries that no binding holds, and looks at each class that
// they may count once.
func (t *Tables) dropQueries(ids []int32) {
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	dropped, counted := newIDSet(ids), &idSet{}
	left := t.live() // once as many are listed, a look at all classes costs no more
	for _, id := range ids {
		c := t.counters[id]
		t.queries.drop(t.owner, id, c.anchors)
		t.index.remove(t.owner, c.text)
		if in, _ := c.pods.breadth(); c.broad {
			t.broads.remove(in, id)
		}
		if left <= 0 {
			continue
		}
		t.found = t.candidates(t.found[:0], c.pods.targets())
		left -= len(t.found)
		for _, k := range t.found {
			counted.add(k)
		}
	}
	if left <= 0 {
		for k, c := range t.classes {
			if c != nil {
				t.dropFrom(int32(k), dropped)
			}
		}
	} else {
		for k := range counted.all {
			t.dropFrom(k, dropped)
		}
	}
	for _, id := range ids {
		t.freeCounter(id)
	}
}

// live is how many classes there are.
func (t *Tables) live() (n int) {
	for _, c := range t.classes {
		if c != nil {
			n++
		}
	}
	return n
}

// dropFrom takes dropped queries out of the lists of a class.
func (t *Tables) dropFrom(k int32, dropped *idSet) {
	c := t.classes[k]
	if !slices.ContainsFunc(c.queries, dropped.has) && !slices.ContainsFunc(c.except, dropped.has) {
		return
	}
	class := t.ownClass(k)
	t.pairs -= class.pairs()
	class.queries = without(class.queries, dropped)
	class.except = without(class.except, dropped)
	t.pairs += class.pairs()
}

// A beginning is which classes of pods a counter counts when it is made: the counted ones or, of a broad one,
// all of the whole except some.
type beginning struct {
	counted []int32
	in      scope
	all     *whole // nil unless broad
	except  []int32
}

// beginningOf finds what the counter of a query begins with. It is valid until the next call.
func (t *Tables) beginningOf(q *query) (first beginning) {
	in, broad := q.pods.breadth()
	if !broad {
		return beginning{counted: t.counted(q)}
	}
	all := t.whole(in, q)
	return beginning{in: in, all: all, except: t.except(all, in, q.pods)}
}

func (b *beginning) countsNone() bool {
	return len(b.counted) == 0 && (b.all == nil || len(b.except) == len(b.all.classes))
}

// begin counts the pods of the first classes in a counter, which counts nothing yet.
func (t *Tables) begin(id int32, first *beginning) {
	c := t.counters[id]
	t.looks += 2 + len(first.counted) + len(first.except)
	for _, k := range first.counted {
		if t.classes[k].listed {
			class := t.ownClass(k)
			class.queries = append(class.queries, id)
			t.pairs++
		}
		t.addPlaces(c, t.classes[k], 1)
	}
	if first.all != nil {
		c.broad, c.counts, c.total = true, slices.Clone(first.all.counts), first.all.total
		t.broads.add(first.in, id)
	}
	for _, k := range first.except {
		if t.classes[k].listed {
			class := t.ownClass(k)
			class.except = insertSorted(class.except, id)
			t.pairs++
		}
		t.addPlaces(c, t.classes[k], -1)
	}
	t.boundLists()
}

// addPlaces adds the pods of a class to a counter, or takes them away.
func (t *Tables) addPlaces(c *counter, class *class, by int32) {
	class.places.each(func(slot int, pods int32) {
		if d := t.domain(c, slot); d != none {
			addAt(&c.counts, c.owner, d, by*pods)
			c.total += int64(by * pods)
		}
	})
}

// counted returns the classes of the pods of a query, until it is called again.
func (t *Tables) counted(q *query) []int32 {
	if q.shared != nil && q.shared.known {
		return q.shared.classes
	}
	t.found = t.candidates(t.found[:0], q.pods.targets())
	t.looks += len(t.found)
	counted := t.found[:0]
	for _, k := range t.found {
		if q.pods.has(t.classes[k].looks) {
			counted = append(counted, k)
		}
	}
	if q.shared != nil {
		*q.shared = classesOf{true, slices.Clone(counted)}
	}
	return counted
}

func appendNumber(b []byte, n int32) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

func (t *Tables) addCounter(text string, c *counter) int32 {
	t.clock++
	c.owner, c.text, c.born, c.serial = t.owner, text, t.clock, t.snapshot.NewVersion()
	var id int32
	if last := len(t.free) - 1; last >= 0 {
		id, t.free = t.free[last], t.free[:last]
		t.counters[id] = c
	} else {
		id = int32(len(t.counters))
		t.counters, t.users = append(t.counters, c), append(t.users, 0)
	}
	t.index.set(t.owner, text, id)
	if c.nodes != none {
		t.setUsers[c.nodes]++
	}
	return id
}

// freeCounter gives up a counter that nothing refers to.
func (t *Tables) freeCounter(id int32) {
	if set := t.counters[id].nodes; set != none {
		if t.setUsers[set]--; t.setUsers[set] == 0 {
			t.setIndex.remove(t.owner, t.nodeSets[set].text)
			t.nodeSets[set] = nil
			t.freeSets = append(t.freeSets, set)
		}
	}
	t.counters[id] = nil
	t.free = append(t.free, id)
}
