package scheduling

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// TestRestsUntilBegun: a new scheduler rests for all decisions before kept answers begin but the first.
// Pods that it knows something about are thought of all the same.
func TestRestsUntilBegun(t *testing.T) {
	w := lateWorld(t, 5)
	f := w.s.incremental
	x := f.extentOf(5, 5)
	w.schedule(w.s, 1, false)
	begin := (workShare*x.classPrice() + x.work() - 1) / x.work()
	if f.rest.left != begin-2 {
		t.Fatalf("the rest is %d decisions, want %d", f.rest.left, begin-2)
	}
	named := api.MakePod("named").Obj()
	named.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{
		NodeSelectorTerms: []api.NodeSelectorTerm{{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{"n1"}}}}},
	}}}
	nominated := api.MakePod("nominated").Obj()
	nominated.Status.NominatedNodeName = "n1"
	for _, p := range []*api.Pod{named, nominated} {
		info, err := w.snap.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		if f.rests(w.snap, info) {
			t.Errorf("pod %s is not thought of", p.Name)
		}
	}
	noted := w.info(api.MakePod("noted"))
	f.notes.Store(noted.Runner(), f.notes.Entry(&triedOnce))
	if f.rests(w.snap, noted) {
		t.Error("a pod that something is known about is not thought of")
	}
	fork := w.snap.Fork()
	if err := fork.AddNode(api.MakeNode("more", "1", "1Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	plain := w.info(api.MakePod("plain"))
	if f.rests(fork, plain) {
		t.Error("the rest goes on with a node more")
	}
	aside := f.balances.all.aside
	if !f.rests(w.snap, plain) || f.rest.left != begin-3 || f.balances.all.aside != aside+1 || f.stepped != &f.balances.all {
		t.Errorf("after another decision the rest is %d, want %d", f.rest.left, begin-3)
	}
	w.schedule(w.s, begin-3, false)
	if f.rest.left != 0 || f.balances.all.hasBegun(x) {
		t.Errorf("%d decisions are left of the rest; begun: %t", f.rest.left, f.balances.all.hasBegun(x))
	}
	if w.schedule(w.s, 1, false); !f.balances.all.hasBegun(x) {
		t.Error("kept answers have not begun")
	}
}

// triedOnce is what is known of a pod that was tried before.
var triedOnce = noted{tried: 1}

// TestRestsUntilLook: between two looks at pods that are like no other, a small cluster rests, and
// as many are looked at as if it did not.
func TestRestsUntilLook(t *testing.T) {
	w := lateWorld(t, 20)
	f := w.s.incremental
	x := f.extentOf(20, 20)
	every := x.every()
	const pods = 20_000
	looked, rested := 0, 0
	for i := range pods {
		before := f.rest.left
		if _, err := w.s.Schedule(w.snap, w.info(api.MakePod(fmt.Sprint("p", i)).Requests(fmt.Sprint(1+i, "m"), "1Mi"))); err != nil {
			t.Fatal(err)
		}
		if f.rest.left < before {
			rested++
		}
		if f.stepped == nil {
			looked++
		}
	}
	if most := seenOf * (2 + pods/every); looked > 3*most || looked < pods/every {
		t.Errorf("%d of %d pods were looked at, want about %d", looked, pods, most)
	}
	if rested < pods*9/10 {
		t.Errorf("%d of %d decisions were rests", rested, pods)
	}
}

// TestUntilLook: the pods from a look to the end of the pods that it was drawn for, or to the look.
func TestUntilLook(t *testing.T) {
	for _, tt := range []struct{ unseen, look, want int }{
		{0, 10, 0}, // a look is drawn with the next pod
		{1, 10, 9}, {10, 10, 0}, {13, 10, 51}, {63, 10, 1}, {64, 10, 0}, {65, 10, 9},
	} {
		if n := (&balance{unseen: tt.unseen, look: tt.look}).untilLook(64); n != tt.want {
			t.Errorf("after %d pods, with a look at %d: %d pods until then, want %d", tt.unseen, tt.look, n, tt.want)
		}
	}
}

// TestNoRestInLargeClusters: pods that fit nowhere may make a large cluster look at more of them.
func TestNoRestInLargeClusters(t *testing.T) {
	w := lateWorld(t, smallCluster+1)
	f := w.s.incremental
	all := &f.balances.all
	begin := func(b balance, nodes int) {
		f.rest, *all = rest{}, b
		f.restUntilLook(extent{wanted: 100, nodes: nodes})
	}
	begin(balance{unseen: 1, look: 30, loss: 1 << 20}, smallCluster+1)
	if f.rest.left != 0 {
		t.Errorf("a rest of %d decisions", f.rest.left)
	}
	begin(balance{unseen: 1, look: 30, loss: 1 << 20}, smallCluster)
	if f.rest.left != 29 || all.unseen != 30 {
		t.Errorf("a rest of %d decisions, %d pods came, want 29 and 30", f.rest.left, all.unseen)
	}
	x := extent{wanted: 100, nodes: smallCluster}
	begin(balance{unseen: 1, look: 30, late: true, loss: 1000, work: 8*1000 - 2*(140+8*x.fading())}, smallCluster)
	if f.rest.left != 2 {
		t.Errorf("a rest of %d decisions, want 2: then kept answers may pay again, as the limit has risen", f.rest.left)
	}
	begin(balance{unseen: 1, look: 30, late: true, loss: x.limitAtLast() + 3*x.fading(), work: 8 * x.limitAtLast()}, smallCluster)
	if f.rest.left != 3 {
		t.Errorf("a rest of %d decisions, want 3: then kept answers may pay again, as the loss has faded", f.rest.left)
	}
}

// TestRestEnds: a decision that is none of a rest takes back what the rest has booked for those that do
// not come.
func TestRestEnds(t *testing.T) {
	w := lateWorld(t, 20)
	f := w.s.incremental
	for _, b := range []balance{{late: true, unseen: 1, look: 30, spare: 5, loss: 1 << 20, work: 100}, {late: true, unseen: 5, look: 3, loss: 1 << 20, work: 7}} {
		for _, begin := range []func(extent){f.restUntilBegun, f.restUntilLook} {
			f.rest, f.balances.all = rest{}, b
			begin(f.extentOf(20, 20))
			if f.rest.left == 0 || f.balances.all == b {
				t.Fatalf("no rest: %+v", f.rest)
			}
			if f.endRest(); f.rest.left != 0 || f.balances.all != b {
				t.Errorf("after a rest that ends at once: %+v, want %+v", f.balances.all, b)
			}
		}
	}
}

// TestVainLooksCount: looking in vain counts among what kept answers lose, until they have paid long
// enough.
func TestVainLooksCount(t *testing.T) {
	x := extent{wanted: 1000, nodes: 1000}
	for _, tt := range []struct {
		b    balance
		want int
	}{
		{balance{late: true, work: 100_000, loss: 50}, 50 + keyCost},
		{balance{late: true, work: workShare * x.limitAtLast(), loss: 50}, 50},
		{balance{late: true, work: 100_000, loss: 1 << 30}, 100_000/workShare + x.classPrice()},
		{balance{loss: 50}, 50},
	} {
		b := tt.b
		if b.noteVain(x); b.loss != tt.want {
			t.Errorf("%+v: the loss is %d, want %d", tt.b, b.loss, tt.want)
		}
	}
}
