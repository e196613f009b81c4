package scheduling_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scoring"
)

// TestNewValidatesPlugins passes invalid plugins as Go values: New reports each
// plugin's errors once.
func TestNewValidatesPlugins(t *testing.T) {
	foo := &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{
		NodeSelectorTerms: []api.NodeSelectorTerm{{
			MatchExpressions: []api.NodeSelectorRequirement{{Key: "disk", Operator: "Foo"}},
		}},
	}}
	badDefaults := []api.TopologySpreadConstraint{
		{MaxSkew: 0, TopologyKey: "zone", WhenUnsatisfiable: "Never"},
		{MaxSkew: 1},
		{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: &api.LabelSelector{}},
		{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: api.DoNotSchedule},
	}
	spread := func(point string) []string {
		var want []string
		for _, text := range []string{
			"defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
			`defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"`,
			"defaultConstraints[1].topologyKey: Required value: can not be empty",
			"defaultConstraints[1].whenUnsatisfiable: Required value: can not be empty",
			"defaultConstraints[2].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod",
			`defaultConstraints[3]: Duplicate value: "{rack, DoNotSchedule}"`,
		} {
			want = append(want, point+`: plugin "PodTopologySpread": PodTopologySpread: `+text)
		}
		return want
	}
	fit := func(weight int64) scoring.NodeResourcesFit {
		return scoring.NodeResourcesFit{Resources: []scoring.ResourceSpec{{Name: resource.CPU, Weight: weight}}}
	}
	tests := []struct {
		name          string
		filter, score framework.Plugin
		want          []string
	}{
		{
			"no shape", nil,
			scoring.NodeResourcesFit{Strategy: scoring.RequestedToCapacityRatio},
			[]string{`Score[0]: plugin "NodeResourcesFit": NodeResourcesFit: shape: at least one point must be specified`},
		},
		{
			"strategy", nil,
			scoring.NodeResourcesFit{Strategy: "bogus"},
			[]string{`Score[0]: plugin "NodeResourcesFit": NodeResourcesFit: strategy: unknown strategy "bogus"`},
		},
		{
			"negative weight", nil, fit(-4),
			[]string{`Score[0]: plugin "NodeResourcesFit": NodeResourcesFit: resources[0]: weight -4 of cpu is not from 0 to 100`},
		},
		{
			"huge weight", nil, fit(math.MaxInt64),
			[]string{`Score[0]: plugin "NodeResourcesFit": NodeResourcesFit: resources[0]: weight 9223372036854775807 of cpu is not from 0 to 100`},
		},
		{
			"named twice", nil,
			scoring.NodeResourcesBalancedAllocation{Resources: []scoring.ResourceSpec{{Name: resource.CPU}, {Name: resource.CPU}}},
			[]string{`Score[0]: plugin "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocation: resources[1]: cpu is there already`},
		},
		{
			"operator",
			filter.NodeAffinity{AddedAffinity: foo},
			nil,
			[]string{`Filter[0]: plugin "NodeAffinity": NodeAffinity: addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: ` +
				filterText(t, foo)},
		},
		{
			"in a wrapper", nil,
			scoreWrapper{scoring.NodeResourcesFit{Strategy: "bogus"}},
			[]string{`Score[0]: plugin "NodeResourcesFit": NodeResourcesFit: strategy: unknown strategy "bogus"`},
		},
		{
			"weight of affinity", nil,
			scoring.InterPodAffinity{HardPodAffinityWeight: new(int32(101))},
			[]string{`Score[0]: plugin "InterPodAffinity": InterPodAffinity: hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]`},
		},
		{
			"negative weight of affinity", nil,
			scoring.InterPodAffinity{HardPodAffinityWeight: new(int32(-1))},
			[]string{`Score[0]: plugin "InterPodAffinity": InterPodAffinity: hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]`},
		},
		{"default constraints, filter", filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: badDefaults}, nil, spread("Filter[0]")},
		{"default constraints, score", nil, scoring.PodTopologySpread{ListDefaulting: true, DefaultConstraints: badDefaults}, spread("Score[0]")},
		{
			"default constraints of both",
			filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: badDefaults},
			scoring.PodTopologySpread{ListDefaulting: true, DefaultConstraints: badDefaults},
			spread("Filter[0]"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := scheduling.Profile{Name: "bad"}
			if tt.filter != nil {
				p.Filter = []framework.Plugin{tt.filter}
				p.PreFilter = p.Filter
			}
			if tt.score != nil {
				p.Score = []scheduling.Weighted{{Plugin: tt.score}}
				p.PreScore = []framework.Plugin{tt.score}
			}
			_, err := scheduling.New(p)
			if err == nil {
				t.Fatal("New accepted the profile")
			}
			for i := range tt.want {
				tt.want[i] = `profile "bad": ` + tt.want[i]
			}
			if diff := cmp.Diff(tt.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("New (-want +got):\n%s", diff)
			}
		})
	}
}

// filterText is the error about the terms from the filter's registry entry; the
// message must be the same.
func filterText(t *testing.T, a *api.NodeAffinity) string {
	t.Helper()
	const prefix = "NodeAffinity: addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: "
	text, ok := strings.CutPrefix(filter.NodeAffinity{AddedAffinity: a}.Validate().Error(), prefix)
	if !ok {
		t.Fatalf("the filter says %q", text)
	}
	return text
}

// scoreWrapper hides everything but scoring of the plugin that it wraps.
type scoreWrapper struct{ inner framework.PreScorePlugin }

func (w scoreWrapper) Name() string             { return w.inner.Name() }
func (w scoreWrapper) Unwrap() framework.Plugin { return w.inner }

// TestValidateSaysWhatTheRegistrySays compares the messages for Go values with the
// messages for the same mistakes in a configuration.
func TestValidateSaysWhatTheRegistrySays(t *testing.T) {
	tests := []struct {
		args   string
		plugin framework.Plugin
	}{
		{`{"hardPodAffinityWeight": 101}`, scoring.InterPodAffinity{HardPodAffinityWeight: new(int32(101))}},
		{
			`{"defaultingType": "List", "defaultConstraints": [{"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]}`,
			filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
				{TopologyKey: "zone", WhenUnsatisfiable: api.DoNotSchedule},
			}},
		},
		{`{"ignoredResources": ["not a name"]}`, filter.NodeResourcesFit{IgnoredResources: []resource.Name{"not a name"}}},
		{`{"ignoredResourceGroups": ["a/b"]}`, filter.NodeResourcesFit{IgnoredResourceGroups: []string{"a/b"}}},
		{
			`{"defaultingType": "List", "defaultConstraints": [{"maxSkew": 1, "topologyKey": "not a key", "whenUnsatisfiable": "DoNotSchedule"}]}`,
			filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
				{MaxSkew: 1, TopologyKey: "not a key", WhenUnsatisfiable: api.DoNotSchedule},
			}},
		},
		{`{"minCandidateNodesPercentage": 101}`, preemption.DefaultPreemption{MinCandidateNodesPercentage: new(int32(101))}},
		{`{"minCandidateNodesPercentage": -1}`, preemption.DefaultPreemption{MinCandidateNodesPercentage: new(int32(-1))}},
		{`{"minCandidateNodesAbsolute": -1}`, preemption.DefaultPreemption{MinCandidateNodesAbsolute: new(int32(-1))}},
		{
			`{"defaultingType": "List", "defaultConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "X"}]}`,
			scoring.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
				{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: "X"},
			}},
		},
	}
	for _, tt := range tests {
		name := tt.plugin.Name()
		_, want := scheduling.Kubernetes137Registry().Make(name, json.RawMessage(tt.args), nil)
		if want == nil {
			t.Fatalf("%s: the registry accepts %s", name, tt.args)
		}
		v, _ := tt.plugin.(interface{ Validate() error })
		var joined interface{ Unwrap() []error }
		err := v.Validate()
		if errors.As(err, &joined) {
			err = joined.Unwrap()[0]
		}
		wantText := strings.TrimPrefix(want.Error(), `initializing plugin "`+name+`": `)
		if got := strings.TrimPrefix(err.Error(), name+": "); got != wantText {
			t.Errorf("%s.Validate() = %q, want %q", name, got, wantText)
		}
	}
}
