package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// late prefers nodes by a label.
type late struct{}

func (late) Name() string { return "late" }
func (late) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

func (late) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(len(n.Node.Labels["late"]))
}

// TestHeapOfManyTies: more tied nodes than are compared one by one, scattered among
// other nodes, in searches with any start.
func TestHeapOfManyTies(t *testing.T) {
	const nodes, tied = 500, 90
	for _, first := range []int{0, 1, 100, 255, 256, 400, nodes - tied} {
		for _, percentage := range []int{scheduling.AllNodes, 60} {
			t.Run(fmt.Sprint(first, " ", percentage), func(t *testing.T) {
				s := build(t, scheduling.Profile{
					TieRule: scheduling.Heap, Percentage: percentage, Filter: []framework.Plugin{room{}},
					Score: []scheduling.Weighted{{Plugin: late{}}}, Cache: scheduling.CacheConfig{Verify: true},
				})
				snap := framework.NewSnapshot(framework.Arrival)
				for i := range nodes {
					n := api.MakeNode(fmt.Sprint("n", i), "8", "8Gi").Resource("pods", fmt.Sprint(i%7)) // 0: not feasible
					if i >= first && i < first+2*tied && (i%2 == 0 || first == nodes-tied) {
						n = n.Labels("late", "x")
					}
					if err := snap.AddNode(n.Obj()); err != nil {
						t.Fatal(err)
					}
				}
				pod := podInfo(t, snap, api.MakePod("p").Obj())
				for range 12 {
					if _, err := s.Schedule(snap, pod); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}
