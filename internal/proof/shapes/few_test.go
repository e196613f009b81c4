//go:build full

package shapes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/scheduling"
)

// only is the profile with the plugins of the names alone.
func only(p scheduling.Profile, filters, scorers map[string]bool) scheduling.Profile {
	q := scheduling.Profile{Name: p.Name, TieRule: p.TieRule, Percentage: p.Percentage}
	for _, x := range p.Filter {
		if filters[x.Name()] {
			q.Filter = append(q.Filter, x)
		}
	}
	for _, x := range p.Score {
		if scorers[x.Plugin.Name()] {
			q.Score = append(q.Score, x)
		}
	}
	return q
}

// A fewRun is how many decisions a scheduler makes in its life, about groups of equal pods that
// nobody has asked about before.
type fewRun struct{ decisions, group int }

// time makes the decisions, and returns what they took.
func (r fewRun) time(b *testing.B, s *framework.Snapshot, serial int, sched *scheduling.Scheduler) time.Duration {
	pods := make([]*framework.PodInfo, r.decisions)
	for i := range pods {
		p := api.MakePod(fmt.Sprint("p", i)).UID(api.UID(fmt.Sprint(i))).Requests("1m", fmt.Sprint(2_000_000+1000*serial+i/r.group)).Obj()
		info, err := s.NewPodInfo(p)
		if err != nil {
			b.Fatal(err)
		}
		pods[i] = info
	}
	start := time.Now()
	for _, p := range pods {
		if _, err := sched.Schedule(s, p); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

// A lineage is where schedulers with few decisions come from: they are new, or forks of the parent.
type lineage struct {
	profile scheduling.Profile
	parent  *scheduling.Scheduler // nil: new ones
}

// begin returns a scheduler, and what a fork took. What New takes is the same on both paths.
func (l lineage) begin(b *testing.B) (*scheduling.Scheduler, time.Duration) {
	if l.parent == nil {
		return newScheduler(b, l.profile), 0
	}
	start := time.Now()
	sched := l.parent.Fork()
	return sched, time.Since(start)
}

func newScheduler(b *testing.B, p scheduling.Profile) *scheduling.Scheduler {
	b.Helper()
	s, err := scheduling.New(p)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// fewRatio returns what the decisions take with kept answers, divided by what they take without.
func fewRatio(b *testing.B, profile scheduling.Profile, nodes int, run fewRun, forks bool) float64 {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for i := range nodes {
		if err := s.AddNode(workload.Node(i)); err != nil {
			b.Fatal(err)
		}
	}
	var from [2]lineage // with kept answers, and without
	for k := range from {
		p := profile
		p.Cache.Off = k == 1
		from[k].profile = p
		if forks {
			from[k].parent = newScheduler(b, p)
			fewRun{1000, 100}.time(b, s, 0, from[k].parent)
		}
	}
	least, serial := [2]time.Duration{time.Hour, time.Hour}, 0
	for b.Loop() {
		serial++
		for k, l := range from {
			sched, forked := l.begin(b)
			least[k] = min(least[k], forked+run.time(b, s, serial, sched))
		}
	}
	return float64(least[0]) / float64(least[1])
}

// BenchmarkFewDecisions compares schedulers that make few decisions with the reference path: new
// ones, and forks of one that keeps ten other classes. "ratio" is what kept answers take, divided
// by what the reference path takes, in the same run.
func BenchmarkFewDecisions(b *testing.B) {
	fit := map[string]bool{"NodeResourcesFit": true}
	whole := scheduling.Kubernetes137()
	for _, profile := range []struct {
		name string
		scheduling.Profile
	}{
		{"whole", whole},
		{"lean", only(whole, map[string]bool{"NodeResourcesFit": true, "NodeName": true, "TaintToleration": true}, fit)},
		{"filter", only(whole, fit, nil)},
	} {
		for _, nodes := range []int{2, 5, 20, 100, 301, 1000} {
			for _, run := range []fewRun{{5, 1}, {200, 1}, {200, 2}, {200, 5}, {1000, 1}, {1000, 2}, {1000, 10}} {
				for _, forks := range []bool{false, true} {
					b.Run(fmt.Sprintf("%s/nodes=%d/decisions=%d/group=%d/forks=%t", profile.name, nodes, run.decisions, run.group, forks), func(b *testing.B) {
						b.ReportMetric(fewRatio(b, profile.Profile, nodes, run, forks), "ratio")
					})
				}
			}
		}
	}
}
