package topo

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Count is a plugin's view of a counter. It is live, so it follows what-if
// changes.
type Count struct {
	tables *Tables
	id     int32
}

// Domain returns the number of the node's domain, or a negative number if the node
// lacks the label.
func (c Count) Domain(n *framework.NodeInfo) int32 {
	t := c.tables
	return t.keys[t.counters[c.id].key].of(n.Slot())
}

// In returns the count of a domain, or 0 for a negative number.
func (c Count) In(domain int32) int64 {
	if domain < 0 {
		return 0
	}
	return int64(c.tables.counters[c.id].counts.At(int(domain)))
}

// At returns the count of the node's domain, or 0 if the node has none.
func (c Count) At(n *framework.NodeInfo) int64 {
	t := c.tables
	counter := t.counters[c.id]
	if d := t.keys[counter.key].of(n.Slot()); d >= 0 {
		return int64(counter.counts.At(int(d)))
	}
	return 0
}

// Total returns the sum over all domains.
func (c Count) Total() int64 { return c.tables.counters[c.id].total }

// Any reports whether a pod that a selector matches is on a node, in a domain or not. It may
// visit every class of pods.
func (c Count) Any() bool {
	t, counter := c.tables, c.tables.counters[c.id]
	if counter.total > 0 {
		return true
	}
	t.found = t.candidates(t.found[:0], counter.pods.targets())
	return slices.ContainsFunc(t.found, func(k int32) bool {
		return t.classes[k].pods > 0 && counter.pods.has(t.classes[k].looks)
	})
}

// Counts reports whether pods on the node are counted.
func (c Count) Counts(n *framework.NodeInfo) bool {
	return c.tables.domain(c.tables.counters[c.id], n.Slot()) >= 0
}

// Domains returns how many domains have a counted node, and Least the smallest
// count among them, or the largest int32 if there are none. Both are available only
// for hard spread constraints.
func (c Count) Domains() int { return c.tables.counters[c.id].extent.domains }

// Least is described at Domains.
func (c Count) Least() int64 { return int64(c.tables.counters[c.id].extent.least) }

// A Look is what a count says of a node: its domain or -1, the count there, and Least and Domains.
type Look struct {
	Domain      int32
	Pods, Least int64
	Domains     int64
}

// Look returns Domain, In, Least and Domains at once.
func (c Count) Look(n *framework.NodeInfo) Look {
	t := c.tables
	counter := t.counters[c.id]
	d := t.keys[counter.key].of(n.Slot())
	if d < 0 {
		return Look{Domain: d}
	}
	return Look{d, int64(counter.counts.At(int(d))), int64(counter.extent.least), int64(counter.extent.domains)}
}

// LeastExcept is Least without one domain. It visits every domain if that is the only one
// with the smallest count.
func (c Count) LeastExcept(domain int32) int64 {
	counter := c.tables.counters[c.id]
	return int64(counter.extent.leastExcept(counter.counts, domain))
}

// A Weighted is a count with its weight in scores.
type Weighted struct {
	Count
	Weight int64
}

// Key returns the topology key of the domains.
func (c Count) Key() string {
	if k := c.tables.keys[c.tables.counters[c.id].key]; !k.single {
		return k.label
	}
	return api.LabelHostname
}
