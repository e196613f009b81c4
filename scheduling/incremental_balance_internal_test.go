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
		x := extent{wanted: nodes, nodes: nodes}
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

// longWorld schedules pods with long keys and others.
type longWorld struct {
	t    *testing.T
	snap *framework.Snapshot
	s    *Scheduler
}

func newLongWorld(t *testing.T, nodes int) *longWorld {
	t.Helper()
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
	return &longWorld{t, snap, s}
}

func (w *longWorld) info(b api.PodBuilder) *framework.PodInfo {
	w.t.Helper()
	pod, err := w.snap.NewPodInfo(b.Obj())
	if err != nil {
		w.t.Fatal(err)
	}
	return pod
}

// decide reports whether the pod got a kept answer.
func (w *longWorld) decide(b api.PodBuilder) bool {
	w.t.Helper()
	before := w.s.Stats().Hits
	if _, err := w.s.Schedule(w.snap, w.info(b)); err != nil {
		w.t.Fatal(err)
	}
	return w.s.Stats().Hits > before
}

// longPod is a pod whose key is the longer, the more taints it tolerates.
func longPod(i, taints int) api.PodBuilder {
	list := make([]string, taints)
	for k := range list {
		list[k] = fmt.Sprintf("key-%d-%d=value:NoSchedule", i, k)
	}
	return api.MakePod("long").Tolerates(list...)
}

// Pods with long keys that are like none before them come to be left to the reference path, without
// their keys being spelled in full, and take kept answers from nobody else. Equal ones get them
// where their keys pay.
func TestLongKeysHaveTheirBalance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	w := newLongWorld(t, 100)
	short := api.MakePod("short").Requests("1m", "1Mi")
	for range 20 {
		w.decide(short)
	}
	spelled, innocents := 0, 0
	for i := range 1000 {
		w.decide(longPod(i, 400))
		if w.s.incremental.spelled > 0 {
			spelled++
		}
		for range 20 {
			if w.decide(short) {
				innocents++
			}
		}
	}
	if spelled == 0 || spelled > 100 {
		t.Errorf("%d of 1,000 long keys were spelled", spelled)
	}
	if innocents != 20_000 {
		t.Errorf("%d of 20,000 other pods got a kept answer", innocents)
	}
	if n := w.s.Stats().Bypassed; n < 900 {
		t.Errorf("%d pods are counted as left to the reference path, want almost 1,000", n)
	}
	equal := 0
	for range 3000 {
		if w.decide(longPod(-1, 32)) {
			equal++
		}
	}
	if equal < 2000 {
		t.Errorf("%d of 3,000 equal pods got a kept answer, after others whose keys did not pay", equal)
	}
}

// After others whose keys did not pay, some of the pods with long keys are looked at, also while kept
// answers pay for all others: so those that are equal get theirs again.
func TestLongKeysComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	w := newLongWorld(t, 100)
	f := w.s.incremental
	w.decide(longPod(-1, 32))
	f.balances.long.loss = 2 * f.extent.limitAtLast()
	equal, short := 0, api.MakePod("short").Requests("1m", "1Mi")
	for range 2000 {
		w.decide(short)
		if w.decide(longPod(-1, 32)) {
			equal++
		}
		if f.balances.all.aside > 0 {
			t.Fatal("kept answers do not pay for the others")
		}
		if _, _, err := w.s.ClassKey(w.snap, w.info(longPod(-1, 32))); err != nil { // which looks at nobody
			t.Fatal(err)
		}
	}
	if equal < 1000 {
		t.Errorf("%d of 2,000 equal pods got a kept answer", equal)
	}
}

// Where nobody comes but such pods, most are not looked at.
func TestLongKeysAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	w := newLongWorld(t, 100)
	for i := range 1000 {
		w.decide(longPod(i, 400))
	}
	if n := w.s.incremental.balances.all.aside; n < 600 {
		t.Errorf("%d of 1,000 pods took the reference path at once", n)
	}
}

// The longer keys are, the larger searches are short.
func TestLongerKeysMakeSearchesShort(t *testing.T) {
	pod := newLongWorld(t, 1).info(api.MakePod("p"))
	for _, test := range []struct {
		wanted, key int
		short       bool
	}{
		{300, 0, true},
		{301, 0, false},
		{301, keyCost, true},
		{600, keyCost, true},
		{601, keyCost, false},
		{780, 64, true}, // the longest that are not long
	} {
		if short := (extent{wanted: test.wanted, nodes: test.wanted}).isShort(pod, test.key); short != test.short {
			t.Errorf("%+v: short %t", test, short)
		}
	}
}

// In large searches, all pods are looked at while kept answers do not pay. Keys that are not short
// are spelled for few of them, whether they are long or not.
func TestLongerKeysAreSpelledSeldom(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for _, tt := range []struct{ taints, pods, most int }{{25, 200, 50}, {100, 2000, 250}} {
		w := newLongWorld(t, 310)
		f := w.s.incremental
		decide := func(b api.PodBuilder) {
			f.balances.all.loss = w.s.incremental.extentOf(w.s.plugins.wanted(310, w.s.profile.Percentage), 310).limitAtLast()
			w.decide(b)
		}
		spelled := 0
		for i := range tt.pods {
			if decide(longPod(i, tt.taints)); f.spelled > 0 {
				spelled++
			}
		}
		if spelled == 0 || spelled > tt.most {
			t.Errorf("%d of %d keys with %d taints were spelled", spelled, tt.pods, tt.taints)
		}
		for i := range tt.pods { // which make that forgotten
			decide(api.MakePod("short").Requests("1m", fmt.Sprint(1_000_000+i)))
		}
		if key := f.balances.all.key; key != 0 {
			t.Errorf("after %d short keys, the last one cost %d", tt.pods, key)
		}
	}
}

// What the keys of pods in a set of nodes cost is that of each alone.
func TestKeysOfPodsInSets(t *testing.T) {
	w := newLongWorld(t, 20)
	set, err := NewNodeSet(w.snap, []*framework.NodeInfo{w.snap.At(0), w.snap.At(1)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, err := w.s.ScheduleWithin(w.snap, w.info(longPod(i, 25)), set); err != nil {
			t.Fatal(err)
		}
		if n := w.s.incremental.spelled; n > longBytes/keyBytesOfUnit {
			t.Fatalf("pod %d: the key cost %d", i, n)
		}
	}
}

// Whether long keys pay makes no difference where classes are only compared.
func TestLongKeysAreCompared(t *testing.T) {
	w := newLongWorld(t, 100)
	w.decide(longPod(0, 400))
	f := w.s.incremental
	f.balances.long.loss = 2 * f.extent.limitAtLast()
	if f.longPays() {
		t.Fatal("long keys pay")
	}
	if _, ok, err := w.s.ClassKey(w.snap, w.info(longPod(1, 400))); !ok || err != nil {
		t.Errorf("the pod has no key: %v", err)
	}
}
