package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// needsGPU rejects nodes without a label.
type needsGPU struct{}

func (needsGPU) Name() string { return "NeedsGPU" }
func (needsGPU) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

func (needsGPU) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Node.Labels["gpu"] == "" {
		return framework.UnschedulableStatus("no gpu")
	}
	return framework.Status{}
}

// readsGPU relies on the filter before it: it is asked only about nodes that NeedsGPU accepts.
type readsGPU struct{}

func (readsGPU) Name() string { return "ReadsGPU" }
func (readsGPU) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

func (readsGPU) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Node.Labels["gpu"][0] == 'x' {
		return framework.UnschedulableStatus("x")
	}
	return framework.Status{}
}

// TestVerifyAsksInOrder: a filter may rely on the one before it, also when decisions are verified.
func TestVerifyAsksInOrder(t *testing.T) {
	for _, verify := range []bool{false, true} {
		s, err := scheduling.New(scheduling.Profile{Filter: []framework.Plugin{needsGPU{}, readsGPU{}}, Cache: scheduling.CacheConfig{Verify: verify}})
		if err != nil {
			t.Fatal(err)
		}
		snap := framework.NewSnapshot(framework.Arrival)
		for i := range 10 {
			b := api.MakeNode(fmt.Sprint("n", i), "4", "8Gi")
			if i%2 == 0 {
				b = b.Labels("gpu", "a")
			}
			if err := snap.AddNode(b.Obj()); err != nil {
				t.Fatal(err)
			}
		}
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("verify %t: Schedule panics: %v", verify, v)
				}
			}()
			for i := range 40 {
				info, _ := snap.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Obj())
				if _, err := s.Schedule(snap, info); err != nil {
					t.Fatal(i, err)
				}
			}
		}()
	}
}
