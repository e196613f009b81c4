package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling/config"
)

// maxRepeated bounds the repeated fields of a source that are told with their lines.
const maxRepeated = 100

// repeated knows the fields that objects have more than once, and where they are.
type repeated struct {
	list  []*FaultError
	known map[string]bool // what was told: a field may be repeated more than once
}

var errRepeated = errors.New("is repeated; the last value counts")

// look notes the repeated fields of a piece, with the lines where they are last.
func (r *repeated) look(file string, p piece, list listKind) {
	if len(r.list) == maxRepeated {
		return
	}
	fields := config.RepeatedFields(p.text)
	if len(fields) == 0 {
		return
	}
	label := p.label(list)
	kind, _, _ := strings.Cut(label, " ")
	name := p.place()
	if label != "" {
		name = nameOf(kindNamed(kind), label)
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	var paths, told []string
	for _, steps := range fields {
		if p.entry { // its text is a list of one element
			steps = steps[1:]
		}
		path := pathOf(steps)
		at := errtext.Cut(name, maxShown) + ": " + errtext.Cut(path, maxShown)
		if r.known[at] || len(r.list)+len(paths) == maxRepeated {
			continue
		}
		r.known[at] = true
		paths, told = append(paths, path), append(told, at)
	}
	for i, line := range p.linesOf(paths) {
		r.list = append(r.list, &FaultError{file, line, fmt.Errorf("%s: %w", told[i], errRepeated)})
	}
}

// pathOf writes the way to a field as errors do: with brackets around the keys of maps.
func pathOf(steps []string) string {
	var b strings.Builder
	for i, step := range steps {
		switch {
		case step != "" && step[0] == '[':
			b.WriteString(step)
			continue
		case i > 0 && mapFields()[steps[i-1]], strings.ContainsAny(step, "./"):
			b.WriteString("[" + step + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// mapFields are the names of the fields whose values are maps.
var mapFields = sync.OnceValue(func() map[string]bool {
	names, seen := map[string]bool{}, map[reflect.Type]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Type.Kind() == reflect.Map || f.Type == reflect.TypeFor[api.ResourceMap]() {
				names[name] = true
			}
			if f.IsExported() {
				visit(f.Type)
			}
		}
	}
	visit(reflect.TypeFor[api.Objects]())
	return names
})

// kindNamed returns the kind that a label writes in lower case.
func kindNamed(label string) string {
	for _, kind := range clusterWide {
		if strings.EqualFold(kind, label) {
			return kind
		}
	}
	return label
}

// Doubts returns the fields that look misspelt and were skipped, and those that are repeated
// if the source is strict, up to 100 of each, each with its line, object and path.
func (c *Source) Doubts() []*FaultError {
	return append(c.misspelt.list[:len(c.misspelt.list):len(c.misspelt.list)], c.repeated.list...)
}
