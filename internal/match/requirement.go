package match

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// operator is the comparison of a requirement with a label.
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

// matches reports whether the labels meet the requirement. An absent label meets
// only notIn and doesNotExist.
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

// NodeOperators are the operators of node selectors, in the order of error texts.
var NodeOperators = []api.NodeSelectorOperator{
	in:           api.NodeSelectorOpIn,
	notIn:        api.NodeSelectorOpNotIn,
	exists:       api.NodeSelectorOpExists,
	doesNotExist: api.NodeSelectorOpDoesNotExist,
	greaterThan:  api.NodeSelectorOpGt,
	lessThan:     api.NodeSelectorOpLt,
}

// compileRequirement checks and compiles a requirement. It returns no problems for
// a valid one; path names the requirement in the problems, and costs nothing without any.
func compileRequirement(path func() string, key string, op operator, values []string) (requirement, []string) {
	var problems []string
	for _, p := range problemsOf(key, op, values) {
		if len(problems) == maxProblems {
			break // an error names no more
		}
		problems = append(problems, invalid(child(path(), p.Field), p.Value, p.Detail))
	}
	r := requirement{key: key, op: op, values: values}
	if len(values) > 0 && (op == greaterThan || op == lessThan) {
		r.number, _ = parseInt(values[0])
	}
	return r, problems
}
