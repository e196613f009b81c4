//go:build full

package scheduling_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/scheduling"
)

// moved is a running pod and its node.
type moved struct {
	pod  *framework.PodInfo
	node string
}

// What keeps counting the pods of runningCluster.
type counted uint8

const (
	nothingCounts counted = iota
	aService              // selects a fifth of them, which the default constraints spread
	affinities            // two fifths keep away from their like, by host name and by zone
)

// runningCluster is n nodes with ten pods each, of five templates, and the pods.
func runningCluster(tb testing.TB, n int, counts counted) (*framework.Snapshot, []moved) {
	tb.Helper()
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for i := range n {
		if err := s.AddNode(workload.Node(i)); err != nil {
			tb.Fatal(err)
		}
	}
	if counts == aService {
		x := &api.Service{ObjectMeta: api.ObjectMeta{Name: "app", Namespace: "default"}}
		x.Spec.Selector = map[string]string{"app": "app-1"}
		if err := framework.Put(s, x); err != nil {
			tb.Fatal(err)
		}
	}
	list := make([]moved, 10*n)
	for i := range list {
		k := i % 5
		p := api.MakePod(fmt.Sprint("pod-", i)).UID(api.UID(fmt.Sprint(i))).Labels("app", fmt.Sprint("app-", k)).
			Requests(fmt.Sprintf("%dm", 100+50*k), "256Mi").Node(fmt.Sprintf("node-%05d", i*7919%n)).Obj()
		if counts == affinities && k < 2 {
			p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{{Weight: 10, PodAffinityTerm: api.PodAffinityTerm{
					TopologyKey:   []string{api.LabelHostname, api.LabelTopologyZone}[k],
					LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint("app-", k)}},
				}}},
			}}
		}
		list[i] = moved{podInfo(tb, s, p), p.Spec.NodeName}
		if err := s.AddPod(list[i].pod, p.Spec.NodeName); err != nil {
			tb.Fatal(err)
		}
	}
	return s, list
}

// move takes eleven pods off their nodes and places them again.
func move(tb testing.TB, sched *scheduling.Scheduler, s *framework.Snapshot, pods []moved, at int) {
	tb.Helper()
	for i := range 11 {
		x := &pods[(at*11+i)%len(pods)]
		if err := s.RemovePod(x.pod, x.node); err != nil {
			tb.Fatal(err)
		}
		if _, err := sched.Place(s, x.pod.Pending()); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkWhatIf moves eleven pods of a cluster of 2,000 nodes, in each of 60 forks or
// in each of 60 transactions that are rolled back. "times" is how many times as fast it
// is as without kept answers, in the same run.
func BenchmarkWhatIf(b *testing.B) {
	fork := func(b *testing.B, sched *scheduling.Scheduler, s *framework.Snapshot, pods []moved, i int) {
		move(b, sched, s.Fork(), pods, i)
	}
	transaction := func(b *testing.B, sched *scheduling.Scheduler, s *framework.Snapshot, pods []moved, i int) {
		mark := s.Begin()
		move(b, sched, s, pods, i)
		s.Rollback(mark)
	}
	for _, bb := range []struct {
		name   string
		counts counted
		ask    func(*testing.B, *scheduling.Scheduler, *framework.Snapshot, []moved, int)
	}{
		{"fork", nothingCounts, fork},
		{"fork-spread", aService, fork},
		{"fork-affinity", affinities, fork},
		{"rollback", nothingCounts, transaction},
		{"rollback-spread", aService, transaction},
		{"rollback-affinity", affinities, transaction},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, pods := runningCluster(b, 2000, bb.counts)
			profile := scheduling.Kubernetes137()
			on := build(b, profile)
			profile.Cache.Off = true
			off := build(b, profile)
			for _, sched := range []*scheduling.Scheduler{on, off} {
				for i := range 15 { // what the plugins keep in the snapshot goes to the forks
					if _, err := sched.Schedule(s, pods[i].pod.Pending()); err != nil {
						b.Fatal(err)
					}
				}
			}
			compareWhatIfs(b, on, off, func(sched *scheduling.Scheduler, i int) { bb.ask(b, sched, s, pods, i) })
		})
	}
}

// compareWhatIfs asks 60 questions with kept answers and without, in turn. "times" is how many times as fast they
// are with kept answers, of the least of all runs.
func compareWhatIfs(b *testing.B, on, off *scheduling.Scheduler, ask func(sched *scheduling.Scheduler, i int)) {
	b.Helper()
	const questions = 60
	run := func(sched *scheduling.Scheduler) time.Duration {
		start := time.Now()
		for i := range questions {
			ask(sched, i)
		}
		return time.Since(start)
	}
	run(on)
	with, without := time.Hour, time.Hour
	for b.Loop() {
		with, without = min(with, run(on)), min(without, run(off))
	}
	b.ReportMetric(float64(with.Microseconds())/questions, "us/what-if")
	b.ReportMetric(float64(without)/float64(with), "times")
}

// BenchmarkWhatIfGoroutines asks 500 questions like those of BenchmarkWhatIf/fork in one
// goroutine and in two. Each has a fork of the scheduler and of the snapshot, forks its
// snapshot again for each question, and takes the next question when it has answered one.
// "times" is how many times as fast two are, forks of the scheduler included. "apart" is the same
// for two schedulers and two snapshots that have nothing in common: more than that is not in the
// machine. Memory is collected before each run, so no run pays for the questions of another.
func BenchmarkWhatIfGoroutines(b *testing.B) {
	one, other := newAsker(b), newAsker(b)
	ask := func(askers ...*asker) time.Duration {
		runtime.GC()
		start := time.Now()
		var next atomic.Int64
		var wait sync.WaitGroup
		for _, a := range askers {
			sched, s := a.sched.Fork(), a.s.Fork()
			wait.Go(func() {
				for i := next.Add(1); i <= 500; i = next.Add(1) {
					move(b, sched, s.Fork(), a.pods, int(i))
				}
			})
		}
		wait.Wait()
		return time.Since(start)
	}
	ask(one)
	alone, together, apart := time.Hour, time.Hour, time.Hour // the least of all runs
	for b.Loop() {
		alone, together, apart = min(alone, ask(one)), min(together, ask(one, one)), min(apart, ask(one, other))
	}
	b.ReportMetric(float64(alone.Microseconds())/500, "us/what-if")
	b.ReportMetric(float64(alone)/float64(together), "times")
	b.ReportMetric(float64(alone)/float64(apart), "apart")
}

// An asker has a cluster of 2,000 nodes, and has asked about each kind of its pods.
type asker struct {
	s     *framework.Snapshot
	pods  []moved
	sched *scheduling.Scheduler
}

func newAsker(tb testing.TB) *asker {
	tb.Helper()
	a := &asker{sched: build(tb, scheduling.Kubernetes137())}
	a.s, a.pods = runningCluster(tb, 2000, nothingCounts)
	for i := range 5 {
		for range 2 {
			if _, err := a.sched.Schedule(a.s, a.pods[i].pod.Pending()); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return a
}

// BenchmarkSchedulerFork forks a scheduler that keeps five classes of pods on 2,000
// nodes.
func BenchmarkSchedulerFork(b *testing.B) {
	s, pods := runningCluster(b, 2000, nothingCounts)
	sched := build(b, scheduling.Kubernetes137())
	for i := range 60 {
		if _, err := sched.Schedule(s, pods[i].pod.Pending()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		sched.Fork()
	}
	b.ReportMetric(float64(sched.Stats().Bytes), "B-kept")
}
