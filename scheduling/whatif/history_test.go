//go:build full

package whatif_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// TestHeadroomRepeated asks a Planner how many replicas of pods with anti-affinity fit, and
// then again. The answers are the same, though counters and classes of pods are left of the
// questions before. Every second Planner counts replicas without placing them.
func TestHeadroomRepeated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	shared, placed, least := 0, 0, effort.Of(20, 200)
	for seed := range uint64(1000) {
		if effort.Suffices(shared >= least && placed >= least) {
			break
		}
		r := rand.New(rand.NewPCG(seed, 31))
		var nodes []api.NodeBuilder
		for i := range 3 + r.IntN(5) {
			b := api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(2+r.IntN(5)), "8Gi")
			if r.IntN(6) > 0 {
				b = b.Zone(fmt.Sprint("z", r.IntN(3)))
			}
			nodes = append(nodes, b)
		}
		s := cluster(nodes, api.MakePod("other").Labels("app", "c").Requests("1", "").Node("n0").Obj())
		var pods []*framework.PodInfo
		for i, app := range []string{"a", "b", "a"} {
			b := api.MakePod(fmt.Sprint("p", i)).Labels("app", app).Requests("1", "").PodAntiAffinity(api.LabelTopologyZone, "app="+app)
			if r.IntN(3) == 0 {
				b = b.Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=b")
			}
			pods = append(pods, pod(s, b.Obj()))
		}
		ask := func(p *whatif.Planner, of *framework.PodInfo) *whatif.Headroom {
			if seed%2 == 0 {
				p.PlaceNoneToKnowNodes()
			}
			h, err := p.Headroom(of, 0)
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		used := planner(s)
		for i := range 6 {
			of := pods[i%len(pods)]
			want := ask(planner(s), of)
			if diff := gocmp.Diff(want, ask(used, of)); diff != "" {
				t.Fatalf("seed %d, question %d: a Planner of earlier questions answers (-new +used):\n%s", seed, i, diff)
			}
			if want.Domains != nil {
				shared++
			} else {
				placed++
			}
			for _, d := range want.Domains {
				pods := 0
				for _, n := range want.Nodes {
					if s.Node(n.Node).Node.Labels[d.Key] == d.Value {
						pods += n.Pods
					}
				}
				if seed%2 == 1 && pods != d.Pods {
					t.Errorf("seed %d, question %d: %d replicas on nodes of %s, want the %d of the domain", seed, i, pods, d.Value, d.Pods)
				}
			}
			if few, err := used.Headroom(of, 1); err != nil || few.Stopped && few.Domains != nil {
				t.Errorf("seed %d, question %d: one replica is asked for, and domains are %v (%v)", seed, i, few.Domains, err)
			}
		}
	}
	if shared < least || placed < least {
		t.Errorf("%d answers name domains, %d do not, want %d of each", shared, placed, least)
	}
}
