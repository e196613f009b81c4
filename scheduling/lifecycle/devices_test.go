package lifecycle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

func podWithDevice(name string) *api.Pod {
	p := api.MakePod(name).UID(api.UID(name)).Requests("100m", "64Mi").Obj()
	p.ResourceVersion = "1"
	p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpu")}}
	return p
}

// TestDevicesOfConfirmedPods: a pod keeps its device, which nobody has written, when the event
// comes that it is bound, and when it changes. When it goes, the next pod gets the device.
func TestDevicesOfConfirmedPods(t *testing.T) {
	for confirmed := range 3 { // events about the pod after its binding
		t.Run(fmt.Sprint(confirmed, " events"), func(t *testing.T) {
			clock := virtualclock.New(time.Unix(0, 0))
			d, err := lifecycle.New(lifecycle.Config{
				Profiles: []scheduling.Profile{scheduling.Kubernetes137()},
				Clock:    clock,
				Binder:   lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
			})
			if err != nil {
				t.Fatal(err)
			}
			slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "n"}}
			slice.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: new("n"), Pool: api.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1}, Devices: []api.Device{{Name: "only"}}}
			template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "gpu", Namespace: "default"}}
			template.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}
			d.Apply(
				lifecycle.Update(api.MakeNode("n", "8", "32Gi").Obj()), lifecycle.Update(&api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "any"}}),
				lifecycle.Update(slice), lifecycle.Update(template), lifecycle.Update(podWithDevice("a")),
			)
			a, ok := d.ScheduleOne(context.Background())
			if !ok || a.State != lifecycle.Bound {
				t.Fatalf("a: %v %v", a.State, a.Err)
			}
			for i := range confirmed {
				bound := podWithDevice("a")
				bound.ResourceVersion, bound.Spec.NodeName = fmt.Sprint(2+i), "n"
				d.Apply(lifecycle.Update(bound))
			}
			d.Apply(lifecycle.Update(podWithDevice("b")))
			if b, ok := d.ScheduleOne(context.Background()); !ok || b.State == lifecycle.Bound {
				t.Errorf("b is %v: the only device, which a has, is given twice", b.State)
			}
			d.Apply(lifecycle.Delete(podWithDevice("a")))
			clock.Advance(time.Hour)
			if b, ok := d.ScheduleOne(context.Background()); !ok || b.State != lifecycle.Bound {
				t.Errorf("b is %v: a and its device are gone, want Bound: %v", b.State, b.Err)
			}
		})
	}
}
