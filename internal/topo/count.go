package topo

import "github.com/berth-sched/berth/framework"

// A Count is a counter as a plugin sees it: live, so that it follows what-ifs.
type Count struct {
	tables *Tables
	id     int32
}

// Domain returns a number of the domain that the node is in, or a negative one
// when the node lacks the label.
func (c Count) Domain(n *framework.NodeInfo) int32 {
	t := c.tables
	return t.keys[t.counters[c.id].key].of(n.Slot())
}

// In returns the count of a domain; 0 for a negative number.
func (c Count) In(domain int32) int64 {
	if domain < 0 {
		return 0
	}
	return int64(c.tables.counters[c.id].counts.At(int(domain)))
}

// At returns the count of the node's domain, 0 when it is in none.
func (c Count) At(n *framework.NodeInfo) int64 { return c.In(c.Domain(n)) }

// Total is the sum over all domains.
func (c Count) Total() int64 { return c.tables.counters[c.id].total }

// Counts reports whether pods on the node count.
func (c Count) Counts(n *framework.NodeInfo) bool {
	return c.tables.domain(c.tables.counters[c.id], n.Slot()) >= 0
}

// Domains returns how many domains have a node that counts, and Least the
// smallest count among them: the largest int32 when there are none. They are
// known to hard spread constraints only.
func (c Count) Domains() int { return c.tables.counters[c.id].extent.domains }

// Least is described at Domains.
func (c Count) Least() int64 { return int64(c.tables.counters[c.id].extent.least) }

// LeastExcept is Least without one domain. It looks at every domain.
func (c Count) LeastExcept(domain int32) int64 {
	counter := c.tables.counters[c.id]
	return int64(counter.extent.leastExcept(counter.counts, domain))
}

// A Weighted count is multiplied by a weight in scores.
type Weighted struct {
	Count
	Weight int64
}
