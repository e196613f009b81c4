package scheduling_test

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

func ExamplePluginTime() {
	clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := scheduling.New(scheduling.Profile{Filter: []framework.Plugin{slow{"Slow", &clock, ""}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	snap, pods, err := framework.SnapshotOf(&api.Objects{
		Nodes: []*api.Node{api.MakeNode("a", "4", "8Gi").Obj(), api.MakeNode("b", "4", "8Gi").Obj()},
		Pods:  []*api.Pod{api.MakePod("web").Obj()},
	}, framework.Arrival)
	if err != nil {
		fmt.Println(err)
		return
	}
	decision, err := s.Schedule(snap, pods[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range s.Measure(snap, pods[0], decision, func() time.Time { return clock }) {
		fmt.Println(t.Point, t.Plugin, "took", t.Duration, "for", t.Nodes, "nodes")
	}
	// Output:
	// PreFilter Slow took 1ms for 0 nodes
	// Filter Slow took 20ms for 2 nodes
}
