package topo

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/cow"
)

// Tables are the counters of one snapshot: an extension of it.
//
// Shared parts are never written to: keys, node sets, counters, classes and the parts
// of indexes have an owner.
type Tables struct {
	snapshot *framework.Snapshot
	owner    *owner
	clock    uint64 // counts changes of counters
	anew     uint64 // time of the last relevant change of nodes: no history reaches further back
	branches        // of forks
	// nodesVersion is a version of the snapshot that changes with anew, and with all labels of nodes.
	nodesVersion uint64
	commons      *commons // of all forks
	forks        bool     // there are some
	limits       limits

	keys     []*key // nil if given up
	freeKeys []int32
	keyIndex cow.Map[string, int32]
	nodeSets []*nodeSet // nil if given up
	setUsers []int      // number of counters with the set
	setIndex shards[int32]
	freeSets []int32

	counters []*counter // nil if given up
	users    []int      // number of bindings that hold the counter
	free     []int32    // indexes of counters given up
	index    shards[int32]
	queries  selectorIndex // counters of pod sets
	broads   broads        // some of these
	unused   []unused      // queue of counters that may be given up
	weighAt  uint64        // tick
	made     int           // bytes of the counters of pods made since they were weighed

	terms     selectorIndex // counters of terms
	termCount int
	mentions  mentions // of these
	// termVersion changes with the set of terms and with the namespaces. keyVersion
	// changes with it, and with all else that class keys read; see vacant.go. Both are
	// versions of the snapshot.
	termVersion, keyVersion uint64
	vacancy                 vacancy
	uncounted               uncounted
	forgot                  uint64 // time of the last change of a term that was dropped
	freed                   uint64 // time when the last one was dropped whose counter is another's, or nobody's, now
	termSets                map[string]*TermSet
	setBytes                int                // memory of all termSets
	termLog                 history[termEvent] // empty without termSets
	termNews                history[termNews]

	tracking    bool // classes are known
	classes     []*class
	pairs       int // of a counter and a class that lists it
	classIndex  shards[int32]
	last        int32 // class of the pod with terms that was counted last; it may have been dropped
	labels      index // classes by label
	freeClasses []int32
	empty       []emptied // queue of classes that may be dropped
	emptyBytes  int       // of their texts
	transaction uint64    // the last outermost one in which a pod came or went

	affinities map[string]*Affinity
	asked      *Affinity // the one of these that was asked for last, or nil
	question   question  // for asked
	spreads    map[spreadKey]*Spread
	held       int // bytes of these two, about
	literals   literals
	replicas   replicas
	recent     *recentSpreads // those of spreads that were asked for last; nil if none was
	tick       uint64         // counts lookups
	cycles     [2]uint64      // ticks when the last two cycles looked something up first; 0: none did
	steps      int            // of counting pods, since costly bindings were looked for
	looked     uint64         // tick then
	looks      int            // at classes, to make counters

	divisions []division // made recently
	scratch   []int32
	scratch2  []int32
	found     []int32
	text      []byte
	tally     []int32 // memory of places.shorten

	namespaces    uint64 // version of the namespace objects behind the bindings
	named         uint64 // time when it changed
	namespaceSets namespaceSets

	defaultsVersion uint64 // of the services and controllers behind keyVersion

	workloads uint64 // version behind the bindings for default constraints
	owned     uint64 // time when they changed: pods may belong together with others now
}

var tables = framework.NewExtensionKey(newTables)

// Of returns the snapshot's tables. The first call reads all pods if some have affinity
// terms.
func Of(s *framework.Snapshot) *Tables {
	t := tables.Of(s)
	if !t.tracking && s.PodsWithAffinity() > 0 {
		t.track()
	}
	return t
}

// In returns the tables of the cycle's snapshot for a plugin that keeps what it looks up until the
// cycle ends; see [DropUnused].
func In(c *framework.Cycle) *Tables {
	t := Of(c.Snapshot)
	if r := c.Runner(); r.Lookup == 0 {
		r.Lookup = t.tick + 1
		t.cycles = [2]uint64{r.Lookup, t.cycles[0]}
	}
	return t
}

func newTables(s *framework.Snapshot) *Tables {
	t := &Tables{
		snapshot: s, owner: new(owner), clock: 1, anew: 1, branches: branches{branch: s.NewVersion()}, commons: new(commons),
		limits: usual, weighAt: usual.weighEvery,
		affinities: map[string]*Affinity{}, spreads: map[spreadKey]*Spread{},
	}
	t.newTerms()
	return t
}

// hasTerms reports whether the pod may have affinity terms.
func hasTerms(p *framework.PodInfo) bool { return p.HasPodAffinity() }

// Fork implements [framework.Extension]. It costs O(C) for C counters and classes.
// The fork resolves anew which pods to be placed use which counters. No version of the time before
// is one of the fork, but moments are; see branches.
func (t *Tables) Fork(s *framework.Snapshot) framework.Extension {
	if !t.forks {
		t.share()
	}
	f := *t
	f.keyIndex = t.keyIndex.Fork()
	f.snapshot, f.owner = s, new(owner)
	f.clock++
	f.branches = t.branches.fork(s, t.clock)
	f.keyVersion = s.NewVersion() // siblings count other pods from now on
	f.termVersion = f.keyVersion
	t.owner = new(owner)
	f.freeKeys = slices.Clone(t.freeKeys)
	f.keys, f.nodeSets, f.counters = slices.Clone(t.keys), slices.Clone(t.nodeSets), slices.Clone(t.counters)
	f.setUsers, f.freeSets = slices.Clone(t.setUsers), slices.Clone(t.freeSets)
	f.broads = t.broads.clone()
	f.free, f.unused = slices.Clone(t.free), slices.Clone(t.unused)
	f.classes, f.freeClasses, f.empty = slices.Clone(t.classes), slices.Clone(t.freeClasses), slices.Clone(t.empty)
	f.users = make([]int, len(t.users))
	f.divisions = slices.Clone(t.divisions) // the same groups, so that forks are known to have them
	f.scratch, f.scratch2, f.found, f.text, f.tally = nil, nil, nil, nil, nil
	f.affinities, f.asked, f.question, f.spreads, f.held = map[string]*Affinity{}, nil, question{}, map[spreadKey]*Spread{}, 0
	f.mentions.keys, f.mentions.values = t.mentions.keys.Fork(), t.mentions.values.Fork()
	f.uncounted.summed = false
	f.termSets, f.setBytes, f.termLog = nil, 0, history[termEvent]{}
	if t.logsTerms() {
		f.termLog = newHistory[termEvent](t.clock, t.limits.termChanges) // a fork is mostly asked about the same pods
	}
	f.termNews = newHistory[termNews](f.clock, f.limits.termNews)
	f.literals, f.replicas, f.recent = literals{}, replicas{}, nil
	f.namespaceSets = namespaceSets{}
	return &f
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
		if c = c.clone(t.owner); c.log.last <= t.born {
			c.log = c.log.tail()
		} else {
			c.log.shared = true
		}
		t.counters[i] = c
	}
	return c
}

// key returns the index of the topology key, and makes it if necessary.
func (t *Tables) key(label string) int32 {
	if i, ok := t.keyIndex.Get("=" + label); ok {
		return i
	}
	return t.addKey(newKey(t.owner, label, false))
}

// nodeKey returns the index of the key that makes every node a domain.
func (t *Tables) nodeKey() int32 {
	if i, ok := t.keyIndex.Get(""); ok {
		return i
	}
	return t.addKey(newKey(t.owner, "", true))
}

func (t *Tables) addKey(k *key) int32 {
	for _, n := range t.snapshot.All() {
		k.add(n.Slot(), n.Node.Labels)
	}
	var i int32
	if last := len(t.freeKeys) - 1; last >= 0 {
		i, t.freeKeys = t.freeKeys[last], t.freeKeys[:last]
		t.keys[i] = k
	} else {
		i = int32(len(t.keys))
		t.keys = append(t.keys, k)
	}
	t.keyIndex.Set(k.name(), i)
	return i
}

// nodeSet returns the index of a set of nodes, and makes it if necessary. It
// returns none for a rule that a counter's key implies.
func (t *Tables) nodeSet(text string, rule *nodeRule) int32 {
	if rule.trivial() {
		return none
	}
	if i, ok := t.setIndex.get(text); ok {
		return i
	}
	set := newNodeSet(t.owner, text, *rule, t.snapshot)
	var i int32
	if last := len(t.freeSets) - 1; last >= 0 {
		i, t.freeSets = t.freeSets[last], t.freeSets[:last]
		t.nodeSets[i] = set
	} else {
		i = int32(len(t.nodeSets))
		t.nodeSets, t.setUsers = append(t.nodeSets, set), append(t.setUsers, 0)
	}
	t.setIndex.set(t.owner, text, i)
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
