//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// holding is a Permit plugin that lets pods of a name wait.
type holding struct{ name string }

func (holding) Name() string { return "holding" }

func (h holding) Permit(_ context.Context, c *framework.Cycle, _ string) (framework.Status, time.Duration) {
	if c.Pod.Pod.Name == h.name {
		return framework.NewStatus(framework.Wait, nil), time.Hour
	}
	return framework.Status{}, 0
}

// lateClass is a class whose claims are bound when a pod comes.
func lateClass(provisioner string) *api.StorageClass {
	return &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "late"}, Provisioner: provisioner, VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer)}
}

func lateClaim(name string) *api.PersistentVolumeClaim {
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, UID: api.UID(name), ResourceVersion: "5"}}
	c.Spec.StorageClassName = new("late")
	c.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
	c.Spec.Resources.Requests = resource.List{resource.Storage: resource.MustParse("1Gi")}
	return c
}

// TestReservedClaimIsReleased: a pod that is not bound gives back the claim that it had reserved
// for its node, and who waits for the claim is tried, also if the node is gone.
func TestReservedClaimIsReleased(t *testing.T) {
	for _, end := range []string{"rejected", "deleted", "bound by another scheduler"} {
		for _, loses := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, node gone %t", end, loses), func(t *testing.T) {
				profile := scheduling.Kubernetes137()
				profile.Permit = append(profile.Permit, holding{"first"})
				handle := lifecycle.NewHandle()
				w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}}, handle)
				w.d.Apply(lifecycle.Update(lateClass("csi.example.com")), lifecycle.Update(lateClaim("data")))
				nodes := []api.NodeBuilder{api.MakeNode("a", "4", "8Gi").Zone("a"), api.MakeNode("b", "4", "8Gi").Zone("b")}
				w.nodes(nodes...)
				first := api.MakePod("first").UID("first").Requests("1", "1Gi").Claim("data")
				w.pods(first.NodeSelector(api.LabelTopologyZone, "a"))
				w.all()
				w.pods(api.MakePod("waits").UID("waits").Requests("1", "1Gi").Claim("data").NodeSelector(api.LabelTopologyZone, "b"))
				if list := w.all(); len(list) != 1 || list[0].State != lifecycle.Failed {
					t.Fatalf("%+v, want one failure: the claim is reserved for the other zone", list)
				}
				if loses {
					w.d.Apply(lifecycle.Delete(nodes[0].Obj()))
					w.all()
				}
				switch end {
				case "rejected":
					handle.WaitingPod("first").Reject("holding", "no")
				case "deleted":
					w.d.Apply(lifecycle.Delete(first.Obj()))
				default:
					w.pods(first.Node("b"))
				}
				w.all()
				w.pass(time.Minute)
				w.all()
				if w.bound["waits"] != "b" {
					t.Errorf("bound %v, want waits to b", w.bound)
				}
				w.noProblems()
			})
		}
	}
}

// TestReservedVolumeIsReleased: another scheduler binds a pod while it is bound here. When that
// fails, the volume that the pod had reserved is free, and who waits for it is tried.
func TestReservedVolumeIsReleased(t *testing.T) {
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Bindings: 1}, lifecycle.NewHandle())
	begun, end := make(chan struct{}), make(chan error)
	w.refuse = func(pod *api.Pod, _ string) error {
		if pod.Name != "first" {
			return nil
		}
		close(begun)
		return <-end
	}
	volume := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "disk", ResourceVersion: "6"}}
	volume.Spec.StorageClassName = "late"
	volume.Spec.Capacity = resource.List{resource.Storage: resource.MustParse("5Gi")}
	volume.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
	volume.Status.Phase = api.VolumeAvailable
	w.d.Apply(lifecycle.Update(lateClass("kubernetes.io/no-provisioner")), lifecycle.Update(volume))
	w.nodes(api.MakeNode("a", "4", "8Gi").Zone("a"), api.MakeNode("b", "4", "8Gi").Zone("b"))
	with := func(name string) api.PodBuilder {
		w.d.Apply(lifecycle.Update(lateClaim(name)))
		return api.MakePod(name).UID(api.UID(name)).Requests("1", "1Gi").Claim(name).NodeSelector(api.LabelTopologyZone, "a")
	}
	first := with("first")
	w.pods(first, with("second"))
	if list := w.all(); len(list) != 2 || list[0].State != lifecycle.Binding || list[1].State != lifecycle.Failed {
		t.Fatalf("attempts %+v, want one that binds and one that fails", list)
	}
	<-begun
	w.pods(first.Node("b"))
	w.d.Flush(w.ctx)
	w.clock.Advance(time.Minute)
	w.all()
	end <- errors.New("bound already")
	flushUntil(t, w, func() bool {
		w.all()
		return len(w.d.Pending()) == 0
	})
	w.noProblems()
}
