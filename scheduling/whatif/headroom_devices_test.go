package whatif_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// extendedReplica returns a pod whose init containers each request a device by an extended
// resource, and a cluster with devices for 150 replicas: 100 in slices and 50 that a node
// offers itself.
func extendedReplica(containers int) (*whatif.Planner, *framework.PodInfo) {
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	class.Spec.ExtendedResourceName = new("gpu.example.com/gpu")
	s := cluster([]api.NodeBuilder{
		api.MakeNode("dynamic", "10000", "256Gi"),
		api.MakeNode("plugin", "10000", "256Gi").Resource("gpu.example.com/gpu", "50"),
	})
	slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "gpus"}}
	slice.Spec = api.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: new("dynamic"), Pool: api.ResourcePool{Name: "dynamic", Generation: 1, ResourceSliceCount: 1}}
	for i := range 100 {
		slice.Spec.Devices = append(slice.Spec.Devices, api.Device{Name: fmt.Sprint("gpu-", i)})
	}
	if err := framework.Put(s, class); err != nil {
		panic(err)
	}
	if err := framework.Put(s, slice); err != nil {
		panic(err)
	}
	b := api.MakePod("train").Container("main")
	for i := range containers {
		b = b.InitContainer(strconv.Itoa(i))
	}
	p := b.Obj()
	for i := range p.Spec.InitContainers {
		p.Spec.InitContainers[i].Resources.Requests = api.MakePod("x").Request("gpu.example.com/gpu", "1").Obj().Spec.Containers[0].Resources.Requests
	}
	return planner(s), pod(s, p)
}

// The containers of a pod are gone through once, not for each replica.
func TestHeadroomExtended(t *testing.T) {
	allocations := func(containers int) uint64 {
		plan, p := extendedReplica(containers)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h, err := plan.Headroom(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if h.Total != 150 {
			t.Errorf("%d containers: %d replicas, want 150: %v", containers, h.Total, h.Limits)
		}
		return after.Mallocs - before.Mallocs
	}
	few, many := allocations(10), allocations(1010)
	if more := many - min(few, many); more > 20*1000 {
		t.Errorf("1,000 containers more: %d allocations more, %d for 10", more, few)
	}
}

func BenchmarkHeadroomExtended(b *testing.B) {
	plan, p := extendedReplica(10_000)
	for b.Loop() {
		if _, err := plan.Headroom(p, 0); err != nil {
			b.Fatal(err)
		}
	}
}
