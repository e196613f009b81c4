package topo

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/digest"
	"github.com/berth-sched/berth/internal/match"
)

// A namespaceSet is what a namespace selector selects. It never changes, and terms and pods
// share it.
type namespaceSet struct {
	names []string // of all namespaces then, sorted
	bits  string   // of the names: bit i%8 of byte i/8
	count int
	// digest is that of the names in the set. It depends on no other namespaces, so a
	// counter stays when those change, and is the same in forks.
	digest [32]byte
}

func (s *namespaceSet) at(i int) bool { return i/8 < len(s.bits) && s.bits[i/8]>>(i%8)&1 != 0 }

func (s *namespaceSet) has(name string) bool {
	i, found := slices.BinarySearch(s.names, name)
	return found && s.at(i)
}

// all visits the names in the set in ascending order.
func (s *namespaceSet) all(yield func(name string) bool) {
	for i, name := range s.names {
		if s.at(i) && !yield(name) {
			return
		}
	}
}

// namespaceSets finds what each selector selects once for each version of the namespaces. Pods
// of one template have equal selectors, and one pod may have thousands of terms with the same.
// The zero value is empty. It is emptied when it is full.
//
// Invariant: the sets are those of the version. Every change of a namespace, also in a fork,
// makes a version that never was before, and a rollback restores the former one. So the sets
// are right if the version is that of now, and a rollback must tell them nothing.
type namespaceSets struct {
	version    uint64
	objects    []*api.Namespace // by name
	names      []string         // of these
	bySelector map[string]*namespaceSet
	byBits     map[string]*namespaceSet // of those in bySelector: equal sets are digested once
	bytes      int
}

// namespaceSetsMost is the maximum number of selectors in namespaceSets, a few pods of the
// largest size. namespaceSetsBytes is that of bytes of their keys and sets: users write the
// selectors, and a set has a bit for each namespace.
const (
	namespaceSetsMost  = 1 << 14
	namespaceSetsBytes = 8 << 20
)

// selected returns the namespaces that a selector selects.
func (t *Tables) selected(selector *match.LabelSelector) *namespaceSet {
	x := &t.namespaceSets
	x.follow(t.snapshot)
	t.text = shortKey(selector.AppendKey(t.text[:0]))
	if set := x.bySelector[string(t.text)]; set != nil {
		return set
	}
	key := string(t.text)
	set := t.findSelected(selector)
	bytes := len(key) + len(set.bits)
	if x.bySelector == nil || len(x.bySelector) >= namespaceSetsMost || x.bytes+bytes > namespaceSetsBytes {
		x.bySelector, x.byBits, x.bytes = map[string]*namespaceSet{}, map[string]*namespaceSet{}, 0
	}
	x.bySelector[key], x.byBits[set.bits] = set, set
	x.bytes += bytes
	return set
}

// follow gives up all sets if the namespaces have changed.
func (x *namespaceSets) follow(s *framework.Snapshot) {
	version := framework.ObjectsVersion[api.Namespace](s)
	if version == x.version {
		return
	}
	objects := framework.List[api.Namespace](s)
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.Name
	}
	if slices.Equal(names, x.names) {
		names = x.names // counters keep sets of many versions
	}
	*x = namespaceSets{version: version, objects: objects, names: names}
}

// findSelected asks the selector about each namespace.
func (t *Tables) findSelected(selector *match.LabelSelector) *namespaceSet {
	x := &t.namespaceSets
	bits := append(t.text[:0], make([]byte, (len(x.names)+7)/8)...)
	t.text = bits
	count, end := 0, 0
	for i, o := range x.objects {
		if selector.Matches(o.Labels) {
			bits[i/8] |= 1 << (i % 8)
			count, end = count+1, i+1
		}
	}
	bits = bits[:(end+7)/8]
	if set := x.byBits[string(bits)]; set != nil {
		return set
	}
	set := &namespaceSet{names: x.names, bits: string(bits), count: count}
	t.text = t.text[:0]
	for name := range set.all {
		t.text = match.AppendString(t.text, name)
	}
	set.digest = digest.Sum(t.text)
	return set
}
