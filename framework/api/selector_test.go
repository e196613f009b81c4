package api_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
)

func TestParseLabelSelector(t *testing.T) {
	type reqs = []api.LabelSelectorRequirement
	tests := []struct {
		text string
		want api.LabelSelector
	}{
		{"", api.LabelSelector{}},
		{" \t", api.LabelSelector{}},
		{"app=web", api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		{" app == web ,tier=front", api.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "front"}}},
		{"app=", api.LabelSelector{MatchLabels: map[string]string{"app": ""}}},
		{"app=,b", api.LabelSelector{MatchLabels: map[string]string{"app": ""}, MatchExpressions: reqs{{Key: "b", Operator: "Exists"}}}},
		{"app=a,app=b", api.LabelSelector{MatchLabels: map[string]string{"app": "a"}, MatchExpressions: reqs{{Key: "app", Operator: "In", Values: []string{"b"}}}}},
		{"example.com/app!=web", api.LabelSelector{MatchExpressions: reqs{{Key: "example.com/app", Operator: "NotIn", Values: []string{"web"}}}}},
		{"app in(a,b ) , tier notin (c)", api.LabelSelector{MatchExpressions: reqs{{Key: "app", Operator: "In", Values: []string{"a", "b"}}, {Key: "tier", Operator: "NotIn", Values: []string{"c"}}}}},
		{"app,! legacy", api.LabelSelector{MatchExpressions: reqs{{Key: "app", Operator: "Exists"}, {Key: "legacy", Operator: "DoesNotExist"}}}},
		{"in in (in)", api.LabelSelector{MatchExpressions: reqs{{Key: "in", Operator: "In", Values: []string{"in"}}}}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := api.ParseLabelSelector(tt.text)
			must(t, err)
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("ParseLabelSelector(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestParseNodeSelectorTerm(t *testing.T) {
	type reqs = []api.NodeSelectorRequirement
	tests := []struct {
		text string
		want api.NodeSelectorTerm
	}{
		{"", api.NodeSelectorTerm{}},
		{"zone=a", api.NodeSelectorTerm{MatchExpressions: reqs{{Key: "zone", Operator: "In", Values: []string{"a"}}}}},
		{"cores>4,cores < 64", api.NodeSelectorTerm{MatchExpressions: reqs{{Key: "cores", Operator: "Gt", Values: []string{"4"}}, {Key: "cores", Operator: "Lt", Values: []string{"64"}}}}},
		{"metadata.name in (n1,n2), gpu", api.NodeSelectorTerm{
			MatchFields:      reqs{{Key: "metadata.name", Operator: "In", Values: []string{"n1", "n2"}}},
			MatchExpressions: reqs{{Key: "gpu", Operator: "Exists"}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := api.ParseNodeSelectorTerm(tt.text)
			must(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseNodeSelectorTerm(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestParseSelectorErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{",", `selector: ",": want a word, got ","`},
		{"a,", `selector: "a,": want a word, got ""`},
		{"!", `selector: "!": want a word, got ""`},
		{"!a=b", `selector: "!a=b": want a comma before "="`},
		{"a b", `selector: "a b": want a comma before "b"`},
		{"a=b c", `selector: "a=b c": want a comma before "c"`},
		{"a=(b)", `selector: "a=(b)": want a word, got "("`},
		{"a in", `selector: "a in": want a parenthesis, got ""`},
		{"a in ()", `selector: "a in ()": want a word, got ")"`},
		{"a in (b", `selector: "a in (b": want a comma or a closing parenthesis, got ""`},
		{"a in (b c)", `selector: "a in (b c)": want a comma or a closing parenthesis, got "c"`},
		{"a in (b,)", `selector: "a in (b,)": want a word, got ")"`},
		{"=a", `selector: "=a": want a word, got "="`},
		{"a>", `selector: "a>": want an integer after >, got ""`},
		{"a<b", `selector: "a<b": want an integer after <, got "b"`},
		{"a>4", `selector: "a>4": labels of pods are not compared with > and <`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := api.ParseLabelSelector(tt.text)
			if err == nil || err.Error() != tt.want || !errors.As(err, new(*api.InvalidError)) {
				t.Errorf("ParseLabelSelector(%q) returns error %v, want %s", tt.text, err, tt.want)
			}
		})
	}
}

func FuzzParseLabelSelector(f *testing.F) {
	for _, seed := range []string{"", "app=web, tier in (front, back), stage!=test, track, !legacy", "a in (", "a==", "!!", "a=b=c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := api.ParseLabelSelector(text)
		if (s == nil) == (err == nil) {
			t.Errorf("ParseLabelSelector(%q) = %v, %v", text, s, err)
		}
	})
}
