package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// balanceCluster has so many empty nodes.
func balanceCluster(t *testing.T, nodes int) *framework.Snapshot {
	t.Helper()
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range nodes {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	return snap
}

// Pods that are like none before them come among the pods of others, for which kept answers
// pay: these are answered from them, however the pods are arranged.
func TestStrangersAmongOthers(t *testing.T) {
	snap := balanceCluster(t, 1000)
	for _, tt := range []struct{ first, strangers, others int }{{66, 66, 61}, {66, 3, 61}, {66, 3, 1}, {200, 64, 64}, {66, 20, 1}} {
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
		const rounds = 10
		for range rounds {
			for range tt.strangers {
				decide(2_000_000 + serial)
			}
			for range tt.others {
				decide(1_000_000)
			}
		}
		if hits, of := int(s.Stats().Hits-before), rounds*tt.others; hits < of*9/10 {
			t.Errorf("%+v: %d of %d others were answered from kept answers", tt, hits, of)
		}
	}
}

// TestBalance brings pods, and changes of nodes, for which kept answers do not pay: nearly all
// pods take the reference path. When that ends, kept answers are used again soon.
func TestBalance(t *testing.T) {
	for _, tt := range []struct {
		name   string
		nodes  int
		memory func(i int) int // of pod i
		churn  bool            // a node is updated before each pod
	}{
		{name: "each pod its own", nodes: 10, memory: func(i int) int { return i }},
		{name: "one of 15 like the others", nodes: 10, memory: func(i int) int { return i * min(i%15, 1) }},
		{name: "one of 40 like the others", nodes: 200, memory: func(i int) int { return i * min(i%40, 1) }},
		{name: "pairs", nodes: 10, memory: func(i int) int { return i / 2 }},
		{name: "pairs", nodes: 1000, memory: func(i int) int { return i / 2 }},
		{name: "a node is updated before each", nodes: 100, memory: func(int) int { return 0 }, churn: true},
	} {
		snap := balanceCluster(t, tt.nodes)
		s, serial := build(t, scheduling.Kubernetes137()), 0
		decide := func(memory int) {
			t.Helper()
			serial++
			if _, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Requests("100m", fmt.Sprint(1_000_000+memory)).Obj())); err != nil {
				t.Fatal(err)
			}
		}
		come := func(pods int) {
			for range pods {
				if tt.churn {
					if err := snap.UpdateNode(api.MakeNode(fmt.Sprint("n", serial%tt.nodes), "64", "256Gi").Obj()); err != nil {
						t.Fatal(err)
					}
				}
				decide(1000 + tt.memory(serial))
			}
		}
		come(400)
		before := s.Stats()
		come(1024)
		after := s.Stats()
		if asked := after.Hits + after.Misses - before.Hits - before.Misses; asked > 150 || after.Bypassed-before.Bypassed < 850 {
			t.Errorf("%s, %d nodes: %+v, then %+v; want nearly all bypassed", tt.name, tt.nodes, before, after)
		}
		const most = 1000 // in small clusters few are looked at
		for i := 0; s.Stats().Hits <= after.Hits+2; i++ {
			if i == most {
				t.Errorf("%s, %d nodes: after %d equal pods, kept answers are not used: %+v", tt.name, tt.nodes, most, s.Stats())
				break
			}
			decide(0)
		}
		hits := s.Stats().Hits
		for range 100 {
			decide(0)
		}
		if got := s.Stats().Hits - hits; got < 99 {
			t.Errorf("%s, %d nodes: %d of the next 100 decisions were made from kept answers", tt.name, tt.nodes, got)
		}
	}
}

// TestBalanceKeepsOthers: pods like none before step aside, and others, between them, are
// answered from kept answers all the while.
func TestBalanceKeepsOthers(t *testing.T) {
	snap := balanceCluster(t, 1000)
	s, serial := build(t, scheduling.Kubernetes137()), 0
	decide := func(memory int) {
		serial++
		if _, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Requests("100m", fmt.Sprint(memory)).Obj())); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		decide(1_000_000)
	}
	for round := range 100 {
		for range 10 {
			decide(2_000_000 + serial)
		}
		hits := s.Stats().Hits
		if decide(1_000_000); s.Stats().Hits != hits+1 {
			t.Fatalf("round %d: a pod of a kept class takes the reference path", round)
		}
	}
	if got := s.Stats(); got.Bypassed < 800 {
		t.Errorf("%+v, want most of 1,000 strangers to step aside", got)
	}
}

// A pod that has failed is answered from kept answers when it is tried again, also while others
// do not pay.
func TestBalanceTriedAgain(t *testing.T) {
	snap := balanceCluster(t, 10)
	s := build(t, scheduling.Kubernetes137())
	pod := func(i int, cpu string) *framework.PodInfo {
		return podInfo(t, snap, api.MakePod(fmt.Sprint("p", i)).Requests(cpu, fmt.Sprint(1_000_000+i)).Obj())
	}
	strangers := func(from, to int) {
		for i := from; i < to; i++ {
			if _, err := s.Schedule(snap, pod(i, "100m")); err != nil {
				t.Fatal(err)
			}
		}
	}
	strangers(0, 500)
	again, before := pod(1000, "100"), s.Stats()
	for i := range 100 {
		if _, err := s.Schedule(snap, again); err == nil {
			t.Fatal("the pod fits")
		}
		strangers(2000+2*i, 2002+2*i)
	}
	if hits := s.Stats().Hits - before.Hits; hits < 70 {
		t.Errorf("%d hits of 100 attempts", hits)
	}
}
