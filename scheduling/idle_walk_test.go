//go:build full

package scheduling_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
)

// TestIdleWalk lets pods of a few classes come and go for so long that only rows
// change in their classes. Now and then something wakes the plugins: pods with
// terms, a service, another node object, a fork, a rollback. The reference path
// checks every decision.
func TestIdleWalk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	for seed := range uint64(effort.Of(3, 12)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newCalmWalk(t, seed)
			for range 900 {
				w.step()
			}
			if stats := w.sched.Stats(); stats.Hits < 500 {
				t.Errorf("%d decisions from kept answers, want 500 or more: %+v", stats.Hits, stats)
			}
		})
	}
}

type calmWalk struct {
	t      *testing.T
	r      *rand.Rand
	sched  *scheduling.Scheduler
	snap   *framework.Snapshot
	placed []placement
	serial int
}

type placement struct {
	pod  *framework.PodInfo
	node string
}

func newCalmWalk(t *testing.T, seed uint64) *calmWalk {
	p := scheduling.Kubernetes137()
	p.Seed, p.TieRule, p.Cache.Verify = seed, scheduling.Random, true
	w := &calmWalk{t: t, r: rand.New(rand.NewPCG(seed, 0)), sched: build(t, p), snap: framework.NewSnapshot(framework.ZoneInterleaved)}
	for i := range 40 {
		w.must(w.snap.AddNode(w.node(i)))
	}
	return w
}

func (w *calmWalk) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *calmWalk) node(i int) *api.Node {
	n := api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Zone(fmt.Sprint("z", i%3))
	if w.r.IntN(8) == 0 {
		n = n.Taint("k=v:NoSchedule")
	}
	return n.Obj()
}

func (w *calmWalk) step() {
	w.t.Helper()
	switch w.r.IntN(400) {
	case 0:
		w.place(w.pod().PodAntiAffinity(api.LabelTopologyZone, "app=a1"))
	case 1:
		w.place(w.pod().PodAffinity(api.LabelTopologyZone, "app=a0"))
	case 2:
		service := api.Service{Spec: api.ServiceSpec{Selector: map[string]string{"app": "a0"}}}
		service.Namespace, service.Name = "default", "service"
		w.must(framework.Put(w.snap, &service))
	case 3:
		framework.Delete[api.Service](w.snap, "default/service")
	case 4:
		w.must(w.snap.UpdateNode(w.node(w.r.IntN(40))))
	case 5:
		w.snap = w.snap.Fork()
	case 6:
		mark, placed := w.snap.Begin(), len(w.placed)
		w.place(w.pod().PodAntiAffinity(api.LabelTopologyZone, "app=a0"))
		w.place(w.pod())
		w.snap.Rollback(mark)
		w.placed = w.placed[:placed]
	default:
		w.place(w.pod())
	}
	// Pods with terms leave soon, so that the plugins become idle again.
	for i := 0; i < len(w.placed); i++ {
		if p := w.placed[i]; len(w.placed) > 60 || p.pod.HasPodAffinity() && w.r.IntN(5) == 0 {
			w.must(w.snap.RemovePod(p.pod, p.node))
			w.placed = append(w.placed[:i], w.placed[i+1:]...)
		}
	}
}

func (w *calmWalk) pod() api.PodBuilder {
	w.serial++
	class := w.r.IntN(2)
	return api.MakePod(fmt.Sprint("p", w.serial)).UID(api.UID(fmt.Sprint(w.serial))).
		Labels("app", fmt.Sprint("a", class)).Requests(fmt.Sprint(100+100*class, "m"), "200Mi")
}

func (w *calmWalk) place(p api.PodBuilder) {
	w.t.Helper()
	pod := podInfo(w.t, w.snap, p.Obj())
	d, err := w.sched.Place(w.snap, pod)
	var unfit *scheduling.FitError
	if errors.As(err, &unfit) {
		return
	}
	w.must(err)
	w.placed = append(w.placed, placement{pod, d.Node})
}
