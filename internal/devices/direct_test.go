//go:build full

package devices_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
)

// randomPool makes a slice of a node, mostly one whose devices a claim can get without a
// search.
func randomPool(t *rapid.T, node string, k int) *api.ResourceSlice {
	often := func(label string) bool { return rapid.IntRange(0, 9).Draw(t, label) > 0 }
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("s", k)}}
	s.Spec = api.ResourceSliceSpec{Driver: "d.io", Pool: api.ResourcePool{Name: fmt.Sprint("p", k), Generation: 1, ResourceSliceCount: 1}}
	perDevice := rapid.IntRange(0, 3).Draw(t, "selects nodes per device") == 0
	switch {
	case perDevice:
		s.Spec.PerDeviceNodeSelection = &perDevice
	case often("of the node"):
		s.Spec.NodeName = &node
	default:
		s.Spec.AllNodes = new(true)
	}
	if !often("complete") {
		s.Spec.Pool.ResourceSliceCount = 2
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "devices") {
		d := api.Device{Name: fmt.Sprint("d", i)}
		if perDevice {
			d.NodeName = new(rapid.SampledFrom([]string{node, "elsewhere"}).Draw(t, "on"))
		}
		if often("has the attribute") {
			d.Attributes = map[string]api.DeviceAttribute{"size": {IntValue: new(int64(rapid.IntRange(0, 3).Draw(t, "size")))}}
		}
		if !often("untainted") {
			d.Taints = []api.DeviceTaint{{Key: "broken", Effect: api.DeviceTaintEffectNoSchedule}}
		}
		if !often("exclusive") {
			d.AllowMultipleAllocations = new(true)
		}
		if rapid.Bool().Draw(t, "has capacity") {
			d.Capacity = map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse("2Gi")}}
		}
		s.Spec.Devices = append(s.Spec.Devices, d)
	}
	return s
}

// A claim for one device gets the device that a search finds, with the same result, until
// there is none.
func TestDirectIsTheSearch(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"answers without a search": 20, "devices given": 20}, func(t *rapid.T) {
		class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "any"}}
		e := api.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}
		if text := rapid.SampledFrom([]string{"", `device.attributes["d.io"].size > 1`, `"size" in device.attributes["d.io"]`}).Draw(t, "selector"); text != "" {
			e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: text}}}
		}
		if rapid.Bool().Draw(t, "tolerates") {
			e.Tolerations = []api.DeviceToleration{{Operator: api.DeviceTolerationOpExists}}
		}
		if rapid.Bool().Draw(t, "wants capacity") {
			e.Capacity = &api.CapacityRequirements{Requests: map[string]resource.Quantity{"memory": resource.MustParse("1Gi")}}
		}
		template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "t", Namespace: "default"}}
		template.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &e}}
		o := &api.Objects{
			Nodes: []*api.Node{api.MakeNode("n", "8", "8Gi").Obj()}, DeviceClasses: []*api.DeviceClass{class},
			ResourceClaimTemplates: []*api.ResourceClaimTemplate{template},
		}
		for k := range rapid.IntRange(1, 3).Draw(t, "pools") {
			o.ResourceSlices = append(o.ResourceSlices, randomPool(t, "n", k))
		}
		s, _, err := framework.SnapshotOf(o, framework.Arrival)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			p, err := s.NewPodInfo(podFor(fmt.Sprint("p", i), "t"))
			if err != nil {
				t.Fatal(err)
			}
			f, status := devices.FinderOf(s, p, devices.Options{})
			if !status.IsSuccess() {
				t.Fatal(status)
			}
			var got, want devices.Found
			gotStatus, wantStatus := f.Find(s.Node("n"), &got), devices.FindBySearch(f, s.Node("n"), &want)
			if gotStatus.Code() != wantStatus.Code() || fmt.Sprint(gotStatus.Reasons()) != fmt.Sprint(wantStatus.Reasons()) || fmt.Sprint(gotStatus.Err()) != fmt.Sprint(wantStatus.Err()) {
				t.Fatalf("pod %d: got %v, want %v", i, gotStatus, wantStatus)
			}
			if d := cmp.Diff(want.Allocations, got.Allocations, cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })); d != "" {
				t.Fatalf("pod %d (-want +got):\n%s", i, d)
			}
			if devices.IsDirect(f, s.Node("n")) {
				seen["answers without a search"]++
			}
			if _, status := f.Reserve(s.Node("n")); !status.IsSuccess() {
				return
			}
			seen["devices given"]++
		}
	})
}
