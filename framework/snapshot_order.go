package framework

import (
	"maps"
	"slices"
	"sync/atomic"
)

// A NodeOrder says how a snapshot orders its nodes. Everything that depends on order
// (ties, sampling, explanations) uses it.
type NodeOrder uint8

const (
	// ZoneInterleaved is kube-scheduler's order and the default: the first node of
	// each zone, then the second of each, and so on. Zones are in the order in which
	// they were first seen, nodes within a zone in the order of arrival. A node whose
	// zone changes goes to the end of its new zone. A zone without nodes is forgotten.
	// An unknown NodeOrder means this one.
	//
	// Source: kube-scheduler 1.37, backend/cache/node_tree.go.
	//
	// Differs: a node whose zone label changes.
	// Original: kube-scheduler makes its list anew only when a node comes or goes, so
	// the node keeps its old place until then.
	// Here: the order follows at once.
	// Why: the order depends only on the snapshot's nodes and their changes.
	ZoneInterleaved NodeOrder = iota
	// Arrival is the order in which the nodes were added. Updating a node does
	// not move it.
	Arrival
)

// nodeTree keeps the slots of the nodes in buckets by zone, and their order as a list
// that is made when it is needed.
type nodeTree struct {
	owner  *owner
	order  NodeOrder
	zones  []*zoneBucket // in the order in which they were first seen
	byZone map[string]*zoneBucket
	len    int
	made   atomic.Pointer[[]int] // the order; nil if it must be made
}

type zoneBucket struct {
	key   string
	slots []int
}

func newNodeTree(order NodeOrder, o *owner) *nodeTree {
	return &nodeTree{owner: o, order: order, byZone: map[string]*zoneBucket{}}
}

// own returns a tree that the owner may change.
func (t *nodeTree) own(o *owner) *nodeTree {
	if t.owner == o {
		return t
	}
	c := newNodeTree(t.order, o)
	c.len = t.len
	c.zones = make([]*zoneBucket, len(t.zones))
	for i, b := range t.zones {
		c.zones[i] = &zoneBucket{b.key, slices.Clone(b.slots)}
		c.byZone[b.key] = c.zones[i]
	}
	c.made.Store(t.made.Load())
	return c
}

// bucketKey returns the key of the bucket that nodes of the zone are in.
func (t *nodeTree) bucketKey(zone string) string {
	if t.order == Arrival {
		return ""
	}
	return zone
}

func (t *nodeTree) add(zone string, slot int) {
	key := t.bucketKey(zone)
	b := t.byZone[key]
	if b == nil {
		b = &zoneBucket{key: key}
		t.zones = append(t.zones, b)
		t.byZone[key] = b
	}
	b.slots = append(b.slots, slot)
	t.len++
	t.made.Store(nil)
}

func (t *nodeTree) remove(zone string, slot int) {
	b := t.byZone[t.bucketKey(zone)]
	i := slices.Index(b.slots, slot)
	b.slots = slices.Delete(b.slots, i, i+1)
	if len(b.slots) == 0 {
		i := slices.Index(t.zones, b)
		t.zones = slices.Delete(t.zones, i, i+1)
		delete(t.byZone, b.key)
	}
	t.len--
	t.made.Store(nil)
}

// move puts a node into another zone. If both zones are one bucket, the node keeps its
// place.
func (t *nodeTree) move(from, to string, slot int) {
	if t.bucketKey(from) != t.bucketKey(to) {
		t.remove(from, slot)
		t.add(to, slot)
	}
}

// list returns the slots in order. A change of the tree makes a new list, so a list that
// was returned stays the same. Several goroutines may call it at once.
func (t *nodeTree) list() []int {
	if made := t.made.Load(); made != nil {
		return *made
	}
	slots := make([]int, 0, t.len)
	rest := slices.Clone(t.zones) // the zones that still have a node in this round
	for round := 0; len(rest) > 0; round++ {
		rest = slices.DeleteFunc(rest, func(b *zoneBucket) bool { return round >= len(b.slots) })
		for _, b := range rest {
			slots = append(slots, b.slots[round])
		}
	}
	t.made.Store(&slots)
	return slots
}

// nameIndex finds nodes by name.
type nameIndex struct {
	owner *owner
	slots map[string]int
}

func (x *nameIndex) own(o *owner) *nameIndex {
	if x.owner == o {
		return x
	}
	return &nameIndex{owner: o, slots: maps.Clone(x.slots)}
}
