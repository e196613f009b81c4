package volumes

import (
	"fmt"
	"slices"
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
			for i := range 2 * fewNames {
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
		want := false
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

// disksConflict reports whether two pods of a node cannot use both disks, as kube-scheduler's documentation says.
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
	if a, b := a.RBD, b.RBD; a != nil && b != nil && a.RBDPool == b.RBDPool && a.RBDImage == b.RBDImage && !(a.ReadOnly && b.ReadOnly) {
		return slices.ContainsFunc(a.CephMonitors, func(m string) bool { return slices.Contains(b.CephMonitors, m) })
	}
	return false
}
