package volumes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
)

func TestHandleOf(t *testing.T) {
	tests := []struct {
		name    string
		source  framework.VolumeSource
		driver  string
		handle  string
		problem string
	}{
		{"GCE", framework.VolumeSource{GCEPersistentDisk: &framework.GCEPersistentDiskVolumeSource{PDName: "d"}}, "pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", ""},
		{"EBS", framework.VolumeSource{AWSElasticBlockStore: &framework.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}, "ebs.csi.aws.com", "vol-1", ""},
		{"EBS with a zone", framework.VolumeSource{AWSElasticBlockStore: &framework.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://eu-1a/vol-1"}}, "ebs.csi.aws.com", "vol-1", ""},
		{"EBS without a zone", framework.VolumeSource{AWSElasticBlockStore: &framework.AWSElasticBlockStoreVolumeSource{VolumeID: "aws:///vol-1"}}, "ebs.csi.aws.com", "vol-1", ""},
		{"no EBS", framework.VolumeSource{AWSElasticBlockStore: &framework.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://eu-1a/a/vol-1"}}, "ebs.csi.aws.com", "", "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://eu-1a/a/vol-1)"},
		{"Azure", framework.VolumeSource{AzureDisk: &framework.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "uri"}}, "disk.csi.azure.com", "uri", ""},
		{"Cinder", framework.VolumeSource{Cinder: &framework.CinderVolumeSource{VolumeID: "id"}}, "cinder.csi.openstack.org", "id", ""},
		{"Portworx", framework.VolumeSource{PortworxVolume: &framework.PortworxVolumeSource{VolumeID: "id"}}, "pxd.portworx.com", "id", ""},
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
		{map[string]string{framework.LabelTopologyZone: "us-c1-a"}, prefix + "zones/us-c1-a/disks/d", ""},
		{map[string]string{framework.LabelTopologyZone: "us-c1-a", framework.LabelFailureDomainZone: "old"}, prefix + "zones/old/disks/d", ""},
		{map[string]string{framework.LabelTopologyZone: "us-c1-a__us-c1-b"}, prefix + "regions/us-c1/disks/d", ""},
		{map[string]string{framework.LabelTopologyZone: "us-c1-a__eu-c1-b"}, "", "failed to get region from zones: multiple or no regions gotten from zones, got: map[eu-c1:{} us-c1:{}]"},
		{map[string]string{framework.LabelTopologyZone: "a__b"}, "", "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: a"},
	}
	for _, test := range tests {
		v := &framework.PersistentVolume{ObjectMeta: framework.ObjectMeta{Labels: test.labels}}
		v.Spec.GCEPersistentDisk = &framework.GCEPersistentDiskVolumeSource{PDName: "d"}
		got, err := handleOfVolume(v)
		if got != test.want || (err == nil) != (test.problem == "") || err != nil && err.Error() != test.problem {
			t.Errorf("handle with labels %v = %q, %v; want %q, %q", test.labels, got, err, test.want, test.problem)
		}
	}
}

func TestMigrated(t *testing.T) {
	node := func(annotation string) *framework.CSINode {
		return &framework.CSINode{ObjectMeta: framework.ObjectMeta{Annotations: map[string]string{framework.AnnMigratedPlugins: annotation}}}
	}
	for _, test := range []struct {
		node *framework.CSINode
		want bool
	}{
		{nil, false},
		{&framework.CSINode{}, false},
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
	in := func(key string, values ...string) framework.NodeSelectorRequirement {
		return framework.NodeSelectorRequirement{Key: key, Operator: framework.NodeSelectorOpIn, Values: values}
	}
	terms := func(list ...[]framework.NodeSelectorRequirement) *framework.VolumeNodeAffinity {
		s := &framework.NodeSelector{}
		for _, requirements := range list {
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, framework.NodeSelectorTerm{MatchExpressions: requirements})
		}
		return &framework.VolumeNodeAffinity{Required: s}
	}
	type requirements = []framework.NodeSelectorRequirement
	tests := []struct {
		name     string
		affinity *framework.VolumeNodeAffinity
		labels   map[string]string
		driver   *inTree
		want     *framework.VolumeNodeAffinity
	}{
		{"nothing", nil, nil, awsEBS, nil},
		{"the zone in two terms", terms(requirements{in(framework.LabelTopologyZone, "a")}, requirements{in("x", "y"), in(framework.LabelTopologyZone, "b")}), nil, awsEBS, terms(requirements{in(zone, "a")}, requirements{in("x", "y"), in(zone, "b")})},
		{"old zone and region", terms(requirements{in(framework.LabelFailureDomainZone, "a"), in(framework.LabelFailureDomainRegion, "r")}), nil, awsEBS, terms(requirements{in(zone, "a"), in(framework.LabelTopologyRegion, "r")})},
		{"zones of a label", nil, map[string]string{framework.LabelTopologyZone: "b__a__ b__"}, awsEBS, terms(requirements{in(zone, "a", "b")})},
		{"a label beside other terms", terms(requirements{in("x", "y")}, requirements{in("z", "z")}), map[string]string{framework.LabelFailureDomainZone: "a"}, awsEBS, terms(requirements{in("x", "y"), in(zone, "a")}, requirements{in("z", "z"), in(zone, "a")})},
		{"the affinity comes before the label", terms(requirements{in(framework.LabelTopologyZone, "a")}), map[string]string{framework.LabelTopologyZone: "b"}, awsEBS, terms(requirements{in(zone, "a")})},
		{"an empty label", nil, map[string]string{framework.LabelTopologyZone: ""}, awsEBS, nil},
		{"a driver without zones", terms(requirements{in(framework.LabelTopologyZone, "a")}), nil, azureDisk, terms(requirements{in(framework.LabelTopologyZone, "a")})},
		{"no terms", terms(), nil, awsEBS, terms()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := &framework.PersistentVolume{ObjectMeta: framework.ObjectMeta{Labels: test.labels}}
			v.Spec.NodeAffinity = test.affinity
			before := framework.Clone(v)
			if diff := cmp.Diff(test.want, migratedAffinity(v, test.driver)); diff != "" {
				t.Errorf("affinity (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before.Spec.NodeAffinity, v.Spec.NodeAffinity); diff != "" {
				t.Errorf("the volume changed:\n%s", diff)
			}
		})
	}
}
