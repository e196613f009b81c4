package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// TestNodeGetsPreference lets a node get a label that the pods prefer, between two classes of
// one base whose scorers do not read which nodes are feasible: scores that were the same on
// all nodes no longer are.
func TestNodeGetsPreference(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 6 {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "8", "16Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	p := scheduling.Profile{
		Filter: scheduling.Kubernetes137().Filter,
		Score:  []scheduling.Weighted{{Plugin: scoring.NodeAffinity{}, Weight: 2}, {Plugin: scoring.NodeResourcesFit{}, Weight: 1}, {Plugin: scoring.InterPodAffinity{}, Weight: 1}},
		Cache:  scheduling.CacheConfig{Verify: true},
	}
	sched, err := scheduling.New(p)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name, app string) {
		b := api.MakePod(name).Labels("app", app).Requests("100m", "64Mi").PreferNodes(10, "disk=ssd")
		if app == "b" {
			b = b.PreferPodAntiAffinity(1, api.LabelHostname, "app=b")
		}
		if app == "c" {
			b = b.Spread(1, api.LabelHostname, api.ScheduleAnyway, "app=c")
		}
		pod, err := s.NewPodInfo(b.Obj())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sched.Schedule(s, pod); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range 4 {
		ask(fmt.Sprint("a", i), "a")
	}
	if err := s.UpdateNode(api.MakeNode("n0", "8", "16Gi").Labels("disk", "ssd").Obj()); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		ask(fmt.Sprint("a", i+4), "a")
	}
	for i := range 4 {
		ask(fmt.Sprint("b", i), "b")
	}
	for i := range 4 {
		ask(fmt.Sprint("c", i), "c")
	}
	if stats := sched.Stats(); stats.Hits == 0 || stats.Faults > 0 {
		t.Errorf("%+v: want hits, and no faults", stats)
	}
}
