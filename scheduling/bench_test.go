package scheduling_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
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

func podInfo(tb testing.TB, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
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

// place places pods in rotation: a pod that is placed again leaves its node first,
// so the cluster never fills up.
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
	if stats := sched.Stats(); stats.Hits > 0 {
		b.ReportMetric(100*float64(stats.Hits)/float64(stats.Hits+stats.Misses+stats.Bypassed), "%known")
		b.ReportMetric(float64(stats.Bytes)/float64(stats.Classes*s.Len()), "B/node/class")
	}
}

func BenchmarkPlace(b *testing.B) {
	for _, path := range []string{"reference", "incremental"} {
		for _, kind := range workload.Kinds() {
			for _, n := range []int{100, 1000, 5000, 50000, 100000, 1_000_000} {
				if testing.Short() && n > 5000 || n > 100_000 && kind != workload.Basic ||
					path == "reference" && (n > 50000 || n > 5000 && kind != workload.Basic) {
					continue
				}
				b.Run(fmt.Sprintf("path=%s/workload=%s/nodes=%d", path, kind, n), func(b *testing.B) {
					s := cluster(b, n)
					p := scheduling.Kubernetes137()
					p.TieRule = scheduling.Random
					p.Cache.Off = path == "reference"
					p.Cache.Budget = max(64<<20, 256*n) // a class of a million nodes needs more than the default
					place(b, build(b, p), s, pods(b, s, kind, min(n, 1000)))
				})
			}
		}
	}
}

// classPod is a pod of one of many classes; the classes differ in their requests.
func classPod(i, class int) *api.Pod {
	return api.MakePod(fmt.Sprintf("c%d", i)).UID(api.UID(fmt.Sprint(i))).
		Requests(fmt.Sprintf("%dm", 100+class%200), fmt.Sprintf("%dMi", 300+7*(class%50)+class/200)).Obj()
}

// BenchmarkClasses places pods of several classes on 5,000 nodes, several of one
// class in a row, as when a controller creates its replicas. The classes come in
// random order. For each pod that comes, the oldest one leaves.
func BenchmarkClasses(b *testing.B) {
	for _, bb := range []struct{ classes, row int }{{1, 1}, {10, 1}, {50, 1}, {50, 100}, {50, 1000}} {
		b.Run(fmt.Sprintf("nodes=5000/classes=%d/row=%d", bb.classes, bb.row), func(b *testing.B) {
			s := cluster(b, 5000)
			p := scheduling.Kubernetes137()
			p.TieRule = scheduling.Random
			r := rand.New(rand.NewPCG(1, 1))
			list := make([]*framework.PodInfo, max(10_000, 20*bb.row))
			class := 0
			for i := range list {
				if i%bb.row == 0 {
					class = r.IntN(bb.classes)
				}
				list[i] = podInfo(b, s, classPod(i, class))
			}
			place(b, build(b, p), s, list)
		})
	}
}

// BenchmarkRelease removes pods from their nodes.
func BenchmarkRelease(b *testing.B) {
	for _, n := range []int{1000, 5000, 100_000} {
		if testing.Short() && n > 5000 {
			continue
		}
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			s := cluster(b, n)
			p := scheduling.Kubernetes137()
			p.TieRule = scheduling.Random
			sched := build(b, p)
			list := pods(b, s, workload.Basic, 2000)
			where := make([]string, len(list))
			b.ResetTimer()
			b.ReportAllocs()
			for i := range b.N {
				k := i % len(list)
				if k == 0 {
					b.StopTimer()
					for at, p := range list {
						d, err := sched.Place(s, p)
						if err != nil {
							b.Fatal(err)
						}
						where[at] = d.Node
					}
					b.StartTimer()
				}
				if err := sched.Release(s, list[k], where[k]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNewClass schedules pods that are each a class of their own: the worst
// case of the incremental path.
func BenchmarkNewClass(b *testing.B) {
	for _, path := range []string{"reference", "incremental"} {
		b.Run(fmt.Sprintf("path=%s/nodes=5000", path), func(b *testing.B) {
			s := cluster(b, 5000)
			p := scheduling.Kubernetes137()
			p.TieRule = scheduling.Random
			p.Cache.Off = path == "reference"
			sched := build(b, p)
			list := make([]*framework.PodInfo, 30_000)
			for i := range list {
				list[i] = podInfo(b, s, classPod(i, i))
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sched.Schedule(s, list[i%len(list)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkFull schedules pods of a class that fits nowhere, while other pods leave
// and come.
func BenchmarkFull(b *testing.B) {
	s := cluster(b, 5000)
	sched := build(b, scheduling.Kubernetes137())
	big := podInfo(b, s, api.MakePod("big").Requests("100", "1Gi").Obj())
	small := podInfo(b, s, classPod(0, 0))
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		n := s.At(i % s.Len())
		if err := s.AddPodAt(small, n); err != nil {
			b.Fatal(err)
		}
		if _, err := sched.Schedule(s, big); err == nil {
			b.Fatal("the pod fits")
		}
		if err := s.RemovePodAt(small, n); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkNodeChurn schedules while one node object changes before every decision.
func BenchmarkNodeChurn(b *testing.B) {
	s := cluster(b, 5000)
	sched := build(b, scheduling.Kubernetes137())
	pod := podInfo(b, s, workload.Pod(workload.Basic, 0))
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := s.UpdateNode(workload.Node(i % 5000)); err != nil {
			b.Fatal(err)
		}
		if _, err := sched.Schedule(s, pod); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// firstSet is a profile of the plugins that read only one node.
func firstSet() scheduling.Profile {
	return scheduling.Profile{
		Filter: []framework.Plugin{
			filter.NodeName{},
			filter.NodeUnschedulable{},
			filter.TaintToleration{},
			filter.NodeAffinity{},
			filter.NodePorts{},
			filter.NodeResourcesFit{},
		},
		Score: []scheduling.Weighted{
			{Plugin: scoring.TaintToleration{}, Weight: 3},
			{Plugin: scoring.NodeAffinity{}, Weight: 2},
			{Plugin: scoring.NodeResourcesFit{}},
			{Plugin: scoring.NodeResourcesBalancedAllocation{}},
			{Plugin: scoring.ImageLocality{}},
		},
	}
}

// BenchmarkFirstSet places pods by the plugins that read only one node: names,
// taints, node affinity, ports, resources, images.
func BenchmarkFirstSet(b *testing.B) {
	for _, path := range []string{"reference", "incremental"} {
		for _, n := range []int{100, 1000, 5000, 50000} {
			b.Run(fmt.Sprintf("path=%s/nodes=%d", path, n), func(b *testing.B) {
				s := cluster(b, n)
				p := firstSet()
				p.Cache.Off = path == "reference"
				place(b, build(b, p), s, pods(b, s, workload.Basic, min(n, 1000)))
			})
		}
	}
}
