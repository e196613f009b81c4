package scoring_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

var loadStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func loadUse(cpu, memory int64) api.ResourceMap {
	return api.ResourceMapOf(resource.List{
		resource.CPU: resource.Milli(cpu), resource.Memory: resource.New(memory, resource.BinarySI),
	})
}

func loadMetric(name string, cpu, memory int64) *api.NodeMetric {
	m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: name}}
	m.Status.UpdateTime = &loadStart
	m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: loadUse(cpu, memory)}
	return m
}

// loadScore scores a pod on a node of 10 cores and 10 GiB. The pod requests 1 core
// and 1 GiB; its estimate is 850m and 717 MiB.
func loadScore(tb rapid.TB, p scoring.LoadAware, m *api.NodeMetric, after time.Duration) int64 {
	tb.Helper()
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	s.SetNow(loadStart.Add(after))
	if err := s.AddNode(api.MakeNode("n1", "10", "10Gi").Obj()); err != nil {
		tb.Fatal(err)
	}
	if m != nil {
		if err := estimator.LedgerOf(s).SetMetric(m); err != nil {
			tb.Fatal(err)
		}
	}
	info, err := s.NewPodInfo(api.MakePod("p").Requests("1", "1Gi").Obj())
	if err != nil {
		tb.Fatal(err)
	}
	var c framework.Cycle
	c.Reset(info, s, 0, 0)
	scorer, status := p.PreScore(&c, nil)
	if !status.IsSuccess() {
		tb.Fatal(status)
	}
	return scorer.Score(info, s.Node("n1"))
}

func loadOf(tb rapid.TB, c estimator.LoadConfig) *estimator.Load {
	tb.Helper()
	load, err := estimator.NewLoad(c)
	if err != nil {
		tb.Fatal(err)
	}
	return load
}

func TestLoadAwareScore(t *testing.T) {
	const gib = 1 << 30
	tests := []struct {
		name   string
		config estimator.LoadConfig
		plugin scoring.LoadAware
		metric *api.NodeMetric
		after  time.Duration
		want   int64
	}{
		{name: "never measured", want: 0},
		// cpu (10000-2000-850)/100 = 71. The memory estimate is 70 % of 1 GiB,
		// rounded up, so a little less than (10-4-0.7)/10 is left: 52.
		{name: "two resources", metric: loadMetric("n1", 2000, 4*gib), want: 61},
		{
			name: "weights", config: estimator.LoadConfig{Weights: map[resource.Name]int64{resource.CPU: 3, resource.Memory: 1}},
			metric: loadMetric("n1", 2000, 4*gib), want: 66,
		}, // (3*71+52)/4
		{name: "dominant", config: estimator.LoadConfig{DominantWeight: 1}, metric: loadMetric("n1", 2000, 4*gib), want: 52},
		{
			name: "dominant with weights", config: estimator.LoadConfig{DominantWeight: 2, Weights: map[resource.Name]int64{resource.CPU: 1}},
			metric: loadMetric("n1", 2000, 4*gib), want: 58,
		}, // (71+2*52)/3
		{
			name:   "a resource the node does not have dominates",
			config: estimator.LoadConfig{DominantWeight: 1, Weights: map[resource.Name]int64{resource.CPU: 1}, Resources: []resource.Name{"example.com/gpu"}},
			metric: loadMetric("n1", 2000, 4*gib), want: 35,
		}, // (71+0)/2
		{name: "overloaded", metric: loadMetric("n1", 11000, 11*gib), want: 0},
		{name: "one resource overloaded", metric: loadMetric("n1", 11000, 4*gib), want: 26}, // 52/2
		{name: "expired", metric: loadMetric("n1", 2000, 4*gib), after: 3 * time.Minute, want: 0},
		{
			name: "expired, though the filter uses it", config: estimator.LoadConfig{Expired: estimator.UseExpired},
			metric: loadMetric("n1", 2000, 4*gib), after: 3 * time.Minute, want: 0,
		},
		{name: "prod pods alone", config: estimator.LoadConfig{ScoreProd: true}, metric: loadMetric("n1", 9000, 9*gib), want: 91},   // 91, 92
		{name: "most", plugin: scoring.LoadAware{Strategy: scoring.MostAllocated}, metric: loadMetric("n1", 2000, 4*gib), want: 37}, // (28+47)/2
		{name: "balanced", plugin: scoring.LoadAware{Strategy: scoring.BalancedAllocation}, metric: loadMetric("n1", 2000, 4*gib), want: 90},
		{name: "failing estimator", config: estimator.LoadConfig{Estimator: failing{}}, metric: loadMetric("n1", 2000, 4*gib), want: 0},
		{name: "1.4", config: estimator.LoadConfig{Rules: estimator.Koordinator14}, metric: loadMetric("n1", 2000, 4*gib), want: 61},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := test.plugin
			p.Load = loadOf(t, test.config)
			if got := loadScore(t, p, test.metric, test.after); got != test.want {
				t.Errorf("LoadAware.Score = %d, want %d", got, test.want)
			}
		})
	}
}

type failing struct{}

func (failing) EstimatePod(*api.Pod) (map[resource.Name]int64, error) {
	return nil, errors.New("out of order")
}

func (failing) EstimateNode(n *api.Node) (resource.List, error) {
	return n.Status.Allocatable, nil
}

func TestLoadAwareValidate(t *testing.T) {
	want := `LoadAwareScheduling: strategy: unknown strategy "Random"`
	if err := (scoring.LoadAware{Strategy: "Random"}).Validate(); err == nil || err.Error() != want {
		t.Errorf("Validate = %v, want %s", err, want)
	}
}

// For any metric, scores are from 0 to 100.
func TestLoadAwareScoreBounds(t *testing.T) {
	amount := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, math.MaxInt64}))
	rules := []estimator.Rules{estimator.Koordinator14, estimator.Koordinator15, estimator.Koordinator16, estimator.Koordinator18}
	strategies := []scoring.Strategy{scoring.LeastAllocated, scoring.MostAllocated, scoring.BalancedAllocation}
	rapid.Check(t, func(t *rapid.T) {
		m := loadMetric("n1", amount.Draw(t, "cpu"), amount.Draw(t, "memory"))
		m.Status.NodeMetric.SystemUsage = loadUse(amount.Draw(t, "system cpu"), amount.Draw(t, "system memory"))
		m.Status.PodsMetric = []*api.PodMetricInfo{nil, {PodUsage: loadUse(amount.Draw(t, "pod cpu"), 1), Priority: "koord-prod"}}
		p := scoring.LoadAware{
			Load: loadOf(t, estimator.LoadConfig{
				Rules: rapid.SampledFrom(rules).Draw(t, "rules"), ScoreProd: rapid.Bool().Draw(t, "prod"), ProdIncludesSystem: true,
				DominantWeight: rapid.Int64Range(0, 100).Draw(t, "dominant"),
				Arithmetic:     rapid.SampledFrom([]estimator.Arithmetic{estimator.Saturating, estimator.Wrapping}).Draw(t, "arithmetic"),
			}),
			Strategy: rapid.SampledFrom(strategies).Draw(t, "strategy"),
		}
		if got := loadScore(t, p, m, 0); got < 0 || got > 100 {
			t.Fatalf("LoadAware.Score = %d, want 0 to 100", got)
		}
	})
}

// More use of one resource never raises a node's score.
func TestLoadAwareScoreFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpu, memory := rapid.Int64Range(0, 12000).Draw(t, "cpu"), rapid.Int64Range(0, 12<<30).Draw(t, "memory")
		more := rapid.Int64Range(0, math.MaxInt64-12000).Draw(t, "more")
		p := scoring.LoadAware{Load: loadOf(t, estimator.LoadConfig{
			DominantWeight: rapid.Int64Range(0, 100).Draw(t, "dominant"),
			Weights: map[resource.Name]int64{
				resource.CPU: rapid.Int64Range(0, 100).Draw(t, "cpu weight"), resource.Memory: rapid.Int64Range(1, 100).Draw(t, "memory weight"),
			},
		})}
		before, after := loadScore(t, p, loadMetric("n1", cpu, memory), 0), loadScore(t, p, loadMetric("n1", cpu+more, memory), 0)
		if after > before {
			t.Fatalf("with %dm more: score %d, want at most %d", more, after, before)
		}
	})
}

func TestLoadAwareConformance(t *testing.T) {
	prepare := func(s *framework.Snapshot) error {
		s.SetNow(loadStart.Add(time.Minute))
		for _, n := range s.All() {
			x := int64(n.Name()[len(n.Name())-1]) * 37 % 100
			if x%4 == 3 {
				continue
			}
			cpu, memory := n.Allocatable.At(resource.IndexCPU), n.Allocatable.At(resource.IndexMemory)
			m := loadMetric(n.Name(), cpu/100*x, memory/100*(99-x))
			for k, p := range n.Pods {
				if k%2 == 0 {
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
	for _, test := range []struct {
		name   string
		config estimator.LoadConfig
		plugin scoring.LoadAware
	}{
		{"1.8", estimator.LoadConfig{}, scoring.LoadAware{}},
		{"1.8 prod", estimator.LoadConfig{ScoreProd: true, DominantWeight: 3, PodAnnotations: true}, scoring.LoadAware{}},
		{"most", estimator.LoadConfig{}, scoring.LoadAware{Strategy: scoring.MostAllocated}},
		{"balanced", estimator.LoadConfig{}, scoring.LoadAware{Strategy: scoring.BalancedAllocation}},
		{"1.6", estimator.LoadConfig{Rules: estimator.Koordinator16, ScoreProd: true}, scoring.LoadAware{}},
		{"1.4", estimator.LoadConfig{Rules: estimator.Koordinator14}, scoring.LoadAware{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.plugin.Load = loadOf(t, test.config)
			frameworktest.Run(t, test.plugin, frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Prepare: prepare})
		})
	}
}

// ExampleLoadAware scores two nodes with the same requests by their real use.
func ExampleLoadAware() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	s.SetNow(now)
	for name, cpu := range map[string]string{"busy": "6", "idle": "1"} {
		if err := s.AddNode(api.MakeNode(name, "10", "10Gi").Obj()); err != nil {
			panic(err)
		}
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: name}}
		m.Status.UpdateTime = &now
		m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.MustParse(cpu), resource.Memory: resource.MustParse("1Gi")})}
		if err := estimator.LedgerOf(s).SetMetric(m); err != nil {
			panic(err)
		}
	}
	pod, err := s.NewPodInfo(api.MakePod("web").Requests("1", "1Gi").Obj())
	if err != nil {
		panic(err)
	}
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	scorer, _ := scoring.LoadAware{}.PreScore(&c, nil)
	fmt.Println("busy", scorer.Score(pod, s.Node("busy")))
	fmt.Println("idle", scorer.Score(pod, s.Node("idle")))
	// Output:
	// busy 56
	// idle 81
}
