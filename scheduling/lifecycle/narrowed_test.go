package lifecycle_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// Pods that wait for an object are tried when it comes, also if they have changed since they began to
// wait, and not when other objects come or go.
func TestPodsWaitForTheirOwnObjects(t *testing.T) {
	claim := func(name string) *api.PersistentVolumeClaim {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, UID: api.UID(name)}}
		c.Spec.VolumeName = "pv"
		c.Annotations = map[string]string{api.AnnBindCompleted: "yes"}
		return c
	}
	devices := func(name string) *api.ResourceClaim {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, UID: api.UID(name)}}
		c.Status.Allocation = &api.AllocationResult{}
		return c
	}
	byPod := func(o *api.ObjectMeta, p *api.Pod) {
		o.OwnerReferences = []api.OwnerReference{{Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
	}
	for _, tt := range []struct {
		name   string
		change func(p *api.Pod)
		helps  func(p *api.Pod) []lifecycle.Event
	}{
		{
			"a claim", func(p *api.Pod) {
				p.Spec.Volumes = []api.Volume{{Name: "v", VolumeSource: api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "mine"}}}}
			},
			func(*api.Pod) []lifecycle.Event { return []lifecycle.Event{lifecycle.Update(claim("mine"))} },
		},
		{
			"a claim that is made for it", func(p *api.Pod) {
				p.Spec.Volumes = []api.Volume{{Name: "v", VolumeSource: api.VolumeSource{Ephemeral: &api.EphemeralVolumeSource{}}}}
			},
			func(p *api.Pod) []lifecycle.Event {
				c := claim("p-v")
				byPod(&c.ObjectMeta, p)
				return []lifecycle.Event{lifecycle.Update(c)}
			},
		},
		{
			"a claim for devices", func(p *api.Pod) {
				p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimName: new("mine")}}
			},
			func(*api.Pod) []lifecycle.Event { return []lifecycle.Event{lifecycle.Update(devices("mine"))} },
		},
		{
			"a claim that is made from a template", func(p *api.Pod) {
				p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimTemplateName: new("t")}}
			},
			func(p *api.Pod) []lifecycle.Event {
				p = api.Clone(p)
				p.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "e", ResourceClaimName: new("made")}}
				c := devices("made")
				byPod(&c.ObjectMeta, p)
				return []lifecycle.Event{lifecycle.Update(p), lifecycle.Update(c)}
			},
		},
		{
			"a host port", func(p *api.Pod) {
				p.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: 80}}
			},
			func(*api.Pod) []lifecycle.Event {
				return []lifecycle.Event{lifecycle.Delete(onNode(api.MakePod("taker").UID("taker").HostPort(80).Obj(), "n"))}
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, scheduling.Kubernetes137())
			w.nodes(api.MakeNode("n", "8", "16Gi"))
			v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "pv"}}
			w.d.Apply(lifecycle.Update(v))
			other := onNode(api.MakePod("other").UID("other").HostPort(81).Obj(), "n")
			other.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimName: new("theirs")}}
			w.d.Apply(
				lifecycle.Update(onNode(api.MakePod("taker").UID("taker").HostPort(80).Obj(), "n")), lifecycle.Update(other),
				lifecycle.Update(claim("theirs")), lifecycle.Update(devices("theirs")),
			)
			p := api.MakePod("p").UID("p").Obj()
			tt.change(p)
			w.d.Apply(lifecycle.Update(p))
			if w.all(); w.bound["p"] != "" {
				t.Fatal("the pod waits for nothing")
			}
			w.pass(15 * time.Second)
			c := claim("theirs")
			c.Labels = map[string]string{"a": "b"}
			theirs := devices("theirs")
			theirs.Status.ReservedFor = []api.ResourceClaimConsumerReference{{Resource: "pods", Name: "other", UID: "other"}}
			w.d.Apply(
				lifecycle.Update(c), lifecycle.Update(claim("new")), lifecycle.Update(theirs), lifecycle.Update(devices("new")),
				lifecycle.Delete(other), lifecycle.Delete(theirs), lifecycle.Delete(claim("theirs")),
				lifecycle.Update(&api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "theirs"}}),
			)
			if got := w.all(); len(got) > 0 {
				t.Errorf("%d attempts after events about other objects, want none", len(got))
			}
			w.d.Apply(tt.helps(p)...)
			if w.all(); w.bound["p"] == "" {
				t.Error("the pod waits, although what it waited for has come")
			}
		})
	}
}
