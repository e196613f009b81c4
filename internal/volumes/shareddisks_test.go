package volumes

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// drawDisk draws a volume of few disks, of each kind that pods may not share.
func drawDisk(t *rapid.T) (v api.Volume) {
	name, readOnly := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), rapid.Bool().Draw(t, "read only")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		v.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}
	case 1:
		v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: name, ReadOnly: readOnly}
	case 2:
		v.ISCSI = &api.ISCSIVolumeSource{IQN: name, ReadOnly: readOnly}
	case 3:
		v.RBD = &api.RBDVolumeSource{RBDPool: name, RBDImage: "i", ReadOnly: readOnly, CephMonitors: rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 3).Draw(t, "monitors")}
	}
	return v
}

// TestSharesDisk compares pods with few and many disks with a plain comparison of their volumes.
func TestSharesDisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		var pods [2]*Pod
		for i := range pods {
			p := api.MakePod(fmt.Sprint("p", i)).Obj()
			for range rapid.IntRange(0, 3).Draw(t, "volumes") {
				p.Spec.Volumes = append(p.Spec.Volumes, drawDisk(t))
			}
			for k := range rapid.SampledFrom([]int{0, 2 * fewNames}).Draw(t, "disks of its own") {
				var own api.Volume
				own.ISCSI = &api.ISCSIVolumeSource{IQN: fmt.Sprint(i, "-", k)}
				p.Spec.Volumes = append(p.Spec.Volumes, own)
			}
			for k := range p.Spec.Volumes {
				p.Spec.Volumes[k].Name = fmt.Sprint("v", k)
			}
			info, err := s.NewPodInfo(p)
			if err != nil {
				t.Fatal(err)
			}
			pods[i] = Of(info)
		}
		want := false
		for _, a := range pods[0].Exclusive {
			for _, b := range pods[1].Exclusive {
				want = want || disksConflict(a, b)
			}
		}
		if got, back := pods[0].SharesDisk(pods[1]), pods[1].SharesDisk(pods[0]); got != want || back != want {
			t.Fatalf("%t, the other way %t, want %t", got, back, want)
		}
	})
}
