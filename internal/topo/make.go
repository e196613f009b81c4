package topo

import "slices"

// termCounter returns the counter of a term of pods in the cluster. It makes the
// counter, at zero, when the first pod with the term is added.
func (t *Tables) termCounter(kind int, term *Term) int32 {
	text := string(term.appendKey([]byte{'t', byte(kind)}))
	if id, ok := t.index[text]; ok {
		return id
	}
	// Nothing was counted before the first pod with the term, so all changes are
	// known to every reader.
	c := &counter{key: t.key(term.Key), nodes: none, term: term, kind: kind}
	id := t.addCounter(text, c)
	t.existing = append(t.existing, id)
	return id
}

// A query identifies a counter of pods.
type query struct {
	key    int32
	nodes  int32
	loose  bool // see counter
	extent bool
	pods   *podSet
}

// podCounter returns the counter for a query. Making one costs a look at every pod.
func (t *Tables) podCounter(q query) int32 {
	flags := byte(0)
	if q.loose {
		flags |= 1
	}
	if q.extent {
		flags |= 2
	}
	b := []byte{'q', flags}
	b = appendNumber(appendNumber(b, q.key), q.nodes)
	text := string(q.pods.appendKey(b))
	if id, ok := t.index[text]; ok {
		return id
	}
	if q.loose && t.keys[q.key].empty == none {
		t.ownKey(int(q.key)).keepEmpty()
	}
	c := &counter{key: q.key, nodes: q.nodes, loose: q.loose, pods: q.pods}
	t.clock++
	c.forgetChanges(t.clock)
	if q.extent {
		c.extent = newExtent()
	}
	id := t.addCounter(text, c)
	t.queries = append(t.queries, id)
	for _, n := range t.snapshot.All() {
		d := t.domain(c, n.Slot())
		if d == none {
			continue
		}
		if c.extent != nil {
			if addAt(&c.extent.present, t.owner, d, 1) == 1 {
				c.extent.domains++
			}
		}
		for _, p := range n.Pods {
			if q.pods.has(p.Pod) {
				addAt(&c.counts, t.owner, d, 1)
				c.total++
			}
		}
	}
	if c.extent != nil {
		c.extent.find(c.counts)
	}
	return id
}

func appendNumber(b []byte, n int32) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

func (t *Tables) addCounter(text string, c *counter) int32 {
	t.unshare()
	c.owner, c.text = t.owner, text
	var id int32
	if last := len(t.free) - 1; last >= 0 {
		id, t.free = t.free[last], t.free[:last]
		t.counters[id] = c
	} else {
		id = int32(len(t.counters))
		t.counters, t.users = append(t.counters, c), append(t.users, 0)
	}
	t.index[text] = id
	return id
}

const (
	sweepLeast = 64
	// budget is the memory limit for counters, in bytes. For a large cluster it is
	// at least 1 KiB for each node.
	budget = 64 << 20
	// Bindings used this recently are never evicted, because the current cycle may
	// hold them.
	recent = 64
)

// lookup counts a lookup and, from time to time, evicts counters unused for long.
// It returns the tick of this lookup.
func (t *Tables) lookup() uint64 {
	t.tick++
	if len(t.counters)-len(t.free) >= t.sweepAt {
		t.sweep()
	}
	return t.tick
}

// sweep drops counters: of terms that no pod has any more and, if memory runs short
// or there are many bindings, of the bindings used longest ago.
func (t *Tables) sweep() {
	bytes := 0
	for _, c := range t.counters {
		if c != nil {
			bytes += c.bytes()
		}
	}
	if bytes > max(budget, t.snapshot.SlotLimit()<<10) || len(t.affinities)+len(t.spreads) > bindingLimit {
		t.evict()
	}
	forgotten := false
	for id, c := range t.counters {
		if c != nil && (c.term != nil && c.pairs == 0 || c.term == nil && t.users[id] == 0) {
			forgotten = forgotten || c.term != nil
			t.unshare()
			delete(t.index, c.text)
			t.counters[id] = nil
			t.free = append(t.free, int32(id))
		}
	}
	gone := func(id int32) bool { return t.counters[id] == nil }
	t.queries = slices.DeleteFunc(t.queries, gone)
	for _, a := range t.affinities {
		a.forget(t.existing, gone)
	}
	t.existing = slices.DeleteFunc(t.existing, gone)
	if forgotten {
		t.renew() // a cached answer may be older than the last pod with the term
	}
	t.classes, t.aliased = map[string]*class{}, false
	t.sweepAt = max(sweepLeast, 2*(len(t.counters)-len(t.free)))
}

const bindingLimit = 4096

// evict drops the half of the bindings that was used longest ago.
func (t *Tables) evict() {
	var used []uint64
	for _, a := range t.affinities {
		used = append(used, a.used)
	}
	for _, s := range t.spreads {
		used = append(used, s.used)
	}
	if len(used) == 0 {
		return
	}
	slices.Sort(used)
	before := used[len(used)/2]
	if t.tick > recent {
		before = min(before, t.tick-recent)
	} else {
		before = 0
	}
	for text, a := range t.affinities {
		if a.used < before {
			t.release(a.ids)
			delete(t.affinities, text)
		}
	}
	for text, s := range t.spreads {
		if s.used < before {
			t.release(s.ids)
			delete(t.spreads, text)
		}
	}
}

// hold and release count the bindings that use counters.
func (t *Tables) hold(ids []int32) {
	for _, id := range ids {
		t.users[id]++
	}
}

func (t *Tables) release(ids []int32) {
	for _, id := range ids {
		t.users[id]--
	}
}
