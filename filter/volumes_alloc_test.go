//go:build full

package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestFilteringVolumesDoesNotAllocate calls bound filters over and over, on nodes
// that pass and on nodes that do not. Preparing them may need memory.
func TestFilteringVolumesDoesNotAllocate(t *testing.T) {
	disk := api.VolumeSource{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: "d"}}
	there := using("a", "there")
	there.Spec.Volumes = append(there.Spec.Volumes, api.Volume{Name: "d", VolumeSource: disk})
	s := snapshotOf(t, twoZones(), there)
	zone := api.LabelTopologyZone
	counting := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "csi"}}
	counting.Spec.StorageCapacity = new(true)
	room := &api.CSIStorageCapacity{ObjectMeta: api.ObjectMeta{Name: "r"}, StorageClassName: "csi"}
	room.Capacity = new(list("storage", "50Gi")["storage"])
	room.NodeTopology = &api.LabelSelector{MatchLabels: map[string]string{zone: "a"}}
	put(t, s, classOf("local", "kubernetes.io/no-provisioner", late), classOf("csi", "csi", late), counting, room,
		withDriver("a", "csi", 1), withDriver("b", "csi", 5), claimOf("there", "csi", boundTo("v3")), volumeOf("v3", "csi", "5Gi", csiVolume("h3")),
		claimOf("bound", "csi", boundTo("v2")), volumeOf("v2", "csi", "5Gi", csiVolume("h2"), onlyFrom(zone, "a"), func(v *api.PersistentVolume) {
			v.Labels = map[string]string{zone: "a"}
		}), claimOf("late", "local"), volumeOf("v1", "local", "5Gi", onlyFrom(zone, "a")), claimOf("new", "csi"))
	for _, test := range []struct {
		name   string
		plugin framework.PreFilterPlugin
		pod    *api.Pod
	}{
		{"bound", filter.VolumeBinding{}, podMounting("bound")},
		{"binding", filter.VolumeBinding{}, podMounting("late")},
		{"provisioning", filter.VolumeBinding{}, podMounting("new", "late")},
		{"zones", filter.VolumeZone{}, podMounting("bound")},
		{"limits", filter.NodeVolumeLimits{}, podMounting("bound", "new")},
		{"disks", filter.VolumeRestrictions{}, withVolume("p", disk)},
		{"older limits", filter.GCEPDLimits{MaxVolumes: 1}, withVolume("p", api.VolumeSource{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: "e"}})},
	} {
		var c framework.Cycle
		c.Reset(podInfo(t, s, test.pod), s, 0, 0)
		bound, status := test.plugin.PreFilter(&c)
		if !status.IsSuccess() {
			t.Fatalf("%s: %v", test.name, status)
		}
		passed, rejected := 0, 0
		if n := testing.AllocsPerRun(100, func() {
			for i := range s.Len() {
				if status := bound.Filter.Filter(c.Pod, s.At(i)); status.IsRejected() {
					rejected++
				} else {
					passed++
				}
			}
		}); n != 0 {
			t.Errorf("%s: filtering allocates %v times, want 0", test.name, n)
		}
		if rejected == 0 || passed == 0 {
			t.Errorf("%s: %d rejected and %d passed; the test needs both", test.name, rejected, passed)
		}
	}
}
