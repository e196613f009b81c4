package whatif_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// TestChangesThatChangeNothing: Decide refuses them, and takes the same changes where the
// pod and the node have what they name.
func TestChangesThatChangeNothing(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	node := api.MakeNode("a", "4", "4Gi").Labels("disk", "ssd").Obj()
	if err := s.AddNode(node); err != nil {
		t.Fatal(err)
	}
	pod := api.MakePod("web").Request("cpu", "1").Labels("app", "web").Obj()
	pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	pod.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: 80}}
	pod.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: api.ScheduleAnyway, LabelSelector: &api.LabelSelector{}}}
	terms := []api.PodAffinityTerm{{TopologyKey: "disk", LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	pod.Spec.Affinity = &api.Affinity{
		PodAffinity:     &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms},
		PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms},
		NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{
			{MatchExpressions: []api.NodeSelectorRequirement{{Key: "disk", Operator: api.NodeSelectorOpExists}}},
		}}},
	}
	info, err := framework.NewPodInfo(pod, s.Schema())
	if err != nil {
		t.Fatal(err)
	}
	bare, err := framework.NewPodInfo(api.MakePod("bare").Obj(), s.Schema())
	if err != nil {
		t.Fatal(err)
	}
	p, err := whatif.New(scheduling.Kubernetes137(), s)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		good, bad   whatif.Change
		field, text string
	}{
		{whatif.Change{Kind: whatif.ChangeRequest, Name: "cpu", Amount: 500}, whatif.Change{Kind: whatif.ChangeRequest, Name: "cpu", Amount: 8000}, "amount", "only be lowered"},
		{whatif.Change{Kind: whatif.ChangeRequest, Name: "cpu", Amount: 0}, whatif.Change{Kind: whatif.ChangeRequest, Name: "cpu", Amount: -5}, "amount", "negative"},
		{whatif.Change{Kind: whatif.ChangeRequest, Name: "cpu", Amount: 999}, whatif.Change{Kind: whatif.ChangeRequest, Name: "example.com/gpu", Amount: 4}, "amount", "example.com/gpu"},
		{whatif.Change{Kind: whatif.ChangeWeight, Name: "NodeResourcesFit", Amount: 4}, whatif.Change{Kind: whatif.ChangeWeight, Name: "NodeResourceFit", Amount: 4}, "name", "no such scorer"},
		{whatif.Change{Kind: whatif.ChangeNodeSelector, Name: "disk"}, whatif.Change{Kind: whatif.ChangeNodeSelector, Name: "disc"}, "name", "node selector"},
		{whatif.Change{Kind: whatif.ChangeNodeAffinity}, whatif.Change{Kind: whatif.ChangeNodeAffinity}, "kind", "no required node affinity"},
		{whatif.Change{Kind: whatif.ChangeSpread, Name: "zone"}, whatif.Change{Kind: whatif.ChangeSpread, Index: 1}, "index", "of these"},
		{whatif.Change{Kind: whatif.ChangeAffinity}, whatif.Change{Kind: whatif.ChangeAffinity, Index: -1}, "index", "has "},
		{whatif.Change{Kind: whatif.ChangeAntiAffinity}, whatif.Change{Kind: whatif.ChangeAntiAffinity, Index: 7}, "index", "has "},
		{whatif.Change{Kind: whatif.ChangePodLabel, Name: "app"}, whatif.Change{Kind: whatif.ChangePodLabel, Name: "apps"}, "name", "no such label"},
		{whatif.Change{Kind: whatif.ChangeNodeLabel, Name: "disk", Remove: true}, whatif.Change{Kind: whatif.ChangeNodeLabel, Name: "disc", Remove: true}, "name", "node a"},
		{whatif.Change{Kind: whatif.ChangeWeight, Name: "NodeResourcesFit", Amount: 2}, whatif.Change{Kind: whatif.ChangeWeight, Name: "NodeResourcesFit", Amount: 1}, "amount", "has this weight"},
		{whatif.Change{Kind: whatif.ChangeNodeLabel, Name: "disk", To: "other"}, whatif.Change{Kind: whatif.ChangeNodeLabel, Name: "disk", To: "ssd"}, "to", "with this value"},
		{whatif.Change{Kind: whatif.ChangeHostPort, Amount: 80}, whatif.Change{Kind: whatif.ChangeHostPort, Amount: 81}, "amount", "host port"},
	}
	for _, tt := range tests {
		if _, err := p.Decide(info, "a", tt.good); err != nil {
			t.Errorf("%+v: %v", tt.good, err)
		}
		asked := info
		if tt.bad == tt.good {
			asked = bare
		}
		_, err := p.Decide(asked, "a", tt.bad)
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != tt.field || !strings.Contains(err.Error(), tt.text) || !strings.Contains(invalid.Object, string(tt.bad.Kind)) {
			t.Errorf("%+v: error %v, want one of the field %s with %q", tt.bad, err, tt.field, tt.text)
		}
	}
}

// TestPlaceTwice: a pod that is listed twice would be counted twice.
func TestPlaceTwice(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("a", "4", "4Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	info, err := framework.NewPodInfo(api.MakePod("web").Obj(), s.Schema())
	if err != nil {
		t.Fatal(err)
	}
	p, err := whatif.New(scheduling.Kubernetes137(), s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Place([]*framework.PodInfo{info}); err != nil {
		t.Fatal(err)
	}
	_, err = p.Place([]*framework.PodInfo{info, info})
	if err == nil || !strings.Contains(err.Error(), `pods[1]`) || !strings.Contains(err.Error(), "default/web") {
		t.Errorf("error %v, want one about pods[1] and default/web", err)
	}
}
