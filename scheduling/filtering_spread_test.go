package scheduling_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/replica"
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
	next, verdict, _, err := parts.Rest.Count(s.Node("east-1"))
	if err != nil {
		panic(err)
	}
	var spread scheduling.SpreadFilter = parts.Spreads[0]
	fmt.Println(f.NodeOnly(), ok, spread.Plugin, spread.Rules[0].MaxSkew)
	fmt.Println(room, "fit on the node,", next, "before it says", verdict.Status.Reasons())
	counts := [][]replica.Count{{{Pods: 1, Fewest: 0}}}
	fmt.Println("if the other zone has none:", parts.Verdict(s.Node("east-1"), scheduling.NodeVerdict{}, counts).Status.Reasons())
	// Output:
	// false true PodTopologySpread 1
	// 4 fit on the node, 4 before it says [Insufficient cpu]
	// if the other zone has none: [node(s) didn't match pod topology spread constraints]
}
