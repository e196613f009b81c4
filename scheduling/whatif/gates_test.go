package whatif_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// TestGatedPods: pods with scheduling gates take no room, need no nodes, and Headroom answers as if they were
// removed. Profiles without the plugin try them.
func TestGatedPods(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("a", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	waiting := api.MakePod("waiting").Requests("3", "").Obj()
	waiting.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "g"}, {Name: "h"}}
	var pods []*framework.PodInfo
	for _, p := range []*api.Pod{waiting, api.MakePod("ready").Requests("3", "").Obj()} {
		info, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, info)
	}
	p := planner(s)
	const message = "waiting for scheduling gates: [g h]"
	got, err := p.Place(pods)
	if err != nil || !slices.Equal(got.Placed, []whatif.Placed{{Pod: "default/ready", Node: "a"}}) || len(got.Unplaced) != 1 || got.Unplaced[0].Message != message {
		t.Errorf("Place: %+v, %v", got, err)
	}
	n, err := p.NodesNeeded(pods, whatif.NodeType{Name: "t", Node: api.MakeNode("", "4", "8Gi").Obj()})
	if err != nil || n.Price != 0 || !n.Exact || len(n.Placement.Unplaced) != 1 || n.Placement.Unplaced[0].Message != message {
		t.Errorf("NodesNeeded: %+v, %v", n, err)
	}
	if h, err := p.Headroom(pods[0], 0); err != nil || h.Total != 1 || !slices.Equal(h.Gates, []string{"g", "h"}) {
		t.Errorf("Headroom: %+v, %v", h, err)
	}
	w, err := p.Sweep(pods, []whatif.Weights{{"NodeResourcesFit": 3}})
	if err != nil || !slices.Equal(w.Base, []string{"", "a"}) || !slices.Equal(w.Outcomes[0].Nodes, w.Base) {
		t.Errorf("Sweep: %+v, %v", w, err)
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	e := sched.Explain(s, pods[0])
	var text strings.Builder
	if err := e.WriteTable(&text, 1); err != nil || e.Chosen != "a" || !slices.Equal(e.Gates, []string{"g", "h"}) || !strings.Contains(text.String(), "it waits for its scheduling gates to be removed: g, h") {
		t.Errorf("Explain: %+v, %v", e, err)
	}
	other := scheduling.Kubernetes137()
	other.Name, other.PreEnqueue = "other", nil
	c, err := p.Compare(other, pods)
	if err != nil || len(c.Differ) != 2 || c.Differ[0].A != "" || c.Differ[0].B != "a" {
		t.Errorf("Compare: %+v, %v", c, err)
	}
}
