package manifest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A fieldTree holds the paths of fields that are looked for, without indexes and keys of
// maps. It is walked beside an object, so that all of them are found in one pass.
type fieldTree struct {
	path string // of the field that is looked for here; "" if there is none
	next map[string]*fieldTree
}

// add adds the path with these steps.
func (t *fieldTree) add(path string, steps []string) {
	for _, step := range steps {
		next := t.next[step]
		if next == nil {
			if next = new(fieldTree); t.next == nil {
				t.next = map[string]*fieldTree{}
			}
			t.next[step] = next
		}
		t = next
	}
	t.path = path
}

// A foundField is a field of an object, and the path by which it was looked for.
type foundField struct{ path, field string }

// A fieldWalk finds the fields of an object that a tree holds.
type fieldWalk struct {
	room  int // how many fields are found at most
	steps []string
	found []foundField
}

func (w *fieldWalk) inside(step string, value any, t *fieldTree) {
	w.steps = append(w.steps, step)
	w.value(value, t)
	w.steps = w.steps[:len(w.steps)-1]
}

func (w *fieldWalk) value(value any, t *fieldTree) {
	if t.path != "" && len(w.found) < w.room {
		w.found = append(w.found, foundField{t.path, strings.TrimPrefix(strings.Join(w.steps, ""), ".")})
	}
	if len(t.next) == 0 || len(w.found) == w.room {
		return
	}
	switch v := value.(type) {
	case []any:
		for i, elem := range v {
			w.inside("["+strconv.Itoa(i)+"]", elem, t)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if next := t.next[key]; next != nil {
				w.inside("."+key, v[key], next)
			}
			// The keys of a map are not in the path: what follows is a field of its value.
			inner, _ := v[key].(map[string]any)
			for _, step := range slices.Sorted(maps.Keys(inner)) {
				next := t.next[step]
				if _, own := v[step]; next != nil && !own {
					w.inside("["+key+"]."+step, inner[step], next)
				}
			}
		}
	}
}
