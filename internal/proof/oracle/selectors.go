package oracle

import (
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework/api"
)

// SelectsLabels reports whether a valid label selector selects the labels.
func SelectsLabels(s *api.LabelSelector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	for key, want := range s.MatchLabels {
		if have, ok := labels[key]; !ok || have != want {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		if !holds(string(e.Operator), e.Values, e.Key, labels) {
			return false
		}
	}
	return true
}

// SelectsNode reports whether a valid node selector selects the node.
func SelectsNode(s *api.NodeSelector, n *api.Node) bool {
	return slices.ContainsFunc(s.NodeSelectorTerms, func(t api.NodeSelectorTerm) bool { return TermSelects(t, n) })
}

// TermSelects reports whether a valid term of a node selector selects the node.
func TermSelects(t api.NodeSelectorTerm, n *api.Node) bool {
	for _, e := range t.MatchExpressions {
		if !holds(string(e.Operator), e.Values, e.Key, n.Labels) {
			return false
		}
	}
	for _, f := range t.MatchFields {
		if !holds(string(f.Operator), f.Values, f.Key, map[string]string{"metadata.name": n.Name}) {
			return false
		}
	}
	return len(t.MatchExpressions)+len(t.MatchFields) > 0
}

func holds(operator string, values []string, key string, labels map[string]string) bool {
	value, ok := labels[key]
	switch operator {
	case "In":
		return ok && slices.Contains(values, value)
	case "NotIn":
		return !ok || !slices.Contains(values, value)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	}
	have, err := strconv.ParseInt(value, 10, 64)
	if !ok || err != nil {
		return false
	}
	want, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil {
		return false
	}
	return operator == "Gt" && have > want || operator == "Lt" && have < want
}

// Tolerated reports whether one of the tolerations tolerates the taint. comparing is
// the feature that allows the operators Lt and Gt for numbers.
func Tolerated(t api.Taint, tolerations []api.Toleration, comparing bool) bool {
	for _, o := range tolerations {
		effect := o.Effect == "" || o.Effect == t.Effect
		key := o.Key == "" || o.Key == t.Key
		if effect && key && tolerates(o, t, comparing) {
			return true
		}
	}
	return false
}

func tolerates(o api.Toleration, t api.Taint, comparing bool) bool {
	switch o.Operator {
	case "", "Equal":
		return o.Value == t.Value
	case "Exists":
		return true
	case "Lt", "Gt":
		bound, err := strconv.ParseInt(o.Value, 10, 64)
		if !comparing || err != nil || strconv.FormatInt(bound, 10) != o.Value {
			return false
		}
		value, err := strconv.ParseInt(t.Value, 10, 64)
		if err != nil || strconv.FormatInt(value, 10) != t.Value {
			return false
		}
		return o.Operator == "Lt" && value < bound || o.Operator == "Gt" && value > bound
	}
	return false
}
