package topo

import "slices"

// A class that pods come to or leave lists the counters that count it, so that it need not look for them each
// time. But each list may be long, as anybody can make thousands of terms, and there may be a class for every pod. So
// classes are listed when a pod comes or leaves first; and once the lists take much memory, all are forgotten.

// pairs is how long the lists of a class are.
func (c *class) pairs() int { return len(c.queries) + len(c.except) }

// listedClass returns a class with its lists.
func (t *Tables) listedClass(id int32) *class {
	if c := t.classes[id]; c.listed {
		return c
	}
	c := t.ownClass(id)
	t.found = t.queries.find(t, t.found[:0], c.looks)
	for _, id := range t.found {
		switch q := t.counters[id]; {
		case q.pods.has(c.looks) == q.broad:
		case q.broad:
			c.except = append(c.except, id)
		default:
			c.queries = append(c.queries, id)
		}
	}
	t.boundLists() // before this one is of them: it is needed now
	c.listed = true
	t.pairs += c.pairs()
	return c
}

// boundLists forgets all lists if they have too many counters.
func (t *Tables) boundLists() {
	if t.pairs <= t.limits.pairs {
		return
	}
	for k, c := range t.classes {
		if c != nil && c.listed {
			c = t.ownClass(int32(k))
			c.listed, c.queries, c.except = false, nil, nil
		}
	}
	t.pairs = 0
}

// without takes counters out of a list, and gives back its memory if few stay.
func without(list []int32, dropped *idSet) []int32 {
	list = slices.DeleteFunc(list, dropped.has)
	if cap(list) > 64 && cap(list) > 4*len(list) {
		return slices.Clone(list)
	}
	return list
}
