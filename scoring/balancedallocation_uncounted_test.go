package scoring_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

// TestBalancedAllocationUncounted: a pod that requests a configured resource is scored,
// even if its name is one that schedulers keep no accounts of.
func TestBalancedAllocationUncounted(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	plugin := scoring.NodeResourcesBalancedAllocation{Resources: []scoring.ResourceSpec{{Name: "odd"}}}
	for amount, skips := range map[string]bool{"0": true, "1": false} {
		pod := api.MakePod("p").Obj()
		pod.Spec.Overhead = resource.List{"odd": resource.MustParse(amount)}
		var c framework.Cycle
		c.Reset(podInfo(t, s, pod), s, 0, 0)
		if _, status := plugin.PreScore(&c, nil); status.IsSkip() != skips {
			t.Errorf("PreScore of a pod that requests %s odd = %v, want skip %t", amount, status, skips)
		}
	}
}
