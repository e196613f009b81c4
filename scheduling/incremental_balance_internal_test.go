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

// The longer keys are, the larger searches are short.
func TestLongKeysMakeSearchesShort(t *testing.T) {
	snap := framework.NewSnapshot(framework.Arrival)
	pod, err := snap.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		wanted, key int
		short       bool
	}{
		{300, 0, true},
		{301, 0, false},
		{301, keyCost, true},
		{600, keyCost, true},
		{601, keyCost, false},
		{4000, 600, true},
		{5000, 600, false},
	} {
		if short := (extent{test.wanted, test.wanted}).isShort(pod, test.key); short != test.short {
			t.Errorf("%+v: short %t", test, short)
		}
	}
}

// While kept answers do not pay, long keys are spelled for few pods. After a few pods with short
// keys, long ones no longer count.
func TestLongKeysAreSpelledSeldom(t *testing.T) {
	const nodes, pods = 310, 200
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range nodes {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	f := s.incremental
	x := extent{s.plugins.wanted(nodes, s.profile.Percentage), nodes}
	decide := func(b api.PodBuilder) {
		t.Helper()
		f.balances.all.loss = x.limit()
		pod, err := snap.NewPodInfo(b.Obj())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Schedule(snap, pod); err != nil {
			t.Fatal(err)
		}
	}
	spelled := 0
	for i := range pods {
		b := api.MakePod("long")
		for k := range 100 {
			b = b.Tolerates(fmt.Sprintf("key-%d-%d=value:NoSchedule", i, k))
		}
		if decide(b); f.spelled > 0 {
			spelled++
		}
	}
	if spelled == 0 || spelled > pods/8 {
		t.Errorf("%d of %d long keys were spelled", spelled, pods)
	}
	for i := range pods {
		decide(api.MakePod("short").Requests("1m", fmt.Sprint(1_000_000+i)))
	}
	if key := f.balances.all.key; key != 0 {
		t.Errorf("after %d short keys, the last one cost %d", pods, key)
	}
}

// A fork begins with what its parent has learned, but has counted no pods.
func TestForksInheritBalances(t *testing.T) {
	s, err := New(Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	all := &s.incremental.balances
	for i, b := range [...]*balance{&all.all, &all.named, &all.within} {
		b.loss, b.spare, b.aside = 100+i, 200+i, 300
	}
	f := s.Fork()
	for i, b := range [...]*balance{&f.incremental.balances.all, &f.incremental.balances.named, &f.incremental.balances.within} {
		if b.loss != 100+i || b.spare != 200+i {
			t.Errorf("balance %d of a fork has a loss of %d and %d to spare", i, b.loss, b.spare)
		}
	}
	if n := f.Stats().Bypassed; n != 0 {
		t.Errorf("a fork has counted %d pods", n)
	}
}
