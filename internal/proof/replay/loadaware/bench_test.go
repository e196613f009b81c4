package loadaware_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// BenchmarkDecision places pods of a known class on measured nodes, by their load.
// Each decision follows one assignment.
func BenchmarkDecision(b *testing.B) {
	const nodes, pods = 5000, 50
	for _, rules := range []estimator.Rules{estimator.Koordinator18, estimator.Koordinator14} {
		b.Run(fmt.Sprintf("rules=%s/nodes=%d/pods=%d", rules, nodes, pods), func(b *testing.B) {
			s := measuredCluster(b, nodes, pods)
			load, err := estimator.NewLoad(estimator.LoadConfig{Rules: rules})
			if err != nil {
				b.Fatal(err)
			}
			scheduler := loadAwareScheduler(b, load)
			placed := make([]*framework.PodInfo, 0, 20_000)
			on := make([]string, 0, cap(placed))
			for i := range cap(placed) {
				info, err := s.NewPodInfo(api.MakePod(fmt.Sprintf("new-%d", i)).UID(api.UID(fmt.Sprintf("new-%d", i))).Requests("100m", "128Mi").Obj())
				if err != nil {
					b.Fatal(err)
				}
				placed = append(placed, info)
			}
			for _, p := range placed[:2] { // a class is cached from its second pod on
				d, err := scheduler.Place(s, p)
				if err != nil {
					b.Fatal(err)
				}
				on = append(on, d.Node)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				if len(on) == len(placed) {
					b.StopTimer()
					for i, node := range on {
						if err := s.RemovePod(placed[i], node); err != nil {
							b.Fatal(err)
						}
					}
					on = on[:0]
					b.StartTimer()
				}
				d, err := scheduler.Place(s, placed[len(on)])
				if err != nil {
					b.Fatal(err)
				}
				on = append(on, d.Node)
			}
		})
	}
}

func loadAwareScheduler(b testing.TB, load *estimator.Load) *scheduling.Scheduler {
	b.Helper()
	scheduler, err := scheduling.New(scheduling.Profile{
		Name:    "load-aware",
		Filter:  []framework.Plugin{filter.NodeResourcesFit{}, filter.LoadAware{Load: load}},
		Score:   []scheduling.Weighted{{Plugin: scoring.LoadAware{Load: load}}},
		Reserve: []framework.Plugin{estimator.Assigner{}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return scheduler
}

// BenchmarkRefreshAndDecision renews the metrics of all nodes and places a pod of a
// known class. So it includes all work that a metric leaves for the next decision.
func BenchmarkRefreshAndDecision(b *testing.B) {
	const nodes, pods = 5000, 50
	for _, rules := range []estimator.Rules{estimator.Koordinator18, estimator.Koordinator14} {
		b.Run(fmt.Sprintf("rules=%s/nodes=%d/pods=%d", rules, nodes, pods), func(b *testing.B) {
			s := measuredCluster(b, nodes, pods)
			load, err := estimator.NewLoad(estimator.LoadConfig{Rules: rules})
			if err != nil {
				b.Fatal(err)
			}
			scheduler, ledger := loadAwareScheduler(b, load), estimator.LedgerOf(s)
			place := func(i int) {
				info, err := s.NewPodInfo(api.MakePod(fmt.Sprintf("new-%d", i)).UID(api.UID(fmt.Sprintf("new-%d", i))).Requests("100m", "128Mi").Obj())
				if err != nil {
					b.Fatal(err)
				}
				d, err := scheduler.Place(s, info)
				if err != nil {
					b.Fatal(err)
				}
				if err := s.RemovePod(info, d.Node); err != nil {
					b.Fatal(err)
				}
			}
			place(0)
			place(1)
			next := make([]*api.NodeMetric, 0, nodes)
			for _, n := range s.All() {
				m := api.Clone(ledger.Metric(n))
				m.Status.UpdateTime = new(m.Status.UpdateTime.Add(time.Minute))
				next = append(next, m)
			}
			i := 2
			for b.Loop() {
				for k, n := range s.All() {
					before := ledger.Metric(n)
					if err := ledger.SetMetric(next[k]); err != nil {
						b.Fatal(err)
					}
					next[k] = before
				}
				place(i)
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N)/(nodes/1000), "ms/1000nodes")
		})
	}
}

func measuredCluster(b testing.TB, nodes, pods int) *framework.Snapshot {
	b.Helper()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	s.SetNow(start.Add(-time.Hour))
	ledger := estimator.LedgerOf(s)
	use := func(cpu, memory int64) api.ResourceMap {
		return api.ResourceMapOf(resource.List{
			resource.CPU: resource.Milli(cpu), resource.Memory: resource.New(memory, resource.BinarySI),
		})
	}
	var metrics []*api.NodeMetric
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		if err := s.AddNode(api.MakeNode(name, "64", "256Gi").Obj()); err != nil {
			b.Fatal(err)
		}
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: name}}
		m.Status.UpdateTime = &start
		m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: use(int64(5000+i*37%20000), int64(i%100)<<30)}
		for k := range pods {
			p := api.MakePod(fmt.Sprintf("pod-%05d-%02d", i, k)).UID(api.UID(fmt.Sprintf("uid-%05d-%02d", i, k))).Requests("500m", "1Gi").Obj()
			info, err := s.NewPodInfo(p)
			if err != nil {
				b.Fatal(err)
			}
			if err := s.AddPod(info, name); err != nil {
				b.Fatal(err)
			}
			m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{
				Name: p.Name, Namespace: p.Namespace, PodUsage: use(int64(100+i%200), 1<<29), Priority: "koord-prod",
			})
		}
		metrics = append(metrics, m)
	}
	s.SetNow(start)
	for _, m := range metrics {
		if err := ledger.SetMetric(m); err != nil {
			b.Fatal(err)
		}
	}
	return s
}
