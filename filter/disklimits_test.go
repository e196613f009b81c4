package filter_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestDiskLimits fills a node with disks up to its limit and asks for one more.
func TestDiskLimits(t *testing.T) {
	ebs := func(id string) (s api.VolumeSource) {
		s.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: id}
		return s
	}
	gce := func(id string) (s api.VolumeSource) {
		s.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: id}
		return s
	}
	azure := func(id string) (s api.VolumeSource) {
		s.AzureDisk = &api.AzureDiskVolumeSource{DiskName: id}
		return s
	}
	cinder := func(id string) (s api.VolumeSource) {
		s.Cinder = &api.CinderVolumeSource{VolumeID: id}
		return s
	}
	machine := func(label, value string) api.NodeBuilder {
		return api.MakeNode("n", "4", "4Gi").Labels(label, value)
	}
	const present, old = "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"
	tests := []struct {
		name   string
		plugin framework.Plugin
		disk   func(id string) api.VolumeSource
		node   api.NodeBuilder
		limit  int
	}{
		{"EBS", filter.EBSLimits{}, ebs, machine("a", "b"), 39},
		{"EBS m5", filter.EBSLimits{}, ebs, machine(present, "m5.large"), 25},
		{"EBS c5d by the old label", filter.EBSLimits{}, ebs, machine(old, "c5d.xlarge"), 25},
		{"EBS t3", filter.EBSLimits{}, ebs, machine(present, "t3.micro"), 25},
		{"EBS z1d", filter.EBSLimits{}, ebs, machine(present, "z1d.metal"), 25},
		{"EBS m4", filter.EBSLimits{}, ebs, machine(present, "m4.large"), 39},
		{"EBS xm5", filter.EBSLimits{}, ebs, machine(present, "xm5"), 39},
		{"EBS, both labels", filter.EBSLimits{}, ebs, machine(present, "m4.large").Labels(old, "m5.large"), 39},
		{"EBS, configured", filter.EBSLimits{MaxVolumes: 3}, ebs, machine(present, "m5.large"), 3},
		{"EBS, the node tells", filter.EBSLimits{MaxVolumes: 3}, ebs, machine("a", "b").Resource("attachable-volumes-aws-ebs", "5"), 5},
		{"EBS, a negative configuration", filter.EBSLimits{MaxVolumes: -3}, ebs, machine("a", "b"), 39},
		{"GCE", filter.GCEPDLimits{}, gce, machine("a", "b"), 16},
		{"GCE, the node tells", filter.GCEPDLimits{}, gce, machine("a", "b").Resource("attachable-volumes-gce-pd", "2"), 2},
		{"Azure", filter.AzureDiskLimits{}, azure, machine("a", "b"), 16},
		{"Azure, the node tells", filter.AzureDiskLimits{}, azure, machine("a", "b").Resource("attachable-volumes-azure-disk", "0"), 0},
		{"Cinder", filter.CinderLimits{}, cinder, machine("a", "b"), 256},
		{"Cinder, configured", filter.CinderLimits{MaxVolumes: 1}, cinder, machine("a", "b"), 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			full := api.MakePod("full").Node("n").Obj()
			for i := range test.limit {
				full.Spec.Volumes = append(full.Spec.Volumes, api.Volume{Name: fmt.Sprint(i), VolumeSource: test.disk(fmt.Sprint("d", i))})
			}
			s := snapshotOf(t, []*api.Node{test.node.Obj()}, full)
			wantVerdicts(t, s, test.plugin, withVolume("p", test.disk("new")), "Unschedulable: node(s) exceed max volume count")
			if test.limit > 0 { // an attached disk passes, and a new one passes once another has left
				wantVerdicts(t, s, test.plugin, withVolume("p", test.disk("d0")), "Success")
				full.Spec.Volumes = full.Spec.Volumes[1:]
				s = snapshotOf(t, []*api.Node{test.node.Obj()}, full)
				wantVerdicts(t, s, test.plugin, withVolume("p", test.disk("new")), "Success")
			}
		})
	}
}

func TestDiskLimitsClaims(t *testing.T) {
	const pass, tooMany = "Success", "Unschedulable: node(s) exceed max volume count"
	disk := func(id string) func(*api.PersistentVolume) {
		return func(v *api.PersistentVolume) {
			v.Spec.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: id}
		}
	}
	taken := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "a", Annotations: map[string]string{api.AnnMigratedPlugins: "kubernetes.io/gce-pd"}}}
	tests := []struct {
		name    string
		pod     *api.Pod
		objects []any
		want    string
	}{
		{"two disks", podMounting("c1", "c2"), nil, tooMany},
		{"one disk twice", podMounting("c1", "same"), nil, pass},
		{"to be made", podMounting("c1", "new"), nil, tooMany},
		{"volume gone, class of the kind", podMounting("c1", "dangling"), nil, tooMany},
		{"class of another kind", podMounting("c1", "other"), nil, pass},
		{"no class", podMounting("c1", "classless"), nil, pass},
		{"volume of another kind", podMounting("c1", "csi"), nil, pass},
		{"claim missing", podMounting("c1", "none"), nil, pass},
		{"a driver took over", podMounting("c1", "c2"), []any{taken}, pass},
		{"no name", podMounting("c1", ""), nil, "Error: PersistentVolumeClaim had no name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, twoZones()[:1])
			put(t, s, classOf("pd", "kubernetes.io/gce-pd", late), classOf("other", "csi", late),
				claimOf("c1", "pd", boundTo("v1")), claimOf("c2", "pd", boundTo("v2")), claimOf("same", "pd", boundTo("v3")),
				volumeOf("v1", "pd", "1Gi", disk("d1")), volumeOf("v2", "pd", "1Gi", disk("d2")), volumeOf("v3", "pd", "1Gi", disk("d1")),
				claimOf("new", "pd"), claimOf("dangling", "pd", boundTo("gone")), claimOf("other", "other"),
				claimOf("classless", "", func(c *api.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }),
				claimOf("csi", "other", boundTo("v4")), volumeOf("v4", "other", "1Gi", csiVolume("h")))
			put(t, s, test.objects...)
			wantVerdicts(t, s, filter.GCEPDLimits{MaxVolumes: 1}, test.pod, test.want)
		})
	}
	wantPreFilter(t, snapshotOf(t, twoZones()), filter.GCEPDLimits{}, withVolume("p", api.VolumeSource{
		AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "v"},
	}), "Skip", false)
}
