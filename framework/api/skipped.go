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

// skippedFields counts fields that the types here do not have.
type skippedFields struct {
	counts map[string]*int
	others int
	kind   string
	text   []byte // of the last one counted; used again
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

// addTo adds the counts to o.SkippedFields.
func (f *skippedFields) addTo(o *Objects) {
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
