package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
)

// maxMisspelt bounds the misspelt fields of a source that are told with their lines.
const maxMisspelt = 100

// misspelt knows the fields that look misspelt and were skipped, and where they are.
type misspelt struct {
	meanings map[string]string // of paths: what they likely mean, "" if they do not look misspelt
	counts   map[string]int    // of the paths that look misspelt, as far as they were told
	list     []*FaultError
}

// isNew reports whether o has skipped a field that looks misspelt since it was asked last. It
// is false once no more of them are told.
func (m *misspelt) isNew(o *api.Objects) (found bool) {
	if len(m.list) == maxMisspelt {
		return false
	}
	if len(o.SkippedFields) != len(m.meanings) {
		m.learn(o)
	}
	for path, n := range m.counts {
		if o.SkippedFields[path] > n {
			m.counts[path], found = o.SkippedFields[path], true
		}
	}
	return found
}

// learn finds out what the paths mean that are new in o. Each is looked at once: this costs
// far more than to read a short object.
func (m *misspelt) learn(o *api.Objects) {
	if m.meanings == nil {
		m.meanings, m.counts = map[string]string{}, map[string]int{}
	}
	for path := range o.SkippedFields {
		if _, known := m.meanings[path]; known {
			continue
		}
		if m.meanings[path] = meant(path); m.meanings[path] != "" {
			m.counts[path] = 0
		}
	}
}

// meant says what a skipped field likely means; "" if it does not look misspelt.
func meant(path string) string {
	o := api.Objects{SkippedFields: map[string]int{path: 1}}
	lines := o.Warnings()
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimPrefix(lines[0], path+": ")
}

// look notes the misspelt fields of a piece, with their lines.
func (m *misspelt) look(file string, p piece, list listKind) {
	room := maxMisspelt - len(m.list)
	if room == 0 {
		return
	}
	text, err := p.json()
	if err != nil {
		return
	}
	own := text
	if p.item >= 0 {
		text = list.wrap(text)
	}
	o, err := api.Decode(text)
	if err != nil {
		return
	}
	var wanted fieldTree
	for path := range o.SkippedFields {
		if m.meanings[path] != "" {
			_, general, _ := strings.Cut(path, ": ")
			wanted.add(path, strings.Split(general, "."))
		}
	}
	var object any
	if len(wanted.next) == 0 || unmarshal(own, &object) != nil {
		return
	}
	walk := fieldWalk{room: room}
	walk.value(object, &wanted)
	slices.SortStableFunc(walk.found, func(a, b foundField) int { return cmp.Compare(a.path, b.path) })
	fields := make([]string, len(walk.found))
	for i := range walk.found {
		fields[i] = walk.found[i].field
	}
	label := p.label(list)
	for i, line := range p.linesOf(fields) {
		path := walk.found[i].path
		kind, _, _ := strings.Cut(path, ": ")
		err := fmt.Errorf("%s: %s: %w", errtext.Cut(nameOf(kind, label), maxShown), errtext.Cut(fields[i], maxShown), errors.New(m.meanings[path]))
		m.list = append(m.list, &FaultError{file, line, err})
	}
}

// maxShown bounds a name and a path in an error, in bytes.
const maxShown = 1 << 10

// clusterWide are the kinds of objects that have no namespace.
var clusterWide = []string{
	"Node", "Namespace", "PriorityClass", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment",
	"DeviceClass", "ResourceSlice", "DeviceTaintRule", "NodeMetric", "Cluster",
}

// nameOf names an object as errors do, even without a name of its own.
func nameOf(kind, label string) string {
	switch {
	case label == "":
		return strings.ToLower(kind) + " without a name"
	case slices.Contains(clusterWide, kind):
		return label
	}
	return withDefault(label)
}
