package main

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// shrink makes an item smaller as long as it has the first of its differences, see
// [identity]. It removes parts of its JSON: halves of lists first, single elements
// and fields last.
func (a *asker) shrink(i *item, differences []string) (*item, []string) {
	s := &shrinker{asker: a, want: identities(differences[:1]), end: time.Now().Add(patience), best: i, differences: differences}
	i.Expect.NodeOrder = nil
	text, err := json.Marshal(i)
	if err != nil {
		return i, differences
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return i, differences
	}
	delete(tree, "expect")
	for s.pass(tree, tree, 0) {
	}
	return s.best, s.differences
}

// patience is how long shrink works on one item.
const patience = 60 * time.Second

type shrinker struct {
	*asker
	want        map[string]bool
	end         time.Time
	best        *item
	differences []string
}

// fixed lists fields that every item needs.
var fixed = []string{"id", "family", "pod", "metadata", "name", "namespace", "uid", "place", "containers", "schedulerName"}

// pass tries once to remove every part below a node of the tree, and reports whether
// it removed any.
func (s *shrinker) pass(root, at any, depth int) (smaller bool) {
	switch v := at.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value := v[key]
			if !slices.Contains(fixed, key) {
				delete(v, key)
				if s.differs(root) {
					smaller = true
					continue
				}
				v[key] = value
			}
			if list, ok := value.([]any); ok {
				if shorter, ok := s.shorten(root, v, key, list); ok {
					smaller, value = true, shorter
				}
			}
			smaller = s.pass(root, value, depth+1) || smaller
		}
	case []any:
		for _, value := range v {
			smaller = s.pass(root, value, depth+1) || smaller
		}
	}
	return smaller
}

// shorten removes elements of a list, large pieces first.
func (s *shrinker) shorten(root any, parent map[string]any, key string, list []any) (shorter []any, ok bool) {
	for size := (len(list) + 1) / 2; size > 0; size /= 2 {
		for from := 0; from < len(list); {
			without := slices.Concat(list[:from], list[min(from+size, len(list)):])
			parent[key] = without
			if s.differs(root) {
				list, ok = without, true
			} else {
				parent[key] = list
				from += size
			}
		}
	}
	return list, ok
}

// differs reports whether the tree is an item that still differs, and keeps it then.
func (s *shrinker) differs(root any) bool {
	if time.Now().After(s.end) {
		return false
	}
	text, err := json.Marshal(root)
	if err != nil {
		return false
	}
	i := new(item)
	if json.Unmarshal(text, i) != nil || i.Case == nil || i.Pod == nil && i.Steps == nil || len(i.Nodes) == 0 {
		return false
	}
	v := s.ask(i)
	for _, d := range v.differences {
		if s.want[identity(d)] {
			s.best, s.differences = i, v.differences
			return true
		}
	}
	return false
}
