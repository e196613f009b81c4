package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/gen/workload"
	"github.com/berth-sched/berth/scheduling"
)

// cluster is n nodes with two pods each.
func cluster(tb testing.TB, n int) *framework.Snapshot {
	tb.Helper()
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for i := range n {
		if err := s.AddNode(workload.Node(i)); err != nil {
			tb.Fatal(err)
		}
	}
	for j := range 2 * n {
		p := workload.InitPod(j, n)
		if err := s.AddPod(podInfo(tb, s, p), p.Spec.NodeName); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func podInfo(tb testing.TB, s *framework.Snapshot, p *framework.Pod) *framework.PodInfo {
	tb.Helper()
	info, err := s.NewPodInfo(p)
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

func pods(tb testing.TB, s *framework.Snapshot, kind workload.Kind, n int) []*framework.PodInfo {
	tb.Helper()
	list := make([]*framework.PodInfo, n)
	for i := range list {
		list[i] = podInfo(tb, s, workload.Pod(kind, i))
	}
	return list
}

func build(tb testing.TB, p scheduling.Profile) *scheduling.Scheduler {
	tb.Helper()
	sched, err := scheduling.New(p)
	if err != nil {
		tb.Fatal(err)
	}
	return sched
}

// place runs pods around and around: the pod that is placed again leaves its
// node first, so that the cluster never fills up.
func place(b *testing.B, sched *scheduling.Scheduler, s *framework.Snapshot, list []*framework.PodInfo) {
	b.Helper()
	where := make([]string, len(list))
	i := 0
	step := func() {
		p, k := list[i%len(list)], i%len(list)
		if where[k] != "" {
			if err := s.RemovePod(p, where[k]); err != nil {
				b.Fatal(err)
			}
		}
		d, err := sched.Place(s, p)
		if err != nil {
			b.Fatal(err)
		}
		where[k] = d.Node
		i++
	}
	for range 2 * len(list) {
		step()
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
}

func BenchmarkPlace(b *testing.B) {
	for _, road := range []string{"plain", "fast"} {
		for _, kind := range []workload.Kind{workload.Basic, workload.NodeAffinity} {
			for _, n := range []int{100, 1000, 5000, 50000, 100000} {
				if road == "plain" && n > 50000 {
					continue
				}
				b.Run(fmt.Sprintf("road=%s/workload=%s/nodes=%d", road, kind, n), func(b *testing.B) {
					s := cluster(b, n)
					p := scheduling.Kubernetes137()
					p.Tie = scheduling.Random
					p.Fast.Off = road == "plain"
					place(b, build(b, p), s, pods(b, s, kind, min(n, 1000)))
				})
			}
		}
	}
}
