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
		if rapid.Bool().Draw(t, "many monitors") {
			first := rapid.IntRange(0, 30).Draw(t, "first monitor")
			for i := range rapid.SampledFrom([]int{2 * fewNames, mostMonitors - 3, mostMonitors, 2 * mostMonitors}).Draw(t, "monitors in all") {
				v.RBD.CephMonitors = append(v.RBD.CephMonitors, fmt.Sprint("m", first+i))
			}
		}
	}
	return v
}

// TestSharesDisk compares pods with few and many disks with a plain comparison of their volumes.
func TestSharesDisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		var pods [2]*Pod
		var infos [2]*framework.PodInfo
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
			infos[i], pods[i] = info, Of(info)
		}
		want := imagesConflict(pods[0].Exclusive, pods[1].Exclusive)
		for _, a := range pods[0].Exclusive {
			for _, b := range pods[1].Exclusive {
				want = want || disksConflict(a, b)
			}
		}
		if got := besides(t, s, infos).Conflict(pods[1], s.Node("n")); got != want {
			t.Fatalf("counted on a node: %t, want %t", got, want)
		}
		if got, back := pods[0].SharesDisk(pods[1]), pods[1].SharesDisk(pods[0]); got != want || back != want {
			t.Fatalf("%t, the other way %t, want %t", got, back, want)
		}
	})
}

// besides returns the disks in use on a node with the first pod, which has come twice and left once, beside a node with the
// other one.
func besides(t *rapid.T, s *framework.Snapshot, pods [2]*framework.PodInfo) *DiskUses {
	for _, name := range []string{"n", "m"} {
		if err := s.AddNode(api.MakeNode(name, "1", "1Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	fork := s.Fork()
	for i, name := range []string{"n", "m"} {
		must(t, s.AddPod(pods[i], name))
	}
	uses := DiskUsesIn(s)
	must(t, s.AddPod(pods[0], "n"))
	must(t, s.AddPod(pods[1], "n"))
	second := s.Fork()
	must(t, second.RemovePod(pods[0], "n"))
	must(t, s.RemovePod(pods[0], "n"))
	must(t, second.AddPod(pods[1], "m"))
	must(t, second.Check())
	must(t, s.RemovePod(pods[1], "n"))
	must(t, s.Check())
	must(t, fork.Check())
	return uses
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// disksConflict reports whether two pods of a node cannot use both disks, as kube-scheduler's documentation says. Ceph block
// devices are left to imagesConflict.
func disksConflict(a, b *api.Volume) bool {
	if a, b := a.GCEPersistentDisk, b.GCEPersistentDisk; a != nil && b != nil && a.PDName == b.PDName && !(a.ReadOnly && b.ReadOnly) {
		return true
	}
	if a, b := a.AWSElasticBlockStore, b.AWSElasticBlockStore; a != nil && b != nil && a.VolumeID == b.VolumeID {
		return true
	}
	if a, b := a.ISCSI, b.ISCSI; a != nil && b != nil && a.IQN == b.IQN && !(a.ReadOnly && b.ReadOnly) {
		return true
	}
	return false
}

// imagesConflict reports whether the volumes of two pods of a node have an image in common, which one of them writes, with a
// monitor in common. Too many monitors are any.
func imagesConflict(a, b []*api.Volume) bool {
	meet := func(a, b map[string]bool) bool {
		for m := range a {
			if b[m] || len(b) > 0 && max(len(a), len(b)) > mostMonitors {
				return true
			}
		}
		return false
	}
	for _, pool := range []string{"a", "b", "c"} {
		allA, writingA := monitorsOf(a, pool)
		allB, writingB := monitorsOf(b, pool)
		if meet(allA, writingB) || meet(writingA, allB) {
			return true
		}
	}
	return false
}

// monitorsOf are the monitors of the Ceph block devices of a pool, and of those that are written.
func monitorsOf(volumes []*api.Volume, pool string) (all, writing map[string]bool) {
	all, writing = map[string]bool{}, map[string]bool{}
	for _, v := range volumes {
		if v.RBD == nil || v.RBD.RBDPool != pool {
			continue
		}
		for _, m := range v.RBD.CephMonitors {
			if all[m] = true; !v.RBD.ReadOnly {
				writing[m] = true
			}
		}
	}
	return all, writing
}
