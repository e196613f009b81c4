package match

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// operator is how a requirement compares a label.
type operator uint8

const (
	in operator = iota
	notIn
	exists
	doesNotExist
	greaterThan
	lessThan
)

// A requirement is one compiled condition on a set of labels.
type requirement struct {
	key    string
	op     operator
	values []string // for in and notIn
	number int64    // for greaterThan and lessThan
}

// equals returns the requirement that the label has exactly this value.
func equals(key, value string) requirement {
	return requirement{key: key, op: in, values: []string{value}}
}

// matches reports whether the labels meet the requirement. A label that is
// absent meets notIn and doesNotExist and nothing else.
func (r *requirement) matches(labels map[string]string) bool {
	value, ok := labels[r.key]
	switch r.op {
	case in:
		return ok && slices.Contains(r.values, value)
	case notIn:
		return !ok || !slices.Contains(r.values, value)
	case exists:
		return ok
	case doesNotExist:
		return !ok
	}
	if !ok {
		return false
	}
	number, ok := parseInt(value)
	if r.op == greaterThan {
		return ok && number > r.number
	}
	return ok && number < r.number
}

// matchAll reports whether the labels meet every requirement.
func matchAll(requirements []requirement, labels map[string]string) bool {
	for i := range requirements {
		if !requirements[i].matches(labels) {
			return false
		}
	}
	return true
}

// nodeOperators are the operators of node selectors, in the order in which an
// error lists them.
var nodeOperators = []framework.NodeSelectorOperator{
	in:           framework.NodeSelectorOpIn,
	notIn:        framework.NodeSelectorOpNotIn,
	exists:       framework.NodeSelectorOpExists,
	doesNotExist: framework.NodeSelectorOpDoesNotExist,
	greaterThan:  framework.NodeSelectorOpGt,
	lessThan:     framework.NodeSelectorOpLt,
}

// compileRequirement checks a requirement and compiles it. The problems are
// empty when it is valid; path names it in them.
func compileRequirement(path, key string, op operator, values []string) (requirement, []string) {
	var problems []string
	problems = append(problems, invalidEach(child(path, "key"), key, LabelKeyProblems(key))...)

	r := requirement{key: key, op: op, values: values}
	valuesPath := child(path, "values")
	switch op {
	case in, notIn:
		if len(values) == 0 {
			problems = append(problems, invalid(valuesPath, values, "for 'in', 'notin' operators, values set can't be empty"))
		}
	case exists, doesNotExist:
		if len(values) != 0 {
			problems = append(problems, invalid(valuesPath, values, "values set must be empty for exists and does not exist"))
		}
	case greaterThan, lessThan:
		if len(values) != 1 {
			problems = append(problems, invalid(valuesPath, values, "for 'Gt', 'Lt' operators, exactly one value is required"))
		}
		for i, value := range values {
			number, ok := parseInt(value)
			if !ok {
				problems = append(problems, invalid(element(valuesPath, i), value, "for 'Gt', 'Lt' operators, the value must be an integer"))
			}
			r.number = number
		}
	}
	for i, value := range values {
		path := element(valuesPath, i) + "[" + key + "]"
		problems = append(problems, invalidEach(path, value, LabelValueProblems(value))...)
	}
	return r, problems
}
