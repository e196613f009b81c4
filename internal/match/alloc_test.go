package match_test

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// TestMatchingDoesNotAllocate also covers labels that are not numbers.
func TestMatchingDoesNotAllocate(t *testing.T) {
	n := node("n1", map[string]string{"zone": "a", "cores": "many", "rack": "99999999999999999999"})
	required := match.NewNodeSelector(&api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{
		labelled(requirement("cores", "Gt", "1")), labelled(requirement("rack", "Lt", "1")), labelled(requirement("zone", "NotIn", "a", "b")),
	}})
	preferred, err := match.NewPreferredNodes([]api.PreferredSchedulingTerm{{Weight: 1, Preference: labelled(requirement("zone", "In", "a"))}})
	if err != nil {
		t.Fatal(err)
	}
	labels := match.LabelsOf(map[string]string{"zone": "a", "cores": "few"})
	taints := []api.Taint{{Key: "k", Value: "x", Effect: "NoSchedule"}, {Key: "k", Effect: "PreferNoSchedule"}}
	tolerations := []api.Toleration{{Key: "k", Operator: "Lt", Value: "3"}}
	allocations := testing.AllocsPerRun(100, func() {
		required.Matches(n)
		preferred.Score(n)
		labels.Matches(n.Labels)
		match.UntoleratedTaint(taints, tolerations, true)
		match.UntoleratedPreferences(taints, tolerations, true)
	})
	if allocations != 0 {
		t.Errorf("matching allocates %v times, want 0", allocations)
	}
}
