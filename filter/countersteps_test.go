package filter_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestCounterStepsAreTheSame: the steps of a search for devices with counters do not depend on the order
// of maps. Near the bound, the same pod would get devices in one run, and an error in the next.
func TestCounterStepsAreTheSame(t *testing.T) {
	amount := func(n int64) api.Counter { return api.Counter{Value: resource.New(n, resource.DecimalSI)} }
	set := api.CounterSet{Name: "set", Counters: map[string]api.Counter{"short": amount(1)}}
	for i := range 31 {
		set.Counters[fmt.Sprint("c", i)] = amount(1000)
	}
	spec := api.ResourceSliceSpec{Driver: "d.io", NodeName: new("n"), Pool: api.ResourcePool{Name: "p", Generation: 1, ResourceSliceCount: 2}}
	counters := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "counters"}, Spec: spec}
	counters.Spec.SharedCounters = []api.CounterSet{set}
	slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "devices"}, Spec: spec}
	for i := range 64 {
		d := api.Device{Name: fmt.Sprintf("d%02d", i)}
		if i < 62 {
			use := map[string]api.Counter{"short": amount(2)}
			for k := range 31 {
				use[fmt.Sprint("c", k)] = amount(1)
			}
			d.ConsumesCounters = []api.DeviceCounterConsumption{{CounterSet: "set", Counters: use}}
		}
		slice.Spec.Devices = append(slice.Spec.Devices, d)
	}
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "c", Namespace: "default"}}
	claim.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: 2}}}
	o := &api.Objects{
		Nodes: []*api.Node{api.MakeNode("n", "8", "8Gi").Obj()}, DeviceClasses: []*api.DeviceClass{{ObjectMeta: api.ObjectMeta{Name: "any"}}},
		ResourceSlices: []*api.ResourceSlice{counters, slice}, ResourceClaims: []*api.ResourceClaim{claim},
	}
	pod := api.MakePod("p").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: new("c")}}
	try := func() (int64, framework.Code) {
		s, _, err := framework.SnapshotOf(o, framework.Arrival)
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.NewPodInfo(pod)
		if err != nil {
			t.Fatal(err)
		}
		var c framework.Cycle
		c.Reset(info, s, 0, 0)
		bound, status := filter.DynamicResources{}.PreFilter(&c)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		got := bound.Filter.Filter(info, s.Node("n"))
		return filter.DeviceSteps(s), got.Code()
	}
	least, most := int64(1<<40), int64(0)
	for range 40 {
		n, code := try()
		if code != framework.Success {
			t.Fatal(code)
		}
		least, most = min(least, n), max(most, n)
	}
	if least != most {
		t.Errorf("the same search takes %d to %d steps", least, most)
	}
}
