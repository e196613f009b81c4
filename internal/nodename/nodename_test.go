package nodename_test

import (
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/nodename"
)

// TestFresh: names of nodes, and those that objects go by, are left out.
func TestFresh(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "c", Namespace: "x"}}
	claim.Status.Allocation = &api.AllocationResult{NodeSelector: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
		MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{"t-2"}}},
	}}}}
	for _, err := range []error{
		s.AddNode(api.MakeNode("t-0", "4", "16Gi").Obj()), framework.Put(s, &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "t-1"}}), framework.Put(s, claim),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := nodename.LeftIn(s).Fresh(s, "t", 2); !slices.Equal(got, []string{"t-3", "t-4"}) {
		t.Errorf("%v, want t-3 and t-4", got)
	}
}
