//go:build full

package scheduling_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestForkTree asks about pods of some apps in a tree of forks, which grows and is left at random. Decisions must
// be those of the reference path, and kept answers must be found to hold: Verify compares all of them.
func TestForkTree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	rounds, looks, alone := 9, 0.0, 0.0
	for seed := range uint64(rounds) {
		with, without := forkTree(t, seed)
		looks, alone = looks+with, alone+without
	}
	if looks > alone/2 {
		t.Errorf("going from fork to fork cost %.0f looks, and each fork alone %.0f", looks, alone)
	}
}

// TestForkVisitCostsWhatDiffers: a question in a fork costs as much in a large cluster as in a small one, if as many
// nodes differ.
func TestForkVisitCostsWhatDiffers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for _, c := range companions() {
		cost := func(n int) float64 {
			s, sched := visited(t, n, c), build(t, scheduling.Kubernetes137())
			for i := range 3 {
				if _, err := sched.Schedule(s, podInfo(t, s, c.pod(fmt.Sprint("first-", i)))); err != nil {
					t.Fatal(err)
				}
			}
			visit(t, sched, s.Fork(), c, 0)
			before := sched.Stats().Looks
			for i := range 20 {
				visit(t, sched, s.Fork(), c, i)
			}
			return float64(sched.Stats().Looks-before) / 20
		}
		if small, large := cost(400), cost(1600); large > small+100 {
			t.Errorf("%s: %.0f looks on 1,600 nodes, and %.0f on 400", c.name, large, small)
		}
	}
}

// treeApps are the pods that forkTree asks about.
func treeApps() []companion {
	apps := companions()
	zones := func(action api.UnsatisfiableConstraintAction) func(string) *api.Pod {
		return func(name string) *api.Pod {
			p := apps[2].pod(name)
			c := p.Spec.TopologySpreadConstraints[0]
			c.TopologyKey, c.WhenUnsatisfiable, c.MaxSkew = api.LabelTopologyZone, action, 2
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
			return p
		}
	}
	near := func(name string) *api.Pod {
		return api.MakePod(name).Labels("app", "app").Requests("10m", "16Mi").PodAffinity(api.LabelTopologyZone, "app=app").Obj()
	}
	service := func(name string) *api.Pod { // of the service of runningCluster
		return api.MakePod(name).Labels("app", "app-1").Requests("10m", "16Mi").Obj()
	}
	return append(apps, companion{"zones", 1, zones(api.ScheduleAnyway)}, companion{"zones-strictly", 1, zones(api.DoNotSchedule)},
		companion{"near", 1, near}, companion{"service", 1, service})
}

// forkTree asks in one tree. It returns how many looks a scheduler had that asks in all forks, and how many those
// had that ask in one decision each.
func forkTree(t *testing.T, seed uint64) (looks, alone float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	apps := treeApps()
	root, _ := runningCluster(t, 350, aService)
	apps[0].every, apps[1].every, apps[2].every = 1, 3, 1
	serial := 0
	pod := func(s *framework.Snapshot) *framework.PodInfo {
		serial++
		return podInfo(t, s, apps[r.IntN(len(apps))].pod(fmt.Sprint("p-", serial)))
	}
	add := func(s *framework.Snapshot, p *framework.PodInfo) {
		if err := s.AddPod(p, s.At(r.IntN(s.Len())).Name()); err != nil {
			t.Fatal(err)
		}
	}
	for range []int{30, 600}[seed%2] { // few exceptions, or many
		add(root, pod(root))
	}
	if seed%3 == 0 { // pods of one app alone come and go
		apps = apps[4:5]
	}
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	sched := build(t, profile)
	profile.Cache.Verify = false
	tree, at := []*framework.Snapshot{root}, 0
	for range 250 {
		s := tree[at]
		switch k := r.IntN(20); {
		case k < 8:
			p := pod(s)
			before := sched.Stats().Looks
			if _, err := sched.Schedule(s, p); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			looks += float64(sched.Stats().Looks - before)
			if r.IntN(10) == 0 {
				once := build(t, profile)
				for range 2 { // the first takes the reference path
					before = once.Stats().Looks
					if _, err := once.Schedule(s, p.Pending()); err != nil {
						t.Fatal(err)
					}
				}
				alone += 10 * float64(once.Stats().Looks-before)
			}
		case k < 10:
			add(s, pod(s))
		case k < 12:
			var nodes []*framework.NodeInfo
			for _, n := range s.All() {
				if len(n.Pods) > 0 && n.Pods[len(n.Pods)-1].Pod.Labels["app"] == "app" {
					nodes = append(nodes, n)
				}
			}
			if len(nodes) > 0 {
				n := nodes[r.IntN(len(nodes))]
				if err := s.RemovePod(n.Pods[len(n.Pods)-1], n.Name()); err != nil {
					t.Fatal(err)
				}
			}
		case k < 14:
			if len(tree) == 8 {
				i := 1 + r.IntN(7)
				tree = append(tree[:i], tree[i+1:]...)
			}
			tree, at = append(tree, s.Fork()), len(tree)
		case k < 19:
			at = r.IntN(len(tree))
		case r.IntN(4) == 0:
			n := *s.At(r.IntN(s.Len())).Node
			n.Spec.Unschedulable = !n.Spec.Unschedulable
			if err := s.UpdateNode(&n); err != nil {
				t.Fatal(err)
			}
		}
		at = min(at, len(tree)-1)
	}
	if stats := sched.Stats(); stats.Faults > 0 || stats.Hits < 20 {
		t.Errorf("seed %d: %+v, want hits and no fault", seed, stats)
	}
	return looks, alone
}
