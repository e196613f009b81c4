package topo

import (
	"encoding/binary"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/digest"
	"github.com/berth-sched/berth/internal/match"
)

// A podSet is the set of counted pods: the pods that every part selects.
type podSet struct {
	parts   []podPart
	running bool // terminating pods do not count
	key     []byte
	leads   []target // see targets
}

// keyShort is how long a key is kept as it is. A longer one is kept as its digest: a pod with many
// terms has a counter for each of their topology keys, and each counts the pods that all terms select.
const keyShort = 256

// A podPart selects pods by namespace and labels.
type podPart struct {
	everywhere bool          // matches all namespaces
	namespaces []string      // sorted; used, as selected is, if everywhere is false
	selected   *namespaceSet // more of them; nil if there are none
	pods       match.LabelSelector
}

func (p *podPart) in(namespace string) bool {
	if p.everywhere || p.selected != nil && p.selected.has(namespace) {
		return true
	}
	_, found := slices.BinarySearch(p.namespaces, namespace)
	return found
}

// looks are what selectors see of a pod. Tables keep them in place of pods, which may be
// large.
type looks struct {
	namespace   string
	labels      map[string]string
	terminating bool
}

func looksOf(p *api.Pod) looks { return looks{p.Namespace, p.Labels, terminating(p)} }

func (s *podSet) has(p looks) bool {
	if s.running && p.terminating {
		return false
	}
	for i := range s.parts {
		part := &s.parts[i]
		if !part.in(p.namespace) || !part.pods.Matches(p.labels) {
			return false
		}
	}
	return true
}

func (s *podSet) appendKey(b []byte) []byte {
	if s.key == nil {
		s.key = s.newKey()
	}
	return append(b, s.key...)
}

func (s *podSet) newKey() []byte {
	var b []byte
	b = binary.AppendUvarint(b, uint64(len(s.parts)))
	for i := range s.parts {
		part := &s.parts[i]
		switch {
		case part.everywhere:
			b = append(b, 1)
		case part.selected == nil:
			b = appendStrings(append(b, 0), part.namespaces)
		default:
			b = append(appendStrings(append(b, 2), part.namespaces), part.selected.digest[:]...)
		}
		b = part.pods.AppendKey(b)
	}
	return slices.Clone(shortKey(appendBool(b, s.running)))
}

// shortKey returns a key if it is short, and its digest in its place otherwise.
func shortKey(b []byte) []byte {
	if len(b) <= keyShort {
		return b
	}
	sum := digest.Sum(b)
	return append(append(b[:0], "sha256:"...), sum[:]...)
}

// partOf resolves the namespaces that a term of a pod to be placed selects. A
// selector for everything also covers namespaces without an object in the snapshot;
// any other selector covers only namespaces whose object it selects.
func (t *Tables) partOf(term *Term) podPart {
	part := podPart{everywhere: term.selected.SelectsEverything(), namespaces: term.namespaces, pods: term.pods}
	if part.everywhere || term.selected.SelectsNothing() {
		return part
	}
	if set := t.selected(&term.selected); set.count > 0 {
		part.selected = set
	}
	return part
}
