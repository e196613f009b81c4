package scheduling

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// lateWorld is a scheduler as users have it.
func lateWorld(t *testing.T, nodes int) *longWorld {
	t.Helper()
	was := beginsLate
	beginsLate = true
	t.Cleanup(func() { beginsLate = was })
	return newLongWorld(t, nodes)
}

// schedule decides about n pods, each with requests of its own or all alike, and returns how many
// took the reference path at once.
func (w *longWorld) schedule(s *Scheduler, n int, alike bool) (aside int) {
	w.t.Helper()
	was := s.Stats().Bypassed
	for i := range n {
		cpu := "1"
		if !alike {
			cpu = fmt.Sprint(1+i, "m")
		}
		if _, err := s.Schedule(w.snap, w.info(api.MakePod(fmt.Sprint("p", i)).Requests(cpu, "1Mi"))); err != nil {
			w.t.Fatal(err)
		}
	}
	return int(s.Stats().Bypassed - was)
}

// TestKeptAnswersBeginLate: kept answers begin once the reference path has cost as much as eight
// classes. Then pods that are alike are answered from them, and pods like no other cost no
// more than an eighth of what the reference path does.
func TestKeptAnswersBeginLate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for _, nodes := range []int{2, 5, 20, 50, 100, 300, 301, 1000} {
		w := lateWorld(t, nodes)
		x := w.s.incremental.extentOf(w.s.plugins.wanted(nodes, w.s.profile.Percentage), nodes)
		begin := (workShare*x.classPrice() + x.price() - 1) / x.price()
		if n := w.schedule(w.s, begin-1, true); n != begin-1 {
			t.Errorf("%d nodes: %d of the first %d pods took the reference path", nodes, n, begin-1)
		}
		if n := w.schedule(w.s, 1000, true); n > 50 {
			t.Errorf("%d nodes: %d of 1000 equal pods took the reference path after %d", nodes, n, begin-1)
		}

		w = lateWorld(t, nodes)
		const strangers = 2000
		lost := (strangers - w.schedule(w.s, strangers, false)) * (keyCost + refusedCost)
		if most := strangers*x.price()/workShare + x.classPrice(); lost > most {
			t.Errorf("%d nodes: kept answers cost %d for %d pods like no other, want at most %d", nodes, lost, strangers, most)
		}
	}
}

// TestLongKeysBeginLate: pods that are alike are answered although their keys are long.
func TestLongKeysBeginLate(t *testing.T) {
	w := lateWorld(t, fewWanted)
	pod := api.MakePod("long").Requests("1", "1Mi")
	for i := range 30 {
		pod = pod.Toleration(api.Toleration{Key: fmt.Sprint("key-", i, strings.Repeat("x", 40)), Operator: api.TolerationOpExists})
	}
	like := pod.Obj()
	for i := range 1000 {
		p := *like
		p.Name = fmt.Sprint("p", i)
		x, err := w.snap.NewPodInfo(&p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.s.Schedule(w.snap, x); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.s.Stats().Hits; n < 500 {
		t.Errorf("%d of 1000 equal pods with long keys were answered", n)
	}
}

// TestForkOfSmallCluster: a fork begins anew in a small cluster, where to copy kept answers costs more
// than they save a few pods; in others it answers from what there is.
func TestForkOfSmallCluster(t *testing.T) {
	for _, c := range []struct {
		nodes int
		hits  uint64 // the first pod pays for a look only in a large cluster
	}{{smallCluster, 0}, {smallCluster + 1, 4}, {2000, 5}} {
		w := lateWorld(t, c.nodes)
		w.schedule(w.s, 500, true)
		f := w.s.Fork()
		for i := range 5 {
			p := w.info(api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Mi"))
			want, err := w.s.Schedule(w.snap, p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Schedule(w.snap, p)
			if err != nil || got.Node != want.Node || got.Number != want.Number || got.Score != want.Score {
				t.Errorf("%d nodes: the fork decides %+v, %v, want %+v", c.nodes, got, err, want)
			}
		}
		if s := f.Stats(); s.Hits != c.hits || s.Misses > 0 {
			t.Errorf("%d nodes: %+v, want %d hits", c.nodes, s, c.hits)
		}
	}
}

// TestForkOfStrangers: a fork that is asked about pods like none before looks for their classes as
// often as that costs an eighth of what the reference path does, and makes no classes at first.
func TestForkOfStrangers(t *testing.T) {
	for _, nodes := range []int{301, 1000, 5000} {
		w := lateWorld(t, nodes)
		w.schedule(w.s, 500, true)
		f := w.s.Fork()
		const strangers = 20
		aside := w.schedule(f, strangers, false)
		x := f.incremental.extent
		if s := f.Stats(); aside != strangers || s.Misses > 0 || s.Hits > 0 {
			t.Errorf("%d nodes: %d of %d pods took the reference path at once, %+v", nodes, aside, strangers, s)
		}
		if lost, most := f.incremental.balances.all.loss, strangers*x.price()/workShare; lost < keyCost || lost > most {
			t.Errorf("%d nodes: %d was lost with looking for classes of %d pods, want %d to %d", nodes, lost, strangers, keyCost, most)
		}
	}
}

// TestOneNodeIsNotKept: a node that is the only one is not scored, so nothing is kept.
func TestOneNodeIsNotKept(t *testing.T) {
	w := lateWorld(t, 1)
	w.schedule(w.s, 1000, true)
	if x := w.s.Stats(); x != (Stats{}) {
		t.Errorf("kept answers were asked for: %+v", x)
	}
}

// TestFewPluginsWeighMore: with few plugins the reference path costs less, so what kept answers cost
// counts more.
func TestFewPluginsWeighMore(t *testing.T) {
	w := lateWorld(t, 5)
	full := w.s.incremental.extentOf(5, 5)
	if n := w.s.plugins.fewNodes(); n != 1 {
		t.Errorf("%d nodes are few, want 1", n)
	}
	w.s.plugins.filters, w.s.plugins.scorers = w.s.plugins.filters[:4], w.s.plugins.scorers[:3]
	w.s.plugins.findCost()
	few := w.s.incremental.extentOf(5, 5)
	if n := w.s.plugins.fewNodes(); n != 20 {
		t.Errorf("with few plugins %d nodes are few, want 20", n)
	}
	if few.classPrice() != 2*full.classPrice() || few.price() != full.price() {
		t.Errorf("a class costs %d of decisions that cost %d, with all plugins %d of %d", few.classPrice(), few.price(), full.classPrice(), full.price())
	}
	w.s.plugins.scorers = nil
	w.s.plugins.findCost()
	least := w.s.incremental.extentOf(5, 5)
	if least.classPrice() < 2*few.classPrice() || least.keyPrice() <= few.keyPrice() || least.gain(100) >= 0 || few.gain(5) >= full.gain(5) {
		t.Errorf("filters alone: a class costs %d, a look %d, and an answer in place of 100 nodes saves %d", least.classPrice(), least.keyPrice(), least.gain(100))
	}
	if n := w.s.plugins.fewNodes(); n != smallCluster {
		t.Errorf("with a few filters %d nodes are few, want %d", n, smallCluster)
	}
	alone := plugins{extenders: []Extender{{Name: "x", Prioritize: func(context.Context, *framework.PodInfo, []*framework.NodeInfo) ([]HostScore, error) { return nil, nil }}}}
	if alone.findCost(); alone.cost != cheap || alone.fewNodes() != fewAnswers {
		t.Errorf("with an extender alone %d nodes are few, want %d", alone.fewNodes(), fewAnswers)
	}
	for _, saved := range []int{0, 5} {
		a, b := balance{work: 1 << 20}, balance{work: 1 << 20}
		a.note(full, 1000, saved)
		b.note(few, 1000, saved)
		if b.loss < a.loss+900 {
			t.Errorf("1000 nodes evaluated to save %d are a loss of %d, with all plugins of %d", saved, b.loss, a.loss)
		}
	}
}

// TestKeptAnswersOfSetsBeginLate: so do those among some of the nodes, for which the others are
// evaluated, too.
func TestKeptAnswersOfSetsBeginLate(t *testing.T) {
	for _, nodes := range []int{100, 1000} {
		w := lateWorld(t, nodes)
		var some []*framework.NodeInfo
		for i := range 20 {
			some = append(some, w.snap.At(i))
		}
		set, err := NewNodeSet(w.snap, some)
		if err != nil {
			t.Fatal(err)
		}
		x := w.s.incremental.extentOf(20, nodes)
		begin := workShare * x.classPrice() / x.work()
		for i := range 10 * begin {
			if _, err := w.s.ScheduleWithin(w.snap, w.info(api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Mi")), set); err != nil {
				t.Fatal(err)
			}
			if i == begin-2 && w.s.Stats().Bypassed != uint64(begin-1) {
				t.Errorf("%d nodes: of %d pods %d took the reference path", nodes, begin-1, w.s.Stats().Bypassed)
			}
		}
		if n := w.s.Stats().Hits; n < uint64(5*begin) {
			t.Errorf("%d nodes: %d of %d equal pods were answered", nodes, n, 10*begin)
		}
	}
}

// TestForksOfFewNodesAreSlim: a fork of a scheduler whose clusters were too small for kept answers makes
// nothing for them before a larger cluster comes. A scheduler that verifies has all at once.
func TestForksOfFewNodesAreSlim(t *testing.T) {
	w := lateWorld(t, 1)
	w.schedule(w.s, 10, true)
	f := w.s.Fork()
	g := f.Fork()
	if f.incremental != nil || g.incremental != nil || !g.deferred {
		t.Error("a fork has made what a cluster of one node does not need")
	}
	if _, err := g.Schedule(w.snap, w.info(api.MakePod("p").Requests("1", "1Mi"))); err != nil || g.incremental != nil {
		t.Errorf("for a decision about one node: %v", err)
	}
	g.ClassKeysAt(w.snap)
	counts := g.classifier
	large := lateWorld(t, 20)
	if large.schedule(g, 2000, true); g.Stats().Hits < 1000 {
		t.Errorf("%+v after 2000 equal pods in a larger cluster", g.Stats())
	}
	if g.incremental != counts {
		t.Error("ClassKeysAt counts anew")
	}
	profile := Kubernetes137()
	profile.Cache.Verify = true
	s, err := New(profile)
	if err != nil {
		t.Fatal(err)
	}
	if s.Fork().incremental == nil {
		t.Error("a fork does not verify")
	}
}

// TestLossFades: a loss that is too large fades while pods step aside, so kept answers are tried again, in a rest as
// without one.
func TestLossFades(t *testing.T) {
	for _, nodes := range []int{100, smallCluster, smallCluster + 50} {
		w := lateWorld(t, nodes)
		f := w.s.incremental
		x := f.extentOf(w.s.plugins.wanted(nodes, w.s.profile.Percentage), nodes)
		b := &f.balances.all
		b.work, b.loss = workShare*x.limitAtLast(), x.limitAtLast()+x.classPrice()
		most := (x.classPrice() + x.keyPrice()*seenEvery) / x.fading()
		tried := 0
		for i := range 2 * most {
			w.decide(api.MakePod(fmt.Sprint("p", i)).Requests(fmt.Sprint(1+i, "m"), fmt.Sprint(1+i, "Mi")))
			if f.stepped == nil && !b.looks {
				tried++
			}
		}
		if tried == 0 {
			t.Errorf("%d nodes: none of %d pods was asked for kept answers; the loss is %d, its limit %d", nodes, 2*most, b.loss, x.limitAtLast())
		}
	}
}
