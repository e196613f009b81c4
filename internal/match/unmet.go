package match

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// UnmetLabels says, for people, which entries of a pod's nodeSelector a node does not
// meet: one text each, sorted by key.
func UnmetLabels(want, have map[string]string) (texts []string) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, ok := have[key]; !ok || value != want[key] {
			texts = append(texts, fmt.Sprintf("label %s=%s: %s", key, want[key], nodeHas(have, key)))
		}
	}
	return texts
}

// Unmet says, for people, what a node does not meet of a node selector. There is a text
// for each requirement of each term, as the terms are alternatives; nothing if some term
// matches.
func Unmet(s *api.NodeSelector, n *api.Node) (texts []string) {
	if len(s.NodeSelectorTerms) == 0 {
		return []string{"no term to match"}
	}
	for i := range s.NodeSelectorTerms {
		term := unmetOfTerm(&s.NodeSelectorTerms[i], n)
		if len(term) == 0 {
			return nil
		}
		for _, text := range term {
			if len(s.NodeSelectorTerms) > 1 {
				text = fmt.Sprintf("term %d: %s", i+1, text)
			}
			texts = append(texts, text)
		}
	}
	return texts
}

// unmetOfTerm tries each requirement of a term on its own.
func unmetOfTerm(term *api.NodeSelectorTerm, n *api.Node) (texts []string) {
	if isEmpty(term) {
		return []string{"an empty term matches no node"}
	}
	misses := func(only api.NodeSelectorTerm) (malformed string, misses bool) {
		compiled, problems := compileTerm(root, &only)
		if len(problems) > 0 {
			return cut(problems[0]), true
		}
		return "", !compiled.matches(n)
	}
	for _, e := range term.MatchExpressions {
		if bad, miss := misses(api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{e}}); miss {
			texts = append(texts, fmt.Sprintf("label %s: %s", demand(&e), cmp.Or(bad, nodeHas(n.Labels, e.Key))))
		}
	}
	for _, f := range term.MatchFields {
		if bad, miss := misses(api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{f}}); miss {
			texts = append(texts, fmt.Sprintf("field %s: %s", demand(&f), cmp.Or(bad, "node is "+n.Name)))
		}
	}
	return texts
}

func demand(r *api.NodeSelectorRequirement) string {
	if len(r.Values) == 0 {
		return fmt.Sprintf("%s %s", r.Key, r.Operator)
	}
	return cut(fmt.Sprintf("%s %s %v", r.Key, r.Operator, r.Values))
}

func nodeHas(labels map[string]string, key string) string {
	if value, ok := labels[key]; ok {
		return "node has " + value
	}
	return "node has none"
}
