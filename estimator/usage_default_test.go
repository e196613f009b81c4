package estimator_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func quantities(cpu, memory string) resource.List {
	l := resource.List{}
	if cpu != "" {
		l[resource.CPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		l[resource.Memory] = resource.MustParse(memory)
	}
	return l
}

func container(requests, limits resource.List) api.Container {
	return api.Container{Name: "c", Resources: api.ResourceRequirements{Requests: requests, Limits: limits}}
}

func TestDefaultEstimatorPod(t *testing.T) {
	pod := func(containers ...api.Container) *api.Pod {
		p := api.MakePod("p").Obj()
		p.Spec.Containers = containers
		return p
	}
	with := func(p *api.Pod, f func(*api.Pod)) *api.Pod {
		f(p)
		return p
	}
	sidecar := container(quantities("200m", ""), nil)
	sidecar.RestartPolicy = new(api.ContainerRestartPolicyAlways)
	const unrequested = 200 << 20
	own := estimator.LoadConfig{PodAnnotations: true}
	tests := []struct {
		name        string
		config      estimator.LoadConfig
		pod         *api.Pod
		cpu, memory int64
	}{
		{name: "nothing requested", pod: pod(container(nil, nil)), cpu: 250, memory: unrequested},
		{name: "requests", pod: pod(container(quantities("1", "1000"), nil)), cpu: 850, memory: 700},
		{name: "rounded half up", pod: pod(container(quantities("10m", "5"), nil)), cpu: 9, memory: 4}, // 8.5 and 3.5
		{name: "limit above request", pod: pod(container(quantities("1", "1000"), quantities("2", "3000"))), cpu: 1700, memory: 2100},
		{
			name: "the same up to 1.5", config: estimator.LoadConfig{Rules: estimator.Koordinator15},
			pod: pod(container(quantities("1", "1000"), quantities("2", "3000"))), cpu: 2000, memory: 3000,
		},
		{
			name: "the same in 1.6", config: estimator.LoadConfig{Rules: estimator.Koordinator16},
			pod: pod(container(quantities("1", "1000"), quantities("2", "3000"))), cpu: 1700, memory: 2100,
		},
		{name: "limit below request", pod: pod(container(quantities("1", "1000"), quantities("500m", "100"))), cpu: 500, memory: 100},
		{name: "factor above 100 stops at the limit", config: own, pod: with(pod(container(quantities("1", "1000"), quantities("1", "1000"))), func(p *api.Pod) {
			p.Annotations = map[string]string{estimator.AnnotationScalingFactors: `{"cpu":150}`}
		}), cpu: 1000, memory: 700},
		{name: "factor above 100 without a limit", config: own, pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Annotations = map[string]string{estimator.AnnotationScalingFactors: `{"cpu":150}`}
		}), cpu: 1500, memory: 700},
		{name: "annotation not asked for", pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Annotations = map[string]string{estimator.AnnotationScalingFactors: `{"cpu":150}`}
		}), cpu: 850, memory: 700},
		{name: "malformed annotation", config: own, pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Annotations = map[string]string{estimator.AnnotationScalingFactors: `{"cpu":"150"}`}
		}), cpu: 850, memory: 700},
		{name: "batch", pod: with(pod(container(resource.List{
			estimator.BatchCPU: resource.MustParse("2000"), estimator.BatchMemory: resource.MustParse("1000"), resource.CPU: resource.MustParse("9"),
		}, nil)), func(p *api.Pod) { p.Labels = map[string]string{estimator.LabelPriorityClass: "koord-batch"} }), cpu: 1700, memory: 700},
		{name: "mid without a mid request", pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Labels = map[string]string{estimator.LabelPriorityClass: "koord-mid"}
		})},
		{name: "free", pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Labels = map[string]string{estimator.LabelPriorityClass: "koord-free"}
		})},
		{name: "init container", pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Spec.InitContainers = []api.Container{container(quantities("2", "10"), nil)}
		}), cpu: 1700, memory: 700},
		{name: "sidecar", pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Spec.InitContainers = []api.Container{sidecar}
		}), cpu: 1020, memory: 700},
		{name: "sidecar in 1.4", config: estimator.LoadConfig{Rules: estimator.Koordinator14}, pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Spec.InitContainers = []api.Container{sidecar}
		}), cpu: 850, memory: 700},
		{name: "sidecar before an init container", pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Spec.InitContainers = []api.Container{sidecar, container(quantities("1800m", ""), nil)}
		}), cpu: 1700, memory: 700},
		{name: "overhead", pod: with(pod(container(quantities("1", "1000"), quantities("1", ""))), func(p *api.Pod) {
			p.Spec.Overhead = quantities("100m", "100")
		}), cpu: 935, memory: 770},
		{name: "pod-level", pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Spec.Resources = &api.ResourceRequirements{Requests: quantities("2", "")}
		}), cpu: 1700, memory: 700},
		{name: "pod-level in 1.6", config: estimator.LoadConfig{Rules: estimator.Koordinator16}, pod: with(pod(container(quantities("1", "1000"), nil)), func(p *api.Pod) {
			p.Spec.Resources = &api.ResourceRequirements{Requests: quantities("2", "")}
		}), cpu: 850, memory: 700},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := estimator.NewDefaultEstimator(test.config).EstimatePod(test.pod)
			if err != nil {
				t.Fatal(err)
			}
			want := map[resource.Name]int64{resource.CPU: test.cpu, resource.Memory: test.memory}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("EstimatePod (-want +got)\n%s", diff)
			}
		})
	}
}

// An estimate is never negative and never above the limit, whatever the amounts.
func TestDefaultEstimatorBounds(t *testing.T) {
	amount := rapid.Int64Range(0, math.MaxInt64)
	rapid.Check(t, func(t *rapid.T) {
		request, limit := amount.Draw(t, "request"), amount.Draw(t, "limit")
		p := api.MakePod("p").Obj()
		p.Spec.Containers[0].Resources = api.ResourceRequirements{
			Requests: resource.List{resource.Memory: resource.New(request, resource.DecimalSI), resource.CPU: resource.New(request, resource.DecimalSI)},
			Limits:   resource.List{resource.Memory: resource.New(limit, resource.DecimalSI)},
		}
		use, err := estimator.NewDefaultEstimator(estimator.LoadConfig{}).EstimatePod(p)
		if err != nil {
			t.Fatal(err)
		}
		if m := use[resource.Memory]; m < 0 || limit > 0 && m > limit {
			t.Fatalf("request %d, limit %d: estimate %d", request, limit, m)
		}
		if use[resource.CPU] < 0 {
			t.Fatalf("request %d cores: estimate %d", request, use[resource.CPU])
		}
	})
}

func TestDefaultEstimatorNode(t *testing.T) {
	allocatable := resource.List{resource.CPU: resource.MustParse("8"), resource.Memory: resource.MustParse("8Gi")}
	tests := []struct {
		name, annotation string
		cpu, memory      string
	}{
		{"no annotation", "", "8", "8Gi"},
		{"one resource", `{"cpu":"4"}`, "4", "8Gi"},
		{"zero", `{"memory":"0"}`, "8", "0"},
		{"empty", `{}`, "8", "8Gi"},
		{"null", `null`, "8", "8Gi"},
		{"malformed", `{"cpu":"x"}`, "8", "8Gi"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := api.MakeNode("n", "", "").Obj()
			n.Status.Allocatable = allocatable.Clone()
			if test.annotation != "" {
				n.Annotations = map[string]string{estimator.AnnotationRawAllocatable: test.annotation}
			}
			got, err := estimator.NewDefaultEstimator(estimator.LoadConfig{}).EstimateNode(n)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range quantities(test.cpu, test.memory) {
				if q := got[name]; !q.Equal(want) {
					t.Errorf("EstimateNode: %s = %s, want %s", name, q, want)
				}
			}
			if q := n.Status.Allocatable[resource.CPU]; q.String() != "8" {
				t.Error("EstimateNode changed the node")
			}
		})
	}
}

func TestEstimators(t *testing.T) {
	known := estimator.KnownEstimators()
	known["mine"] = func(estimator.LoadConfig) (estimator.Estimator, error) {
		return estimator.NewDefaultEstimator(estimator.LoadConfig{}), nil
	}
	for _, name := range []string{"", estimator.DefaultEstimatorName, "mine"} {
		if e, err := known.New(name, estimator.LoadConfig{}); e == nil || err != nil {
			t.Errorf("New(%q) = %v, %v", name, e, err)
		}
	}
	_, err := known.New("other", estimator.LoadConfig{})
	want := `load-aware configuration: estimator: "other": unknown estimator, want one of "defaultEstimator", "mine"`
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || err.Error() != want {
		t.Errorf("New(other): %v, want %s", err, want)
	}
	if e, err := known.OrDefault("other", estimator.LoadConfig{}); e == nil || err != nil {
		t.Errorf("OrDefault(other) = %v, %v", e, err)
	}
	known["none"] = nil
	known["empty"] = func(estimator.LoadConfig) (estimator.Estimator, error) { return nil, nil }
	for name, want := range map[string]string{
		"none":  `load-aware configuration: estimator: "none": is registered without a function that makes it`,
		"empty": `load-aware configuration: estimator: "empty": the function registered for it made none: return an estimator or an error`,
	} {
		if e, err := known.New(name, estimator.LoadConfig{}); e != nil || !errors.As(err, &invalid) || err.Error() != want {
			t.Errorf("New(%s) = %v, %v, want %s", name, e, err, want)
		}
	}
	if e, err := estimator.Estimators(nil).New("", estimator.LoadConfig{}); e == nil || err != nil {
		t.Errorf("the default of no estimators = %v, %v", e, err)
	}
	if len(estimator.KnownEstimators()) != 1 {
		t.Error("a set that was added to is shared")
	}
}

// A Load copies everything from the caller that may change.
func TestNewLoadCopies(t *testing.T) {
	percent := func() map[resource.Name]int64 { return map[resource.Name]int64{resource.CPU: 50} }
	c := func() estimator.LoadConfig {
		return estimator.LoadConfig{
			Thresholds: percent(), ProdThresholds: percent(), Weights: percent(), Factors: percent(),
			Resources: []resource.Name{"example.com/a"}, Aggregated: &estimator.Aggregated{Thresholds: percent(), Type: api.P95},
		}
	}
	mine := c()
	load, err := estimator.NewLoad(mine)
	if err != nil {
		t.Fatal(err)
	}
	want, err := estimator.NewLoad(c())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []map[resource.Name]int64{mine.Thresholds, mine.ProdThresholds, mine.Weights, mine.Factors, mine.Aggregated.Thresholds} {
		m[resource.CPU], m[resource.Memory] = 1, 1
	}
	mine.Resources[0], mine.Aggregated.Type = "example.com/b", api.AVG
	unEstimated := func(l *estimator.Load) estimator.LoadConfig {
		c := l.Config()
		c.Estimator = nil
		return c
	}
	if diff := cmp.Diff(unEstimated(want), unEstimated(load)); diff != "" {
		t.Errorf("Config after the caller changed his maps (-want +got)\n%s", diff)
	}
}

// A zero Load equals the default one.
func TestZeroLoad(t *testing.T) {
	f := newLedgerFixture(t)
	p, n := f.pod("a", "1", "1Gi"), f.snapshot.Node("n1")
	for _, load := range []*estimator.Load{{}, nil} {
		want := estimator.DefaultLoad()
		if load.Pod(p) != want.Pod(p) || load.Node(n) != want.Node(n) || load.Reads(p) != want.Reads(p) {
			t.Error("pod or node are not those of the default")
		}
		if diff := cmp.Diff(use(f.snapshot), load.View(f.snapshot).Use(n, estimator.WholeForScore)); diff != "" {
			t.Errorf("Use (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(want.Weights(), load.Weights()); diff != "" || !slices.Equal(want.Resources(), load.Resources()) || load.Config().Expiration != want.Config().Expiration {
			t.Errorf("Weights (-want +got)\n%s", diff)
		}
	}
}

func TestLoadAwareCheck(t *testing.T) {
	_, err := estimator.NewLoad(estimator.LoadConfig{
		Rules: "1.7", Expiration: -1, Thresholds: map[resource.Name]int64{resource.CPU: 101},
		Weights: map[resource.Name]int64{"example.com/gpu": -1}, DominantWeight: 200, Expired: 9,
		Factors:    map[resource.Name]int64{resource.CPU: 400},
		Aggregated: &estimator.Aggregated{Thresholds: map[resource.Name]int64{resource.Memory: -1}, Duration: -1},
	})
	want := `load-aware configuration: rules: "1.7": unknown rules, want one of "1.4", "1.5", "1.6", "1.8"
load-aware configuration: expired: "9": unknown policy
load-aware configuration: expiration: "-1ns": must not be negative
load-aware configuration: thresholds[cpu]: "101": must be from 0 to 100
load-aware configuration: weights[example.com/gpu]: "-1": must be from 0 to 100
load-aware configuration: factors[cpu]: "400": must be from 0 to 100
load-aware configuration: factors: "example.com/gpu": no factor for a resource that has a weight
load-aware configuration: dominantWeight: "200": must be from 0 to 100
load-aware configuration: aggregated.thresholds[memory]: "-1": must be from 0 to 100
load-aware configuration: aggregated.duration: "-1ns": must not be negative`
	if err == nil || err.Error() != want {
		t.Errorf("NewLoad (-want +got)\n%s", cmp.Diff(want, fmt.Sprint(err)))
	}
	if _, err := estimator.NewLoad(estimator.LoadConfig{
		Rules: estimator.Koordinator14, Aggregated: &estimator.Aggregated{Duration: -1},
		ProdThresholds: map[resource.Name]int64{resource.CPU: 400}, EstimateScheduled: -1,
	}); err != nil {
		t.Errorf("what 1.4 does not look at: %v", err)
	}
}

// ExampleDefaultEstimator predicts the use of a pod.
func ExampleDefaultEstimator() {
	e := estimator.NewDefaultEstimator(estimator.LoadConfig{})
	use, _ := e.EstimatePod(api.MakePod("web").Requests("1", "1000Mi").Obj())
	fmt.Println(use[resource.CPU], use[resource.Memory]>>20)
	// Output: 850 700
}

// ExampleEstimators adds your own estimator.
func ExampleEstimators() {
	known := estimator.KnownEstimators()
	known["cautious"] = func(c estimator.LoadConfig) (estimator.Estimator, error) {
		c.Factors = map[resource.Name]int64{resource.CPU: 100, resource.Memory: 100}
		return estimator.NewDefaultEstimator(c), nil
	}
	e, _ := known.New("cautious", estimator.LoadConfig{})
	use, _ := e.EstimatePod(api.MakePod("web").Requests("1", "").Obj())
	fmt.Println(use[resource.CPU])
	_, err := known.New("careless", estimator.LoadConfig{})
	fmt.Println(err)
	// Output:
	// 1000
	// load-aware configuration: estimator: "careless": unknown estimator, want one of "cautious", "defaultEstimator"
}
