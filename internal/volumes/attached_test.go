package volumes

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestAttachedStandsThrough reserves in a transaction, changes a relevant volume,
// reads, and rolls everything back: no inner state may remain.
func TestAttachedStandsThrough(t *testing.T) {
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
		used := AttachedIn(s).On(s, s.Node("n")).Used
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
	kept := attachedKey.Of(s).slots.At(0)
	must(Assume(s, newcomer, "n", &found))
	want("after a reservation", "one")
	if attachedKey.Of(s).slots.At(0) != kept {
		t.Error("a reservation had the node read anew")
	}
	must(framework.Put(s, volume("two")))
	want("with another volume", "two")
	s.Rollback(m)
	want("in the end", "one")
}
