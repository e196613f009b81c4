//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/scheduling"
)

// coldCluster is n nodes with ten pods each, of as many services as there are nodes. Nobody has asked about it.
func coldCluster(tb testing.TB, n int) *framework.Snapshot {
	tb.Helper()
	s, _ := runningCluster(tb, n, nothingCounts)
	for i := range n {
		x := &api.Service{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("app-", i), Namespace: "default"}}
		x.Spec.Selector = map[string]string{"app": fmt.Sprint("app-", i)}
		if err := framework.Put(s, x); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// askCold asks about a new pod that fits nowhere, or fits, in a fork of a snapshot that was never asked.
func askCold(tb testing.TB, sched *scheduling.Scheduler, s *framework.Snapshot, i int, cpu string) *framework.Snapshot {
	tb.Helper()
	f := s.Fork()
	p := api.MakePod(fmt.Sprint("asks-", i)).Labels("app", fmt.Sprint("app-", i%7)).Requests(cpu, "1Mi").Obj()
	if _, err := sched.Schedule(f, podInfo(tb, f, p)); err != nil && cpu == "10m" {
		tb.Fatal(err)
	}
	return f
}

// TestColdForks: a scheduler that has begun to keep answers asks for no counts about a pod that fits nowhere,
// which the reference path does not do either.
func TestColdForks(t *testing.T) {
	s := coldCluster(t, 20)
	sched := build(t, scheduling.Kubernetes137())
	for i := range 200 {
		if f := askCold(t, sched, s, i, "1000"); !topo.Uncounted(f) || topo.KnowsDefaults(f) {
			t.Fatalf("question %d has counted pods or indexed services", i)
		}
	}
	if f := askCold(t, sched, s, 0, "10m"); topo.Uncounted(f) || !topo.KnowsDefaults(f) {
		t.Error("a pod that fits was not spread among its like")
	}
}

// BenchmarkColdFork asks about pods in forks of a cluster of 2,000 nodes and services that was never asked.
// "times" is how many times as fast that is as without kept answers, in the same run.
func BenchmarkColdFork(b *testing.B) {
	for _, cpu := range []string{"1000", "10m"} {
		b.Run(map[string]string{"1000": "nowhere", "10m": "fits"}[cpu], func(b *testing.B) {
			s := coldCluster(b, 2000)
			profile := scheduling.Kubernetes137()
			on := build(b, profile)
			profile.Cache.Off = true
			off := build(b, profile)
			compareWhatIfs(b, on, off, func(sched *scheduling.Scheduler, i int) { askCold(b, sched, s, i, cpu) })
		})
	}
}
