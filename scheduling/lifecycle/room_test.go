package lifecycle_test

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestRoomThatIsGivenUp: a pod that waits for room on a node is tried again at once,
// however another pod frees it: by being placed elsewhere, by turning out smaller
// than assumed, or by another nomination.
func TestRoomThatIsGivenUp(t *testing.T) {
	node := api.MakeNode("n", "2", "8Gi")
	elsewhere := api.MakeNode("m", "1", "8Gi")
	first := api.MakePod("first").UID("u").Requests("2", "1Gi")
	for _, tt := range []struct {
		name   string
		first  api.PodBuilder
		giveUp api.PodBuilder // its next version
		placed bool           // by the driver, before the waiting pod comes
	}{
		{"bound to another node", first, first.Node("m"), true},
		{"moved to another node", first.Node("n"), first.Node("m"), false},
		{"has no node any more", first.Node("n"), first.Scheduler("foreign"), false},
		{"smaller than assumed", first, first.Requests("500m", "1Gi").Node("n"), true},
		{"smaller than before", first.Node("n"), first.Requests("500m", "1Gi").Node("n"), false},
		{"failed", first.Node("n"), first.Node("n").Phase(api.PodFailed), false},
		{"another node is nominated", first.Priority(5).Nominated("n").Gates("g"), first.Priority(5).Nominated("m").Gates("g"), false},
		{"nomination taken back", first.Priority(5).Nominated("n").Gates("g"), first.Priority(5).Gates("g"), false},
		{"nominated and gone to another scheduler", first.Priority(5).Nominated("n").Gates("g"), first.Priority(5).Scheduler("foreign"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := scheduling.Kubernetes137()
			p.PostFilter = nil
			w := newWorld(t, p)
			w.nodes(node)
			w.pods(tt.first)
			if tt.placed && w.one().State != lifecycle.Bound {
				t.Fatal("the first pod is not placed")
			}
			w.nodes(elsewhere)
			w.pods(api.MakePod("second").Requests("1500m", "1Gi"))
			if a := w.one(); a.State != lifecycle.Failed {
				t.Fatalf("the second pod: %v, want Failed", a.State)
			}
			w.pods(tt.giveUp)
			if a := w.one(); a.Pod.Pod.Name != "second" || a.State != lifecycle.Bound {
				t.Errorf("pod %s: %v, %v; want second, Bound", a.Pod.Pod.Name, a.State, a.Err)
			}
			w.noProblems()
		})
	}
}
