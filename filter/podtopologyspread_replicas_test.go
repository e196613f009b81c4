package filter_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/replica"
)

// TestReplicaSpreadIsKept: what a filter says of replicas stays right, however many other pods are asked
// about before it is used.
func TestReplicaSpreadIsKept(t *testing.T) {
	const zone = api.LabelTopologyZone
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []string{"a", "b"} {
		if err := s.AddNode(api.MakeNode(n, "4", "4Gi").Labels(zone, n).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	bind := func(app string) replica.Spread {
		p, err := s.NewPodInfo(api.MakePod("new").Labels("app", app).SpreadConstraint(api.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": app}},
		}).Obj())
		if err != nil {
			t.Fatal(err)
		}
		var c framework.Cycle
		c.Reset(p, s, 0, 0)
		bound, status := filter.PodTopologySpread{}.PreFilter(&c)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		spread, ok := bound.Filter.(replica.Spreader).ReplicaSpread(p)
		if !ok || len(spread.Rules) != 1 {
			t.Fatalf("%d rules, known: %t", len(spread.Rules), ok)
		}
		return spread
	}
	old, err := s.NewPodInfo(api.MakePod("old").Labels("app", "web").Obj())
	if err == nil {
		err = s.AddPod(old, "a")
	}
	if err != nil {
		t.Fatal(err)
	}
	kept := bind("web")
	for i := range 12_000 { // more than the counts are kept for without being asked for
		bind(fmt.Sprint("app", i%100))
	}
	if got := kept.Rules[0].Place(s.Node("a")); got.Pods != 1 || !got.Counts {
		t.Errorf("node a is %+v, want one pod", got)
	}
	for i := range 12_000 {
		bind(fmt.Sprint("app", i%100))
	}
	for name, want := range map[string]bool{"a": false, "b": true} {
		if status := kept.Filter(s.Node(name), []replica.Count{{Pods: map[string]int64{"a": 1}[name], Fewest: 0}}); status.IsSuccess() != want {
			t.Errorf("node %s: %v, want success: %t", name, status, want)
		}
	}
}
