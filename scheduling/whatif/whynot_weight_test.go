//go:build full

package whatif_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// withWeight decides with one weight of the profile changed.
func withWeight(t *testing.T, profile scheduling.Profile, s *framework.Snapshot, pod *framework.PodInfo, plugin string, weight int64) string {
	t.Helper()
	profile.Score = slices.Clone(profile.Score)
	at := slices.IndexFunc(profile.Score, func(w scheduling.Weighted) bool { return w.Plugin.Name() == plugin })
	if profile.Score[at].Weight = weight; weight == 0 {
		profile.Score = slices.Delete(profile.Score, at, at+1)
	}
	profile.Cache.Off = true
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Schedule(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	return d.Node
}

// TestWhyNotNearestWeight checks against every nearer weight that a changed weight is the
// nearest that puts the pod on the node, and that there is none if WhyNot names none.
func TestWhyNotNearestWeight(t *testing.T) {
	found, none, inside := 0, 0, 0
	shows := func() bool {
		return found >= effort.Of(15, 50) && none >= effort.Of(60, 200) && inside >= effort.Of(1, 3)
	}
	for seed := range uint64(40) {
		if effort.Suffices(shows()) {
			break
		}
		r := rand.New(rand.NewPCG(seed, 3))
		var nodes []api.NodeBuilder
		var pods []*api.Pod
		for i := range 3 + r.IntN(4) {
			n := api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(4+r.IntN(12)), fmt.Sprint(8+r.IntN(24), "Gi")).Zone(fmt.Sprint("z", r.IntN(2)))
			if r.IntN(3) == 0 {
				n = n.Taint("soft:PreferNoSchedule")
			}
			nodes = append(nodes, n)
			for k := range r.IntN(3) {
				pods = append(pods, api.MakePod(fmt.Sprint("p", i, k)).Labels("app", []string{"web", "db"}[r.IntN(2)]).
					Requests(fmt.Sprint(500*(1+r.IntN(3)), "m"), fmt.Sprint(1+r.IntN(3), "Gi")).Node(fmt.Sprint("n", i)).Obj())
			}
		}
		s := cluster(nodes, pods...)
		b := api.MakePod("web").Labels("app", "web").Requests("1", fmt.Sprint(1+r.IntN(4), "Gi"))
		if r.IntN(2) == 0 {
			b = b.PreferNodes(int32(1+r.IntN(50)), "topology.kubernetes.io/zone in (z0)")
		}
		if r.IntN(2) == 0 {
			b = b.PreferPodAffinity(int32(1+r.IntN(50)), api.LabelTopologyZone, "app=db")
		}
		web := pod(s, b.Obj())
		profile := scheduling.Kubernetes137()
		profile.TieRule = []scheduling.TieRule{scheduling.Heap, scheduling.Random, scheduling.First, scheduling.ByName}[seed%4]
		if seed%3 == 0 {
			profile.Score = profile.Score[:3] // more ties
		}
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range s.All() {
			why, err := p.WhyNot(web, n.Name())
			if err != nil {
				t.Fatal(err)
			}
			if why.Chosen == n.Name() || len(why.Rejections) > 0 {
				continue
			}
			for _, w := range profile.Score {
				var change *whatif.Change
				for _, remedy := range why.Remedies {
					if c := &remedy.Changes[0]; c.Kind == whatif.ChangeWeight && c.Name == w.Plugin.Name() {
						change = c
					}
				}
				own, distance := max(w.Weight, 1), int64(12)
				if change != nil {
					found++
					distance = max(change.Amount-own, own-change.Amount)
					if got := withWeight(t, profile, s, web, change.Name, change.Amount); got != n.Name() || change.Was != own {
						t.Errorf("seed %d: %v puts the pod on %s, want %s", seed, change, got, n.Name())
					}
					if withWeight(t, profile, s, web, change.Name, 10_000) != n.Name() && change.Amount > own {
						inside++
					}
				} else {
					none++
				}
				for weight := max(0, own-distance+1); weight < own+min(distance, 120); weight++ {
					if weight == own || weight == 0 && len(profile.Score) == 1 {
						continue
					}
					if got := withWeight(t, profile, s, web, w.Plugin.Name(), weight); got == n.Name() {
						t.Errorf("seed %d: weight %d of %s suffices for %s; WhyNot says %v", seed, weight, w.Plugin.Name(), n.Name(), change)
						break
					}
				}
			}
		}
	}
	t.Logf("%d weights, %d of them not the largest too; %d times none", found, inside, none)
	if !shows() {
		t.Error("the test shows too little")
	}
}
