package args

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// NodeAffinity holds the arguments of the plugin of that name.
//
// Source: NodeAffinityArgs, kubescheduler.config.k8s.io/v1; the rules of
// selectors are those of component-helpers/scheduling/corev1/nodeaffinity.
type NodeAffinity struct {
	api.TypeMeta `json:",inline"`

	// AddedAffinity applies to every pod of the profile, in addition to the pod's
	// own affinity. nil adds nothing.
	AddedAffinity *api.NodeAffinity `json:"addedAffinity,omitempty"`
}

// NewNodeAffinity returns the default arguments.
func NewNodeAffinity() *NodeAffinity {
	a := new(NodeAffinity)
	a.complete()
	return a
}

func (a *NodeAffinity) complete() { a.TypeMeta = meta("NodeAffinity") }

// Validate returns every violated rule. path prefixes the field paths; it may be
// empty. Terms without requirements, and preferred terms of weight 0, are not
// checked, since they select and count nothing.
func (a *NodeAffinity) Validate(path string) []FieldError {
	if a.AddedAffinity == nil {
		return nil
	}
	var errs []FieldError
	path = child(path, "addedAffinity")
	if s := a.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
		at := child(child(path, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms")
		for i := range s.NodeSelectorTerms {
			errs = append(errs, validateTerm(index(at, i), &s.NodeSelectorTerms[i])...)
		}
	}
	at := child(path, "preferredDuringSchedulingIgnoredDuringExecution")
	for i, t := range a.AddedAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		if t.Weight != 0 {
			errs = append(errs, validateTerm(index(at, i), &t.Preference)...)
		}
	}
	return errs
}

func validateTerm(path string, t *api.NodeSelectorTerm) []FieldError {
	var errs []FieldError
	for i := range t.MatchExpressions {
		errs = append(errs, validateExpression(index(child(path, "matchExpressions"), i), &t.MatchExpressions[i])...)
	}
	for i := range t.MatchFields {
		errs = append(errs, validateField(index(child(path, "matchFields"), i), &t.MatchFields[i])...)
	}
	return errs
}

// validateExpression checks a requirement on labels.
func validateExpression(path string, r *api.NodeSelectorRequirement) []FieldError {
	if !slices.Contains(match.NodeOperators, r.Operator) {
		return []FieldError{NotSupported(child(path, "operator"), r.Operator, match.NodeOperators)}
	}
	var errs []FieldError
	for _, p := range match.RequirementProblems(r) {
		errs = append(errs, Invalid(child(path, p.Field), p.Value, p.Detail))
	}
	return errs
}

// validateField checks a requirement on a field of the node.
func validateField(path string, r *api.NodeSelectorRequirement) []FieldError {
	switch r.Operator {
	case api.NodeSelectorOpIn, api.NodeSelectorOpNotIn:
		if len(r.Values) != 1 {
			return []FieldError{Invalid(child(path, "values"), r.Values, "must have one element")}
		}
		return nil
	}
	operators := []api.NodeSelectorOperator{api.NodeSelectorOpIn, api.NodeSelectorOpNotIn}
	return []FieldError{NotSupported(child(path, "operator"), r.Operator, operators)}
}
