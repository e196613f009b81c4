package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/scheduling/config"
)

const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// refused loads a file that must be rejected and returns the error.
func refused(t *testing.T, file string, o config.LoadConfig) *config.Error {
	t.Helper()
	_, err := config.Load([]byte(file), o)
	var e *config.Error
	if !errors.As(err, &e) {
		t.Fatalf("Load: %v, want an *Error", err)
	}
	return e
}

// texts returns the texts of the problems, sorted.
func texts(e *config.Error) []string {
	var out []string
	for _, p := range e.Problems {
		out = append(out, p.Text)
	}
	slices.Sort(out)
	return out
}

const badName = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
	"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
	"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

// TestValidate has a case for each rule; the messages are upstream's.
func TestValidate(t *testing.T) {
	tests := []struct {
		name, file string
		want       []string // sorted
	}{
		{"parallelism", "parallelism: 0", []string{"parallelism: Invalid value: 0: should be an integer value greater than zero"}},
		{"burst", "clientConnection: {burst: -1}", []string{"clientConnection.burst: Invalid value: -1: must be non-negative"}},
		{"lease duration", "leaderElection: {leaseDuration: -1s, renewDeadline: -2s}", []string{
			`leaderElection.leaseDuration: Invalid value: "-1s": must be greater than zero`,
			`leaderElection.renewDeadline: Invalid value: "-2s": must be greater than zero`,
		}},
		{"retry period", "leaderElection: {retryPeriod: -1ms}", []string{`leaderElection.retryPeriod: Invalid value: "-1ms": must be greater than zero`}},
		{"lease not longer than renewal", "leaderElection: {leaseDuration: 10s}", []string{
			"leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than `RenewDeadline`",
		}},
		{"resource lock", "leaderElection: {resourceLock: endpoints}", []string{
			`leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"`,
		}},
		{"percentage", "percentageOfNodesToScore: 101", []string{"percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"}},
		{"percentage of a profile", "profiles: [{percentageOfNodesToScore: -1}]", []string{
			"profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]",
		}},
		{"initial backoff", "podInitialBackoffSeconds: 0", []string{"podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"}},
		{"maximal backoff", "podInitialBackoffSeconds: 11", []string{
			"podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
		}},
		{"names of several profiles", "profiles: [{schedulerName: a}, {}]", []string{"profiles[1].schedulerName: Required value"}},
		{"empty name", "profiles: [{schedulerName: ''}]", []string{"profiles[0].schedulerName: Required value"}},
		{"name twice", "profiles: [{schedulerName: a}, {schedulerName: a}]", []string{"profiles[1].schedulerName: Duplicate value: {}"}},
		{"removed plugins", `
profiles:
- plugins: {filter: {enabled: [{name: EBSLimits}]}}
  pluginConfig: [{name: GCEPDLimits}]`, []string{
			`profiles[0].pluginConfig[0]: Invalid value: "GCEPDLimits": was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")`,
			`profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")`,
		}},
		{"arguments twice", "profiles: [{pluginConfig: [{name: X}, {name: X}]}]", []string{`profiles[0].pluginConfig[1]: Duplicate value: "X"`}},
		{"arguments", "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]}]", []string{
			"profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]",
		}},
		{"arguments of a kind", "profiles: [{pluginConfig: [{name: NodeResourcesFitArgs, args: {x: 1}}]}]", []string{
			`profiles[0].pluginConfig[0].args: Invalid value: {"x":1}: has to match plugin args`,
		}},
		{"two queue sorts", "profiles: [{plugins: {queueSort: {enabled: [{name: PrioritySort}, {name: X}]}}}]", []string{
			"profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled",
		}},
		{"different queue sorts", `
profiles:
- schedulerName: a
- schedulerName: b
  plugins: {queueSort: {enabled: [{name: PrioritySort, weight: 2}], disabled: [{name: X}]}}`, []string{
			`profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"PrioritySort","Weight":2}],"Disabled":[{"Name":"X","Weight":0}]}: must be the same for all profiles`,
		}},
		{"different queue sort arguments", `
profiles:
- schedulerName: a
  plugins: {queueSort: {enabled: [{name: QS}]}}
  pluginConfig: [{name: QS, args: {x: 1}}]
- schedulerName: b
  plugins: {queueSort: {enabled: [{name: QS}]}}
  pluginConfig: [{name: QS, args: {x: 2}}]`, []string{
			`profiles[1].pluginConfig.args: Invalid value: {"x":2}: queueSort must be the same for all profiles`,
		}},
		{"weight of an extender", "extenders: [{prioritizeVerb: p}]", []string{"extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"}},
		{"two binding extenders", "extenders: [{bindVerb: b}, {bindVerb: b}]", []string{
			`extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind`,
		}},
		{"resources of extenders", `
extenders:
- managedResources: [{name: cpu}, {name: a b}, {name: x.io/a}, {name: requests.x.io/a}]
- managedResources: [{name: x.io/a}]`, []string{
			`extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name`,
			`extenders[0].managedResources[1].name: Invalid value: "a b": ` + badName,
			`extenders[0].managedResources[3].name: Invalid value: "requests.x.io/a": is an invalid extended resource name`,
			`extenders[1].managedResources[0].name: Invalid value: "x.io/a": duplicate extender managed resource name`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := refused(t, head+tt.file, config.LoadConfig{})
			if e.Stage != config.StageValidate {
				t.Errorf("stage %s", e.Stage)
			}
			if diff := cmp.Diff(tt.want, texts(e)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestValidateAccepts has files that look invalid but are accepted.
func TestValidateAccepts(t *testing.T) {
	for name, file := range map[string]string{
		"leader election off":              "leaderElection: {leaderElect: false, resourceLock: x, leaseDuration: -1s}",
		"equal backoffs":                   "podInitialBackoffSeconds: 10",
		"unknown names disabled":           "profiles: [{plugins: {score: {disabled: [{name: X}]}}}]",
		"arguments of an unknown plugin":   "profiles: [{pluginConfig: [{name: X, args: 5}]}]",
		"bad arguments nobody looks at":    "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: X}}}]}]",
		"negative timeout of an extender":  "extenders: [{httpTimeout: -5s}]",
		"weight without a prioritize verb": "extenders: [{weight: -7}]",
		"nothing but null":                 "profiles: [null]\nextenders: null\nleaderElection: {leaseDuration: null}",
	} {
		if _, err := config.Load([]byte(head+file), config.LoadConfig{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRemovedPluginsByPreset loads plugins that 1.37 rejects by name, with the
// release that has them.
func TestRemovedPluginsByPreset(t *testing.T) {
	file := head + "profiles: [{plugins: {filter: {enabled: [{name: CinderLimits}]}}}]"
	c, err := config.Load([]byte(file), config.LoadConfig{Preset: config.Kubernetes118()})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(c.Effective().Profiles[0].Plugins[config.Filter]); !strings.HasSuffix(got, " CinderLimits") {
		t.Errorf("filter: %s", got)
	}
	refused(t, file, config.LoadConfig{Preset: config.Kubernetes134()})
}
