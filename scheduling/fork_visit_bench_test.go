//go:build full

package scheduling_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A companion makes pods of one app. Many of them run in the cluster.
type companion struct {
	name  string
	every int // to how many nodes there is one
	pod   func(name string) *api.Pod
}

// companions are of apps whose pods tell nodes apart by where others of the app are.
func companions() []companion {
	pod := func(name string) *api.Pod {
		return api.MakePod(name).Labels("app", "app").Requests("10m", "16Mi").Obj()
	}
	term := api.PodAffinityTerm{TopologyKey: api.LabelHostname, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "app"}}}
	with := func(a api.PodAntiAffinity) func(string) *api.Pod {
		return func(name string) *api.Pod {
			p := pod(name)
			p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &a}
			return p
		}
	}
	spread := func(name string) *api.Pod {
		p := pod(name)
		p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: api.LabelHostname, WhenUnsatisfiable: api.ScheduleAnyway, LabelSelector: term.LabelSelector},
		}
		return p
	}
	return []companion{
		{"prefers-to-be-apart", 1, with(api.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{{Weight: 10, PodAffinityTerm: term}},
		})},
		{"must-be-apart", 2, with(api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{term}})},
		{"spread-on-all", 1, spread},
		{"spread-on-few", 20, spread},
	}
}

// visited is a cluster of n nodes with pods of an app.
func visited(tb testing.TB, n int, c companion) *framework.Snapshot {
	tb.Helper()
	s, _ := runningCluster(tb, n, nothingCounts)
	for i := range n / c.every {
		node := fmt.Sprintf("node-%05d", i*c.every)
		if err := s.AddPod(podInfo(tb, s, c.pod(fmt.Sprint("there-", i))), node); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// visit adds a pod of the app to a fork, and asks where another one would go.
func visit(tb testing.TB, sched *scheduling.Scheduler, f *framework.Snapshot, c companion, i int) scheduling.Decision {
	tb.Helper()
	if err := f.AddPod(podInfo(tb, f, c.pod(fmt.Sprint("new-", i))), fmt.Sprintf("node-%05d", (7*i+1)%f.Len())); err != nil {
		tb.Fatal(err)
	}
	d, err := sched.Schedule(f, podInfo(tb, f, c.pod(fmt.Sprint("asks-", i))))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// BenchmarkForkVisit asks one question in each of many forks of a cluster. "times" is how many times as long as in
// one snapshot, with a transaction for each question, and nodes how many nodes a fork cost beyond that.
func BenchmarkForkVisit(b *testing.B) {
	for _, c := range companions() {
		for _, n := range []int{1000, 4000} {
			b.Run(fmt.Sprint(c.name, "-", n), func(b *testing.B) {
				s := visited(b, n, c)
				const questions = 100
				ask := func(sched *scheduling.Scheduler, question func(i int)) (each time.Duration, looks float64) {
					for i := range 3 {
						if _, err := sched.Schedule(s, podInfo(b, s, c.pod(fmt.Sprint("first-", i)))); err != nil {
							b.Fatal(err)
						}
					}
					question(0)
					start, before := time.Now(), sched.Stats().Looks
					for i := range questions {
						question(i)
					}
					return time.Since(start) / questions, float64(sched.Stats().Looks-before) / questions
				}
				forks, one := build(b, scheduling.Kubernetes137()), build(b, scheduling.Kubernetes137())
				inForks, inOne := time.Hour, time.Hour
				var more float64
				for b.Loop() {
					x, looks := ask(forks, func(i int) { visit(b, forks, s.Fork(), c, i) })
					y, fewer := ask(one, func(i int) {
						mark := s.Begin()
						visit(b, one, s, c, i)
						s.Rollback(mark)
					})
					inForks, inOne, more = min(inForks, x), min(inOne, y), looks-fewer
				}
				b.ReportMetric(float64(inForks.Nanoseconds())/1e3, "us/fork")
				b.ReportMetric(float64(inForks)/float64(inOne), "times")
				b.ReportMetric(more, "nodes")
			})
		}
	}
}
