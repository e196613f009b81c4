package scheduling_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestParallelismIsBoundedByNodes: workers without a node are not started, so any
// number is allowed.
func TestParallelismIsBoundedByNodes(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 10, 101} {
		snap := framework.NewSnapshot(framework.ZoneInterleaved)
		for i := range nodes {
			if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		pod, err := snap.NewPodInfo(api.MakePod("p").Requests("1", "1Gi").Obj())
		if err != nil {
			t.Fatal(err)
		}
		var want scheduling.Decision
		for _, workers := range []int{0, 1, 2, 16, 1000, math.MaxInt} {
			profile := scheduling.Kubernetes137()
			profile.Parallelism, profile.Cache.Off = workers, true
			sched := build(t, profile)
			got, err := sched.Schedule(snap, pod)
			if err != nil {
				t.Fatal(err)
			}
			if workers == 0 {
				want = got
			}
			if got.Node != want.Node || got.Score != want.Score || got.Feasible != nodes {
				t.Errorf("%d nodes, Parallelism %d: %+v, want %+v", nodes, workers, got, want)
			}
		}
	}
}
