//go:build full

package scheduling_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/scheduling"
)

// selectorPod has a label of its own. Every third pod keeps away from pods with its
// label, and every fifth spreads them over zones.
func selectorPod(i int) *api.Pod {
	app := fmt.Sprint("app-", i)
	p := api.MakePod(fmt.Sprint("pod-", i)).Labels("app", app, "tier", "front").Requests("100m", "500Mi").Obj()
	own := &api.LabelSelector{MatchLabels: map[string]string{"app": app}}
	if i%3 == 0 {
		p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{TopologyKey: api.LabelHostname, LabelSelector: own}},
		}}
	}
	if i%5 == 0 {
		action := api.DoNotSchedule
		if i%10 == 0 {
			action = api.ScheduleAnyway
		}
		p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{
			{MaxSkew: 5, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: action, LabelSelector: own},
		}
	}
	return p
}

// BenchmarkSelectors places pods that each have selectors of their own, on 200 nodes
// with 2,000 pods. The oldest pod leaves for each new one. The services
// select every twentieth pod. It reports the time per
// placement of the second tenth and of the last tenth of all placements, and the
// heap at these times. Run it with a fixed number of placements, such as
// -benchtime=100000x.
func BenchmarkSelectors(b *testing.B) {
	for _, bb := range []struct {
		services int
		off      bool
	}{{0, false}, {0, true}, {5000, true}} {
		b.Run(fmt.Sprintf("services=%d/off=%t", bb.services, bb.off), func(b *testing.B) {
			s := framework.NewSnapshot(framework.ZoneInterleaved)
			for i := range 200 {
				if err := s.AddNode(workload.Node(i)); err != nil {
					b.Fatal(err)
				}
			}
			profile := scheduling.Kubernetes137()
			profile.Cache.Off = bb.off
			for i := range bb.services {
				service := &api.Service{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("s", i), Namespace: "default"}}
				service.Spec.Selector = map[string]string{"app": fmt.Sprint("app-", 20*i)}
				if err := framework.Put(s, service); err != nil {
					b.Fatal(err)
				}
			}
			sched := build(b, profile)
			type placed struct {
				pod  *framework.PodInfo
				node string
			}
			present := make([]placed, 2000)
			step := func(i int) {
				at := &present[i%len(present)]
				if at.pod != nil {
					if err := sched.Release(s, at.pod, at.node); err != nil {
						b.Fatal(err)
					}
				}
				p := podInfo(b, s, selectorPod(i))
				d, err := sched.Place(s, p)
				if err != nil {
					b.Fatal(err)
				}
				*at = placed{p, d.Node}
			}
			serial := 0
			run := func(n int) (perPod, heap float64) {
				start := time.Now()
				for range n {
					step(serial)
					serial++
				}
				perPod = float64(time.Since(start).Microseconds()) / float64(max(n, 1))
				b.StopTimer()
				defer b.StartTimer()
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return perPod, float64(m.HeapAlloc) / (1 << 20)
			}
			run(len(present))
			b.ResetTimer()
			b.ReportAllocs()
			tenth := b.N / 10
			run(tenth)
			early, before := run(tenth)
			run(b.N - 3*tenth)
			late, after := run(tenth)
			runtime.KeepAlive(s)
			runtime.KeepAlive(sched)
			b.ReportMetric(early, "us-early")
			b.ReportMetric(late, "us-late")
			b.ReportMetric(before, "MB-early")
			b.ReportMetric(after, "MB-late")
		})
	}
}

// BenchmarkTermsThatGo measures placements of plain pods right after an attempt of a pod with very many terms that demand no label,
// beside 20,000 pods that all differ: what of the terms goes is paid by them. The longest should not grow with the product.
func BenchmarkTermsThatGo(b *testing.B) {
	const nodes, podsOfANode, placements = 2000, 10, 100
	for _, terms := range []int{1000, 8000} {
		b.Run(fmt.Sprint("terms=", terms), func(b *testing.B) {
			s := framework.NewSnapshot(framework.ZoneInterleaved)
			add := func(p *api.Pod) *framework.PodInfo {
				info, err := s.NewPodInfo(p)
				if err != nil {
					b.Fatal(err)
				}
				return info
			}
			for i := range nodes {
				name := fmt.Sprint("n", i)
				if err := s.AddNode(api.MakeNode(name, "64", "64Gi").Labels(api.LabelHostname, name).Obj()); err != nil {
					b.Fatal(err)
				}
				for k := range podsOfANode {
					p := api.MakePod(fmt.Sprint("p", i, "-", k)).Labels("pod", fmt.Sprint(i, "-", k)).Requests("1", "1Gi").Obj()
					if err := s.AddPod(add(p), name); err != nil {
						b.Fatal(err)
					}
				}
			}
			sched, err := scheduling.New(scheduling.Kubernetes137())
			if err != nil {
				b.Fatal(err)
			}
			var longest, all time.Duration
			round := 0
			for b.Loop() {
				round++
				hostile, list := api.MakePod(fmt.Sprint("hostile", round)).Obj(), make([]api.PodAffinityTerm, terms)
				for i := range list {
					absent := api.LabelSelectorRequirement{Key: fmt.Sprintf("q%d-%d", round, i), Operator: api.LabelSelectorOpDoesNotExist}
					list[i] = api.PodAffinityTerm{TopologyKey: api.LabelHostname, LabelSelector: &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{absent}}}
				}
				hostile.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: list}}
				_, _ = sched.Place(s, add(hostile)) // it fits nowhere
				for i := range placements {
					p := add(api.MakePod(fmt.Sprint("plain", round, "-", i)).Labels("plain", fmt.Sprint(round, "-", i)).Requests("1m", "1Mi").Obj())
					begin := time.Now()
					_, err := sched.Place(s, p)
					took := time.Since(begin)
					longest, all = max(longest, took), all+took
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
			b.ReportMetric(float64(all.Microseconds())/float64(placements*round), "us/placement")
		})
	}
}
