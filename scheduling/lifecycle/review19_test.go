package lifecycle_test

import (
	"context"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

func review19Pod(name string) *api.Pod {
	p := api.MakePod(name).UID(api.UID(name)).Requests("100m", "64Mi").Obj()
	p.ResourceVersion = "1"
	p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpu")}}
	return p
}

// There is one device. Pod a gets it by a template (a virtual claim), and is bound. Then the
// event comes that a is bound. Pod b must not get the same device.
func TestReview19DeviceGivenTwice(t *testing.T) {
	for name, confirm := range map[string]bool{"the binding is not confirmed": false, "the binding is confirmed": true} {
		t.Run(name, func(t *testing.T) {
			d, err := lifecycle.New(lifecycle.Config{
				Profiles: []scheduling.Profile{scheduling.Kubernetes137()},
				Clock:    virtualclock.New(time.Unix(0, 0)),
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
				lifecycle.Update(slice), lifecycle.Update(template), lifecycle.Update(review19Pod("a")),
			)
			a, ok := d.ScheduleOne(context.Background())
			if !ok || a.State != lifecycle.Bound {
				t.Fatalf("a: %v %v", a.State, a.Err)
			}
			if confirm {
				bound := review19Pod("a")
				bound.ResourceVersion, bound.Spec.NodeName = "2", "n"
				d.Apply(lifecycle.Update(bound))
			}
			d.Apply(lifecycle.Update(review19Pod("b")))
			if b, ok := d.ScheduleOne(context.Background()); !ok || b.State == lifecycle.Bound {
				t.Errorf("b is %v: the only device, which a has, is given twice", b.State)
			}
		})
	}
}
