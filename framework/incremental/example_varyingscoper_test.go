package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// A portCounter reads host ports, and of pods with volumes everything.
type portCounter struct{}

func (portCounter) Name() string { return "PortCounter" }

func (portCounter) Scope(pod *framework.PodInfo) framework.Scope {
	if pod.HasVolumes() {
		return framework.Scope{Pod: framework.FieldsAll, Reads: framework.ReadsNode}
	}
	return framework.Scope{Pod: framework.FieldHostPorts, Reads: framework.ReadsNode}
}

func (portCounter) ScopeVaries() framework.PodParts { return framework.PartVolumes }

func ExampleVaryingScoper() {
	var plugin incremental.VaryingScoper = portCounter{}
	snap := framework.NewSnapshot(framework.Arrival)
	for _, p := range []api.PodBuilder{api.MakePod("web"), api.MakePod("db").Claim("data")} {
		pod, err := snap.NewPodInfo(p.Obj())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(pod.Pod.Name, "is asked about:", pod.Parts()&plugin.ScopeVaries() != 0)
	}
	// Output:
	// web is asked about: false
	// db is asked about: true
}
