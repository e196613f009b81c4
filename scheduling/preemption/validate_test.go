package preemption_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/preemption"
)

func bounds(percentage, absolute int32) preemption.DefaultPreemption {
	return preemption.DefaultPreemption{MinCandidateNodesPercentage: &percentage, MinCandidateNodesAbsolute: &absolute}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		plugin preemption.DefaultPreemption
		want   string
	}{
		{"defaults", preemption.DefaultPreemption{}, ""},
		{"least", bounds(0, 1), ""},
		{"most", bounds(100, 0), ""},
		{"percentage", bounds(101, 1), "DefaultPreemption: minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"},
		{"absolute", bounds(1, -1), "DefaultPreemption: minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"},
		{
			"nothing", bounds(0, 0),
			"DefaultPreemption: minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute\n" +
				"DefaultPreemption: minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.plugin.Validate(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Validate() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoneIsEnough asks for 10 percent of one node, which is 0 nodes: as in
// kube-scheduler no candidate is kept.
func TestNoneIsEnough(t *testing.T) {
	s := snapshotOf(t, []*api.Node{node("a", "1")}, objs(on("a", "low", "1", 0)))
	for _, tt := range []struct {
		plugin preemption.DefaultPreemption
		want   string
	}{
		{bounds(10, 0), ""},
		{bounds(10, 1), "a"},
		{bounds(100, 0), "a"},
	} {
		got := preempt(t, s, tt.plugin, preemptor("1", 10).Obj())
		if got.Nominated != tt.want {
			t.Errorf("with %d percent and %d: nominated %q, want %q", *tt.plugin.MinCandidateNodesPercentage, *tt.plugin.MinCandidateNodesAbsolute, got.Nominated, tt.want)
		}
	}
}
