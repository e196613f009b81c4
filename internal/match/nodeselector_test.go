package match_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/oracle"
)

func requirement(key string, op framework.NodeSelectorOperator, values ...string) framework.NodeSelectorRequirement {
	return framework.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// labelled returns a term on labels, and named one on fields.
func labelled(r ...framework.NodeSelectorRequirement) framework.NodeSelectorTerm {
	return framework.NodeSelectorTerm{MatchExpressions: r}
}

func named(r ...framework.NodeSelectorRequirement) framework.NodeSelectorTerm {
	return framework.NodeSelectorTerm{MatchFields: r}
}

func node(name string, labels map[string]string) *framework.Node {
	return &framework.Node{ObjectMeta: framework.ObjectMeta{Name: name, Labels: labels}}
}

func TestNodeSelectorMatches(t *testing.T) {
	n := node("n1", map[string]string{"zone": "a", "cores": "8", "big": "9223372036854775808", "text": "x"})
	tests := []struct {
		name  string
		terms []framework.NodeSelectorTerm
		want  bool
	}{
		{"no terms", nil, false},
		{"an empty term", []framework.NodeSelectorTerm{{}}, false},
		{"In", []framework.NodeSelectorTerm{labelled(requirement("zone", "In", "a", "b"))}, true},
		{"the second of two terms", []framework.NodeSelectorTerm{labelled(requirement("zone", "In", "b")), labelled(requirement("zone", "Exists"))}, true},
		{"half of a term", []framework.NodeSelectorTerm{labelled(requirement("zone", "In", "a"), requirement("disk", "Exists"))}, false},
		{"Gt", []framework.NodeSelectorTerm{labelled(requirement("cores", "Gt", "7"))}, true},
		{"Gt, equal", []framework.NodeSelectorTerm{labelled(requirement("cores", "Gt", "8"))}, false},
		{"Lt", []framework.NodeSelectorTerm{labelled(requirement("cores", "Lt", "9"))}, true},
		{"Lt, equal", []framework.NodeSelectorTerm{labelled(requirement("cores", "Lt", "8"))}, false},
		{"Gt, absent", []framework.NodeSelectorTerm{labelled(requirement("disk", "Gt", "0"))}, false},
		{"Lt, no number", []framework.NodeSelectorTerm{labelled(requirement("text", "Lt", "9"))}, false},
		{"Gt, beyond int64", []framework.NodeSelectorTerm{labelled(requirement("big", "Gt", "1"))}, false},
		{"name", []framework.NodeSelectorTerm{named(requirement("metadata.name", "In", "n1"))}, true},
		{"other name", []framework.NodeSelectorTerm{named(requirement("metadata.name", "In", "n2"))}, false},
		{"not that name", []framework.NodeSelectorTerm{named(requirement("metadata.name", "NotIn", "n2"))}, true},
		{"an unknown field is empty", []framework.NodeSelectorTerm{named(requirement("metadata.uid", "In", ""))}, true},
		{"name and labels", []framework.NodeSelectorTerm{{
			MatchExpressions: []framework.NodeSelectorRequirement{requirement("zone", "In", "b")},
			MatchFields:      []framework.NodeSelectorRequirement{requirement("metadata.name", "In", "n1")},
		}}, false},
		{"a malformed term does not match, another does", []framework.NodeSelectorTerm{labelled(requirement("zone", "NotIn")), labelled(requirement("zone", "Exists"))}, true},
		{"a malformed requirement spoils its term", []framework.NodeSelectorTerm{labelled(requirement("zone", "Exists"), requirement("zone", "is"))}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := match.NewNodeSelector(&framework.NodeSelector{NodeSelectorTerms: test.terms})
			if got := s.Matches(n); got != test.want {
				t.Errorf("Matches(%s %v) = %v, want %v", n.Name, n.Labels, got, test.want)
			}
		})
	}
}

func TestNodeSelectorErrors(t *testing.T) {
	tests := []struct {
		name  string
		terms []framework.NodeSelectorTerm
		want  string
	}{
		{"operator", []framework.NodeSelectorTerm{{}, labelled(requirement("a", "is", "x"))}, `nodeSelectorTerms[1].matchExpressions[0].operator: Unsupported value: "is": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"`},
		{"operator of a field", []framework.NodeSelectorTerm{named(requirement("metadata.name", "Exists"))}, `nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`},
		{"names", []framework.NodeSelectorTerm{named(requirement("metadata.name", "In", "a", "b"))}, `nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["a","b"]: must have one element`},
		{"bound", []framework.NodeSelectorTerm{labelled(requirement("a", "Gt", "x"))}, `nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`},
		{"bounds", []framework.NodeSelectorTerm{labelled(requirement("a", "Lt"))}, `nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required`},
		{"several", []framework.NodeSelectorTerm{named(requirement("metadata.name", "In")), labelled(requirement("a", "In"))}, `[nodeSelectorTerms[0].matchFields[0].values: Invalid value: null: must have one element, nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := match.NewNodeSelector(&framework.NodeSelector{NodeSelectorTerms: test.terms})
			if err := s.Err(); err == nil || err.Error() != test.want {
				t.Errorf("error is\n%v\nwant\n%s", err, test.want)
			}
		})
	}
	valid := match.NewNodeSelector(&framework.NodeSelector{NodeSelectorTerms: []framework.NodeSelectorTerm{labelled(requirement("a", "Exists"))}})
	if err := valid.Err(); err != nil {
		t.Errorf("error of a valid selector: %v", err)
	}
}

func TestRequiredNodeAffinity(t *testing.T) {
	zoneA := &framework.Affinity{NodeAffinity: &framework.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &framework.NodeSelector{NodeSelectorTerms: []framework.NodeSelectorTerm{labelled(requirement("zone", "In", "a"))}},
	}}
	noTerms := &framework.Affinity{NodeAffinity: &framework.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &framework.NodeSelector{}}}
	n := node("n1", map[string]string{"zone": "a", "disk": "ssd"})
	tests := []struct {
		name     string
		selector map[string]string
		affinity *framework.Affinity
		want     bool
	}{
		{"nothing", nil, nil, true},
		{"an empty selector", map[string]string{}, &framework.Affinity{}, true},
		{"selector", map[string]string{"disk": "ssd"}, nil, true},
		{"selector of another", map[string]string{"disk": "ssd", "zone": "b"}, nil, false},
		{"affinity", nil, zoneA, true},
		{"both", map[string]string{"disk": "ssd"}, zoneA, true},
		{"affinity but not selector", map[string]string{"disk": "hdd"}, zoneA, false},
		{"affinity without terms", nil, noTerms, false},
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
		terms   []framework.NodeSelectorTerm
		want    []string
		limited bool
	}{
		{"no terms", nil, nil, false},
		{"labels only", []framework.NodeSelectorTerm{labelled(requirement("a", "Exists"))}, nil, false},
		{"one name", []framework.NodeSelectorTerm{named(requirement(name, "In", "n1"))}, []string{"n1"}, true},
		{"terms unite", []framework.NodeSelectorTerm{named(requirement(name, "In", "n2")), named(requirement(name, "In", "n1")), named(requirement(name, "In", "n2"))}, []string{"n1", "n2"}, true},
		{"one term without a name", []framework.NodeSelectorTerm{named(requirement(name, "In", "n2")), {}}, nil, false},
		{"NotIn names none", []framework.NodeSelectorTerm{named(requirement(name, "NotIn", "n2"))}, nil, false},
		{"a term contradicts itself", []framework.NodeSelectorTerm{named(requirement(name, "In", "n1"), requirement(name, "In", "n2"))}, nil, true},
		{"within a term they intersect", []framework.NodeSelectorTerm{named(requirement(name, "In", "n1", "n2"), requirement(name, "In", "n3", "n2"))}, []string{"n2"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := match.NewRequiredNodeAffinity(nil, &framework.Affinity{NodeAffinity: &framework.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &framework.NodeSelector{NodeSelectorTerms: test.terms},
			}})
			got, limited := a.Nodes()
			if diff := cmp.Diff(test.want, got); diff != "" || limited != test.limited {
				t.Errorf("Nodes: limited %v, want %v (-want +got):\n%s", limited, test.limited, diff)
			}
		})
	}
}

func TestPreferredNodes(t *testing.T) {
	terms := []framework.PreferredSchedulingTerm{
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
		var s framework.NodeSelector
		for range rapid.IntRange(0, 3).Draw(t, "terms") {
			var term framework.NodeSelectorTerm
			for range rapid.IntRange(0, 2).Draw(t, "requirements") {
				op := rapid.SampledFrom([]framework.NodeSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}).Draw(t, "operator")
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
				op := rapid.SampledFrom([]framework.NodeSelectorOperator{"In", "NotIn"}).Draw(t, "operator")
				term.MatchFields = []framework.NodeSelectorRequirement{requirement("metadata.name", op, rapid.SampledFrom([]string{"n", "m"}).Draw(t, "name"))}
			}
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, term)
		}
		n := node("n", drawLabels.Draw(t, "labels"))
		compiled := match.NewNodeSelector(&s)
		if err := compiled.Err(); err != nil {
			t.Fatal(err)
		}
		if got, want := compiled.Matches(n), oracle.SelectsNode(&s, n); got != want {
			t.Errorf("%+v matches %v = %v, want %v", s, n.Labels, got, want)
		}
	})
}
