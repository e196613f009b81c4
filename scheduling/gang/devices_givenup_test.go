package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// hardDevices is a cluster with devices, and pods whose claims are like no other, and hard to refuse:
// all devices must be tried in all orders before it is clear that the last request gets none.
func hardDevices(t *testing.T, nodes, pods int) (*framework.Snapshot, *gang.Group) {
	t.Helper()
	const requests = 9
	s := framework.NewSnapshot(framework.Arrival)
	if err := framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}); err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		name := fmt.Sprint("n", i)
		x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
		x.Spec = api.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}
		for k := range requests {
			x.Spec.Devices = append(x.Spec.Devices, api.Device{Name: fmt.Sprint("gpu-", k)})
		}
		if err := errors.Join(s.AddNode(api.MakeNode(name, "64", "512Gi").Obj()), framework.Put(s, x)); err != nil {
			t.Fatal(err)
		}
	}
	g := &gang.Group{Namespace: "default", Name: "hard", Min: 1}
	for i := range pods {
		name := fmt.Sprint("claim-", i)
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}}
		for k := range requests {
			one := api.DeviceSubRequest{Name: "any", DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}
			if k == requests-1 {
				one.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: fmt.Sprintf(`device.driver == "driver-%d"`, i)}}}
			}
			c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, api.DeviceRequest{Name: fmt.Sprint("r", k), FirstAvailable: []api.DeviceSubRequest{one}})
		}
		p := api.MakePod(fmt.Sprint("p", i)).Obj()
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
		info, err := s.NewPodInfo(p)
		if err := errors.Join(err, framework.Put(s, c)); err != nil {
			t.Fatal(err)
		}
		g.Pods = append(g.Pods, info)
	}
	return s, g
}

// TestDeviceSearchesCountAsDecisions: searches for devices that are given up count among the decisions
// of an attempt, so a group of pods with such claims holds up nobody for long.
func TestDeviceSearchesCountAsDecisions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector; TestMachine has several workers, too")
	}
	s, g := hardDevices(t, 8, 5)
	g.Topology = []gang.Level{{Key: api.LabelHostname}}
	for _, workers := range []int{0, 2} {
		for _, test := range []struct {
			decisions int
			refused   bool
		}{{100_000, true}, {3_000_000, false}, {-1, false}} {
			sched, err := scheduling.New(scheduling.Kubernetes137())
			if err != nil {
				t.Fatal(err)
			}
			p, err := gang.New(sched, gang.Rules{Decisions: test.decisions, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Place(s, g)
			if refused := err != nil && strings.Contains(err.Error(), "too hard to find"); refused != test.refused || err != nil && !refused {
				t.Errorf("%d workers, %d decisions: %v, want that it is refused: %t", workers, test.decisions, err, test.refused)
			}
		}
	}
}
