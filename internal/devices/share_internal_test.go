//go:build full

package devices

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// sharing is a Finder for a claim with these requests, on a node with a pool of so many
// devices, where nodes have that share of the steps.
func sharing(t *testing.T, share, devices int, requests ...api.DeviceRequest) (*Finder, *framework.NodeInfo) {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	err := errors.Join(s.AddNode(api.MakeNode("a", "4", "16Gi").Obj()),
		framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}))
	each := min(devices, 100)
	for i := range devices / each {
		x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("s", i)}}
		x.Spec = api.ResourceSliceSpec{Driver: "d", NodeName: new("a"), Pool: api.ResourcePool{Name: "p", Generation: 1, ResourceSliceCount: int64(devices / each)}}
		for k := range each {
			x.Spec.Devices = append(x.Spec.Devices, api.Device{Name: fmt.Sprint("d", i, "-", k), Attributes: map[string]api.DeviceAttribute{"i": {IntValue: new(int64(k))}}})
		}
		err = errors.Join(err, framework.Put(s, x))
	}
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "c", Namespace: "default"}}
	c.Spec.Devices.Requests = requests
	pod := api.MakePod("p").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: new("c")}}
	info, problem := s.NewPodInfo(pod)
	if err := errors.Join(err, framework.Put(s, c), problem); err != nil {
		t.Fatal(err)
	}
	f := new(Finder)
	if status := f.Prepare(s, info, Options{}); !status.IsSuccess() {
		t.Fatal(status)
	}
	f.steps = share
	return f, s.Node("a")
}

func oneDevice(name string) api.DeviceRequest {
	return api.DeviceRequest{Name: name, Exactly: &api.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}
}

// TestShareOfLargePools: the smallest share suffices for an ordinary claim among many devices,
// and what finds out whether it is hopeless never ends the search.
func TestShareOfLargePools(t *testing.T) {
	for _, requests := range []int{2, 6, 16, 32} {
		var list []api.DeviceRequest
		for i := range requests {
			list = append(list, oneDevice(fmt.Sprint("r", i)))
		}
		f, node := sharing(t, DefaultSteps/leastShare, 10_000, list...)
		if status := f.Find(node, nil); !status.IsSuccess() {
			t.Errorf("%d requests: %v", requests, status)
		}
		s := f.searchOn(node, nil)
		s.limit = 50_000
		if o := s.run(); o != solved {
			t.Errorf("%d requests: outcome %d after %d steps, %v", requests, o, s.steps, s.err)
		}
	}
}

// TestGivenUp: a node where the search takes more than its share is rejected with a reason of
// its own, and details do not claim that there is no solution.
func TestGivenUp(t *testing.T) {
	var list []api.DeviceRequest
	for i := range 7 {
		x := api.DeviceSubRequest{Name: "s", DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}
		if i == 6 {
			x.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.attributes["d"].i == 0`}}}
		}
		list = append(list, api.DeviceRequest{Name: fmt.Sprint("r", i), FirstAvailable: []api.DeviceSubRequest{x}})
	}
	f, node := sharing(t, 200, 8, list...)
	status := f.Find(node, nil)
	if !status.Is(SearchGivenUp) || status.Code() != framework.UnschedulableAndUnresolvable {
		t.Fatalf("Find = %v, want a search that is given up", status)
	}
	if d := f.Details(node); len(d) != 1 || d[0].Subject != status.Message() {
		t.Errorf("Details = %v, want %q", d, status.Message())
	}
	f, node = sharing(t, DefaultSteps, 8, list...)
	if status := f.Find(node, nil); !status.IsSuccess() {
		t.Errorf("with all steps: %v", status)
	}
}
