package scheduling_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scoring"
)

// limit is a plugin with arguments, as a user would write it.
type limit struct{ Most int }

type limitArgs struct {
	Most int `json:"most"`
}

func (a *limitArgs) SetDefaults() { a.Most = 10 }

func (a *limitArgs) Validate(path string) []args.FieldError {
	if a.Most < 1 {
		return []args.FieldError{args.Invalid(strings.TrimPrefix(path+".most", "."), a.Most, "must be positive")}
	}
	return nil
}

func (*limit) Name() string { return "Limit" }

func (l *limit) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if len(node.Pods) >= l.Most {
		return framework.UnschedulableStatus("limit reached")
	}
	return framework.Status{}
}

var errOdd = errors.New("odd")

func newLimit(a *limitArgs, _ framework.Handle) (*limit, error) {
	switch {
	case a.Most == 13:
		panic("thirteen")
	case a.Most%2 == 1:
		return nil, errOdd
	}
	return &limit{a.Most}, nil
}

// other returns another name than the one that it is registered under.
type other struct{ limit }

func (*other) Name() string { return "Other" }

func TestRegistryMake(t *testing.T) {
	r := scheduling.Kubernetes137Registry()
	register := func(name string, reg scheduling.Registration) {
		t.Helper()
		if err := r.Register(name, reg); err != nil {
			t.Fatal(err)
		}
	}
	register("Limit", scheduling.RegisterTyped(newLimit))
	register("Misnamed", scheduling.RegisterValue(&other{}))
	register("Other", scheduling.RegisterValue(&other{}))
	tests := []struct {
		name, plugin string
		args         any
		want         framework.Plugin
		err          string // suffix of the error
	}{
		{"typed arguments", "Limit", &limitArgs{Most: 4}, &limit{4}, ""},
		{"JSON", "Limit", json.RawMessage(`{"most": 2}`), &limit{2}, ""},
		{"JSON with its kind", "Limit", json.RawMessage(`{"kind": "LimitArgs", "apiVersion": "v", "most": 2}`), &limit{2}, ""},
		{"defaults", "Limit", nil, &limit{10}, ""},
		{"defaults, of JSON", "Limit", json.RawMessage(`{}`), &limit{10}, ""},
		{"unknown field", "Limit", json.RawMessage(`{"mots": 2}`), nil, `initializing plugin "Limit": unknown field "mots"`},
		{"not valid", "Limit", json.RawMessage(`{"most": 0}`), nil, `initializing plugin "Limit": most: Invalid value: 0: must be positive`},
		{"other arguments", "Limit", 7, nil, `initializing plugin "Limit": got args of type int, want *scheduling_test.limitArgs`},
		{"an error of the factory", "Limit", &limitArgs{Most: 3}, nil, `initializing plugin "Limit": odd`},
		{"a panic of the factory", "Limit", &limitArgs{Most: 13}, nil, `initializing plugin "Limit": panic: thirteen`},
		{"fixed", "Other", nil, &other{}, ""},
		{"fixed, with arguments", "Other", json.RawMessage(`{"a": 1}`), nil, `initializing plugin "Other": got args {"a": 1}, want none`},
		{"another name", "Misnamed", nil, nil, `initializing plugin "Misnamed": the plugin calls itself "Other"`},
		{"in-tree, defaults", "NodeName", nil, scheduling.Combined{filter.NodeName{}}, ""},
		{
			"in-tree, JSON", "NodeResourcesFit",
			json.RawMessage(`{"ignoredResources": ["a.b/c"], "scoringStrategy": {"type": "RequestedToCapacityRatio", "resources": [{"name": "cpu"}],
				"requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}}}`),
			scheduling.Combined{
				filter.NodeResourcesFit{IgnoredResources: []resource.Name{"a.b/c"}},
				scoring.NodeResourcesFit{
					Strategy: scoring.RequestedToCapacityRatio, Resources: []scoring.ResourceSpec{{Name: "cpu", Weight: 1}},
					Shape: scoring.Shape{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}},
				},
			},
			"",
		},
		{"in-tree, some of the arguments", "DefaultPreemption", json.RawMessage(`{"minCandidateNodesAbsolute": 5}`), scheduling.Combined{
			preemption.DefaultPreemption{MinCandidateNodesPercentage: new(int32(10)), MinCandidateNodesAbsolute: new(int32(5))},
		}, ""},
		{
			"in-tree, not valid", "InterPodAffinity", json.RawMessage(`{"hardPodAffinityWeight": 101}`), nil,
			`initializing plugin "InterPodAffinity": hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]`,
		},
		{"in-tree, arguments that it does not have", "NodeName", json.RawMessage(`{"a": 1}`), scheduling.Combined{filter.NodeName{}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.Make(tt.plugin, tt.args, nil)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Fatalf("Make(%q) fails with %v, want %s", tt.plugin, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(other{})); diff != "" {
				t.Errorf("Make(%q) (-want +got):\n%s", tt.plugin, diff)
			}
		})
	}
	if _, err := r.Make("Limit", &limitArgs{Most: 3}, nil); !errors.Is(err, errOdd) {
		t.Errorf("%v does not lead to what the factory returned", err)
	}
}

func TestRegistryUnknown(t *testing.T) {
	r := scheduling.NewRegistry()
	for _, name := range []string{"B", "A"} {
		if err := r.Register(name, scheduling.RegisterValue(filter.NodeName{})); err != nil {
			t.Fatal(err)
		}
	}
	const want = `plugin "C" does not exist; known plugins: A, B`
	if _, err := r.Make("C", nil, nil); err == nil || err.Error() != want {
		t.Errorf("Make(C) fails with %v, want %s", err, want)
	}
}

func TestRegister(t *testing.T) {
	r := scheduling.Kubernetes137Registry()
	tests := []struct {
		name, plugin string
		reg          scheduling.Registration
		want         string
	}{
		{"no name", "", scheduling.RegisterValue(filter.NodeName{}), "registering a plugin: the name is empty"},
		{"twice", "NodeName", scheduling.RegisterValue(filter.NodeName{}), `registering plugin "NodeName": there is one of that name already`},
		{"no factory", "Mine", scheduling.Registration{Like: filter.NodeName{}}, `registering plugin "Mine": New is nil`},
		{
			"no kind of plugin", "Mine",
			scheduling.RegisterTyped(func(*limitArgs, framework.Handle) (framework.Plugin, error) { return nil, nil }),
			`registering plugin "Mine": Like is nil, so that nobody can tell which points it serves`,
		},
	}
	for _, tt := range tests {
		if err := r.Register(tt.plugin, tt.reg); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestRegistriesMakeAll makes every in-tree plugin with its defaults. This also
// checks that names are right and that the defaults are valid.
func TestRegistriesMakeAll(t *testing.T) {
	for _, r := range []*scheduling.Registry{scheduling.Kubernetes118Registry(), scheduling.Kubernetes134Registry(), scheduling.Kubernetes137Registry()} {
		for _, name := range r.Names() {
			if name == "RequestedToCapacityRatio" {
				continue // has no default
			}
			if name == "DefaultBinder" {
				continue // serves no point without a handle
			}
			p, err := r.Make(name, nil, nil)
			if err != nil {
				t.Errorf("%s: %v", r.Release(), err)
				continue
			}
			reg, _ := r.Lookup(name)
			if diff := cmp.Diff(parts(reg.Like), parts(p)); diff != "" {
				t.Errorf("%s: %s is unlike Like (-want +got):\n%s", r.Release(), name, diff)
			}
		}
	}
}

// parts returns the names of the types that a plugin is made of.
func parts(p framework.Plugin) []string {
	var types []string
	scheduling.PluginFor(p, func(part framework.Plugin) bool {
		types = append(types, strings.TrimPrefix(typeName(part), "*"))
		return false
	})
	return types
}

func TestLegacyArguments(t *testing.T) {
	r := scheduling.Kubernetes118Registry()
	tests := []struct {
		plugin, args string
		want         framework.Plugin
		err          string
	}{
		{
			"NodeLabel", `{"presentLabels": ["a"], "absentLabels": ["b"], "presentLabelsPreference": ["c"], "absentLabelsPreference": ["d"]}`,
			scheduling.Combined{
				filter.NodeLabel{Present: []string{"a"}, Absent: []string{"b"}},
				scoring.NodeLabel{Present: []string{"c"}, Absent: []string{"d"}},
			},
			"",
		},
		{
			"NodeLabel", `{"presentLabelsPreference": ["c"], "absentLabelsPreference": ["c"]}`, nil,
			`initializing plugin "NodeLabel": NodeLabel: label "c" is preferred to be both present and absent`,
		},
		{
			"RequestedToCapacityRatio", `{"shape": [{"utilization": 0, "score": 10}], "resources": [{"name": "cpu", "weight": 3}]}`,
			scheduling.Combined{scoring.NodeResourcesRequestedToCapacityRatio{
				Shape: scoring.Shape{{Utilization: 0, Score: 10}}, Resources: []scoring.ResourceSpec{{Name: "cpu", Weight: 3}},
			}},
			"",
		},
		{
			"RequestedToCapacityRatio", `{}`, nil,
			`initializing plugin "RequestedToCapacityRatio": RequestedToCapacityRatio: shape: at least one point must be specified`,
		},
		{"InterPodAffinity", `{"hardPodAffinityWeight": 5}`, scheduling.Combined{
			filter.InterPodAffinity{}, scoring.InterPodAffinity{HardPodAffinityWeight: new(int32(5)), RangeWithZero: true},
		}, ""},
	}
	for _, tt := range tests {
		got, err := r.Make(tt.plugin, json.RawMessage(tt.args), nil)
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("Make(%q, %s) fails with %v, want %s", tt.plugin, tt.args, err, tt.err)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("Make(%q, %s): %v (-want +got):\n%s", tt.plugin, tt.args, err, diff)
		}
	}
}

func TestLoadAwareRegistration(t *testing.T) {
	r := scheduling.NewRegistry()
	if err := r.Register("LoadAwareScheduling", scheduling.RegisterLoadAware(estimator.Koordinator18, estimator.KnownEstimators())); err != nil {
		t.Fatal(err)
	}
	p, err := r.Make("LoadAwareScheduling", json.RawMessage(`{"usageThresholds": {"cpu": 75}, "nodeMetricExpirationSeconds": 300}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := scheduling.PluginFor(p, func(p framework.Plugin) bool { _, ok := p.(framework.PreFilterPlugin); return ok }).(filter.LoadAware)
	s := scheduling.PluginFor(p, func(p framework.Plugin) bool { _, ok := p.(framework.PreScorePlugin); return ok }).(scoring.LoadAware)
	if f.Load == nil || f.Load != s.Load {
		t.Errorf("filter and scorer do not share one configuration")
	}
	if got := f.Load.Config().Thresholds["cpu"]; got != 75 {
		t.Errorf("the threshold of cpu = %d, want 75", got)
	}
	reserve := scheduling.PluginFor(p, func(p framework.Plugin) bool { _, ok := p.(framework.ReservePlugin); return ok })
	if _, ok := reserve.(estimator.Assigner); !ok {
		t.Errorf("at Reserve there is a %T, want estimator.Assigner", reserve)
	}
	for raw, want := range map[string]string{
		`{"estimator": "crystalBall"}`:          "crystalBall",
		`{"usageThresholds": {"cpu": 101}}`:     "usageThresholds",
		`{"usageTresholds": {"cpu": 10}}`:       `unknown field "usageTresholds"`,
		`{"nodeMetricExpirationSeconds": "1m"}`: "nodeMetricExpirationSeconds",
	} {
		if _, err := r.Make("LoadAwareScheduling", json.RawMessage(raw), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %s", raw, err, want)
		}
	}
}

func typeName(p framework.Plugin) string { return fmt.Sprintf("%T", p) }
