package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func ExamplePodParts() {
	snap := framework.NewSnapshot(framework.Arrival)
	object := api.MakePod("web").Obj()
	object.Spec.Volumes = []api.Volume{{Name: "data"}}
	pod, err := snap.NewPodInfo(object)
	if err != nil {
		fmt.Println(err)
		return
	}
	const storage = framework.PartVolumes | framework.PartClaims
	fmt.Println(pod.Parts()&storage == framework.PartVolumes, pod.Parts()&framework.PartSpread != 0)
	// Output: true false
}
