package scheduling_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

func ExampleFiltering_Spread() {
	s := framework.NewSnapshot(framework.Arrival)
	for _, zone := range []string{"east", "west"} {
		if err := s.AddNode(api.MakeNode(zone+"-1", "4", "16Gi").Zone(zone).Obj()); err != nil {
			panic(err)
		}
	}
	web, err := s.NewPodInfo(api.MakePod("web").Labels("app", "web").Requests("1", "1Gi").
		Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=web").Obj())
	if err != nil {
		panic(err)
	}
	f, err := scheduler(scheduling.Kubernetes137()).Filtering(s, web)
	if err != nil {
		panic(err)
	}
	var parts scheduling.SpreadFiltering
	parts, ok, err := f.Spread()
	if err != nil {
		panic(err)
	}
	room, err := parts.Rest.Replicas(s.Node("east-1"), 100)
	if err != nil {
		panic(err)
	}
	fmt.Println(f.NodeOnly(), ok, parts.Plugin, parts.Spread.MaxSkew)
	fmt.Println(room, "fit on the node,", parts.Spread.Filter(s.Node("east-1"), 1, 0).IsSuccess(), "if the other zone has none")
	// Output:
	// false true PodTopologySpread 1
	// 4 fit on the node, false if the other zone has none
}
