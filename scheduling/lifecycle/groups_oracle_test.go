//go:build full

package lifecycle_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// A groupTown is a random history of nodes, groups of equal pods, and other pods.
type groupTown struct {
	rng    *rand.Rand
	rules  groups.Rules
	d      *lifecycle.Driver
	clock  *virtualclock.Clock
	nodes  map[string]*api.Node
	groups map[string]*api.PodGroup
	pods   map[string]*api.Pod
	serial int
	log    []string
}

func (w *groupTown) start(t *testing.T) {
	t.Helper()
	w.clock = virtualclock.New(epoch)
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &w.rules, Clock: w.clock, Binder: w,
		ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.d = d
}

func (w *groupTown) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *groupTown) Bind(_ context.Context, p *api.Pod, node string) error {
	w.note("%s is bound to %s", p.Name, node)
	w.putPod(onNode(p, node))
	return nil
}

func (w *groupTown) version(m *api.ObjectMeta) {
	w.serial++
	m.UID, m.ResourceVersion = api.UID(m.Name), fmt.Sprint(w.serial)
}

func (w *groupTown) putPod(p *api.Pod) {
	w.version(&p.ObjectMeta)
	w.pods[p.Name] = p
	w.d.Apply(lifecycle.Update(p))
}

func (w *groupTown) settle() {
	for {
		if _, ok := w.d.ScheduleOne(context.Background()); !ok {
			return
		}
	}
}

func (w *groupTown) pick(list ...string) string { return list[w.rng.IntN(len(list))] }

func (w *groupTown) aNode() string { return w.pick("n1", "n2", "n3", "n4") }

func (w *groupTown) step() {
	switch w.rng.IntN(8) {
	case 0, 1:
		n := api.MakeNode(w.aNode(), w.pick("1", "2", "3"), "64Gi").Labels("zone", w.pick("a", "b"), "rack", w.pick("x", "y")).Obj()
		if w.rng.IntN(4) == 0 {
			n.Spec.Taints = []api.Taint{{Key: "k", Effect: "NoSchedule"}}
		}
		if w.rng.IntN(3) == 0 {
			delete(n.Labels, w.pick("zone", "rack"))
		}
		if old := w.nodes[n.Name]; old != nil && w.rng.IntN(2) == 0 { // only labels change
			n.Status, n.Spec = old.Status, old.Spec
		}
		w.version(&n.ObjectMeta)
		w.nodes[n.Name] = n
		w.d.Apply(lifecycle.Update(n))
		w.note("node %s %v %v %v", n.Name, n.Labels, n.Spec.Taints, n.Status.Allocatable["cpu"])
	case 2:
		if n := w.nodes[w.aNode()]; n != nil && w.rng.IntN(3) == 0 {
			delete(w.nodes, n.Name)
			w.d.Apply(lifecycle.Delete(n))
			w.note("%s goes", n.Name)
		}
	case 3, 4:
		p := api.MakePod(fmt.Sprint("p", w.serial)).Namespace("default").Requests("1", "1Gi").Obj()
		if w.rng.IntN(4) > 0 {
			p = groupPod(p.Name, w.pick("g", "h", "i"), "1", 0)
		}
		if w.rng.IntN(6) == 0 {
			p.Spec.NodeName = w.aNode()
		}
		if len(w.pods) < 14 {
			w.putPod(p)
			w.note("%s of %q comes, on %q", p.Name, p.SchedulingGroupName(), p.Spec.NodeName)
		}
	case 5, 6:
		names := slices.Sorted(maps.Keys(w.pods))
		if len(names) == 0 {
			return
		}
		p := w.pods[names[w.rng.IntN(len(names))]]
		if p.Spec.NodeName == "" && w.rng.IntN(2) == 0 {
			p = onNode(p, w.aNode())
			w.putPod(p)
			w.note("somebody else binds %s to %s", p.Name, p.Spec.NodeName)
			return
		}
		delete(w.pods, p.Name)
		w.d.Apply(lifecycle.Delete(p))
		w.note("%s goes", p.Name)
	case 7:
		g := podGroup(w.pick("g", "h", "i"), int32(1+w.rng.IntN(4)), 0)
		if w.rng.IntN(2) == 0 {
			g.Spec.SchedulingConstraints = &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: w.pick("zone", "rack")}}}
		}
		w.version(&g.ObjectMeta)
		w.groups[g.Name] = g
		w.d.Apply(lifecycle.Update(g))
		w.note("group %s of %d, in one %q", g.Name, g.MinCount(), g.TopologyKey())
	}
}

// fresh is a driver that has just been told of everything.
func (w *groupTown) fresh(t *testing.T) *groupTown {
	t.Helper()
	f := &groupTown{rules: w.rules, pods: map[string]*api.Pod{}}
	f.start(t)
	for _, n := range slices.Sorted(maps.Keys(w.nodes)) {
		f.d.Apply(lifecycle.Update(w.nodes[n]))
	}
	for _, g := range slices.Sorted(maps.Keys(w.groups)) {
		f.d.Apply(lifecycle.Update(w.groups[g]))
	}
	for _, p := range slices.Sorted(maps.Keys(w.pods)) {
		f.d.Apply(lifecycle.Update(w.pods[p]))
	}
	f.settle()
	return f
}

// TestGroupsSleepOnlyInVain: when nothing has happened for 40 s, longer than any backoff here, no
// pod waits that a driver without a past would place.
func TestGroupsSleepOnlyInVain(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	t.Parallel()
	for seed := range uint64(400) {
		w := &groupTown{rng: rand.New(rand.NewPCG(seed, 3)), nodes: map[string]*api.Node{}, groups: map[string]*api.PodGroup{}, pods: map[string]*api.Pod{}}
		if seed%4 == 3 {
			w.rules.Choice = groups.BestFit
		}
		w.start(t)
		for range 30 {
			for range 1 + w.rng.IntN(3) {
				if w.step(); w.rng.IntN(2) == 0 {
					w.settle()
				}
			}
			w.settle()
			for range 40 {
				w.clock.Advance(time.Second)
				w.d.Flush(context.Background())
				w.settle()
			}
			if f := w.fresh(t); len(f.log) > 0 {
				t.Fatalf("seed %d: after\n%s\na new driver says:\n%s", seed, strings.Join(w.log[max(0, len(w.log)-20):], "\n"), strings.Join(f.log, "\n"))
			}
		}
	}
}
