//go:build full

package volumes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
)

func TestHandleOf(t *testing.T) {
	tests := []struct {
		name    string
		source  api.VolumeSource
		driver  string
		handle  string
		problem string
	}{
		{"GCE", api.VolumeSource{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: "d"}}, "pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", ""},
		{"EBS", api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}, "ebs.csi.aws.com", "vol-1", ""},
		{"EBS with a zone", api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://eu-1a/vol-1"}}, "ebs.csi.aws.com", "vol-1", ""},
		{"EBS without a zone", api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "aws:///vol-1"}}, "ebs.csi.aws.com", "vol-1", ""},
		{"no EBS", api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://eu-1a/a/vol-1"}}, "ebs.csi.aws.com", "", "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://eu-1a/a/vol-1)"},
		{"Azure", api.VolumeSource{AzureDisk: &api.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "uri"}}, "disk.csi.azure.com", "uri", ""},
		{"Cinder", api.VolumeSource{Cinder: &api.CinderVolumeSource{VolumeID: "id"}}, "cinder.csi.openstack.org", "id", ""},
		{"Portworx", api.VolumeSource{PortworxVolume: &api.PortworxVolumeSource{VolumeID: "id"}}, "pxd.portworx.com", "id", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := inTreeOf(&test.source); got == nil || got.driver != test.driver || !got.countable {
				t.Errorf("inTreeOf = %+v, want the driver %s", got, test.driver)
			}
			got, err := handleOf(&test.source)
			if got != test.handle || (err == nil) != (test.problem == "") || err != nil && err.Error() != test.problem {
				t.Errorf("handleOf = %q, %v; want %q, %q", got, err, test.handle, test.problem)
			}
		})
	}
}

func TestGCEVolumeHandle(t *testing.T) {
	const prefix = "projects/UNSPECIFIED/"
	tests := []struct {
		labels        map[string]string
		want, problem string
	}{
		{nil, prefix + "zones/UNSPECIFIED/disks/d", ""},
		{map[string]string{api.LabelTopologyZone: "us-c1-a"}, prefix + "zones/us-c1-a/disks/d", ""},
		{map[string]string{api.LabelTopologyZone: "us-c1-a", api.LabelFailureDomainZone: "old"}, prefix + "zones/old/disks/d", ""},
		{map[string]string{api.LabelTopologyZone: "us-c1-a__us-c1-b"}, prefix + "regions/us-c1/disks/d", ""},
		{map[string]string{api.LabelTopologyZone: "us-c1-a__eu-c1-b"}, "", "failed to get region from zones: multiple or no regions gotten from zones, got: map[eu-c1:{} us-c1:{}]"},
		{map[string]string{api.LabelTopologyZone: "a__b"}, "", "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: a"},
	}
	for _, test := range tests {
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Labels: test.labels}}
		v.Spec.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: "d"}
		got, err := handleOfVolume(v)
		if got != test.want || (err == nil) != (test.problem == "") || err != nil && err.Error() != test.problem {
			t.Errorf("handle with labels %v = %q, %v; want %q, %q", test.labels, got, err, test.want, test.problem)
		}
	}
}

func TestMigrated(t *testing.T) {
	node := func(annotation string) *api.CSINode {
		return &api.CSINode{ObjectMeta: api.ObjectMeta{Annotations: map[string]string{api.AnnMigratedPlugins: annotation}}}
	}
	for _, test := range []struct {
		node *api.CSINode
		want bool
	}{
		{nil, false},
		{&api.CSINode{}, false},
		{node(""), false},
		{node("kubernetes.io/aws-ebs"), true},
		{node("kubernetes.io/gce-pd,kubernetes.io/aws-ebs"), true},
		{node("kubernetes.io/gce-pd, kubernetes.io/aws-ebs"), false},
	} {
		if got := Migrated(test.node, "kubernetes.io/aws-ebs"); got != test.want {
			t.Errorf("Migrated(%+v) = %v, want %v", test.node, got, test.want)
		}
	}
}

func TestMigratedAffinity(t *testing.T) {
	const zone = "topology.ebs.csi.aws.com/zone"
	in := func(key string, values ...string) api.NodeSelectorRequirement {
		return api.NodeSelectorRequirement{Key: key, Operator: api.NodeSelectorOpIn, Values: values}
	}
	terms := func(list ...[]api.NodeSelectorRequirement) *api.VolumeNodeAffinity {
		s := &api.NodeSelector{}
		for _, requirements := range list {
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, api.NodeSelectorTerm{MatchExpressions: requirements})
		}
		return &api.VolumeNodeAffinity{Required: s}
	}
	type requirements = []api.NodeSelectorRequirement
	tests := []struct {
		name     string
		affinity *api.VolumeNodeAffinity
		labels   map[string]string
		driver   *inTree
		want     *api.VolumeNodeAffinity
	}{
		{"nothing", nil, nil, awsEBS, nil},
		{"the zone in two terms", terms(requirements{in(api.LabelTopologyZone, "a")}, requirements{in("x", "y"), in(api.LabelTopologyZone, "b")}), nil, awsEBS, terms(requirements{in(zone, "a")}, requirements{in("x", "y"), in(zone, "b")})},
		{"old zone and region", terms(requirements{in(api.LabelFailureDomainZone, "a"), in(api.LabelFailureDomainRegion, "r")}), nil, awsEBS, terms(requirements{in(zone, "a"), in(api.LabelTopologyRegion, "r")})},
		{"zones of a label", nil, map[string]string{api.LabelTopologyZone: "b__a__ b__"}, awsEBS, terms(requirements{in(zone, "a", "b")})},
		{"a label beside other terms", terms(requirements{in("x", "y")}, requirements{in("z", "z")}), map[string]string{api.LabelFailureDomainZone: "a"}, awsEBS, terms(requirements{in("x", "y"), in(zone, "a")}, requirements{in("z", "z"), in(zone, "a")})},
		{"the affinity comes before the label", terms(requirements{in(api.LabelTopologyZone, "a")}), map[string]string{api.LabelTopologyZone: "b"}, awsEBS, terms(requirements{in(zone, "a")})},
		{"an empty label", nil, map[string]string{api.LabelTopologyZone: ""}, awsEBS, nil},
		{"a driver without zones", terms(requirements{in(api.LabelTopologyZone, "a")}), nil, azureDisk, terms(requirements{in(api.LabelTopologyZone, "a")})},
		{"no terms", terms(), nil, awsEBS, terms()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Labels: test.labels}}
			v.Spec.NodeAffinity = test.affinity
			before := api.Clone(v)
			if diff := cmp.Diff(test.want, migratedAffinity(v, test.driver)); diff != "" {
				t.Errorf("affinity (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before.Spec.NodeAffinity, v.Spec.NodeAffinity); diff != "" {
				t.Errorf("the volume changed:\n%s", diff)
			}
		})
	}
}
