//go:build full

package scheduling_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestPoolsThatGoBesideForks: a snapshot loses very many pools of devices that were in use, and then forgets their uses, while
// forks that have these pools decide in goroutines of their own. The race detector looks on.
func TestPoolsThatGoBesideForks(t *testing.T) {
	const nodes, passing, decisions = 4, 200, 500
	pool := func(name string) *api.ResourceSlice {
		x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
		x.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}, Devices: []api.Device{{Name: "0"}}}
		return x
	}
	claim := func(name, pool string) *api.ResourceClaim {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}}
		c.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}
		if pool != "" {
			c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{{Request: "r", Driver: "d.io", Pool: pool, Device: "0"}}}}
		}
		return c
	}
	objects := &api.Objects{DeviceClasses: []*api.DeviceClass{{ObjectMeta: api.ObjectMeta{Name: "any"}}}, ResourceClaims: []*api.ResourceClaim{claim("want", "")}}
	for i := range nodes {
		name := fmt.Sprint("n", i)
		objects.Nodes = append(objects.Nodes, api.MakeNode(name, "8", "8Gi").Obj())
		objects.ResourceSlices = append(objects.ResourceSlices, pool(name))
	}
	snap, _, err := framework.SnapshotOf(objects, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	decide := func(s *framework.Snapshot, sched *scheduling.Scheduler, i int) {
		must(framework.Put(s, claim("want", ""))) // nothing is kept
		p := api.MakePod(fmt.Sprint("p", i)).Obj()
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "d", ResourceClaimName: new("want")}}
		info, err := s.NewPodInfo(p)
		must(err)
		_, err = sched.Schedule(s, info)
		must(err)
	}
	use := func(name string) {
		must(framework.Put(snap, claim("user", name)))
		decide(snap, sched, 0)
		framework.Delete[api.ResourceClaim](snap, "default/user")
	}
	decide(snap, sched, 0)
	fork, other := snap.Fork(), sched.Fork()
	use("n0")
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range decisions {
			decide(fork, other, i)
		}
	})
	framework.Delete[api.ResourceSlice](snap, "n0")
	must(snap.RemoveNode("n0"))
	for i := range passing {
		name := fmt.Sprint("x", i)
		must(framework.Put(snap, pool(name)))
		use(name)
		framework.Delete[api.ResourceSlice](snap, name)
	}
	wg.Wait()
	must(snap.Check())
	must(fork.Check())
}
