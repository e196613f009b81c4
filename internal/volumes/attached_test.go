//go:build full

package volumes

import (
	"errors"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestAttachedAfterReservation reserves in a transaction, changes a relevant volume,
// reads, and rolls everything back: no inner state may remain.
func TestAttachedAfterReservation(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := framework.NewSnapshot(framework.Arrival)
	must(s.AddNode(api.MakeNode("n", "1", "1Gi").Obj()))
	late := api.VolumeBindingWaitForFirstConsumer
	must(framework.Put(s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "csi"}, Provisioner: "csi", VolumeBindingMode: &late}))
	limits := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "n"}}
	limits.Spec.Drivers = []api.CSINodeDriver{{Name: "csi", Allocatable: &api.VolumeNodeResources{Count: new(int32(9))}}}
	must(framework.Put(s, limits))
	volume := func(handle string) *api.PersistentVolume {
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "v"}}
		v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: handle}
		return v
	}
	claim := func(name, volume string) *api.PersistentVolumeClaim {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
		c.Spec.StorageClassName, c.Spec.VolumeName = new("csi"), volume
		return c
	}
	must(framework.Put(s, volume("one")))
	must(framework.Put(s, claim("there", "v")))
	must(framework.Put(s, claim("new", "")))
	pod := func(name, claim string) *framework.PodInfo {
		p := api.MakePod(name).Obj()
		p.Spec.Volumes = []api.Volume{{Name: "v"}}
		p.Spec.Volumes[0].PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		info, err := s.NewPodInfo(p)
		must(err)
		return info
	}
	must(s.AddPod(pod("there", "there"), "n"))
	want := func(when, handle string) {
		t.Helper()
		used := AttachedTo(s).On(s.Node("n")).Used
		if _, ok := used[Handle{Driver: "csi", Name: handle}]; !ok || len(used) != 1 {
			t.Errorf("%s the node has %v, want %s", when, used, handle)
		}
	}

	want("at first", "one")
	m := s.Begin()
	newcomer := pod("p", "new")
	var f Finder
	if status := f.Prepare(s, newcomer); !status.IsSuccess() {
		t.Fatal(status)
	}
	found, reasons, err := f.Find(s.Node("n"), Found{})
	if reasons != 0 || err != nil {
		t.Fatal(reasons, err)
	}
	kept := attachedKey.Of(s).nodes.At(0)
	must(Assume(s, newcomer, "n", &found))
	want("after a reservation", "one")
	if attachedKey.Of(s).nodes.At(0) != kept {
		t.Error("a reservation had the node read anew")
	}
	must(framework.Put(s, volume("two")))
	want("with another volume", "two")
	s.Rollback(m)
	want("in the end", "one")
}

// TestAttachedKept asks again after a transaction in which objects changed and nodes were read.
// The rollback restores the objects, so the answer
// must be as before.
func TestAttachedKept(t *testing.T) {
	limits := func(count int32) *api.CSINode {
		n := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "n"}}
		n.Spec.Drivers = []api.CSINodeDriver{{Name: "csi", Allocatable: &api.VolumeNodeResources{Count: &count}}}
		return n
	}
	volume := func(name, handle string) *api.PersistentVolume {
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
		v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: handle}
		return v
	}
	claim := func(volume string) *api.PersistentVolumeClaim {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c"}}
		c.Spec.VolumeName = volume
		return c
	}
	attachment := func(volume string) *api.VolumeAttachment {
		a := &api.VolumeAttachment{ObjectMeta: api.ObjectMeta{Name: "a"}}
		a.Spec.Attacher, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = "csi", "n", &volume
		return a
	}
	for _, test := range []struct {
		name   string
		change func(s *framework.Snapshot) error
	}{
		{"volume", func(s *framework.Snapshot) error { return framework.Put(s, volume("v", "two")) }},
		{"claim", func(s *framework.Snapshot) error { return framework.Put(s, claim("w")) }},
		{"limit", func(s *framework.Snapshot) error { return framework.Put(s, limits(1)) }},
		{"attachment", func(s *framework.Snapshot) error { return framework.Put(s, attachment("w")) }},
		{"no limits", func(s *framework.Snapshot) error { framework.Delete[api.CSINode](s, "n"); return nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			s := framework.NewSnapshot(framework.Arrival)
			must(s.AddNode(api.MakeNode("n", "1", "1Gi").Obj()))
			must(errors.Join(framework.Put(s, limits(9)), framework.Put(s, claim("v")), framework.Put(s, attachment("v")),
				framework.Put(s, volume("v", "one")), framework.Put(s, volume("w", "other"))))
			p := api.MakePod("p").Obj()
			p.Spec.Volumes = []api.Volume{{Name: "v"}}
			p.Spec.Volumes[0].PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: "c"}
			info, err := s.NewPodInfo(p)
			must(err)
			must(s.AddPod(info, "n"))

			kept := AttachedTo(s)
			check := func(when string) {
				t.Helper()
				got := kept.On(s.Node("n"))
				limit, _ := got.Limit("csi")
				_, used := got.Used[Handle{Driver: "csi", Name: "one"}]
				if !used || len(got.Used) != 1 || got.Counts["csi"] != 1 || limit != 9 {
					t.Errorf("%s: the node uses %v, %v of %d; want volume one, 1 of 9", when, got.Used, got.Counts, limit)
				}
			}
			check("at first")
			m := s.Begin()
			must(test.change(s))
			AttachedTo(s)
			s.Rollback(m)
			check("after the rollback")
			s.Touch(s.Node("n"))
			check("after a change of the node")
			AttachedTo(s)
			check("after another question")
		})
	}
}
