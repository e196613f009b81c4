package topo

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// Tables are the counters of one snapshot: an extension of it.
//
// Shared parts are never written to: keys, node sets and counters have an owner,
// and the maps are marked as shared.
type Tables struct {
	snapshot *framework.Snapshot
	owner    *owner
	clock    uint64 // counts changes of counters
	anew     uint64 // time of the last relevant change of nodes: no history reaches further back

	keys     []*key
	keyIndex map[string]int32
	nodeSets []*nodeSet
	setIndex map[string]int32

	counters []*counter // nil if dropped
	users    []int      // number of bindings that hold the counter
	free     []int32    // indexes of dropped counters
	index    map[string]int32
	shared   bool    // the index maps are shared with a fork
	queries  []int32 // counters of pod sets, in the order of their creation
	existing []int32 // counters of terms, in the order of their creation
	sweepAt  int     // number of counters that triggers the next sweep

	classes map[string]*class
	aliased bool // classes are shared with a fork

	affinities map[string]*Affinity
	spreads    map[string]*Spread
	tick       uint64 // counts lookups

	divisions []division // made recently
	scratch   []int32
	scratch2  []int32

	namespaces uint64 // version of the namespace objects behind the bindings
	named      uint64 // time when it changed

	workloads workloads // versions behind the bindings for default constraints
	owned     uint64    // time when they changed: pods may belong together with others now
}

var tables = framework.NewExtensionKey(newTables)

// Of returns the snapshot's tables. The first call reads the affinity terms of
// every pod.
func Of(s *framework.Snapshot) *Tables { return tables.Of(s) }

func newTables(s *framework.Snapshot) *Tables {
	t := &Tables{
		snapshot: s, owner: new(owner), clock: 1, anew: 1,
		keyIndex: map[string]int32{}, setIndex: map[string]int32{}, index: map[string]int32{},
		sweepAt: sweepLeast,
		classes: map[string]*class{}, affinities: map[string]*Affinity{}, spreads: map[string]*Spread{},
	}
	for _, n := range s.All() {
		for _, p := range n.Pods {
			if hasTerms(p) {
				t.count(n.Slot(), p, 1)
			}
		}
	}
	return t
}

// hasTerms reports whether the pod may have affinity terms.
func hasTerms(p *framework.PodInfo) bool { return p.HasPodAffinity() }

// Fork implements [framework.Extension]. It costs O(C) for C counters. The fork
// resolves anew which pods use which counters.
func (t *Tables) Fork(s *framework.Snapshot) framework.Extension {
	t.shared, t.aliased = true, true
	f := *t
	f.snapshot, f.owner = s, new(owner)
	t.owner = new(owner)
	f.keys, f.nodeSets, f.counters = slices.Clone(t.keys), slices.Clone(t.nodeSets), slices.Clone(t.counters)
	f.free, f.queries, f.existing = slices.Clone(t.free), slices.Clone(t.queries), slices.Clone(t.existing)
	f.users = make([]int, len(t.users))
	f.divisions, f.scratch, f.scratch2 = nil, nil, nil
	f.affinities, f.spreads = map[string]*Affinity{}, map[string]*Spread{}
	return &f
}

// unshare makes the index maps writable.
func (t *Tables) unshare() {
	if t.shared {
		t.keyIndex, t.setIndex, t.index = maps.Clone(t.keyIndex), maps.Clone(t.setIndex), maps.Clone(t.index)
		t.shared = false
	}
}

// ownKey, ownNodeSet and ownCounter return possibly shared parts for writing.
func (t *Tables) ownKey(i int) *key {
	if k := t.keys[i]; k.owner != t.owner {
		t.keys[i] = k.clone(t.owner)
	}
	return t.keys[i]
}

func (t *Tables) ownNodeSet(i int) *nodeSet {
	if n := t.nodeSets[i]; n.owner != t.owner {
		t.nodeSets[i] = n.clone(t.owner)
	}
	return t.nodeSets[i]
}

func (t *Tables) ownCounter(i int32) *counter {
	c := t.counters[i]
	if c.owner != t.owner {
		c = c.clone(t.owner)
		t.counters[i] = c
	}
	return c
}

// key returns the index of the topology key, and makes it if necessary. The prefix
// "=" marks label keys.
func (t *Tables) key(label string) int32 {
	if i, ok := t.keyIndex["="+label]; ok {
		return i
	}
	return t.addKey("="+label, newKey(t.owner, label, false))
}

// nodeKey returns the index of the key that makes every node a domain.
func (t *Tables) nodeKey() int32 {
	if i, ok := t.keyIndex[""]; ok {
		return i
	}
	return t.addKey("", newKey(t.owner, "", true))
}

func (t *Tables) addKey(name string, k *key) int32 {
	for _, n := range t.snapshot.All() {
		k.add(n.Slot(), n.Node.Labels)
	}
	t.unshare()
	i := int32(len(t.keys))
	t.keys, t.keyIndex[name] = append(t.keys, k), i
	return i
}

// nodeSet returns the index of a set of nodes, and makes it if necessary. It
// returns none for a rule that a counter's key implies.
func (t *Tables) nodeSet(text string, rule *nodeRule) int32 {
	if rule.trivial() {
		return none
	}
	if i, ok := t.setIndex[text]; ok {
		return i
	}
	t.unshare()
	i := int32(len(t.nodeSets))
	t.nodeSets, t.setIndex[text] = append(t.nodeSets, newNodeSet(t.owner, *rule, t.snapshot)), i
	return i
}

// domain returns the domain in which pods of the slot's node count, or none if they
// do not count.
func (t *Tables) domain(c *counter, slot int) int32 {
	if c.nodes != none && !t.nodeSets[c.nodes].has(slot) {
		return none
	}
	k := t.keys[c.key]
	d := k.of(slot)
	if d == none && c.loose {
		return k.empty
	}
	return d
}
