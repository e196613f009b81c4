package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// withVolume makes a pod that mounts one volume.
func withVolume(name string, source api.VolumeSource) *api.Pod {
	p := api.MakePod(name).Obj()
	p.Spec.Volumes = []api.Volume{{Name: "v", VolumeSource: source}}
	return p
}

func TestVolumeRestrictionsDisks(t *testing.T) {
	gce := func(name string, readOnly bool) api.VolumeSource {
		return api.VolumeSource{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}}
	}
	ebs := func(id string, readOnly bool) api.VolumeSource {
		return api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: id, ReadOnly: readOnly}}
	}
	iscsi := func(iqn string, lun int32, readOnly bool) api.VolumeSource {
		return api.VolumeSource{ISCSI: &api.ISCSIVolumeSource{IQN: iqn, Lun: lun, ReadOnly: readOnly}}
	}
	rbd := func(pool, image string, readOnly bool, monitors ...string) api.VolumeSource {
		return api.VolumeSource{RBD: &api.RBDVolumeSource{CephMonitors: monitors, RBDPool: pool, RBDImage: image, ReadOnly: readOnly}}
	}
	const pass, taken = "Success", "Unschedulable: node(s) had no available disk"
	tests := []struct {
		name         string
		wanted, used api.VolumeSource
		want         string
	}{
		{"GCE, both write", gce("d", false), gce("d", false), taken},
		{"GCE, one writes", gce("d", true), gce("d", false), taken},
		{"GCE, both read", gce("d", true), gce("d", true), pass},
		{"GCE, another", gce("d", false), gce("e", false), pass},
		{"EBS, both read", ebs("v", true), ebs("v", true), taken},
		{"EBS, another", ebs("v", true), ebs("w", true), pass},
		{"iSCSI, another unit", iscsi("q", 1, false), iscsi("q", 2, true), taken},
		{"iSCSI, both read", iscsi("q", 1, true), iscsi("q", 1, true), pass},
		{"RBD, a monitor in common", rbd("p", "i", false, "1", "2"), rbd("p", "i", true, "3", "2"), taken},
		{"RBD, no monitor in common", rbd("p", "i", false, "1"), rbd("p", "i", false, "3", "2"), pass},
		{"RBD, no monitors", rbd("p", "i", false), rbd("p", "i", false), pass},
		{"RBD, another pool", rbd("p", "i", false, "1"), rbd("q", "i", false, "1"), pass},
		{"RBD, another image", rbd("p", "i", false, "1"), rbd("p", "j", false, "1"), pass},
		{"RBD, both read", rbd("p", "i", true, "1"), rbd("p", "i", true, "1"), pass},
		{"kinds differ", gce("d", false), ebs("d", false), pass},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			used := withVolume("used", test.used)
			used.Spec.NodeName = "a"
			s := snapshotOf(t, twoZones(), used)
			wantVerdicts(t, s, filter.VolumeRestrictions{}, withVolume("p", test.wanted), test.want, pass)
		})
	}
}

func TestVolumeRestrictionsClaims(t *testing.T) {
	single := func(c *api.PersistentVolumeClaim) {
		c.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOncePod}
	}
	user := podMounting("single", "shared")
	user.Name, user.UID, user.Spec.NodeName = "user", "uid-user", "b"
	const inUse = "Unschedulable: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
	snapshot := func() *framework.Snapshot {
		s := snapshotOf(t, twoZones(), user)
		put(t, s, claimOf("single", "csi", single), claimOf("free", "csi", single), claimOf("shared", "csi"))
		return s
	}
	t.Run("in use", func(t *testing.T) {
		wantVerdicts(t, snapshot(), filter.VolumeRestrictions{}, podMounting("free", "single"), inUse, inUse)
	})
	for _, test := range []struct {
		name, want string
		pod        *api.Pod
	}{
		{"not in use", "Skip", podMounting("free")},
		{"may be shared", "Skip", podMounting("shared")},
		{"no volumes", "Skip", podMounting()},
		{"missing", `UnschedulableAndUnresolvable: persistentvolumeclaim "none" not found`, podMounting("shared", "none")},
		{"no name", `UnschedulableAndUnresolvable: persistentvolumeclaim "" not found`, podMounting("")},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantPreFilter(t, snapshot(), filter.VolumeRestrictions{}, test.pod, test.want, false)
		})
	}
	t.Run("another namespace", func(t *testing.T) {
		s := snapshot()
		other := claimOf("single", "csi", single)
		other.Namespace = "team"
		put(t, s, other)
		pod := podMounting("single")
		pod.Namespace = "team"
		wantPreFilter(t, s, filter.VolumeRestrictions{}, pod, "Skip", false)
	})
	t.Run("the user leaves and comes", func(t *testing.T) {
		s := snapshot()
		m := s.Begin()
		if err := s.RemovePod(podInfo(t, s, user), "b"); err != nil {
			t.Fatal(err)
		}
		wantPreFilter(t, s, filter.VolumeRestrictions{}, podMounting("single"), "Skip", false)
		f := s.Fork()
		s.Rollback(m)
		wantVerdicts(t, s, filter.VolumeRestrictions{}, podMounting("single"), inUse, inUse)
		wantPreFilter(t, f, filter.VolumeRestrictions{}, podMounting("single"), "Skip", false)
	})
}

// TestVolumeRestrictionsUpdates counts added and removed pods by the names of their
// claims alone.
func TestVolumeRestrictionsUpdates(t *testing.T) {
	user := podMounting("single")
	user.Name, user.UID, user.Spec.NodeName = "user", "uid-user", "b"
	s := snapshotOf(t, twoZones(), user)
	put(t, s, claimOf("single", "csi", func(c *api.PersistentVolumeClaim) {
		c.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOncePod}
	}))
	var c framework.Cycle
	c.Reset(podInfo(t, s, podMounting("single")), s, 0, 0)
	bound, status := filter.VolumeRestrictions{}.PreFilter(&c)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	verdict := func(f framework.NodeFilter) framework.Code { return f.Filter(c.Pod, s.Node("a")).Code() }
	stranger := podMounting("single")
	stranger.Namespace = "team"
	fork := bound.Filter.(framework.FilterUpdater).Fork()
	if fork.RemovePod(&c, podInfo(t, s, user), s.Node("b")); verdict(fork) != framework.Success {
		t.Error("without the user the claim is still in use")
	}
	if verdict(bound.Filter) != framework.Unschedulable {
		t.Error("what was told to the fork shows in the original")
	}
	if fork.AddPod(&c, podInfo(t, s, stranger), s.Node("b")); verdict(fork) != framework.Unschedulable {
		t.Error("a claim of that name in another namespace is not counted, as kube-scheduler does")
	}
}
