package filter_test

import (
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
)

var loadStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newLoad(t testing.TB, c estimator.LoadConfig) *estimator.Load {
	t.Helper()
	load, err := estimator.NewLoad(c)
	if err != nil {
		t.Fatal(err)
	}
	return load
}

func loadUse(cpu, memory int64) api.ResourceMap {
	return api.ResourceMapOf(resource.List{
		resource.CPU: resource.Milli(cpu), resource.Memory: resource.New(memory, resource.BinarySI),
	})
}

// measure reports a random use for three in four nodes, derived from their names,
// and for every other pod on them.
func measure(s *framework.Snapshot) error {
	s.SetNow(loadStart)
	for _, n := range s.All() {
		h := fnv.New64a()
		h.Write([]byte(n.Name()))
		x := h.Sum64()
		if x%4 == 0 {
			continue
		}
		cpu, memory := n.Allocatable.At(resource.IndexCPU), n.Allocatable.At(resource.IndexMemory)
		use := loadUse(cpu/100*int64(x%90), memory/100*int64(x>>8%100))
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: n.Name()}}
		m.Status.UpdateTime = new(loadStart.Add(-time.Duration(x>>16%240) * time.Second))
		m.Status.NodeMetric = &api.NodeMetricInfo{
			NodeUsage: use,
			AggregatedNodeUsages: []api.AggregatedUsage{{
				Duration: api.Duration{Duration: 5 * time.Minute},
				Usage:    map[api.AggregationType]api.ResourceMap{api.P95: loadUse(cpu/100*int64(x>>24%100), memory/2)},
			}},
		}
		for i, p := range n.Pods {
			if i%2 == 0 {
				m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{
					Name: p.Pod.Name, Namespace: p.Pod.Namespace, PodUsage: loadUse(100, 1<<27), Priority: "koord-prod",
				})
			}
		}
		if err := estimator.LedgerOf(s).SetMetric(m); err != nil {
			return err
		}
	}
	return nil
}

func TestLoadAwareConformance(t *testing.T) {
	low := map[resource.Name]int64{resource.CPU: 40, resource.Memory: 40}
	p95 := &estimator.Aggregated{Thresholds: low, Type: api.P95}
	for _, test := range []struct {
		name   string
		config estimator.LoadConfig
	}{
		{"1.8", estimator.LoadConfig{}},
		{"1.8 prod", estimator.LoadConfig{ProdThresholds: low, PodAnnotations: true, ProdIncludesSystem: true}},
		{"1.8 aggregated", estimator.LoadConfig{Aggregated: p95, Expired: estimator.UseExpired}},
		{"1.6", estimator.LoadConfig{Rules: estimator.Koordinator16, ProdThresholds: low}},
		{"1.5", estimator.LoadConfig{Rules: estimator.Koordinator15, Aggregated: p95}},
		{"1.4", estimator.LoadConfig{Rules: estimator.Koordinator14, ProdThresholds: low}},
		{"custom estimator", estimator.LoadConfig{Estimator: flat{}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := filter.LoadAware{Load: newLoad(t, test.config)}
			config := frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Prepare: measure}
			if test.config.Expired == estimator.UseExpired {
				config.Unexercised = map[frameworktest.Exercise]string{frameworktest.Expires: "expired metrics count as well"}
			}
			frameworktest.Run(t, p, config)
		})
	}
}

// flat estimates the same for every pod.
type flat struct{}

func (flat) EstimatePod(*api.Pod) (map[resource.Name]int64, error) {
	return map[resource.Name]int64{resource.CPU: 400}, nil
}

func (flat) EstimateNode(n *api.Node) (resource.List, error) { return n.Status.Allocatable, nil }

// broken fails to estimate.
type broken struct{ pod, node error }

func (b broken) EstimatePod(*api.Pod) (map[resource.Name]int64, error) { return nil, b.pod }

func (b broken) EstimateNode(n *api.Node) (resource.List, error) {
	return n.Status.Allocatable, b.node
}

// loadCase is a node of 10 cores and 10 GiB, and a pod that requests 1 core and 1
// GiB; its estimate is 850m and 717 MiB.
type loadCase struct {
	node   *api.Node
	metric *api.NodeMetric
	pod    *api.Pod
}

func newLoadCase(cpu, memory int64) loadCase {
	return loadCase{
		api.MakeNode("n1", "10", "10Gi").Obj(),
		&api.NodeMetric{
			ObjectMeta: api.ObjectMeta{Name: "n1"},
			Status: api.NodeMetricStatus{
				UpdateTime: &loadStart, NodeMetric: &api.NodeMetricInfo{NodeUsage: loadUse(cpu, memory)},
			},
		},
		api.MakePod("p").Requests("1", "1Gi").Obj(),
	}
}

// verdict filters the pod on the node, some time after the metric.
func (c *loadCase) verdict(t *testing.T, config estimator.LoadConfig, after time.Duration) framework.Status {
	t.Helper()
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	s.SetNow(loadStart.Add(after))
	if err := s.AddNode(c.node); err != nil {
		t.Fatal(err)
	}
	if c.metric != nil {
		if err := estimator.LedgerOf(s).SetMetric(c.metric); err != nil {
			t.Fatal(err)
		}
	}
	info, err := s.NewPodInfo(c.pod)
	if err != nil {
		t.Fatal(err)
	}
	var cycle framework.Cycle
	cycle.Reset(info, s, 0, 0)
	pre, status := filter.LoadAware{Load: newLoad(t, config)}.PreFilter(&cycle)
	if status.IsSkip() {
		return framework.Status{}
	}
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	return pre.Filter.Filter(info, s.Node("n1"))
}

func TestLoadAwareFilter(t *testing.T) {
	const cpuHigh, expired = "node(s) cpu usage exceed threshold", "node(s) nodeMetric expired"
	old := estimator.LoadConfig{Rules: estimator.Koordinator14}
	with := func(c estimator.LoadConfig, change func(*estimator.LoadConfig)) estimator.LoadConfig {
		change(&c)
		return c
	}
	tests := []struct {
		name   string
		use    int64 // of cpu, in thousandths
		config estimator.LoadConfig
		change func(*loadCase)
		after  time.Duration
		want   string
	}{
		{name: "idle", use: 1000},
		// 5700 + 850 of 10000 is 65.5 %, which rounds to 66; 5699 makes 65.49.
		{name: "over the threshold", use: 5700, want: cpuHigh},
		{name: "rounded to the threshold", use: 5699},
		{name: "1.4 does not count the pod", use: 5700, config: old},
		{name: "1.4 rejects at the threshold", use: 6450, config: old, want: cpuHigh},
		{name: "1.4 below the threshold", use: 6449, config: old},
		{name: "1.6 counts the pod", use: 5700, config: estimator.LoadConfig{Rules: estimator.Koordinator16}, want: cpuHigh},
		{name: "1.6 at the threshold", use: 5650, config: estimator.LoadConfig{Rules: estimator.Koordinator16}},
		{name: "DaemonSet", use: 9000, change: func(c *loadCase) {
			c.pod.OwnerReferences = []api.OwnerReference{{Kind: "DaemonSet", Name: "d"}}
		}},
		{name: "no metric", use: 9000, change: func(c *loadCase) { c.metric = nil }},
		{name: "not measured", use: 9000, change: func(c *loadCase) { c.metric.Status.NodeMetric = nil }},
		{name: "threshold 0", use: 9000, config: estimator.LoadConfig{Thresholds: map[resource.Name]int64{resource.CPU: 0}}},
		{name: "nothing of the resource", use: 9000, change: func(c *loadCase) { delete(c.node.Status.Allocatable, resource.CPU) }},
		{name: "expired", use: 1000, after: 3 * time.Minute, want: expired},
		{name: "just not expired", use: 1000, after: 3*time.Minute - 1},
		{name: "expired, passing", use: 9000, after: time.Hour, config: estimator.LoadConfig{Expired: estimator.PassExpired}},
		{name: "expired, used", use: 9000, after: time.Hour, config: estimator.LoadConfig{Expired: estimator.UseExpired}, want: cpuHigh},
		{name: "expired in 1.4", use: 9000, after: time.Hour, config: old},
		{name: "expired in 1.5", use: 1000, after: time.Hour, config: estimator.LoadConfig{Rules: estimator.Koordinator15}, want: expired},
		{name: "expired without thresholds", use: 9000, after: time.Hour, config: estimator.LoadConfig{Thresholds: map[resource.Name]int64{resource.CPU: 0}}},
		{
			name: "expired without thresholds in 1.6", use: 9000, after: time.Hour,
			config: estimator.LoadConfig{Rules: estimator.Koordinator16, Thresholds: map[resource.Name]int64{resource.CPU: 0}}, want: expired,
		},
		{name: "metric of the future", use: 9000, after: -time.Hour, want: cpuHigh},
		{name: "node's own threshold", use: 7000, change: func(c *loadCase) {
			c.node.Annotations = map[string]string{estimator.AnnotationUsageThresholds: `{"usageThresholds":{"cpu":80}}`}
		}},
		{name: "malformed annotation", use: 7000, want: cpuHigh, change: func(c *loadCase) {
			c.node.Annotations = map[string]string{estimator.AnnotationUsageThresholds: `{"usageThresholds":{"cpu":"80"}}`}
		}},
		{name: "prod pods have thresholds of their own", use: 9000, config: estimator.LoadConfig{ProdThresholds: map[resource.Name]int64{resource.CPU: 50}}},
		{
			name: "aggregated", use: 1000, want: "node(s) cpu aggregated usage exceed threshold",
			config: estimator.LoadConfig{Aggregated: &estimator.Aggregated{Thresholds: map[resource.Name]int64{resource.CPU: 50}, Type: api.P95}},
			change: func(c *loadCase) {
				c.metric.Status.NodeMetric.AggregatedNodeUsages = []api.AggregatedUsage{{
					Usage: map[api.AggregationType]api.ResourceMap{api.P95: loadUse(6000, 0)},
				}}
			},
		},
		{name: "pod that cannot be estimated", use: 6500, config: estimator.LoadConfig{Estimator: broken{pod: errBroken}}},
		{name: "pod that cannot be estimated, node too full", use: 7000, config: estimator.LoadConfig{Estimator: broken{pod: errBroken}}, want: cpuHigh},
		{name: "the same in 1.6", use: 7000, config: with(estimator.LoadConfig{Estimator: broken{pod: errBroken}}, func(c *estimator.LoadConfig) { c.Rules = estimator.Koordinator16 })},
		{name: "node that cannot be estimated", use: 9000, config: estimator.LoadConfig{Estimator: broken{node: errBroken}}},
		{name: "both resources, by name", use: 9900, want: cpuHigh, change: func(c *loadCase) {
			c.metric.Status.NodeMetric.NodeUsage = loadUse(9900, 10<<30)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newLoadCase(test.use, 1<<30)
			if test.change != nil {
				test.change(&c)
			}
			if got := c.verdict(t, test.config, test.after).Message(); got != test.want {
				t.Errorf("LoadAware.Filter = %q, want %q", got, test.want)
			}
		})
	}
}

var errBroken = fmt.Errorf("out of order")

// TestLoadAwareClassKey: pods have one key if their estimates and classes are equal, however
// they came by them.
func TestLoadAwareClassKey(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	key := func(p *api.Pod) string {
		info, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(filter.LoadAware{}.AppendClassKey(nil, s, info))
	}
	pod := func() *api.Pod { return api.MakePod("p").Requests("1", "1Gi").Obj() }
	plain := key(pod())
	for _, tt := range []struct {
		name   string
		change func(p *api.Pod)
		same   bool
	}{
		{"labels that nothing reads", func(p *api.Pod) { p.Labels = map[string]string{"statefulset.kubernetes.io/pod-name": "p-0"} }, true},
		{"an annotation that nothing reads", func(p *api.Pod) { p.Annotations = map[string]string{"x": "y"} }, true},
		{"a status that says what the spec does", func(p *api.Pod) { p.Status.QOSClass = api.PodQOSBurstable }, true},
		{"a status that changes the class", func(p *api.Pod) { p.Status.QOSClass = api.PodQOSBestEffort }, false},
		{"a label that names the class", func(p *api.Pod) { p.Labels = map[string]string{estimator.LabelPriorityClass: "koord-batch"} }, false},
		{"a DaemonSet that owns it", func(p *api.Pod) {
			p.OwnerReferences = []api.OwnerReference{{Kind: "DaemonSet", Name: "d", UID: "d"}}
		}, false},
		{"other requests", func(p *api.Pod) {
			p.Spec.Containers[0].Resources = api.MakePod("x").Requests("2", "1Gi").Obj().Spec.Containers[0].Resources
		}, false},
	} {
		p := pod()
		tt.change(p)
		if got := key(p) == plain; got != tt.same {
			t.Errorf("%s: the keys are equal: %t, want %t", tt.name, got, tt.same)
		}
	}
}

// ExampleLoadAware filters by the real use of a node: its free capacity covers the
// pod's request, but not the load.
func ExampleLoadAware() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	s.SetNow(now)
	if err := s.AddNode(api.MakeNode("n1", "10", "10Gi").Obj()); err != nil {
		panic(err)
	}
	busy := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "n1"}}
	busy.Status.UpdateTime = &now
	busy.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.MustParse("6")})}
	if err := estimator.LedgerOf(s).SetMetric(busy); err != nil {
		panic(err)
	}
	pod, err := s.NewPodInfo(api.MakePod("web").Requests("1", "1Gi").Obj())
	if err != nil {
		panic(err)
	}
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	pre, _ := filter.LoadAware{}.PreFilter(&c)
	fmt.Println(pre.Filter.Filter(pod, s.Node("n1")))
	// Output: Unschedulable: node(s) cpu usage exceed threshold
}
