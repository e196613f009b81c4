package scheduling

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// However long kept answers did not pay, few decisions from them show that they pay again: their
// loss is not kept beyond the limit, but for the price of one class.
func TestLossIsForgotten(t *testing.T) {
	for _, nodes := range []int{2, 10, 1000, 5000} {
		x := extent{nodes, nodes}
		for _, strangers := range []int{1000, 100_000} {
			var b balance
			for range strangers {
				b.note(x, nodes, 0)
			}
			if b.pays(x) {
				t.Errorf("%d nodes: kept answers pay after %d decisions that they did not make", nodes, strangers)
			}
			n := 0
			for ; !b.pays(x); n++ {
				b.note(x, 1, nodes+1) // saves all nodes
			}
			if most := 1 + x.classPrice()/x.price(); n > most {
				t.Errorf("%d nodes: after %d strangers, kept answers pay again after %d decisions, want at most %d", nodes, strangers, n, most)
			}
		}
	}
}

// Pods with long keys that are like none before them come to be left to the reference path, without
// their keys being spelled in full, and take kept answers from nobody else. Equal ones get them
// where their keys pay.
func TestLongKeysHaveTheirBalance(t *testing.T) {
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range 100 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	decide := func(b api.PodBuilder) Stats {
		t.Helper()
		pod, err := snap.NewPodInfo(b.Obj())
		if err != nil {
			t.Fatal(err)
		}
		before := s.Stats()
		if _, err := s.Schedule(snap, pod); err != nil {
			t.Fatal(err)
		}
		after := s.Stats()
		return Stats{Hits: after.Hits - before.Hits, Bypassed: after.Bypassed - before.Bypassed}
	}
	long := func(i, taints int) api.PodBuilder {
		list := make([]string, taints)
		for k := range list {
			list[k] = fmt.Sprintf("key-%d-%d=value:NoSchedule", i, k)
		}
		return api.MakePod("long").Tolerates(list...)
	}
	short := api.MakePod("short").Requests("1m", "1Mi")
	for range 20 {
		decide(short)
	}
	spelled, innocents := 0, 0
	for i := range 1000 {
		decide(long(i, 400))
		if s.incremental.spelled > 0 {
			spelled++
		}
		for range 20 {
			innocents += int(decide(short).Hits)
		}
	}
	if spelled == 0 || spelled > 100 {
		t.Errorf("%d of 1,000 long keys were spelled", spelled)
	}
	if innocents != 20_000 {
		t.Errorf("%d of 20,000 other pods got a kept answer", innocents)
	}
	if n := s.Stats().Bypassed; n < 900 {
		t.Errorf("%d pods are counted as left to the reference path, want almost 1,000", n)
	}
	equal := 0
	for range 3000 {
		equal += int(decide(long(-1, 32)).Hits)
	}
	if equal < 2000 {
		t.Errorf("%d of 3,000 equal pods got a kept answer, after others whose keys did not pay", equal)
	}
}

// A fork begins with what its parent has learned, but has counted no pods.
func TestForksInheritBalances(t *testing.T) {
	s, err := New(Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	all := &s.incremental.balances
	for i, b := range [...]*balance{&all.all, &all.named, &all.within, &all.long} {
		b.loss, b.spare, b.aside = 100+i, 200+i, 300
	}
	f := s.Fork()
	for i, b := range [...]*balance{&f.incremental.balances.all, &f.incremental.balances.named, &f.incremental.balances.within, &f.incremental.balances.long} {
		if b.loss != 100+i || b.spare != 200+i {
			t.Errorf("balance %d of a fork has a loss of %d and %d to spare", i, b.loss, b.spare)
		}
	}
	if n := f.Stats().Bypassed; n != 0 {
		t.Errorf("a fork has counted %d pods", n)
	}
}
