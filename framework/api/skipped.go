package api

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/internal/strictjson"
)

// OtherFields is the key in [Objects.SkippedFields] for fields beyond the limit of
// separately counted paths.
const OtherFields = "(others)"

// The number and length of the counted paths are bounded, so that a file of junk
// cannot fill the memory.
const (
	maxSkippedFields = 500
	maxSkippedPath   = 250 // bytes
)

// skippedFields counts fields that the types here do not have, and objects of other kinds.
type skippedFields struct {
	counts  map[string]*int
	others  int
	objects map[string]*int // by kind and group
	kind    string
	text    []byte // of the last one counted; used again
}

// object counts an object of another kind.
func (f *skippedFields) object(h header) {
	t := append(f.text[:0], h.kind...)
	if g := groupOf(h.apiVersion); g != "" {
		t = append(append(t, '.'), g...)
	}
	f.text = t
	n := f.objects[string(t)]
	if n == nil {
		if f.objects == nil {
			f.objects = map[string]*int{}
		}
		n = new(int)
		f.objects[string(t)] = n
	}
	*n++
}

// counter returns where the field of that name in the struct at path is counted, and
// whether no other field is counted there.
func (f *skippedFields) counter(path strictjson.Path, name []byte) (n *int, own bool) {
	t := append(append(f.text[:0], f.kind...), ": "...)
	for _, step := range path {
		if step.Kind == strictjson.Field {
			t = append(append(t, step.Name...), '.')
		}
	}
	if len(t)+len(name) > maxSkippedPath {
		return &f.others, false
	}
	t = append(t, name...)
	f.text = t
	if n := f.counts[string(t)]; n != nil {
		return n, true
	}
	if len(f.counts) >= maxSkippedFields {
		return &f.others, false
	}
	if f.counts == nil {
		f.counts = map[string]*int{}
	}
	n = new(int)
	f.counts[string(t)] = n
	return n, true
}

// addTo adds the counts to o.SkippedFields and o.Skipped.
func (f *skippedFields) addTo(o *Objects) {
	for name, n := range f.objects {
		o.skip(name, *n)
	}
	for _, name := range slices.Sorted(maps.Keys(f.counts)) {
		o.skipFields(name, *f.counts[name])
	}
	if f.others > 0 {
		o.skipFields(OtherFields, f.others)
	}
}

// skipFields counts n skipped fields in o.
func (o *Objects) skipFields(name string, n int) {
	if o.SkippedFields == nil {
		o.SkippedFields = map[string]int{}
	}
	known := len(o.SkippedFields)
	if _, ok := o.SkippedFields[OtherFields]; ok {
		known--
	}
	if _, ok := o.SkippedFields[name]; !ok && known >= maxSkippedFields {
		name = OtherFields
	}
	o.SkippedFields[name] += n
}
