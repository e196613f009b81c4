package topo

import (
	"encoding/binary"
	"slices"

	"github.com/berth-sched/berth/framework"
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

// keyShort is how long a key of a podSet is kept as it is. A longer one is kept as its
// digest: a pod with many terms has a counter for each of their topology keys, and each
// counts the pods that all terms select.
const keyShort = 256

// A podPart selects pods by namespace and labels.
type podPart struct {
	everywhere bool     // matches all namespaces
	namespaces []string // sorted; used if everywhere is false
	pods       match.LabelSelector
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
		if !part.everywhere && !slices.Contains(part.namespaces, p.namespace) || !part.pods.Matches(p.labels) {
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
		if part.everywhere {
			b = append(b, 1)
		} else {
			b = appendStrings(append(b, 0), part.namespaces)
		}
		b = part.pods.AppendKey(b)
	}
	if b = appendBool(b, s.running); len(b) <= keyShort {
		return b
	}
	sum := digest.Sum(b)
	return append([]byte("sha256:"), sum[:]...)
}

// partOf resolves the namespaces that a term of a pod to be placed selects. A
// selector for everything also covers namespaces without an object in the snapshot;
// any other selector covers only namespaces whose object it selects.
func partOf(t *Term, s *framework.Snapshot) podPart {
	part := podPart{everywhere: t.selected.SelectsEverything(), namespaces: t.namespaces, pods: t.pods}
	if part.everywhere || t.selected.SelectsNothing() {
		return part
	}
	names := slices.Clone(t.namespaces)
	for _, n := range framework.List[api.Namespace](s) {
		if t.selected.Matches(n.Labels) {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	part.namespaces = slices.Compact(names)
	return part
}
