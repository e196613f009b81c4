package volumes

import (
	"testing"

	"github.com/berth-sched/berth/framework"
)

// TestAttachedStandsThrough reserves in a transaction, changes a volume that
// matters, looks, and takes all of it back: nothing of the inner state may stay.
func TestAttachedStandsThrough(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := framework.NewSnapshot(framework.Arrival)
	must(s.AddNode(framework.MakeNode("n", "1", "1Gi").Obj()))
	late := framework.VolumeBindingWaitForFirstConsumer
	must(framework.Put(s, &framework.StorageClass{ObjectMeta: framework.ObjectMeta{Name: "csi"}, Provisioner: "csi", VolumeBindingMode: &late}))
	limits := &framework.CSINode{ObjectMeta: framework.ObjectMeta{Name: "n"}}
	limits.Spec.Drivers = []framework.CSINodeDriver{{Name: "csi", Allocatable: &framework.VolumeNodeResources{Count: new(int32(9))}}}
	must(framework.Put(s, limits))
	volume := func(handle string) *framework.PersistentVolume {
		v := &framework.PersistentVolume{ObjectMeta: framework.ObjectMeta{Name: "v"}}
		v.Spec.CSI = &framework.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: handle}
		return v
	}
	claim := func(name, volume string) *framework.PersistentVolumeClaim {
		c := &framework.PersistentVolumeClaim{ObjectMeta: framework.ObjectMeta{Namespace: "default", Name: name}}
		c.Spec.StorageClassName, c.Spec.VolumeName = new("csi"), volume
		return c
	}
	must(framework.Put(s, volume("one")))
	must(framework.Put(s, claim("there", "v")))
	must(framework.Put(s, claim("new", "")))
	pod := func(name, claim string) *framework.PodInfo {
		p := framework.MakePod(name).Obj()
		p.Spec.Volumes = []framework.Volume{{Name: "v"}}
		p.Spec.Volumes[0].PersistentVolumeClaim = &framework.PersistentVolumeClaimVolumeSource{ClaimName: claim}
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
	kept := attachedKey.Of(s).slots[0]
	must(Assume(s, newcomer, "n", &found))
	want("after a reservation", "one")
	if attachedKey.Of(s).slots[0] != kept {
		t.Error("a reservation had the node read anew")
	}
	must(framework.Put(s, volume("two")))
	want("with another volume", "two")
	s.Rollback(m)
	want("in the end", "one")
}
