//go:build full

package scoring_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

var allRules = []estimator.Rules{estimator.Koordinator14, estimator.Koordinator15, estimator.Koordinator16, estimator.Koordinator18}

// loadScene is a node, its reported metric, its pods, and a pod to place.
type loadScene struct {
	node     *api.Node
	metric   *api.NodeMetric
	assigned []*api.Pod
	pod      *api.Pod
}

// score returns the pod's score on the node. The assigned pods arrived a minute
// before the metric, or, with fresh, after it.
func (c *loadScene) score(tb rapid.TB, p scoring.LoadAware, fresh bool) int64 {
	tb.Helper()
	ok := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	s.SetNow(loadStart.Add(-10 * time.Minute))
	if fresh {
		s.SetNow(loadStart.Add(time.Second))
	}
	ledger := estimator.LedgerOf(s)
	ok(s.AddNode(c.node))
	for _, pod := range c.assigned {
		info, err := s.NewPodInfo(pod)
		ok(err)
		ok(ledger.Assign(info, s.Node(c.node.Name)))
	}
	s.SetNow(loadStart.Add(2 * time.Second))
	ok(ledger.SetMetric(c.metric))
	info, err := s.NewPodInfo(c.pod)
	ok(err)
	var cycle framework.Cycle
	cycle.Reset(info, s, 0, 0)
	scorer, status := p.PreScore(&cycle, nil)
	ok(status.Err())
	return scorer.Score(info, s.Node(c.node.Name))
}

// loadPod makes a pod with the given amounts, in thousandths of a core and bytes.
func loadPod(name string, cpu, memory int64) *api.Pod {
	p := api.MakePod(name).UID(api.UID(name)).Obj()
	p.Spec.Containers[0].Resources.Requests = loadUse(cpu, memory).List()
	return p
}

func loadNode(cpu, memory int64) *api.Node {
	n := api.MakeNode("n1", "1", "1").Obj()
	n.Status.Allocatable[resource.CPU], n.Status.Allocatable[resource.Memory] = resource.Milli(cpu), resource.New(memory, resource.BinarySI)
	return n
}

// Scores are from 0 to 100 for all node sizes, requests and metrics, of known and
// unknown resources, now or at any other time.
func TestLoadAwareScoreBoundsOfEverything(t *testing.T) {
	any64 := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, math.MaxInt64}))
	size := rapid.OneOf(rapid.Int64Min(0), rapid.SampledFrom([]int64{0, 1, math.MaxInt64}))
	times := rapid.SampledFrom([]*time.Time{nil, {}, new(loadStart), new(loadStart.Add(math.MaxInt64)), new(time.Unix(math.MaxInt64>>8, 0))})
	kinds := rapid.SampledFrom([]api.AggregationType{"", api.AVG, api.P95, "p42"})
	strategies := rapid.SampledFrom([]scoring.Strategy{scoring.LeastAllocated, scoring.MostAllocated, scoring.BalancedAllocation})
	rapid.Check(t, func(t *rapid.T) {
		use := func(label string) api.ResourceMap {
			switch rapid.IntRange(0, 3).Draw(t, label) {
			case 0:
				return api.ResourceMap{}
			case 1:
				return api.ResourceMapOf(resource.List{"": {}, "example.com/unknown": resource.New(any64.Draw(t, label), resource.DecimalSI)})
			}
			return loadUse(any64.Draw(t, label+" cpu"), any64.Draw(t, label+" memory"))
		}
		c := loadScene{
			node: loadNode(size.Draw(t, "cpu"), size.Draw(t, "memory")),
			pod:  loadPod("p", size.Draw(t, "pod cpu"), size.Draw(t, "pod memory")),
		}
		c.metric = &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "n1"}}
		c.metric.Spec.CollectPolicy = &api.NodeMetricCollectPolicy{ReportIntervalSeconds: new(any64.Draw(t, "interval"))}
		c.metric.Status.UpdateTime = times.Draw(t, "time")
		if rapid.IntRange(0, 5).Draw(t, "measured") > 0 {
			c.metric.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: use("node"), SystemUsage: use("system"), AggregatedNodeUsages: []api.AggregatedUsage{
				{Duration: api.Duration{Duration: time.Duration(any64.Draw(t, "period"))}, Usage: map[api.AggregationType]api.ResourceMap{kinds.Draw(t, "kind"): use("aggregated")}},
			}}
		}
		for range rapid.IntRange(0, 3).Draw(t, "pods") {
			pod := loadPod("q"+string(rune('0'+len(c.assigned))), size.Draw(t, "requests"), size.Draw(t, "requests"))
			c.assigned = append(c.assigned, pod)
			c.metric.Status.PodsMetric = append(c.metric.Status.PodsMetric, nil, &api.PodMetricInfo{
				Name: pod.Name, Namespace: pod.Namespace, PodUsage: use("pod"), Priority: rapid.SampledFrom([]string{"koord-prod", "", "king"}).Draw(t, "priority"),
			})
		}
		config := estimator.LoadConfig{
			Rules: rapid.SampledFrom(allRules).Draw(t, "rules"), ScoreProd: rapid.Bool().Draw(t, "prod"), ProdIncludesSystem: true,
			Expiration:     time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "expiration")),
			DominantWeight: rapid.Int64Range(0, 100).Draw(t, "dominant"),
			Arithmetic:     rapid.SampledFrom([]estimator.Arithmetic{estimator.Saturating, estimator.Wrapping}).Draw(t, "arithmetic"),
		}
		if rapid.Bool().Draw(t, "statistic") {
			config.Aggregated = &estimator.Aggregated{ScoreType: api.P95}
		}
		p := scoring.LoadAware{Load: loadOf(t, config), Strategy: strategies.Draw(t, "strategy")}
		if got := c.score(t, p, rapid.Bool().Draw(t, "fresh")); got < 0 || got > 100 {
			t.Fatalf("LoadAware.Score = %d, want 0 to 100", got)
		}
	})
}

// More load never raises a score: more use of the node together with a pod on it,
// one more assigned but unmeasured pod, or a pod that requests more.
//
// The node's use includes its pods' use, as it should. Otherwise more use can raise
// a score by the rules up to 1.6: they subtract the use of estimated pods only from
// a node that uses as much.
func TestLoadAwareMoreLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := func(label string) int64 {
			return rapid.OneOf(rapid.Int64Range(0, 12<<30), rapid.Int64Min(0)).Draw(t, label) / 8
		}
		config := estimator.LoadConfig{
			Rules: rapid.SampledFrom(allRules).Draw(t, "rules"), ScoreProd: rapid.Bool().Draw(t, "prod"),
			DominantWeight: rapid.Int64Range(0, 100).Draw(t, "dominant"),
			Weights: map[resource.Name]int64{
				resource.CPU: rapid.Int64Range(0, 100).Draw(t, "cpu weight"), resource.Memory: rapid.Int64Range(1, 100).Draw(t, "memory weight"),
			},
		}
		p := scoring.LoadAware{Load: loadOf(t, config)}
		node := loadNode(amount("node cpu"), amount("node memory"))
		cpu, memory, podCPU, requested := amount("cpu"), amount("memory"), amount("used by the pod"), 1+amount("requested") // without a request the estimate is higher
		scene := func(moreUse, moreRequested int64, more ...*api.Pod) *loadScene {
			old := loadPod("old", requested, 1<<30)
			m := loadMetric("n1", cpu+podCPU+moreUse, memory)
			m.Status.PodsMetric = []*api.PodMetricInfo{
				{Name: old.Name, Namespace: old.Namespace, PodUsage: loadUse(podCPU+moreUse, 1), Priority: "koord-prod"},
			}
			return &loadScene{node, m, append(more, old), loadPod("p", requested+moreRequested, 1<<30)}
		}
		fresh := rapid.Bool().Draw(t, "fresh")
		before := scene(0, 0).score(t, p, fresh)
		x := amount("more")
		for _, after := range []struct {
			what  string
			scene *loadScene
		}{
			{"more use", scene(x, 0)},
			{"a pod that requests more", scene(0, x)},
			{"one more pod", scene(0, 0, loadPod("new", x, 1<<30))},
		} {
			if got := after.scene.score(t, p, fresh); got > before {
				t.Fatalf("%s (%d): score %d, want at most %d", after.what, x, got, before)
			}
		}
	})
}
