package incremental_test

import (
	"context"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/framework/queueing"
)

// A volumeGate keeps pods with volumes out while the storage is under repair.
type volumeGate struct{ closed bool }

func (volumeGate) Name() string { return "VolumeGate" }

func (g volumeGate) PreEnqueue(_ context.Context, pod *framework.PodInfo) framework.Status {
	if g.closed && pod.HasVolumes() {
		return framework.UnschedulableStatus("the storage is under repair")
	}
	return framework.Status{}
}

func (volumeGate) Gates() framework.PodParts { return framework.PartVolumes }

func ExampleSelectiveGate() {
	var plugin queueing.PreEnqueuePlugin = volumeGate{closed: true}
	gate := plugin.(incremental.SelectiveGate)
	snap := framework.NewSnapshot(framework.Arrival)
	for _, p := range []api.PodBuilder{api.MakePod("web"), api.MakePod("db").Claim("data")} {
		pod, err := snap.NewPodInfo(p.Obj())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(pod.Pod.Name, "may be kept out:", pod.Parts()&gate.Gates() != 0)
		fmt.Println(plugin.PreEnqueue(context.Background(), pod))
	}
	// Output:
	// web may be kept out: false
	// Success
	// db may be kept out: true
	// Unschedulable: the storage is under repair
}
