package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// maxMisspelt bounds the misspelt fields of a source that are told with their lines.
const maxMisspelt = 100

// misspelt knows the fields that look misspelt and were skipped, and where they are.
type misspelt struct {
	known  int            // paths looked at
	counts map[string]int // of the paths that look misspelt, as far as they were told
	list   []*FaultError
}

// isNew reports whether o has skipped a field that looks misspelt since it was asked last.
func (m *misspelt) isNew(o *api.Objects) (found bool) {
	if len(o.SkippedFields) != m.known {
		m.known = len(o.SkippedFields)
		if m.counts == nil {
			m.counts = map[string]int{}
		}
		for path := range o.SkippedFields {
			if _, known := m.counts[path]; !known && meant(path) != "" {
				m.counts[path] = 0
			}
		}
	}
	for path, n := range m.counts {
		if o.SkippedFields[path] > n {
			m.counts[path], found = o.SkippedFields[path], true
		}
	}
	return found
}

// meant says what a skipped field likely means; "" if it does not look misspelt.
func meant(path string) string {
	o := api.Objects{SkippedFields: map[string]int{path: 1}}
	for _, line := range o.Warnings() {
		return strings.TrimPrefix(line, path+": ")
	}
	return ""
}

// look notes the misspelt fields of a piece, with their lines.
func (m *misspelt) look(file string, p piece, list listKind) {
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
	var object any
	if unmarshal(own, &object) != nil {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(o.SkippedFields)) {
		kind, general, _ := strings.Cut(path, ": ")
		problem := meant(path)
		if problem == "" {
			continue
		}
		name := nameOf(kind, p.label(list))
		for _, field := range fieldsLike(object, strings.Split(general, ".")) {
			if len(m.list) == maxMisspelt {
				return
			}
			m.list = append(m.list, &FaultError{file, p.lineOf(field), fmt.Errorf("%s: %s: %w", name, field, errors.New(problem))})
		}
	}
}

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

// fieldsLike lists the fields of an object that a path without indexes and keys means.
func fieldsLike(value any, steps []string) (list []string) {
	if len(steps) == 0 {
		return []string{""}
	}
	join := func(step string, inner []string) {
		for _, rest := range inner {
			if rest != "" && rest[0] != '[' {
				rest = "." + rest
			}
			list = append(list, step+rest)
		}
	}
	switch v := value.(type) {
	case []any:
		for i, elem := range v {
			join(fmt.Sprintf("[%d]", i), fieldsLike(elem, steps))
		}
	case map[string]any:
		if inner, ok := v[steps[0]]; ok {
			join(steps[0], fieldsLike(inner, steps[1:]))
			break
		}
		for _, key := range slices.Sorted(maps.Keys(v)) { // the keys of a map are not in the path
			inner, _ := v[key].(map[string]any)
			if below, ok := inner[steps[0]]; ok {
				join("["+key+"]."+steps[0], fieldsLike(below, steps[1:]))
			}
		}
	}
	return list
}
