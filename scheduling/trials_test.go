package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/scheduling"
)

// trier asks another scheduler about other pods, and tries out what would be if pods left, for each node that it scores.
// Its scores are all alike.
type trier struct {
	s     *framework.Snapshot
	other *scheduling.Scheduler
	calls *int
}

func (trier) Name() string { return "Trier" }
func (trier) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsCluster}
}

func (p trier) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	for range 3 {
		*p.calls++
		hermit := made(p.s.NewPodInfo(spreadHermit(fmt.Sprint("other-", *p.calls))))
		made(made(p.other.Filtering(p.s, hermit)).Node(n))
		mark := p.s.Begin()
		for len(n.Pods) > 0 {
			put(p.s.RemovePod(n.Pods[0], n.Name()))
			n = p.s.Node(n.Name())
		}
		p.s.Rollback(mark)
		n = p.s.Node(n.Name())
	}
	return 0
}

// TestScoresBesideTrials: the plugins that count pods score the same if another plugin makes trials between their scores,
// and though counts are given up meanwhile.
func TestScoresBesideTrials(t *testing.T) {
	for name, preset := range map[string]func() scheduling.Profile{"1.37": scheduling.Kubernetes137, "1.18": scheduling.Kubernetes118} {
		place := func(trying bool) (placed []string) {
			s, calls := heldCluster(), 0
			topo.Lower(s)
			p := preset()
			if trying {
				p.Score = append([]scheduling.Weighted{{Plugin: trier{s, build(t, preset()), &calls}, Weight: 1}}, p.Score...)
			}
			sched := build(t, p)
			for i := range 40 {
				pod := api.MakePod(fmt.Sprint("p", i)).Labels("app", []string{"x", "y", "z"}[i%3]).
					PreferPodAntiAffinity(int32(1+i%7), api.LabelHostname, "app="+[]string{"x", "y"}[i%2]).
					Spread(1, "topology.kubernetes.io/zone", api.ScheduleAnyway, "app=x").
					Spread(2, api.LabelHostname, api.ScheduleAnyway, "app=y").Obj()
				d := made(sched.Place(s, made(s.NewPodInfo(pod))))
				placed = append(placed, fmt.Sprint(d.Node, " ", d.Score))
			}
			if trying && calls == 0 {
				t.Error("nothing was tried")
			}
			put(s.Check())
			return placed
		}
		plain, beside := place(false), place(true)
		for i := range plain {
			if a, b := plain[i], beside[i]; a != b {
				t.Fatalf("%s: pod %d: %s beside trials, want %s", name, i, b, a)
			}
		}
	}
}
