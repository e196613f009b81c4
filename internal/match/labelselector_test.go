package match_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/proof/oracle"
)

func expression(key string, op api.LabelSelectorOperator, values ...string) api.LabelSelectorRequirement {
	return api.LabelSelectorRequirement{Key: key, Operator: op, Values: values}
}

func TestLabelSelectorMatches(t *testing.T) {
	labels := map[string]string{"app": "web", "tier": ""}
	tests := []struct {
		name     string
		selector *api.LabelSelector
		want     bool
	}{
		{"nil", nil, false},
		{"empty", &api.LabelSelector{}, true},
		{"label", &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, true},
		{"other value", &api.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, false},
		{"absent label", &api.LabelSelector{MatchLabels: map[string]string{"zone": ""}}, false},
		{"empty value", &api.LabelSelector{MatchLabels: map[string]string{"tier": ""}}, true},
		{"In", selector(expression("app", "In", "db", "web")), true},
		{"In, absent", selector(expression("zone", "In", "a")), false},
		{"NotIn", selector(expression("app", "NotIn", "db")), true},
		{"NotIn, there", selector(expression("app", "NotIn", "db", "web")), false},
		{"NotIn, absent", selector(expression("zone", "NotIn", "a")), true},
		{"Exists", selector(expression("tier", "Exists")), true},
		{"Exists, absent", selector(expression("zone", "Exists")), false},
		{"DoesNotExist", selector(expression("tier", "DoesNotExist")), false},
		{"DoesNotExist, absent", selector(expression("zone", "DoesNotExist")), true},
		{"all must hold", selector(expression("app", "Exists"), expression("zone", "Exists")), false},
		{"labels and expressions", &api.LabelSelector{
			MatchLabels:      map[string]string{"app": "web"},
			MatchExpressions: []api.LabelSelectorRequirement{expression("tier", "DoesNotExist")},
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := match.NewLabelSelector(test.selector)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Matches(labels); got != test.want {
				t.Errorf("Matches(%v) = %v, want %v", labels, got, test.want)
			}
		})
	}
}

func selector(e ...api.LabelSelectorRequirement) *api.LabelSelector {
	return &api.LabelSelector{MatchExpressions: e}
}

func TestLabelSelectorErrors(t *testing.T) {
	long := strings.Repeat("v", 64)
	tests := []struct {
		name     string
		selector *api.LabelSelector
		want     string
	}{
		{"operator", selector(expression("a", "Gt", "1")), `"Gt" is not a valid label selector operator`},
		{"no values", selector(expression("a", "In")), `values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty`},
		{"values", selector(expression("a", "Exists", "x")), `values: Invalid value: ["x"]: values set must be empty for exists and does not exist`},
		{"long value", selector(expression("a", "In", long)), `values[0][a]: Invalid value: "` + long + `": must be no more than 63 bytes`},
		{
			"key and value",
			&api.LabelSelector{MatchLabels: map[string]string{"/a": "b c"}},
			`[key: Invalid value: "/a": prefix part must be non-empty, values[0][/a]: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, ` +
				`'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is ` +
				`'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := match.NewLabelSelector(test.selector)
			if err == nil || err.Error() != test.want {
				t.Errorf("error is\n%v\nwant\n%s", err, test.want)
			}
			if !s.SelectsNothing() {
				t.Error("the selector of an error must select nothing")
			}
		})
	}
}

func TestLabelSelectorKinds(t *testing.T) {
	web := match.LabelsOf(map[string]string{"app": "web", "not valid": "b c"})
	everything := match.LabelsOf(nil)
	tests := []struct {
		name                         string
		selector                     match.LabelSelector
		selects, everything, nothing bool
	}{
		{"labels", web, true, false, false},
		{"zero", match.LabelSelector{}, true, true, false},
		{"no labels", everything, true, true, false},
		{"nothing", match.Nothing(), false, false, true},
		{"labels and everything", web.And(everything), true, false, false},
		{"labels and nothing", web.And(match.Nothing()), false, false, true},
		{"labels and others", web.And(match.LabelsOf(map[string]string{"app": "db"})), false, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.selector.Matches(map[string]string{"app": "web", "not valid": "b c"}); got != test.selects {
				t.Errorf("Matches = %v, want %v", got, test.selects)
			}
			if got := test.selector.SelectsEverything(); got != test.everything {
				t.Errorf("SelectsEverything = %v, want %v", got, test.everything)
			}
			if got := test.selector.SelectsNothing(); got != test.nothing {
				t.Errorf("SelectsNothing = %v, want %v", got, test.nothing)
			}
		})
	}
}

// drawKey and drawValue have few values, so that selectors and labels match often.
var (
	drawKey    = rapid.SampledFrom([]string{"a", "b", "num"})
	drawValue  = rapid.SampledFrom([]string{"", "x", "y", "1", "02", "-3", "9223372036854775807", "9223372036854775808"})
	drawLabels = rapid.MapOfN(drawKey, drawValue, 0, 3)
)

func TestLabelSelectorAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &api.LabelSelector{MatchLabels: rapid.MapOfN(drawKey, drawValue, 0, 2).Draw(t, "matchLabels")}
		for range rapid.IntRange(0, 2).Draw(t, "expressions") {
			op := rapid.SampledFrom([]api.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist"}).Draw(t, "operator")
			e := expression(drawKey.Draw(t, "key"), op)
			if op == "In" || op == "NotIn" {
				e.Values = rapid.SliceOfN(drawValue, 1, 3).Draw(t, "values")
			}
			s.MatchExpressions = append(s.MatchExpressions, e)
		}
		labels := drawLabels.Draw(t, "labels")
		compiled, err := match.NewLabelSelector(s)
		for _, e := range s.MatchExpressions {
			for _, v := range e.Values {
				if strings.HasPrefix(v, "-") {
					return // not a valid label: an error, tested above
				}
			}
		}
		for _, v := range s.MatchLabels {
			if strings.HasPrefix(v, "-") {
				return
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := compiled.Matches(labels), oracle.SelectsLabels(s, labels); got != want {
			t.Errorf("%+v matches %v = %v, want %v", s, labels, got, want)
		}
	})
}

// TestLabelSelectorWith compares it with the selector that has the labels among its own.
func TestLabelSelectorWith(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		valid := rapid.MapOfN(drawKey, rapid.SampledFrom([]string{"", "x", "y"}), 0, 3)
		s := &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: drawKey.Draw(t, "key"), Operator: api.LabelSelectorOpExists}}}
		s.MatchLabels = valid.Draw(t, "matchLabels")
		keys, owner := rapid.SliceOfN(drawKey, 0, 4).Draw(t, "keys"), valid.Draw(t, "of the owner")
		got, err := match.NewLabelSelectorWith(s, keys, owner)
		if err != nil {
			t.Fatal(err)
		}
		labels := valid.Draw(t, "labels")
		want := oracle.SelectsLabels(s, labels)
		for _, key := range keys {
			if value, ok := owner[key]; ok {
				has, there := labels[key]
				want = want && there && has == value
			}
		}
		if matches := got.Matches(labels); matches != want {
			t.Errorf("%v with %v of %v matches %v = %t, want %t", s, keys, owner, labels, matches, want)
		}
		slices.Sort(keys)
		again, err := match.NewLabelSelectorWith(s, slices.Compact(keys), owner)
		if err != nil || string(again.AppendKey(nil)) != string(got.AppendKey(nil)) {
			t.Errorf("the order of keys, or a key twice, changes the selector: %v", err)
		}
	})
	if s, err := match.NewLabelSelectorWith(nil, []string{"a"}, map[string]string{"a": "x"}); err != nil || !s.SelectsNothing() {
		t.Errorf("without a selector: %v, %v, want one that selects nothing", s, err)
	}
	bad := &api.LabelSelector{MatchLabels: map[string]string{"a": "-"}}
	if _, err := match.NewLabelSelectorWith(bad, []string{"b"}, map[string]string{"b": "-"}); err == nil {
		t.Error("a malformed label is no error")
	}
}
