package args_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/args"
)

func loadAware(t testing.TB, rules estimator.Rules, text string) *args.LoadAwareScheduling {
	t.Helper()
	a, errs := args.LoadAware(rules)([]byte(text))
	if err := args.Join(errs); err != nil {
		t.Fatal(err)
	}
	return a.(*args.LoadAwareScheduling)
}

func TestLoadAwareDefaults(t *testing.T) {
	tests := []struct {
		name  string
		rules estimator.Rules
		text  string
		want  string
	}{
		{"1.8", estimator.Koordinator18, "", `{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1",` +
			`"filterExpiredNodeMetrics":true,"nodeMetricExpirationSeconds":180,"enableScheduleWhenNodeMetricsExpired":false,` +
			`"resourceWeights":{"cpu":1,"memory":1},"usageThresholds":{"cpu":65,"memory":95},"estimatedScalingFactors":{"cpu":85,"memory":70}}`},
		{"1.4", estimator.Koordinator14, "null", `{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1",` +
			`"filterExpiredNodeMetrics":true,"nodeMetricExpirationSeconds":180,` +
			`"resourceWeights":{"cpu":1,"memory":1},"usageThresholds":{"cpu":65,"memory":95},"estimatedScalingFactors":{"cpu":85,"memory":70}}`},
		{"only a dominant weight", "", `{"dominantResourceWeight":1}`, `{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1",` +
			`"filterExpiredNodeMetrics":true,"nodeMetricExpirationSeconds":180,"enableScheduleWhenNodeMetricsExpired":false,` +
			`"dominantResourceWeight":1,"usageThresholds":{"cpu":65,"memory":95},"estimatedScalingFactors":{"cpu":85,"memory":70}}`},
		{
			"what 1.4 does not know is dropped", estimator.Koordinator14,
			`{"dominantResourceWeight":1,"filterExpiredNodeMetrics":false,"enableScheduleWhenNodeMetricsExpired":true,"allowCustomizeEstimation":true}`,
			`{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1",` +
				`"filterExpiredNodeMetrics":true,"nodeMetricExpirationSeconds":180,` +
				`"resourceWeights":{"cpu":1,"memory":1},"usageThresholds":{"cpu":65,"memory":95},"estimatedScalingFactors":{"cpu":85,"memory":70}}`,
		},
		{
			"1.6 takes false in v1", estimator.Koordinator16, `{"filterExpiredNodeMetrics":false}`,
			`{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1",` +
				`"filterExpiredNodeMetrics":false,"nodeMetricExpirationSeconds":180,"enableScheduleWhenNodeMetricsExpired":false,` +
				`"resourceWeights":{"cpu":1,"memory":1},"usageThresholds":{"cpu":65,"memory":95},"estimatedScalingFactors":{"cpu":85,"memory":70}}`,
		},
		{
			"1.6 loses false in v1beta3", estimator.Koordinator16, `{"apiVersion":"kubescheduler.config.k8s.io/v1beta3","filterExpiredNodeMetrics":false}`,
			`{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1",` +
				`"filterExpiredNodeMetrics":true,"nodeMetricExpirationSeconds":180,"enableScheduleWhenNodeMetricsExpired":false,` +
				`"resourceWeights":{"cpu":1,"memory":1},"usageThresholds":{"cpu":65,"memory":95},"estimatedScalingFactors":{"cpu":85,"memory":70}}`,
		},
		{
			"1.8 keeps false in v1beta3", estimator.Koordinator18, `{"apiVersion":"kubescheduler.config.k8s.io/v1beta3","filterExpiredNodeMetrics":false}`,
			`{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1",` +
				`"filterExpiredNodeMetrics":false,"nodeMetricExpirationSeconds":180,"enableScheduleWhenNodeMetricsExpired":false,` +
				`"resourceWeights":{"cpu":1,"memory":1},"usageThresholds":{"cpu":65,"memory":95},"estimatedScalingFactors":{"cpu":85,"memory":70}}`,
		},
		{"factors are completed", "", `{"estimatedScalingFactors":{"cpu":50},"usageThresholds":{}}`, `{"kind":"LoadAwareSchedulingArgs","apiVersion":"kubescheduler.config.k8s.io/v1",` +
			`"filterExpiredNodeMetrics":true,"nodeMetricExpirationSeconds":180,"enableScheduleWhenNodeMetricsExpired":false,` +
			`"resourceWeights":{"cpu":1,"memory":1},"usageThresholds":{"cpu":65,"memory":95},"estimatedScalingFactors":{"cpu":50,"memory":70}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := json.Marshal(loadAware(t, test.rules, test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestLoadAwareValidate(t *testing.T) {
	tests := []struct {
		name      string
		text      string
		want, old string // by 1.8 and by 1.4
	}{
		{"fine", `{}`, "", ""},
		{
			"expiration", `{"nodeMetricExpirationSeconds":0}`,
			"nodeMetricExpiredSeconds: Invalid value: 0: nodeMetricExpiredSeconds should be a positive value",
			"nodeMetricExpiredSeconds: Invalid value: 0: nodeMetricExpiredSeconds should be a positive value",
		},
		{
			"weight", `{"resourceWeights":{"cpu":101}}`,
			`resourceWeights: Invalid value: {"cpu":101}: resource Weight of cpu should be less than 100, got 101`,
			`resourceWeights: Invalid value: map[v1.ResourceName]int64{"cpu":101}: resource Weight of cpu should be less than 100, got 101`,
		},
		{
			"factor", `{"estimatedScalingFactors":{"cpu":0}}`,
			`estimatedScalingFactors: Invalid value: {"cpu":0,"memory":70}: estimated resource ScalingFactor of cpu should be a positive value, got 0`,
			`estimatedScalingFactors: Invalid value: map[v1.ResourceName]int64{"cpu":0, "memory":70}: estimated resource Threshold of cpu should be a positive value, got 0`,
		},
		{
			"weight without a factor", `{"resourceWeights":{"example.com/foo":1}}`,
			`estimatedScalingFactors: Not found: "example.com/foo"`, `estimatedScalingFactors: Not found: example.com/foo`,
		},
		{"dominant", `{"dominantResourceWeight":101}`, "dominantResourceWeight: Invalid value: 101: dominantResourceWeight should be less than 100", ""},
		{
			"aggregated", `{"aggregated":{"usageThresholds":{"cpu":-1},"usageAggregationType":"p42","scoreAggregatedDuration":"-5m"}}`,
			`[aggregated.usageThresholds: Invalid value: {"cpu":-1}: resource Threshold of cpu should be a positive value, got -1, ` +
				`aggregated.usageAggregationType: Unsupported value: "p42": supported values: "avg", "p50", "p90", "p95", "p99", ` +
				`aggregated.scoreAggregatedDuration: Invalid value: "-5m0s": duration must be >= 0]`, "",
		},
		{"prod thresholds are not looked at", `{"prodUsageThresholds":{"cpu":-400}}`, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for rules, want := range map[estimator.Rules]string{estimator.Koordinator18: test.want, estimator.Koordinator14: test.old} {
				got := ""
				if err := args.Join(loadAware(t, rules, test.text).Validate("")); err != nil {
					got = err.Error()
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("by %s (-want +got)\n%s", rules, diff)
				}
			}
		})
	}
}

func TestLoadAwareDecodesStrictly(t *testing.T) {
	_, errs := args.LoadAware("")([]byte(`{"usageThreshold":{"cpu":1},"aggregated":{"usageAggregatedDuration":5},"resourceWeights":{"cpu":"1"}}`))
	want := []string{
		`unknown field "usageThreshold"`,
		`aggregated.usageAggregatedDuration: got the number 5, want a duration such as "10s"`,
		`resourceWeights.cpu: got a string, want an integer of 64 bits`,
	}
	var got []string
	for _, e := range errs {
		got = append(got, e.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLoadAwareLoad(t *testing.T) {
	a := loadAware(t, "", `{"estimator":"mine"}`)
	if _, err := a.Load(estimator.KnownEstimators()); err == nil {
		t.Error("an unknown estimator: no error")
	}
	known := estimator.KnownEstimators()
	known["mine"] = known[estimator.DefaultEstimatorName]
	if _, err := a.Load(known); err != nil {
		t.Error(err)
	}
	load, err := loadAware(t, "", `{"enableScheduleWhenNodeMetricsExpired":true,"supportedResources":["example.com/gpu"],"aggregated":{"scoreAggregationType":"p95"}}`).Load(known)
	if err != nil {
		t.Fatal(err)
	}
	if c := load.Config(); c.Expired != estimator.PassExpired || c.Aggregated.ScoreType != "p95" {
		t.Errorf("Config = %+v", c)
	}
	if diff := cmp.Diff([]resource.Name{"cpu", "example.com/gpu", "memory"}, load.Resources()); diff != "" {
		t.Errorf("Resources (-want +got)\n%s", diff)
	}
}

// fixed estimates the same for every pod.
type fixed struct{}

func (fixed) EstimatePod(*api.Pod) (map[resource.Name]int64, error) {
	return map[resource.Name]int64{resource.CPU: 7777}, nil
}

func (fixed) EstimateNode(n *api.Node) (resource.List, error) { return n.Status.Allocatable, nil }

// An estimator registered as the default one is used, whether named or not.
func TestLoadAwareDefaultEstimator(t *testing.T) {
	known := estimator.KnownEstimators()
	known[estimator.DefaultEstimatorName] = func(estimator.LoadConfig) (estimator.Estimator, error) { return fixed{}, nil }
	for _, text := range []string{`{}`, `{"estimator":"defaultEstimator"}`} {
		load, err := loadAware(t, "", text).Load(known)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := load.Config().Estimator.(fixed); !ok {
			t.Errorf("%s: the estimator is a %T, want that which is registered", text, load.Config().Estimator)
		}
		if load, err = loadAware(t, "", text).Load(nil); err != nil {
			t.Fatal(err)
		}
		if _, ok := load.Config().Estimator.(*estimator.DefaultEstimator); !ok {
			t.Errorf("%s, none registered: the estimator is a %T", text, load.Config().Estimator)
		}
	}
	known[estimator.DefaultEstimatorName] = func(estimator.LoadConfig) (estimator.Estimator, error) { return nil, nil }
	want := `load-aware configuration: estimator: "defaultEstimator": the function registered for it made none: return an estimator or an error`
	if _, err := loadAware(t, "", `{}`).Load(known); err == nil || err.Error() != want {
		t.Errorf("an estimator that is nil: %v, want %s", err, want)
	}
}

// For any text, decoded and valid arguments make a Load, and their text decodes to
// the same value.
func FuzzLoadAware(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, `{"usageThresholds":{"cpu":65}}`, `{"aggregated":{"usageAggregationType":"p95","usageAggregatedDuration":"5m"}}`,
		`{"nodeMetricExpirationSeconds":9223372036854775807,"estimatedSecondsAfterPodScheduled":-1}`, `{"resourceWeights":{"":1},"estimatedScalingFactors":{"":1}}`,
	} {
		f.Add([]byte(seed), byte(0))
		f.Add([]byte(seed), byte(3))
	}
	versions := []estimator.Rules{estimator.Koordinator14, estimator.Koordinator15, estimator.Koordinator16, estimator.Koordinator18}
	f.Fuzz(func(t *testing.T, text []byte, version byte) {
		rules := versions[int(version)%len(versions)]
		decoded, errs := args.LoadAware(rules)(text)
		if len(errs) > 0 {
			return
		}
		a := decoded.(*args.LoadAwareScheduling)
		if len(a.Validate("")) > 0 {
			return
		}
		if a.Estimator == "" {
			if _, err := a.Load(estimator.KnownEstimators()); err != nil {
				t.Errorf("Load of valid arguments %s: %v", text, err)
			}
		}
		once, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		again, errs := args.LoadAware(rules)(once)
		if len(errs) > 0 {
			t.Fatalf("%s, written as %s: %v", text, once, errs)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(once) {
			t.Errorf("written as %s, then as %s", once, twice)
		}
	})
}
