package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework/api"
)

func TestVolumeZone(t *testing.T) {
	nodes := []*api.Node{
		api.MakeNode("none", "1", "1Gi").Obj(),
		api.MakeNode("a", "1", "1Gi").Zone("a").Region("r").Obj(),
		api.MakeNode("b", "1", "1Gi").Zone("b").Region("r").Obj(),
		api.MakeNode("old", "1", "1Gi").Labels(api.LabelFailureDomainZone, "a").Obj(),
		api.MakeNode("region", "1", "1Gi").Region("r").Obj(),
	}
	const pass, wrong = "Success", "UnschedulableAndUnresolvable: node(s) had no available volume zone"
	tests := []struct {
		name   string
		labels map[string]string
		want   []string
	}{
		{"zone", map[string]string{api.LabelTopologyZone: "a"}, []string{pass, pass, wrong, wrong, wrong}},
		{"old zone", map[string]string{api.LabelFailureDomainZone: "a"}, []string{pass, pass, wrong, pass, wrong}},
		{"two zones", map[string]string{api.LabelTopologyZone: "b__ a "}, []string{pass, pass, pass, wrong, wrong}},
		{"region", map[string]string{api.LabelTopologyRegion: "r"}, []string{pass, pass, pass, wrong, pass}},
		{"old region", map[string]string{api.LabelFailureDomainRegion: "r"}, []string{pass, pass, pass, wrong, pass}},
		{"zone and region", map[string]string{api.LabelTopologyZone: "b", api.LabelTopologyRegion: "r"}, []string{pass, wrong, pass, wrong, wrong}},
		{"a label with an empty part demands nothing", map[string]string{api.LabelTopologyZone: "a__", api.LabelTopologyRegion: "r"}, []string{pass, pass, pass, wrong, pass}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, nodes)
			put(t, s, claimOf("c", "csi", boundTo("v")), volumeOf("v", "csi", "5Gi", func(v *api.PersistentVolume) { v.Labels = test.labels }))
			wantVerdicts(t, s, filter.VolumeZone{}, podMounting("c"), test.want...)
		})
	}
}

func TestVolumeZonePreFilter(t *testing.T) {
	ephemeral := podMounting()
	ephemeral.Spec.Volumes = []api.Volume{{Name: "own", VolumeSource: api.VolumeSource{Ephemeral: &api.EphemeralVolumeSource{}}}}
	tests := []struct {
		name string
		pod  *api.Pod
		want string
	}{
		{"no volumes", podMounting(), "Skip"},
		{"ephemeral", ephemeral, "Skip"},
		{"no zones", podMounting("plain"), "Skip"},
		{"waits", podMounting("late"), "Skip"},
		{"no name", podMounting(""), "UnschedulableAndUnresolvable: PersistentVolumeClaim had no name"},
		{"claim missing", podMounting("none"), `UnschedulableAndUnresolvable: persistentvolumeclaim "none" not found`},
		{"volume missing", podMounting("dangling"), `UnschedulableAndUnresolvable: persistentvolume "gone" not found`},
		{"class missing", podMounting("no-such-class"), `UnschedulableAndUnresolvable: storageclass.storage.k8s.io "gone" not found`},
		{"no class", podMounting("classless"), "UnschedulableAndUnresolvable: PersistentVolumeClaim had no pv name and storageClass name"},
		{"mode unset", podMounting("unset"), `UnschedulableAndUnresolvable: VolumeBindingMode not set for StorageClass "unset"`},
		{"immediate", podMounting("now"), "UnschedulableAndUnresolvable: PersistentVolume had no name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, twoZones())
			put(t, s, classOf("late", "csi", late), classOf("now", "csi", now), &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "unset"}},
				volumeOf("v", "csi", "5Gi"), claimOf("plain", "csi", boundTo("v")), claimOf("late", "late"), claimOf("now", "now"),
				claimOf("unset", "unset"), claimOf("classless", ""), claimOf("no-such-class", "gone"), claimOf("dangling", "csi", boundTo("gone")))
			wantPreFilter(t, s, filter.VolumeZone{}, test.pod, test.want, false)
		})
	}
}
