package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// Ledger books what pods with volumes reserve. Other pods do not concern it.
type Ledger struct{ booked *[]string }

func (Ledger) Name() string { return "Ledger" }

func (Ledger) Concern() framework.PodParts { return framework.PartVolumes }

func (l Ledger) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	if c.Pod.HasVolumes() {
		*l.booked = append(*l.booked, c.Pod.Pod.Name)
	}
	return framework.Status{}
}

func (Ledger) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

func ExampleConcerned() {
	var booked []string
	sched, err := scheduling.New(scheduling.Profile{Reserve: []framework.Plugin{Ledger{&booked}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	snap := framework.NewSnapshot(framework.Arrival)
	if err := snap.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		fmt.Println(err)
		return
	}
	plain, full := api.MakePod("plain").Obj(), api.MakePod("full").Obj()
	full.Spec.Volumes = []api.Volume{{Name: "data"}}
	for _, object := range []*api.Pod{plain, full} {
		pod, err := snap.NewPodInfo(object)
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := sched.Place(snap, pod); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(booked)
	// Output: [full]
}
