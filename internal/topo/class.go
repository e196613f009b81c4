package topo

import "github.com/berth-sched/berth/framework"

// A class is the set of all pods that count in the same counters.
type class struct {
	counters []int32 // the counter of a term appears as often as the pods have the term
	seen     int     // number of Tables.queries considered so far
}

// classLimit bounds the number of cached classes.
const classLimit = 1 << 14

// classOf returns the class of a pod, updated for all counters.
func (t *Tables) classOf(p *framework.PodInfo, traits *traits) *class {
	c := t.classes[traits.text]
	if c != nil && c.seen == len(t.queries) {
		return c
	}
	if t.aliased || len(t.classes) >= classLimit {
		t.classes, t.aliased = map[string]*class{}, false
		c = nil
	}
	if c == nil {
		c = &class{}
		t.classes[traits.text] = c
		for kind := range kinds {
			list := traits.terms.list(kind)
			for i := range list {
				c.counters = append(c.counters, t.termCounter(kind, &list[i]))
			}
		}
	}
	for ; c.seen < len(t.queries); c.seen++ {
		if id := t.queries[c.seen]; t.counters[id].pods.has(p.Pod) {
			c.counters = append(c.counters, id)
		}
	}
	return c
}

// count counts a pod added to a node (by is 1) or removed from it (-1).
func (t *Tables) count(slot int, p *framework.PodInfo, by int32) {
	if len(t.queries) == 0 && !hasTerms(p) {
		return
	}
	for _, id := range t.classOf(p, traitsOf.Of(p)).counters {
		c := t.ownCounter(id)
		c.pairs += int64(by)
		if d := t.domain(c, slot); d != none {
			t.clock++
			c.add(d, by, t.clock)
		}
	}
}
