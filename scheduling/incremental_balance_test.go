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

// TestBalanceOfNewClasses: replicas of ever new workloads are answered from kept answers while
// a tenant's pods like none before come among them, and after that.
func TestBalanceOfNewClasses(t *testing.T) {
	for _, tt := range []struct{ nodes, percent, every, group int }{ // pods for one of the tenant's; equal ones of these
		{5000, scheduling.Adaptive, 2, 1}, {5000, scheduling.Adaptive, 20, 1}, {1000, 35, 1, 3}, {1000, 35, 1, 2},
	} {
		snap := balanceCluster(t, tt.nodes)
		profile := scheduling.Kubernetes137()
		profile.Percentage = tt.percent // at least 350 nodes
		s, serial, tenants := build(t, profile), 0, 0
		decide := func(memory int) {
			serial++
			if _, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Requests("100m", fmt.Sprint(memory)).Obj())); err != nil {
				t.Fatal(err)
			}
		}
		workloads := func(n int, tenant bool) (hits uint64) {
			for range n {
				first := serial
				for i := range 100 {
					if tenant && i%tt.every == 0 {
						tenants++
						decide(900_000_000 + tenants/tt.group)
					}
					before := s.Stats().Hits
					decide(1_000_000 + first)
					hits += s.Stats().Hits - before
				}
			}
			return hits
		}
		workloads(30, true)
		before := s.Stats().Bypassed
		if hits := workloads(10, true); hits < 900 {
			t.Errorf("%+v: %d of 1,000 pods were answered from kept answers beside the tenant", tt, hits)
		}
		if aside := s.Stats().Bypassed - before; aside < uint64(1000/tt.every/2) {
			t.Errorf("%+v: %d pods took the reference path, want most of the tenant's", tt, aside)
		}
		if hits := workloads(10, false); hits < 950 {
			t.Errorf("%+v: %d of 1,000 pods were answered from kept answers after the tenant", tt, hits)
		}
	}
}

// TestBalanceNamed brings pods whose node affinity names some of the nodes, in groups of equal ones:
// they step aside where fewer nodes are saved than a class costs.
func TestBalanceNamed(t *testing.T) {
	for _, tt := range []struct {
		named, group int
		pays         bool
	}{{12, 1, false}, {12, 8, false}, {100, 2, false}, {100, 64, true}} {
		var terms []api.NodeSelectorTerm
		for i := range tt.named {
			terms = append(terms, api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{fmt.Sprint("n", i)}}}})
		}
		snap := balanceCluster(t, 500)
		s := build(t, scheduling.Kubernetes137())
		come := func(from, to int) (answered int) {
			before := s.Stats()
			for i := from; i < to; i++ {
				p := api.MakePod(fmt.Sprint("p", i)).Requests("100m", fmt.Sprint(1_000_000+i/tt.group)).Obj()
				p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: terms}}}
				if _, err := s.Schedule(snap, podInfo(t, snap, p)); err != nil {
					t.Fatal(err)
				}
			}
			return int(s.Stats().Hits + s.Stats().Misses - before.Hits - before.Misses)
		}
		come(0, 512)
		if answered := come(512, 1024); tt.pays && answered < 500 || !tt.pays && answered > 50 {
			t.Errorf("%+v: the engine answered for %d of 512 pods", tt, answered)
		}
	}
}

// TestBalanceOfGroups brings equal pods in groups: they step aside where a class costs more than
// its group saves. What a search costs depends on whether it ends early.
func TestBalanceOfGroups(t *testing.T) {
	for _, tt := range []struct {
		name, cpu             string
		nodes, percent, group int
		strangers             int // that come first
		within                int // 0: all nodes
		pays                  bool
	}{
		{name: "samples", cpu: "100m", nodes: 5000, percent: 10, group: 3},
		{name: "samples", cpu: "100m", nodes: 5000, percent: 10, group: 100, pays: true},
		{name: "that fit nowhere", cpu: "100", nodes: 2000, percent: 5, group: 5, pays: true},
		{name: "that fit nowhere", cpu: "100", nodes: 2000, percent: 20, group: 1},
		{name: "that fit nowhere, after strangers", cpu: "100", nodes: 2000, percent: 10, group: 50, strangers: 400, pays: true},
		{name: "in a small set", cpu: "100m", nodes: 500, group: 10, within: 16},
		{name: "in a small set", cpu: "100m", nodes: 500, group: 256, within: 16, pays: true},
		{name: "in a large set", cpu: "100m", nodes: 500, group: 2, within: 400},
		{name: "in a large set", cpu: "100m", nodes: 500, group: 20, within: 400, pays: true},
	} {
		snap := balanceCluster(t, tt.nodes)
		profile := scheduling.Kubernetes137()
		profile.Percentage = tt.percent
		s := build(t, profile)
		var set *scheduling.NodeSet
		if tt.within > 0 {
			var err error
			var nodes []*framework.NodeInfo
			for i := range tt.within {
				nodes = append(nodes, snap.At(i))
			}
			if set, err = scheduling.NewNodeSet(snap, nodes); err != nil {
				t.Fatal(err)
			}
		}
		come := func(from, to int) (answered int) {
			before := s.Stats()
			for i := from; i < to; i++ {
				pod := podInfo(t, snap, api.MakePod(fmt.Sprint("p", i)).Requests(tt.cpu, fmt.Sprint(1_000_000+i/tt.group)).Obj())
				err := error(nil)
				if set != nil {
					_, err = s.ScheduleWithin(snap, pod, set)
				} else {
					_, err = s.Schedule(snap, pod)
				}
				if fits := tt.cpu != "100"; fits != (err == nil) {
					t.Fatal(err)
				}
			}
			return int(s.Stats().Hits + s.Stats().Misses - before.Hits - before.Misses)
		}
		for i := range tt.strangers {
			if _, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("s", i)).Requests("100m", fmt.Sprint(9_000_000+i)).Obj())); err != nil {
				t.Fatal(err)
			}
		}
		come(0, 600)
		if answered := come(600, 1200); tt.pays && answered < 550 || !tt.pays && answered > 60 {
			t.Errorf("groups of %d pods %s, %d nodes: the engine answered for %d of 600 pods", tt.group, tt.name, tt.nodes, answered)
		}
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
	if hits := s.Stats().Hits - before.Hits; hits < 90 {
		t.Errorf("%d hits of 100 attempts", hits)
	}
}
