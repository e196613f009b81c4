//go:build full

package estimator_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A loadedCluster has nodes whose pods have all been measured.
type loadedCluster struct {
	snapshot *framework.Snapshot
	ledger   *estimator.Ledger
	reports  [2][]*api.NodeMetric // two rounds
	now      time.Time
}

const (
	benchNodes = 5000
	benchPods  = 50
)

var benchStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// reportShape describes the metrics of a benchmark.
type reportShape struct {
	// decoded: their strings share no memory with the pods, as if a decoder had
	// made them. Otherwise they are the pods' own, as in a simulator.
	decoded    bool
	aggregated bool // they have statistics over periods
	shuffled   bool // every round has a different order
	churned    bool // in each, two pods are gone, and two new pods do not appear
}

// newLoadedCluster makes a cluster.
func newLoadedCluster(b *testing.B, nodes, pods int, shape reportShape) *loadedCluster {
	b.Helper()
	c := &loadedCluster{snapshot: framework.NewSnapshot(framework.ZoneInterleaved), now: benchStart}
	c.snapshot.SetNow(c.now)
	c.ledger = estimator.LedgerOf(c.snapshot)
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		node := api.MakeNode(name, "32", "128Gi").Obj()
		if err := c.snapshot.AddNode(node); err != nil {
			b.Fatal(err)
		}
		for k := range pods {
			pod := api.MakePod(fmt.Sprintf("pod-%05d-%02d", i, k)).UID(api.UID(fmt.Sprintf("uid-%05d-%02d", i, k))).
				Requests("500m", "1Gi").Obj()
			info, err := c.snapshot.NewPodInfo(pod)
			if err != nil {
				b.Fatal(err)
			}
			if err := c.snapshot.AddPod(info, name); err != nil {
				b.Fatal(err)
			}
		}
	}
	for round := range c.reports {
		random := rand.New(rand.NewPCG(1, uint64(round)))
		at := c.now.Add(time.Duration(round+5) * time.Minute)
		for i := range nodes {
			n := c.snapshot.Node(fmt.Sprintf("node-%05d", i))
			m := shape.report(n, int64(150+i%200), at)
			reports := m.Status.PodsMetric
			if shape.shuffled {
				random.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
			}
			if shape.churned {
				for k := range 2 {
					reports[(i+7*round+3*k)%pods].Name = fmt.Sprintf("gone-%05d-%d", i, 2*round+k)
				}
			}
			c.reports[round] = append(c.reports[round], m)
		}
	}
	c.snapshot.SetNow(c.now.Add(5 * time.Minute))
	return c
}

func (s reportShape) report(n *framework.NodeInfo, cpu int64, at time.Time) *api.NodeMetric {
	use := func(cpu, memory int64) api.ResourceMap {
		return api.ResourceMapOf(resource.List{
			resource.CPU: resource.Milli(cpu), resource.Memory: resource.New(memory, resource.BinarySI),
		})
	}
	text := func(text string) string {
		if s.decoded {
			return strings.Clone(text)
		}
		return text
	}
	pods := int64(len(n.Pods))
	m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: n.Name()}}
	m.Status.UpdateTime = &at
	m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: use(pods*cpu, pods<<29)}
	if s.aggregated {
		for _, period := range []time.Duration{5 * time.Minute, 10 * time.Minute} {
			m.Status.NodeMetric.AggregatedNodeUsages = append(m.Status.NodeMetric.AggregatedNodeUsages, api.AggregatedUsage{
				Duration: api.Duration{Duration: period},
				Usage: map[api.AggregationType]api.ResourceMap{
					api.P50: use(pods*cpu, pods<<29), api.P95: use(2*pods*cpu, pods<<29),
				},
			})
		}
	}
	for _, p := range n.Pods {
		m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{
			Name: text(p.Pod.Name), Namespace: text(p.Pod.Namespace), Priority: text(string(estimator.PriorityProd)),
			PodUsage: use(cpu, 1<<29),
		})
	}
	return m
}

// BenchmarkLedgerRefresh renews the metrics of all nodes. Variant "reading" is the
// lower bound: it only reads every name and adds up every usage of the same
// metrics.
func BenchmarkLedgerRefresh(b *testing.B) {
	plain := estimator.LoadConfig{}
	prod := estimator.LoadConfig{ScoreProd: true, ProdThresholds: map[resource.Name]int64{resource.CPU: 50}}
	aggregated := estimator.LoadConfig{Aggregated: &estimator.Aggregated{
		Thresholds: map[resource.Name]int64{resource.CPU: 60}, Type: api.P95, ScoreType: api.P50, ScoreDuration: 5 * time.Minute,
	}}
	all := []estimator.Rules{estimator.Koordinator18, estimator.Koordinator16, estimator.Koordinator15, estimator.Koordinator14}
	ends := []estimator.Rules{estimator.Koordinator18, estimator.Koordinator14}
	for _, v := range []struct {
		name   string
		config estimator.LoadConfig
		shape  reportShape
		rules  []estimator.Rules
	}{
		{"plain", plain, reportShape{}, all},
		{"aggregated", aggregated, reportShape{aggregated: true}, all},
		{"prod", prod, reportShape{}, all},
		{"decoded", plain, reportShape{decoded: true}, ends},
		{"shuffled", plain, reportShape{shuffled: true}, ends},
		{"churned", plain, reportShape{churned: true}, ends},
		{"prod/decoded", prod, reportShape{decoded: true}, ends},
		{"prod/shuffled", prod, reportShape{shuffled: true}, ends},
		{"prod/churned", prod, reportShape{churned: true}, ends},
	} {
		for _, v.config.Rules = range v.rules {
			b.Run(fmt.Sprintf("%s/rules=%s", v.name, v.config.Rules), func(b *testing.B) {
				c := newLoadedCluster(b, benchNodes, benchPods, v.shape)
				load, err := estimator.NewLoad(v.config)
				if err != nil {
					b.Fatal(err)
				}
				load.View(c.snapshot)
				perThousandNodes(b, c, func(m *api.NodeMetric) {
					if err := c.ledger.SetMetric(m); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
	for _, shape := range []reportShape{{}, {decoded: true}} {
		for _, usage := range []bool{false, true} {
			b.Run(fmt.Sprintf("reading/usage=%t/decoded=%t", usage, shape.decoded), func(b *testing.B) {
				c := newLoadedCluster(b, benchNodes, benchPods, shape)
				var sum int64
				perThousandNodes(b, c, func(m *api.NodeMetric) { sum += read(m, usage) })
				if sum == 0 {
					b.Fatal("nothing was read")
				}
			})
		}
	}
}

// read reads every name, and the usage if asked for.
func read(m *api.NodeMetric, usage bool) (sum int64) {
	for _, r := range m.Status.PodsMetric {
		sum += int64(r.Name[len(r.Name)-1]) + int64(r.Namespace[0]) + int64(len(r.Priority))
	}
	if usage {
		for _, r := range m.Status.PodsMetric {
			use := &r.PodUsage
			sum += use.Quantity(resource.CPU).MilliValue() + use.Quantity(resource.Memory).Value()
		}
	}
	return sum
}

// perThousandNodes times rounds of metrics.
func perThousandNodes(b *testing.B, c *loadedCluster, visit func(*api.NodeMetric)) {
	b.ReportAllocs()
	round := 0
	for b.Loop() {
		for _, m := range c.reports[round%len(c.reports)] {
			visit(m)
		}
		round++
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N)/(benchNodes/1000), "ms/1000nodes")
}

func BenchmarkLedgerAssign(b *testing.B) {
	c := newLoadedCluster(b, benchNodes, benchPods, reportShape{})
	load := estimator.DefaultLoad()
	load.View(c.snapshot)
	for _, m := range c.reports[0] {
		if err := c.ledger.SetMetric(m); err != nil {
			b.Fatal(err)
		}
	}
	var pods []*framework.PodInfo
	for k := range 2000 {
		info, err := c.snapshot.NewPodInfo(api.MakePod(fmt.Sprintf("new-%04d", k)).UID(api.UID(fmt.Sprintf("new-uid-%04d", k))).Requests("500m", "1Gi").Obj())
		if err != nil {
			b.Fatal(err)
		}
		pods = append(pods, info)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		n := c.snapshot.At(i * 7919 % benchNodes)
		p := pods[i%len(pods)]
		if err := c.ledger.Assign(p, n); err != nil {
			b.Fatal(err)
		}
		if err := c.ledger.Unassign(p, n); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
