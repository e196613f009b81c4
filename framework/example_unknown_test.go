package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Pods may name any resources. Names that no node has get a few numbers only; the others
// are unknown until a node brings them.
func ExampleUnknownRequest() {
	s := framework.NewSnapshot(framework.Arrival)
	flood := api.MakePod("flood")
	for i := range resource.MaxGuests {
		flood = flood.Request(resource.Name(fmt.Sprint("example.com/", i)), "1")
	}
	pod := api.MakePod("train").Request("example.com/gpu", "2")
	for _, b := range []api.PodBuilder{flood, pod} {
		p, err := s.NewPodInfo(b.Obj())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Pod.Name, p.Unknown)
		if p.Pod.Name == "train" {
			if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Allocatable("example.com/gpu", "4").Obj()); err != nil {
				fmt.Println(err)
			}
			fmt.Println(p.Pod.Name, p.Fresh().Unknown)
		}
	}
	// Output:
	// flood []
	// train [{example.com/gpu 2 2}]
	// train []
}
