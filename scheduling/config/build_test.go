package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/config"
)

// TestBuild has a case for each reason to reject a file when profiles are built.
func TestBuild(t *testing.T) {
	const prefix = "initializing profiles: creating profile for scheduler name default-scheduler: "
	tests := []struct {
		name, plugins string
		class         config.Class
		want          string // without the known plugins
	}{
		{"unknown at a point", "permit: {enabled: [{name: Nope}]}", config.UnknownPlugin, prefix + `PermitPlugin "Nope" does not exist`},
		{"unknown at multiPoint", "multiPoint: {enabled: [{name: Nope}]}", config.UnknownPlugin, prefix + `PreFilterPlugin "Nope" does not exist`},
		{"no such point", "filter: {enabled: [{name: ImageLocality}]}", config.NotExtending, prefix + `plugin "ImageLocality" does not extend FilterPlugin plugin`},
		{"twice at a point", "score: {enabled: [{name: A}, {name: A}]}", config.AlreadyRegistered, prefix + `plugin "A" already registered as "ScorePlugin"`},
		{"twice at multiPoint", "multiPoint: {enabled: [{name: A}, {name: A}]}", config.AlreadyRegistered, prefix + `plugin "A" already registered as "ScorePlugin"`},
		{"two queue sorts", "multiPoint: {enabled: [{name: Q}]}", config.QueueSortCount, prefix + `only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 2`},
		{"no queue sort", "queueSort: {disabled: [{name: '*'}]}", config.QueueSortCount, prefix + `only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0`},
		{"no binder", "bind: {disabled: [{name: DefaultBinder}]}", config.NoBind, prefix + `at least one bind plugin is needed for profile with scheduler name "default-scheduler"`},
		{"two placement generators", "multiPoint: {enabled: [{name: G}, {name: TopologyPlacementGenerator}]}", config.PlacementGenerateCount, prefix + `at most one placement generate plugin is allowed for profile with scheduler name "default-scheduler"`},
		{"negative weight", "score: {enabled: [{name: NodeAffinity, weight: -5}]}", config.WeightOverflow, prefix + `score plugins: total score of Score plugins could overflow; plugin "NodeAffinity" has weight -5`},
		{"negative placement weight", "placementScore: {enabled: [{name: P, weight: -1}]}", config.WeightOverflow, prefix + `placement score plugins: total score of Score plugins could overflow; plugin "P" has weight -1`},
		{"a name without a weight", "score: {enabled: [{name: Alias}]}", config.NoWeight, prefix + `score plugin "Real" is not configured with weight`},
		{"constructor", "filter: {enabled: [{name: Bad}]}", config.InitPlugin, prefix + `initializing plugin "Bad": no license`},
		{"no arguments at pod groups", "{multiPoint: {enabled: [{name: PrioritySort}, {name: DefaultBinder}], disabled: [{name: '*'}]}, podGroupPostFilter: {enabled: [{name: DefaultPreemption}]}}", config.InitPlugin, prefix + `initializing plugin "DefaultPreemption": got args of type <nil>, want *DefaultPreemptionArgs`},
	}
	known := plugins("A:score Q:queueSort G:placementGenerate P:placementScore Alias:score Bad:filter")
	known["Alias"] = config.Known{Points: []config.Point{config.Score}, Reports: "Real"}
	known["Bad"] = config.Known{Points: []config.Point{config.Filter}, Check: func(any) error { return errors.New("no license") }}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := tt.plugins
			if !strings.HasPrefix(set, "{") {
				set = "{" + set + "}"
			}
			e := refused(t, head+"profiles: [{plugins: "+set+"}]", config.LoadConfig{Plugins: known})
			p := e.Problems[0]
			got, _, _ := strings.Cut(p.Text, "; known plugins: ")
			if e.Stage != config.StageBuild || p.Class != tt.class || got != tt.want || p.Profile != "default-scheduler" {
				t.Errorf("got %s %s: %s\nwant %s: %s", e.Stage, p.Class, got, tt.class, tt.want)
			}
		})
	}
}

// TestNegativeWeight expects the line of the plugin whose weight is negative, not of the
// one where the total is noticed.
func TestNegativeWeight(t *testing.T) {
	for _, point := range []string{"score", "multiPoint"} {
		e := refused(t, head+"profiles:\n- plugins:\n    "+point+":\n      enabled:\n      - name: ImageLocality\n      - name: NodeAffinity\n        weight: -5\n      - name: TaintToleration\n", config.LoadConfig{})
		p := e.Problems[0]
		if p.Class != config.WeightOverflow || p.Plugin != "NodeAffinity" || p.Line != strings.Count(head, "\n")+6 {
			t.Errorf("%s: %s of %s in line %d: %s; want NodeAffinity in line %d", point, p.Class, p.Plugin, p.Line, p.Text, strings.Count(head, "\n")+6)
		}
	}
}

// TestBuildAcrossProfiles checks what all profiles must share, beyond the checks of
// validation.
func TestBuildAcrossProfiles(t *testing.T) {
	file := func(x, y string) string {
		return head + `
profiles:
- schedulerName: a
  plugins: {multiPoint: {enabled: [{name: QS}], disabled: [{name: PrioritySort}]}}
  pluginConfig: [{name: QS, args: ` + x + `}]
- schedulerName: b
  plugins: {multiPoint: {` + y + `}}
  pluginConfig: [{name: QS, args: {x: 2}}]
`
	}
	o := config.LoadConfig{Plugins: plugins("QS:queueSort")}
	const same = "enabled: [{name: QS}], disabled: [{name: PrioritySort}]"
	if got, want := refused(t, file("{x: 1}", same), o).Error(), `line 10: initializing profiles: different queue sort plugin args for profile "b"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := refused(t, file("{x: 1}", ""), o).Error(), `line 8: initializing profiles: different queue sort plugins for profile "b": "PrioritySort", first: "QS"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := config.Load([]byte(file("{x: 2}", same)), o); err != nil {
		t.Error(err)
	}
}

// TestUnknownPluginListsKnown checks that the error for a wrong name lists the right
// ones.
func TestUnknownPluginListsKnown(t *testing.T) {
	e := refused(t, head+"profiles: [{plugins: {filter: {enabled: [{name: NodeAfinity}]}}}]", config.LoadConfig{Plugins: plugins("Mine:score")})
	for _, name := range []string{"NodeAffinity", "Mine"} {
		if !strings.Contains(e.Error(), name) {
			t.Errorf("%v does not name %s", e, name)
		}
	}
}

// TestAllBuildProblems checks that one load reports every problem of every profile,
// and an unknown multiPoint plugin once.
func TestAllBuildProblems(t *testing.T) {
	e := refused(t, head+`
profiles:
- schedulerName: a
  plugins:
    multiPoint: {enabled: [{name: Nope}]}
    filter: {enabled: [{name: ImageLocality}]}
- schedulerName: b
  plugins: {bind: {disabled: [{name: '*'}]}}
`, config.LoadConfig{})
	var got []string
	for _, p := range e.Problems {
		got = append(got, fmt.Sprint(p.Class, " ", p.Profile, " ", p.Plugin))
	}
	want := []string{"NotExtending a ImageLocality", "UnknownPlugin a Nope", "NoBind b "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestUnknownWhereNothingLooks loads the file that makes upstream panic.
func TestUnknownWhereNothingLooks(t *testing.T) {
	file := head + "profiles:\n- plugins:\n    multiPoint: {enabled: [{name: Nope}]}\n"
	for _, p := range config.Points() {
		switch p {
		case config.QueueSort:
			file += "    queueSort: {enabled: [{name: PrioritySort}], disabled: [{name: '*'}]}\n"
		case config.Bind:
			file += "    bind: {enabled: [{name: DefaultBinder}], disabled: [{name: '*'}]}\n"
		default:
			file += "    " + string(p) + ": {disabled: [{name: '*'}]}\n"
		}
	}
	if e := refused(t, file, config.LoadConfig{}); e.Problems[0].Class != config.UnknownPlugin || e.Problems[0].Plugin != "Nope" {
		t.Errorf("got %v", e)
	}
}

// TestIgnoredByScheduler checks that extenders' resources replace those of
// NodeResourcesFit in every profile.
func TestIgnoredByScheduler(t *testing.T) {
	file := head + `
profiles:
- schedulerName: a
  pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [x.io/mine]}}]
- schedulerName: b
extenders:
- managedResources: [{name: x.io/a, ignoredByScheduler: true}, {name: x.io/b}]
`
	c, err := config.Load([]byte(file), config.LoadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Profiles {
		for _, pc := range p.PluginConfig {
			if fit, ok := pc.Args.(*args.NodeResourcesFit); ok && !cmp.Equal(fit.IgnoredResources, []string{"x.io/a"}) {
				t.Errorf("%s: ignoredResources %v", p.SchedulerName, fit.IgnoredResources)
			}
		}
	}
	file = strings.Replace(file, "- schedulerName: b", "- schedulerName: b\n  plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}", 1)
	e := refused(t, file, config.LoadConfig{})
	if want := "line 1: couldn't build extenders: can't find NodeResourcesFitArgs in plugin config"; e.Error() != want || e.Problems[0].Profile != "b" {
		t.Errorf("got %v, want %s", e, want)
	}
}

// TestPluggableArgs decodes the arguments of an out-of-tree plugin.
func TestPluggableArgs(t *testing.T) {
	type mine struct {
		Kind, APIVersion string
		Limit            int `json:"limit"`
	}
	known := config.Known{Points: []config.Point{config.Filter}, Args: func(raw []byte) (any, []args.FieldError) {
		a := &mine{Limit: 7}
		errs := args.Decode(raw, a)
		return a, errs
	}}
	o := config.LoadConfig{Plugins: map[string]config.Known{"Mine": known}}
	load := func(plugin string) any {
		t.Helper()
		c, err := config.Load([]byte(head+"profiles: [{"+plugin+"}]"), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, pc := range c.Effective().Profiles[0].PluginConfig {
			if pc.Name == "Mine" {
				return pc.Args
			}
		}
		return nil
	}
	if diff := cmp.Diff(&mine{Limit: 7}, load("plugins: {filter: {enabled: [{name: Mine}]}}")); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&mine{Limit: 5}, load("pluginConfig: [{name: Mine, args: {limit: 5}}]")); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if load("") != nil {
		t.Error("a plugin that nothing names has arguments")
	}
	e := refused(t, head+"profiles: [{pluginConfig: [{name: Mine, args: {limits: 5}}]}]", o)
	if want := `line 3: unknown field "profiles[0].pluginConfig[0].args.limits"`; e.Error() != want {
		t.Errorf("got %v, want %s", e, want)
	}
	e = refused(t, head+"profiles: [{pluginConfig: [{name: Mine, args: {kind: NodeAffinityArgs}}]}]", o)
	if e.Problems[0].Class != config.ArgsKind {
		t.Errorf("got %v", e)
	}
}

// TestTwoPluginsOfOneName checks the documented panic.
func TestTwoPluginsOfOneName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_, _ = config.Load([]byte(head), config.LoadConfig{Plugins: plugins("NodeAffinity:filter")})
}

// TestPresets checks that the presets are consistent.
func TestPresets(t *testing.T) {
	for name, p := range map[string]config.Preset{"1.18": config.Kubernetes118(), "1.34": config.Kubernetes134(), "1.37": config.Kubernetes137()} {
		c, err := config.Load([]byte(head), config.LoadConfig{Preset: p})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		lists := c.Effective().Profiles[0].Plugins
		want := map[string]string{
			"1.18": "NodeResourcesBalancedAllocation ImageLocality InterPodAffinity NodeResourcesLeastAllocated NodeAffinity NodePreferAvoidPods DefaultPodTopologySpread TaintToleration PodTopologySpread",
			"1.34": "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation ImageLocality",
			"1.37": "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity DynamicResources NodeResourcesBalancedAllocation ImageLocality",
		}[name]
		var score []string
		for _, plugin := range lists[config.Score] {
			score = append(score, plugin.Name)
			if plugin.Name == "NodePreferAvoidPods" && plugin.Weight != 10000 {
				t.Errorf("%s: NodePreferAvoidPods has weight %d", name, plugin.Weight)
			}
		}
		if got := strings.Join(score, " "); got != want {
			t.Errorf("%s: score\n got %s\nwant %s", name, got, want)
		}
		if first := lists[config.Filter][0].Name; (first == "NodeName") != (name == "1.37") {
			t.Errorf("%s: the first filter is %s", name, first)
		}
	}
}
