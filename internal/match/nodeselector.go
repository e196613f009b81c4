package match

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// nodeNameField is the only field that node selectors support.
const nodeNameField = "metadata.name"

// A NodeSelector is a compiled node selector: one of its terms must match. An empty
// term and a malformed term match nothing. The zero value selects nothing.
type NodeSelector struct {
	terms    []nodeTerm
	problems []string
}

// NewNodeSelector compiles a node selector. Problems with its terms are in
// [NodeSelector.Err]; the other terms still match.
func NewNodeSelector(s *api.NodeSelector) NodeSelector {
	var compiled NodeSelector
	for i := range s.NodeSelectorTerms {
		term := &s.NodeSelectorTerms[i]
		if isEmpty(term) {
			continue
		}
		t, problems := compileTerm(func() string { return element("nodeSelectorTerms", i) }, term)
		if len(problems) > 0 {
			compiled.problems = append(compiled.problems, problems...)
			continue
		}
		compiled.terms = append(compiled.terms, t)
	}
	return compiled
}

// Matches reports whether the selector selects the node.
func (s *NodeSelector) Matches(n *api.Node) bool {
	for i := range s.terms {
		if s.terms[i].matches(n) {
			return true
		}
	}
	return false
}

// Err returns the problems of the selector's terms, in the words of the Kubernetes
// API, or nil.
func (s *NodeSelector) Err() error { return ProblemsError(s.problems) }

// nodeTerm is a compiled term of a node selector: all of it must hold.
type nodeTerm struct {
	labels []requirement
	fields []fieldRequirement
}

// fieldRequirement compares a field of a node.
type fieldRequirement struct {
	key   string
	value string
	equal bool
}

func isEmpty(t *api.NodeSelectorTerm) bool {
	return len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0
}

func (t *nodeTerm) matches(n *api.Node) bool {
	return matchAll(t.labels, n.Labels) && t.matchesFields(n)
}

// matchesFields ignores fields if the node has no name, and treats unknown fields
// as empty, as kube-scheduler does.
func (t *nodeTerm) matchesFields(n *api.Node) bool {
	if n.Name == "" {
		return true
	}
	for i := range t.fields {
		f := &t.fields[i]
		value := ""
		if f.key == nodeNameField {
			value = n.Name
		}
		if (value == f.value) != f.equal {
			return false
		}
	}
	return true
}

// compileTerm compiles a term and returns its problems, not many more than an error names; at names the term in them.
func compileTerm(at func() string, term *api.NodeSelectorTerm) (nodeTerm, []string) {
	var t nodeTerm
	var problems []string
	for i := 0; i < len(term.MatchExpressions) && len(problems) < maxProblems; i++ {
		e := &term.MatchExpressions[i]
		path := func() string { return element(child(at(), "matchExpressions"), i) }
		op := slices.Index(NodeOperators, e.Operator)
		if op < 0 {
			problems = append(problems, unsupported(child(path(), "operator"), e.Operator, NodeOperators))
			continue
		}
		r, wrong := compileRequirement(path, e.Key, operator(op), e.Values)
		t.labels = append(t.labels, r)
		problems = append(problems, wrong...)
	}
	for i := 0; i < len(term.MatchFields) && len(problems) < maxProblems; i++ {
		f := &term.MatchFields[i]
		path := func() string { return element(child(at(), "matchFields"), i) }
		switch {
		case f.Operator != api.NodeSelectorOpIn && f.Operator != api.NodeSelectorOpNotIn:
			problems = append(problems, unsupported(child(path(), "operator"), f.Operator, NodeOperators[:exists]))
		case len(f.Values) != 1:
			problems = append(problems, invalid(child(path(), "values"), f.Values, "must have one element"))
		default:
			t.fields = append(t.fields, fieldRequirement{f.Key, f.Values[0], f.Operator == api.NodeSelectorOpIn})
		}
	}
	return t, problems
}
