package match_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"pgregory.net/rapid"
)

func TestUnmet(t *testing.T) {
	n := node("n1", map[string]string{"zone": "c", "disk": "hdd", "cores": "8"})
	for _, tt := range []struct {
		name  string
		terms []api.NodeSelectorTerm
		want  string
	}{
		{"met", []api.NodeSelectorTerm{labelled(requirement("zone", api.NodeSelectorOpIn, "c"))}, ""},
		{"no terms", nil, "no term to match"},
		{"empty", []api.NodeSelectorTerm{{}}, "an empty term matches no node"},
		{
			"two of a term",
			[]api.NodeSelectorTerm{labelled(requirement("zone", api.NodeSelectorOpIn, "a", "b"), requirement("disk", api.NodeSelectorOpExists), requirement("gpu", api.NodeSelectorOpExists))},
			"label zone In [a b]: node has c; label gpu Exists: node has none",
		},
		{
			"alternatives",
			[]api.NodeSelectorTerm{labelled(requirement("cores", api.NodeSelectorOpGt, "8")), named(requirement("metadata.name", api.NodeSelectorOpIn, "n2"))},
			"term 1: label cores Gt [8]: node has 8; term 2: field metadata.name In [n2]: node is n1",
		},
		{"one of two matches", []api.NodeSelectorTerm{labelled(requirement("gpu", api.NodeSelectorOpExists)), labelled(requirement("zone", api.NodeSelectorOpExists))}, ""},
		{"malformed", []api.NodeSelectorTerm{labelled(requirement("zone", "Near", "c"))}, `label zone Near [c]: matchExpressions[0].operator: Unsupported value: "Near"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(match.Unmet(&api.NodeSelector{NodeSelectorTerms: tt.terms}, n), "; ")
			if got != tt.want && (tt.name != "malformed" || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := strings.Join(match.UnmetLabels(map[string]string{"zone": "c", "gpu": "yes", "disk": "ssd"}, n.Labels), "; "); got != "label disk=ssd: node has hdd; label gpu=yes: node has none" {
		t.Errorf("UnmetLabels = %q", got)
	}
}

// TestUnmetAgrees checks that there is a text if and only if the selector does not match.
func TestUnmetAgrees(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "1", "20"})
	rapid.Check(t, func(t *rapid.T) {
		req := rapid.Custom(func(t *rapid.T) api.NodeSelectorRequirement {
			return requirement(word.Draw(t, "key"), rapid.SampledFrom(append(slices.Clone(match.NodeOperators), "Near")).Draw(t, "operator"),
				rapid.SliceOfN(word, 0, 2).Draw(t, "values")...)
		})
		field := rapid.Custom(func(t *rapid.T) api.NodeSelectorRequirement {
			return requirement("metadata.name", rapid.SampledFrom(match.NodeOperators).Draw(t, "operator"), rapid.SliceOfN(word, 1, 1).Draw(t, "names")...)
		})
		s := &api.NodeSelector{NodeSelectorTerms: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) api.NodeSelectorTerm {
			return api.NodeSelectorTerm{
				MatchExpressions: rapid.SliceOfN(req, 0, 2).Draw(t, "expressions"), MatchFields: rapid.SliceOfN(field, 0, 1).Draw(t, "fields"),
			}
		}), 0, 3).Draw(t, "terms")}
		n := node(word.Draw(t, "name"), rapid.MapOf(word, word).Draw(t, "labels"))
		compiled := match.NewNodeSelector(s)
		if texts := match.Unmet(s, n); (len(texts) == 0) != compiled.Matches(n) {
			t.Fatalf("matches: %t, unmet %q", compiled.Matches(n), texts)
		}
	})
}
