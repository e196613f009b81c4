package estimator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A loadedCluster has nodes with pods that have all been measured.
type loadedCluster struct {
	snapshot *framework.Snapshot
	ledger   *estimator.Ledger
	reports  [2][]*framework.NodeMetric // two rounds
	now      time.Time
}

const (
	benchNodes = 5000
	benchPods  = 50
)

var benchStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newLoadedCluster makes a cluster. Metrics name pods by the pods' own strings,
// as a simulator would, or, if they are to be like decoded ones, by strings that
// share no memory with the pods.
func newLoadedCluster(b *testing.B, nodes, pods int, decoded bool) *loadedCluster {
	b.Helper()
	c := &loadedCluster{snapshot: framework.NewSnapshot(framework.ZoneInterleaved), now: benchStart}
	c.snapshot.SetNow(c.now)
	c.ledger = estimator.LedgerOf(c.snapshot)
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		node := framework.MakeNode(name, "32", "128Gi").Obj()
		if err := c.snapshot.AddNode(node); err != nil {
			b.Fatal(err)
		}
		for k := range pods {
			pod := framework.MakePod(fmt.Sprintf("pod-%05d-%02d", i, k)).UID(framework.UID(fmt.Sprintf("uid-%05d-%02d", i, k))).
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
		at := c.now.Add(time.Duration(round+5) * time.Minute)
		for i := range nodes {
			n := c.snapshot.Node(fmt.Sprintf("node-%05d", i))
			c.reports[round] = append(c.reports[round], benchReport(n, int64(150+i%200), at, decoded))
		}
	}
	c.snapshot.SetNow(c.now.Add(5 * time.Minute))
	return c
}

func benchReport(n *framework.NodeInfo, cpu int64, at time.Time, decoded bool) *framework.NodeMetric {
	use := func(cpu, memory int64) framework.ResourceMap {
		return framework.ResourceMap{ResourceList: resource.List{
			resource.CPU: resource.Milli(cpu), resource.Memory: resource.New(memory, resource.BinarySI),
		}}
	}
	text := func(s string) string {
		if decoded {
			return strings.Clone(s)
		}
		return s
	}
	pods := int64(len(n.Pods))
	m := &framework.NodeMetric{ObjectMeta: framework.ObjectMeta{Name: n.Name()}}
	m.Status.UpdateTime = &at
	m.Status.NodeMetric = &framework.NodeMetricInfo{NodeUsage: use(pods*cpu, pods<<29)}
	for _, p := range n.Pods {
		m.Status.PodsMetric = append(m.Status.PodsMetric, &framework.PodMetricInfo{
			Name: text(p.Pod.Name), Namespace: text(p.Pod.Namespace), Priority: text(string(estimator.PriorityProd)),
			PodUsage: use(cpu, 1<<29),
		})
	}
	return m
}

func BenchmarkLedgerRefresh(b *testing.B) {
	for _, v := range []struct {
		name    string
		config  estimator.LoadAware
		decoded bool
	}{
		{"rules=1.8", estimator.LoadAware{}, false},
		{"rules=1.8/decoded", estimator.LoadAware{}, true},
		{"rules=1.8/prod", estimator.LoadAware{ScoreProd: true}, false},
		{"rules=1.4", estimator.LoadAware{Rules: estimator.Koordinator14}, false},
	} {
		b.Run(fmt.Sprintf("%s/nodes=%d/pods=%d", v.name, benchNodes, benchPods), func(b *testing.B) {
			c := newLoadedCluster(b, benchNodes, benchPods, v.decoded)
			load, err := estimator.NewLoad(v.config)
			if err != nil {
				b.Fatal(err)
			}
			load.View(c.snapshot)
			round := 0
			for b.Loop() {
				for _, m := range c.reports[round%2] {
					if err := c.ledger.SetMetric(m); err != nil {
						b.Fatal(err)
					}
				}
				round++
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N)/(benchNodes/1000), "ms/1000nodes")
		})
	}
}

func BenchmarkLedgerAssign(b *testing.B) {
	c := newLoadedCluster(b, benchNodes, benchPods, false)
	load := estimator.DefaultLoad()
	load.View(c.snapshot)
	for _, m := range c.reports[0] {
		if err := c.ledger.SetMetric(m); err != nil {
			b.Fatal(err)
		}
	}
	var pods []*framework.PodInfo
	for k := range 2000 {
		info, err := c.snapshot.NewPodInfo(framework.MakePod(fmt.Sprintf("new-%04d", k)).UID(framework.UID(fmt.Sprintf("new-uid-%04d", k))).Requests("500m", "1Gi").Obj())
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
