//go:build full

package gang_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// TestWorkersAndDevicesOfVictims: in a trial of preemption a victim keeps devices that nobody has written yet,
// also if the domains are tried in forks, where it would have gone for good.
func TestWorkersAndDevicesOfVictims(t *testing.T) {
	answers := map[int]string{}
	for _, workers := range []int{0, 2} {
		s := framework.NewSnapshot(framework.Arrival)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "device"}}
		must(framework.Put(s, class))
		for i := range 2 {
			name := fmt.Sprint("n", i)
			must(s.AddNode(api.MakeNode(name, "1", "4Gi").Labels("example.com/rack", fmt.Sprint("r", i)).Obj()))
			slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
			slice.Spec = api.ResourceSliceSpec{Driver: "example.com", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}, Devices: []api.Device{{Name: "a"}}}
			must(framework.Put(s, slice))
		}
		pod := func(name string, priority int32) *framework.PodInfo {
			c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, UID: api.UID("claim-" + name)}}
			c.Spec.Devices.Requests = []api.DeviceRequest{{Name: "one", Exactly: &api.ExactDeviceRequest{DeviceClassName: "device", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}
			must(framework.Put(s, c))
			p := api.MakePod(name).UID(api.UID(name)).Requests("1", "1Gi").Priority(priority).Obj()
			p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "held", ResourceClaimName: &name}}
			return info(s, p)
		}
		rules := gang.Rules{Choice: gang.Kubernetes137}
		rules.Workers = workers
		p := placer(rules)
		for i := range 2 {
			_, err := p.Scheduler().Place(s, pod(fmt.Sprint("low-", i), 0))
			must(err)
		}
		g := &gang.Group{Namespace: "default", Name: "g", Priority: 10, Min: 1, Pods: []*framework.PodInfo{pod("high", 10)}, Topology: []gang.Level{{Key: "example.com/rack"}}}
		e, err := p.Preempt(s, g)
		answers[workers] = fmt.Sprint(e.Status, len(e.Victims()), errors.Join(err))
	}
	if answers[0] != answers[2] {
		t.Errorf("with workers %s, without %s", answers[2], answers[0])
	}
}
