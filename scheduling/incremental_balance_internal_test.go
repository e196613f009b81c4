package scheduling

import (
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

// Pods whose keys are long are looked at now and then only, in larger searches, too, as looking
// for their class costs as much as a decision; once keys are short, so is the search.
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
