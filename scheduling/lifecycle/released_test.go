//go:build full

package lifecycle_test

import (
	"context"
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

// TestReservedClaimIsReleased: a pod that is not bound gives back the claim that it had reserved
// for its node, and who waits for the claim is tried, also if the node is gone.
func TestReservedClaimIsReleased(t *testing.T) {
	for _, deletes := range []bool{false, true} {
		for _, loses := range []bool{false, true} {
			t.Run(fmt.Sprintf("deleted %t, node gone %t", deletes, loses), func(t *testing.T) {
				profile := scheduling.Kubernetes137()
				profile.Permit = append(profile.Permit, holding{"first"})
				handle := lifecycle.NewHandle()
				w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}}, handle)
				class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "late"}, Provisioner: "csi.example.com", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer)}
				claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "data", UID: "data", ResourceVersion: "5"}}
				claim.Spec.StorageClassName = new("late")
				claim.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
				claim.Spec.Resources.Requests = resource.List{resource.Storage: resource.MustParse("1Gi")}
				w.d.Apply(lifecycle.Update(class), lifecycle.Update(claim))
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
				if deletes {
					w.d.Apply(lifecycle.Delete(first.Obj()))
				} else {
					handle.WaitingPod("first").Reject("holding", "no")
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
