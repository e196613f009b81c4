package match

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// A LabelSelector is a compiled label selector. The zero value selects
// everything.
type LabelSelector struct {
	requirements []requirement
	index        *selectorIndex // of the requirements, nil if they are few
	nothing      bool
}

// NewLabelSelector compiles a label selector: nil selects nothing, an empty one
// everything. The error has the words of the Kubernetes API; the selector then
// selects nothing.
//
// Differs: if several labels of matchLabels are malformed, the first in sorted
// order is reported; Kubernetes reports any of them.
func NewLabelSelector(s *api.LabelSelector) (LabelSelector, error) {
	return NewLabelSelectorWith(s, nil, nil)
}

// NewLabelSelectorWith compiles the selector of objects that s selects and that have the
// same values of some labels as an object with these labels. Keys that the object has no
// label for add nothing.
func NewLabelSelectorWith(s *api.LabelSelector, keys []string, labels map[string]string) (LabelSelector, error) {
	if s == nil {
		return Nothing(), nil
	}
	most := len(keys) + len(s.MatchLabels)
	requirements, values := make([]requirement, 0, most+len(s.MatchExpressions)), make([]string, 0, most)
	var few [fewLabels]string
	for _, key := range presentKeys(few[:0], keys, labels) {
		values = append(values, labels[key])
		requirements = append(requirements, requirement{key: key, op: in, values: last(values)})
	}
	add := func(key string, op operator, values []string) error {
		r, problems := compileRequirement(root, key, op, values)
		requirements = append(requirements, r)
		return ProblemsError(problems)
	}
	for _, key := range sortedKeys(few[:0], s.MatchLabels) {
		values = append(values, s.MatchLabels[key])
		if err := add(key, in, last(values)); err != nil {
			return Nothing(), err
		}
	}
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		op, ok := labelOperator(e.Operator)
		if !ok {
			return Nothing(), fmt.Errorf("%q is not a valid label selector operator", cut(string(e.Operator)))
		}
		if err := add(e.Key, op, append([]string(nil), e.Values...)); err != nil {
			return Nothing(), err
		}
	}
	return LabelSelector{requirements: requirements}.indexed(), nil
}

func labelOperator(o api.LabelSelectorOperator) (operator, bool) {
	switch o {
	case api.LabelSelectorOpIn:
		return in, true
	case api.LabelSelectorOpNotIn:
		return notIn, true
	case api.LabelSelectorOpExists:
		return exists, true
	case api.LabelSelectorOpDoesNotExist:
		return doesNotExist, true
	}
	return 0, false
}

// LabelsOf returns the selector of objects that have all these labels. It does not
// check the labels. Without labels it selects everything.
func LabelsOf(labels map[string]string) LabelSelector {
	if len(labels) == 0 {
		return LabelSelector{}
	}
	s := LabelSelector{requirements: make([]requirement, 0, len(labels))}
	values := make([]string, 0, len(labels))
	var few [fewLabels]string
	for _, key := range sortedKeys(few[:0], labels) {
		values = append(values, labels[key])
		s.requirements = append(s.requirements, requirement{key: key, op: in, values: last(values)})
	}
	return s
}

// presentKeys appends the keys that there are labels for, sorted, each once.
func presentKeys(list, keys []string, labels map[string]string) []string {
	for _, key := range keys {
		if _, ok := labels[key]; ok {
			list = append(list, key)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// fewLabels is how many keys need no memory to be sorted.
const fewLabels = 16

func sortedKeys(list []string, labels map[string]string) []string {
	for key := range labels {
		list = append(list, key)
	}
	if len(list) > 1 {
		slices.Sort(list)
	}
	return list
}

// last returns the list of the last value alone.
func last(values []string) []string { return values[len(values)-1 : len(values) : len(values)] }

// Nothing returns the selector that selects nothing.
func Nothing() LabelSelector { return LabelSelector{nothing: true} }

// Matches reports whether the selector selects an object with these labels.
func (s *LabelSelector) Matches(labels map[string]string) bool {
	if s.index != nil {
		return s.index.matches(labels)
	}
	return !s.nothing && matchAll(s.requirements, labels)
}

// Reads calls f with each key that the selector reads, and the values that it compares that
// label with: any other two values are the same to it. A key may come several times.
func (s *LabelSelector) Reads(f func(key string, values []string)) {
	for i := range s.requirements {
		f(s.requirements[i].key, s.requirements[i].values)
	}
}

// Forbids calls f with each key that objects must not have a label of, or not with one of some values. It returns
// false if they must have labels.
func (s *LabelSelector) Forbids(f func(key string, values []string)) (only bool) {
	if s.nothing {
		return false
	}
	for i := range s.requirements {
		r := &s.requirements[i]
		if r.op != notIn && r.op != doesNotExist {
			return false
		}
		f(r.key, r.values)
	}
	return true
}

// SelectsEverything reports whether the selector has no requirements and so selects
// every object.
func (s *LabelSelector) SelectsEverything() bool { return !s.nothing && len(s.requirements) == 0 }

// SelectsNothing reports whether the selector was compiled from nil and so selects
// no object.
func (s *LabelSelector) SelectsNothing() bool { return s.nothing }

// And returns the selector of objects that both s and o select.
func (s LabelSelector) And(o LabelSelector) LabelSelector {
	if s.nothing || o.nothing {
		return Nothing()
	}
	return LabelSelector{requirements: slices.Concat(s.requirements, o.requirements)}.indexed()
}
