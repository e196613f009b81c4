package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
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

// fragile is a scorer whose answers never last; it panics in one call.
type fragile struct {
	calls *int
	at    int
}

func (fragile) Name() string { return "Fragile" }
func (fragile) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsDomain}
}

func (f fragile) PreScore(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return f, framework.Status{}
}

func (f fragile) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	if *f.calls++; *f.calls == f.at {
		panic("once")
	}
	return int64(len(n.Pods))
}

func (fragile) Version() uint64                { return 1 }
func (fragile) Changed(uint64, func(int)) bool { return true }

// TestVerifyContainsPanics: a plugin that panics when the invariants of what is kept are checked does not stop the
// scheduler that checks them.
func TestVerifyContainsPanics(t *testing.T) {
	for at := range effort.Of(300, 3000) {
		calls := 0
		s := build(t, scheduling.Profile{
			Score: []scheduling.Weighted{{Plugin: fragile{&calls, at}, Weight: 1}}, Cache: scheduling.CacheConfig{Verify: true},
		})
		snap := framework.NewSnapshot(framework.Arrival)
		for i := range 3 {
			put(snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "64Gi").Obj()))
		}
		failed := 0
		for i := range 30 {
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Fatalf("panic %v at call %d reaches the caller", v, at)
					}
				}()
				if _, err := s.Place(snap, made(snap.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Obj()))); err != nil {
					failed++
				}
			}()
		}
		if failed > 1 {
			t.Fatalf("%d decisions failed after one panic, at call %d", failed, at)
		}
		if calls < at {
			break // there is no such call
		}
	}
}
