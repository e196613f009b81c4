package match_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/proof/oracle"
)

func requirement(key string, op api.NodeSelectorOperator, values ...string) api.NodeSelectorRequirement {
	return api.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// labelled returns a term on labels, and named one on fields.
func labelled(r ...api.NodeSelectorRequirement) api.NodeSelectorTerm {
	return api.NodeSelectorTerm{MatchExpressions: r}
}

func named(r ...api.NodeSelectorRequirement) api.NodeSelectorTerm {
	return api.NodeSelectorTerm{MatchFields: r}
}

func node(name string, labels map[string]string) *api.Node {
	return &api.Node{ObjectMeta: api.ObjectMeta{Name: name, Labels: labels}}
}

func TestNodeSelectorMatches(t *testing.T) {
	n := node("n1", map[string]string{"zone": "a", "cores": "8", "big": "9223372036854775808", "text": "x"})
	tests := []struct {
		name  string
		terms []api.NodeSelectorTerm
		want  bool
	}{
		{"no terms", nil, false},
		{"an empty term", []api.NodeSelectorTerm{{}}, false},
		{"In", []api.NodeSelectorTerm{labelled(requirement("zone", "In", "a", "b"))}, true},
		{"the second of two terms", []api.NodeSelectorTerm{labelled(requirement("zone", "In", "b")), labelled(requirement("zone", "Exists"))}, true},
		{"half of a term", []api.NodeSelectorTerm{labelled(requirement("zone", "In", "a"), requirement("disk", "Exists"))}, false},
		{"Gt", []api.NodeSelectorTerm{labelled(requirement("cores", "Gt", "7"))}, true},
		{"Gt, equal", []api.NodeSelectorTerm{labelled(requirement("cores", "Gt", "8"))}, false},
		{"Lt", []api.NodeSelectorTerm{labelled(requirement("cores", "Lt", "9"))}, true},
		{"Lt, equal", []api.NodeSelectorTerm{labelled(requirement("cores", "Lt", "8"))}, false},
		{"Gt, absent", []api.NodeSelectorTerm{labelled(requirement("disk", "Gt", "0"))}, false},
		{"Lt, no number", []api.NodeSelectorTerm{labelled(requirement("text", "Lt", "9"))}, false},
		{"Gt, beyond int64", []api.NodeSelectorTerm{labelled(requirement("big", "Gt", "1"))}, false},
		{"name", []api.NodeSelectorTerm{named(requirement("metadata.name", "In", "n1"))}, true},
		{"other name", []api.NodeSelectorTerm{named(requirement("metadata.name", "In", "n2"))}, false},
		{"not that name", []api.NodeSelectorTerm{named(requirement("metadata.name", "NotIn", "n2"))}, true},
		{"an unknown field is empty", []api.NodeSelectorTerm{named(requirement("metadata.uid", "In", ""))}, true},
		{"name and labels", []api.NodeSelectorTerm{{
			MatchExpressions: []api.NodeSelectorRequirement{requirement("zone", "In", "b")},
			MatchFields:      []api.NodeSelectorRequirement{requirement("metadata.name", "In", "n1")},
		}}, false},
		{"a malformed term does not match, another does", []api.NodeSelectorTerm{labelled(requirement("zone", "NotIn")), labelled(requirement("zone", "Exists"))}, true},
		{"a malformed requirement spoils its term", []api.NodeSelectorTerm{labelled(requirement("zone", "Exists"), requirement("zone", "is"))}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := match.NewNodeSelector(&api.NodeSelector{NodeSelectorTerms: test.terms})
			if got := s.Matches(n); got != test.want {
				t.Errorf("Matches(%s %v) = %v, want %v", n.Name, n.Labels, got, test.want)
			}
		})
	}
}

func TestNodeSelectorErrors(t *testing.T) {
	tests := []struct {
		name  string
		terms []api.NodeSelectorTerm
		want  string
	}{
		{"operator", []api.NodeSelectorTerm{{}, labelled(requirement("a", "is", "x"))}, `nodeSelectorTerms[1].matchExpressions[0].operator: Unsupported value: "is": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"`},
		{"operator of a field", []api.NodeSelectorTerm{named(requirement("metadata.name", "Exists"))}, `nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`},
		{"names", []api.NodeSelectorTerm{named(requirement("metadata.name", "In", "a", "b"))}, `nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["a","b"]: must have one element`},
		{"bound", []api.NodeSelectorTerm{labelled(requirement("a", "Gt", "x"))}, `nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`},
		{"bounds", []api.NodeSelectorTerm{labelled(requirement("a", "Lt"))}, `nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required`},
		{"several", []api.NodeSelectorTerm{named(requirement("metadata.name", "In")), labelled(requirement("a", "In"))}, `[nodeSelectorTerms[0].matchFields[0].values: Invalid value: null: must have one element, nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := match.NewNodeSelector(&api.NodeSelector{NodeSelectorTerms: test.terms})
			if err := s.Err(); err == nil || err.Error() != test.want {
				t.Errorf("error is\n%v\nwant\n%s", err, test.want)
			}
		})
	}
	valid := match.NewNodeSelector(&api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{labelled(requirement("a", "Exists"))}})
	if err := valid.Err(); err != nil {
		t.Errorf("error of a valid selector: %v", err)
	}
}

func TestRequiredNodeAffinity(t *testing.T) {
	zoneA := &api.Affinity{NodeAffinity: &api.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{labelled(requirement("zone", "In", "a"))}},
	}}
	noTerms := &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{}}}
	only := func(names ...string) *api.Affinity {
		return &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{
			NodeSelectorTerms: []api.NodeSelectorTerm{named(requirement("metadata.name", "In", names...))},
		}}}
	}
	n := node("n1", map[string]string{"zone": "a", "disk": "ssd"})
	tests := []struct {
		name     string
		selector map[string]string
		affinity *api.Affinity
		want     bool
	}{
		{"nothing", nil, nil, true},
		{"an empty selector", map[string]string{}, &api.Affinity{}, true},
		{"selector", map[string]string{"disk": "ssd"}, nil, true},
		{"selector of another", map[string]string{"disk": "ssd", "zone": "b"}, nil, false},
		{"affinity", nil, zoneA, true},
		{"both", map[string]string{"disk": "ssd"}, zoneA, true},
		{"affinity but not selector", map[string]string{"disk": "hdd"}, zoneA, false},
		{"affinity without terms", nil, noTerms, false},
		{"its name", nil, only("n1"), true},
		{"another name", nil, only("n2"), false},
		{"its name but not selector", map[string]string{"disk": "hdd"}, only("n1"), false},
		{"two names of one field", nil, only("n1", "n2"), false}, // malformed
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := match.NewRequiredNodeAffinity(test.selector, test.affinity)
			if got := a.Match(n); got != test.want {
				t.Errorf("Match = %v, want %v", got, test.want)
			}
		})
	}
}

func TestRequiredNodeAffinityNodes(t *testing.T) {
	const name = "metadata.name"
	tests := []struct {
		name    string
		terms   []api.NodeSelectorTerm
		want    []string
		limited bool
	}{
		{"no terms", nil, nil, false},
		{"labels only", []api.NodeSelectorTerm{labelled(requirement("a", "Exists"))}, nil, false},
		{"one name", []api.NodeSelectorTerm{named(requirement(name, "In", "n1"))}, []string{"n1"}, true},
		{"terms unite", []api.NodeSelectorTerm{named(requirement(name, "In", "n2")), named(requirement(name, "In", "n1")), named(requirement(name, "In", "n2"))}, []string{"n1", "n2"}, true},
		{"one term without a name", []api.NodeSelectorTerm{named(requirement(name, "In", "n2")), {}}, nil, false},
		{"NotIn names none", []api.NodeSelectorTerm{named(requirement(name, "NotIn", "n2"))}, nil, false},
		{"a term contradicts itself", []api.NodeSelectorTerm{named(requirement(name, "In", "n1"), requirement(name, "In", "n2"))}, nil, true},
		{"within a term they intersect", []api.NodeSelectorTerm{named(requirement(name, "In", "n1", "n2"), requirement(name, "In", "n3", "n2"))}, []string{"n2"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := match.NewRequiredNodeAffinity(nil, &api.Affinity{NodeAffinity: &api.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: test.terms},
			}})
			got, limited := a.Nodes()
			if diff := cmp.Diff(test.want, got); diff != "" || limited != test.limited {
				t.Errorf("Nodes: limited %v, want %v (-want +got):\n%s", limited, test.limited, diff)
			}
		})
	}
}

func TestPreferredNodes(t *testing.T) {
	terms := []api.PreferredSchedulingTerm{
		{Weight: 10, Preference: labelled(requirement("zone", "In", "a"))},
		{Weight: 5, Preference: labelled(requirement("disk", "Exists"))},
		{Weight: 0, Preference: labelled(requirement("malformed, but without weight", "is"))},
		{Weight: 7},
	}
	p, err := match.NewPreferredNodes(terms)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		labels map[string]string
		want   int64
	}{
		{nil, 0},
		{map[string]string{"zone": "a"}, 10},
		{map[string]string{"zone": "a", "disk": ""}, 15},
		{map[string]string{"zone": "b", "disk": "x"}, 5},
	} {
		if got := p.Score(node("n", test.labels)); got != test.want {
			t.Errorf("Score(%v) = %d, want %d", test.labels, got, test.want)
		}
	}

	terms[3].Preference = labelled(requirement("num", "Gt", "-6"))
	const want = `[3].matchExpressions[0].values[0][num]: Invalid value: "-6": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ` +
		`and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
	if _, err := match.NewPreferredNodes(terms); err == nil || err.Error() != want {
		t.Errorf("error is\n%v\nwant\n%s", err, want)
	}
}

func TestNodeSelectorAgainstOracle(t *testing.T) {
	drawBound := rapid.SampledFrom([]string{"0", "1", "2", "9223372036854775807"})
	rapid.Check(t, func(t *rapid.T) {
		var s api.NodeSelector
		for range rapid.IntRange(0, 3).Draw(t, "terms") {
			var term api.NodeSelectorTerm
			for range rapid.IntRange(0, 2).Draw(t, "requirements") {
				op := rapid.SampledFrom([]api.NodeSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}).Draw(t, "operator")
				r := requirement(drawKey.Draw(t, "key"), op)
				switch op {
				case "In", "NotIn":
					r.Values = rapid.SliceOfN(rapid.SampledFrom([]string{"", "x", "y", "1"}), 1, 3).Draw(t, "values")
				case "Gt", "Lt":
					r.Values = []string{drawBound.Draw(t, "bound")}
				}
				term.MatchExpressions = append(term.MatchExpressions, r)
			}
			if rapid.Bool().Draw(t, "fields") {
				op := rapid.SampledFrom([]api.NodeSelectorOperator{"In", "NotIn"}).Draw(t, "operator")
				term.MatchFields = []api.NodeSelectorRequirement{requirement("metadata.name", op, rapid.SampledFrom([]string{"n", "m"}).Draw(t, "name"))}
			}
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, term)
		}
		n := node("n", drawLabels.Draw(t, "labels"))
		compiled := match.NewNodeSelector(&s)
		if err := compiled.Err(); err != nil {
			t.Fatal(err)
		}
		want := oracle.SelectsNode(&s, n)
		if got := compiled.Matches(n); got != want {
			t.Errorf("%+v matches %v = %v, want %v", s, n.Labels, got, want)
		}
		required := match.NewRequiredNodeAffinity(nil, &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &s}})
		if got := required.Match(n); got != want {
			t.Errorf("required, %+v matches %v = %v, want %v", s, n.Labels, got, want)
		}
		if names, limited := required.Nodes(); want && limited && !slices.Contains(names, n.Name) {
			t.Errorf("%+v matches node n, and names %v", s, names)
		}
	})
}
