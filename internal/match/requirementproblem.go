package match

import (
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
)

// A Problem describes a bad part of a requirement.
type Problem struct {
	Field  string // path from the requirement, such as "values[0]"
	Value  any    // a string, or all the values
	Detail string
}

// maxProblems is how many problems errors show at most.
const maxProblems = 100

// RequirementProblems returns the problems that make a requirement on labels
// invalid, 100 at most. Its operator must be one of [NodeOperators].
//
// Source: Kubernetes 1.37, apimachinery's labels.NewRequirement.
func RequirementProblems(r *api.NodeSelectorRequirement) []Problem {
	return problemsOf(r.Key, operator(slices.Index(NodeOperators, r.Operator)), r.Values)
}

func problemsOf(key string, op operator, values []string) []Problem {
	var problems []Problem
	add := func(field string, value any, details ...string) {
		problems = append(problems, Problem{field, value, strings.Join(details, "; ")})
	}
	if wrong := LabelKeyProblems(key); wrong != nil {
		add("key", key, wrong...)
	}
	switch op {
	case in, notIn:
		if len(values) == 0 {
			add("values", values, "for 'in', 'notin' operators, values set can't be empty")
		}
	case exists, doesNotExist:
		if len(values) != 0 {
			add("values", values, "values set must be empty for exists and does not exist")
		}
	case greaterThan, lessThan:
		if len(values) != 1 {
			add("values", values, "for 'Gt', 'Lt' operators, exactly one value is required")
		}
		for i, value := range values {
			if _, ok := parseInt(value); !ok && len(problems) < maxProblems {
				add(element("values", i), value, "for 'Gt', 'Lt' operators, the value must be an integer")
			}
		}
	}
	for i, value := range values {
		if len(problems) >= maxProblems {
			break
		}
		if wrong := LabelValueProblems(value); wrong != nil {
			add(element("values", i)+"["+errtext.Cut(key, maxText/2)+"]", value, wrong...)
		}
	}
	return problems
}
