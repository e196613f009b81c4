//go:build full

package scoring_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

// TestScoringDoesNotAllocate runs PreScore and Score over and over; only the first
// run may need memory.
func TestScoringDoesNotAllocate(t *testing.T) {
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("a", "4", "4Gi").Resource(gpu, "4").Taint("a:PreferNoSchedule").Image("400Mi", "web:1").Obj(),
		api.MakeNode("b", "4", "4Gi").Labels("zone", "a").Obj(),
	})
	pod := podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Request(gpu, "1").Image("web:1").PreferNodes(5, "zone=a").Obj())
	nodes := nodesOf(s)
	three := []scoring.ResourceSpec{{Name: "cpu"}, {Name: "memory"}, {Name: gpu}}
	shape := scoring.Shape{{0, 0}, {100, 10}}
	for _, p := range []framework.Plugin{
		scoring.NodeResourcesFit{},
		scoring.NodeResourcesFit{Resources: three, Strategy: scoring.MostAllocated},
		scoring.NodeResourcesFit{Strategy: scoring.RequestedToCapacityRatio, Shape: shape},
		scoring.NodeResourcesFit{Rules: scoring.Kubernetes118},
		scoring.NodeResourcesBalancedAllocation{},
		scoring.NodeResourcesBalancedAllocation{Resources: three, Rules: scoring.Kubernetes134},
		scoring.NodeResourcesBalancedAllocation{Resources: three},
		scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118},
		scoring.TaintToleration{},
		scoring.NodeAffinity{},
		scoring.NodeAffinity{AddedAffinity: prefers(1, "disk", "ssd")},
		scoring.ImageLocality{},
	} {
		var c framework.Cycle
		var sum int64
		if n := testing.AllocsPerRun(100, func() {
			c.Reset(pod, s, 0, 0)
			var scorer framework.NodeScorer
			if pre, ok := p.(framework.PreScorePlugin); ok {
				scorer, _ = pre.PreScore(&c, nodes)
			} else {
				scorer = p.(framework.ScorePlugin)
			}
			for _, n := range nodes {
				sum += scorer.Score(pod, n)
			}
		}); n != 0 {
			t.Errorf("%s %+v allocates %v times for a pod, want 0", p.Name(), p, n)
		}
	}
}
