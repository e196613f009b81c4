package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// Strangers of one user among the pods of others: these are answered from kept answers, however
// the strangers are arranged.
func TestStrangersAmongOthers(t *testing.T) {
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range 10 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ first, strangers, others int }{{66, 66, 61}, {66, 3, 61}, {66, 3, 1}, {200, 64, 64}} {
		s, serial := build(t, scheduling.Kubernetes137()), 0
		decide := func(memory int) {
			serial++
			if _, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Requests("100m", fmt.Sprint(memory)).Obj())); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			decide(1_000_000) // as the others: their class is known
		}
		for range tt.first {
			decide(2_000_000 + serial)
		}
		before := s.Stats().Hits
		const rounds = 40
		for range rounds {
			for range tt.strangers {
				decide(2_000_000 + serial)
			}
			for range tt.others {
				decide(1_000_000)
			}
		}
		if hits, of := int(s.Stats().Hits-before), rounds*tt.others; hits < of/3 {
			t.Errorf("%+v: %d of %d others were answered from kept answers", tt, hits, of)
		}
	}
}

// Pods that are like none before them are not asked about for long; pods that come again are
// noticed soon, alone, in pairs or as a retry.
func TestStrangers(t *testing.T) {
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range 10 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	serial := 0
	pod := func(memory int) *framework.PodInfo {
		serial++
		return podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Requests("100m", fmt.Sprint(1_000_000+memory)).Obj())
	}
	for name, like := range map[string]func(i int) *framework.PodInfo{
		"of one class":   func(int) *framework.PodInfo { return pod(0) },
		"of ten classes": func(i int) *framework.PodInfo { return pod(i % 10) },
		"in pairs":       func(i int) *framework.PodInfo { return pod(i / 2) },
		"tried again":    nil,
	} {
		s := build(t, scheduling.Kubernetes137())
		decide := func(p *framework.PodInfo) {
			if _, err := s.Schedule(snap, p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		again := pod(500_000)
		if like == nil {
			decide(again)
			like = func(int) *framework.PodInfo { return again }
		}
		const strangers = 2000
		for i := range strangers {
			decide(pod(1_000_000 + i))
		}
		stats := s.Stats()
		if stats.Hits+stats.Misses > 0 || stats.Bypassed != strangers && stats.Bypassed != strangers+1 {
			t.Errorf("%s: of %d strangers, not all took the reference path: %+v", name, strangers, stats)
		}
		const most = 1000
		for i := 0; s.Stats().Hits == 0; i++ {
			if i == most {
				t.Errorf("%s: after %d pods, no decision was made from kept answers: %+v", name, most, s.Stats())
				break
			}
			decide(like(i))
		}
		hits := s.Stats().Hits
		for i := range 100 {
			decide(like(2*most + i))
		}
		if got := s.Stats().Hits - hits; got < 40 {
			t.Errorf("%s: %d of the next 100 decisions were made from kept answers", name, got)
		}
	}
}
