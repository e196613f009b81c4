package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A volume has a name and exactly one source. These are the sources that no
// plugin looks at, and the one that most plugins look at: a claim.
func ExampleVolume() {
	limit := resource.MustParse("1Gi")
	volumes := []framework.Volume{
		{Name: "data", VolumeSource: framework.VolumeSource{PersistentVolumeClaim: &framework.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
		{Name: "tmp", VolumeSource: framework.VolumeSource{EmptyDir: &framework.EmptyDirVolumeSource{Medium: framework.StorageMediumMemory, SizeLimit: &limit}}},
		{Name: "logs", VolumeSource: framework.VolumeSource{HostPath: &framework.HostPathVolumeSource{Path: "/var/log"}}},
		{Name: "keys", VolumeSource: framework.VolumeSource{Secret: &framework.SecretVolumeSource{SecretName: "keys"}}},
		{Name: "conf", VolumeSource: framework.VolumeSource{ConfigMap: &framework.ConfigMapVolumeSource{Name: "conf"}}},
		{Name: "model", VolumeSource: framework.VolumeSource{Image: &framework.ImageVolumeSource{Reference: "example.com/model:7", PullPolicy: framework.PullIfNotPresent}}},
		{Name: "share", VolumeSource: framework.VolumeSource{NFS: &framework.NFSVolumeSource{Server: "nfs.example.com", Path: "/share"}}},
	}
	pod := framework.MakePod("web").Obj()
	pod.Spec.Volumes = volumes
	for _, v := range pod.Spec.Volumes {
		printJSON(v)
	}
	// Output:
	// {"name":"data","persistentVolumeClaim":{"claimName":"data"}}
	// {"name":"tmp","emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}}
	// {"name":"logs","hostPath":{"path":"/var/log"}}
	// {"name":"keys","secret":{"secretName":"keys"}}
	// {"name":"conf","configMap":{"name":"conf"}}
	// {"name":"model","image":{"reference":"example.com/model:7","pullPolicy":"IfNotPresent"}}
	// {"name":"share","nfs":{"server":"nfs.example.com","path":"/share"}}
}

// Disks that a pod mounts without a claim: filter.VolumeRestrictions keeps two
// pods from one of them, and the plugins of a disk limit count them.
func ExampleVolumeSource() {
	sources := []framework.VolumeSource{
		{GCEPersistentDisk: &framework.GCEPersistentDiskVolumeSource{PDName: "disk-1", ReadOnly: true}},
		{AWSElasticBlockStore: &framework.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}},
		{AzureDisk: &framework.AzureDiskVolumeSource{DiskName: "disk-2", DataDiskURI: "/disks/2"}},
		{AzureFile: &framework.AzureFileVolumeSource{SecretName: "key", ShareName: "share"}},
		{Cinder: &framework.CinderVolumeSource{VolumeID: "vol-2"}},
		{RBD: &framework.RBDVolumeSource{CephMonitors: []string{"10.0.0.1:6789"}, RBDPool: "kube", RBDImage: "image"}},
		{ISCSI: &framework.ISCSIVolumeSource{TargetPortal: "10.0.0.2:3260", IQN: "iqn.2026-01.com.example:disk", Lun: 1}},
		{VsphereVolume: &framework.VsphereVirtualDiskVolumeSource{VolumePath: "[store] disk.vmdk"}},
		{PortworxVolume: &framework.PortworxVolumeSource{VolumeID: "vol-3"}},
		{CSI: &framework.CSIVolumeSource{Driver: "secrets.csi.example.com", ReadOnly: new(true)}},
	}
	for _, s := range sources {
		printJSON(s)
	}
	// Output:
	// {"gcePersistentDisk":{"pdName":"disk-1","readOnly":true}}
	// {"awsElasticBlockStore":{"volumeID":"vol-1"}}
	// {"azureDisk":{"diskName":"disk-2","diskURI":"/disks/2"}}
	// {"azureFile":{"secretName":"key","shareName":"share"}}
	// {"cinder":{"volumeID":"vol-2"}}
	// {"rbd":{"monitors":["10.0.0.1:6789"],"image":"image","pool":"kube"}}
	// {"iscsi":{"targetPortal":"10.0.0.2:3260","iqn":"iqn.2026-01.com.example:disk","lun":1}}
	// {"vsphereVolume":{"volumePath":"[store] disk.vmdk"}}
	// {"portworxVolume":{"volumeID":"vol-3"}}
	// {"csi":{"driver":"secrets.csi.example.com","readOnly":true}}
}

// An ephemeral volume is a claim that lives and dies with its pod: its name is
// the pod's and the volume's.
func ExampleEphemeralVolumeSource() {
	v := framework.Volume{Name: "scratch"}
	v.Ephemeral = &framework.EphemeralVolumeSource{VolumeClaimTemplate: &framework.PersistentVolumeClaimTemplate{
		Spec: framework.PersistentVolumeClaimSpec{
			StorageClassName: new("fast"),
			AccessModes:      []framework.PersistentVolumeAccessMode{framework.ReadWriteOnce},
			Resources: framework.VolumeResourceRequirements{
				Requests: resource.List{resource.Storage: resource.MustParse("10Gi")},
			},
		},
	}}
	pod := framework.MakePod("web").Volume(v).Obj()
	fmt.Println(pod.Name + "-" + pod.Spec.Volumes[0].Name)
	printJSON(v.Ephemeral.VolumeClaimTemplate.Spec)
	// Output:
	// web-scratch
	// {"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"10Gi"}},"storageClassName":"fast"}
}

// A local disk says which node it is on.
func ExamplePersistentVolumeSpec() {
	block := framework.PersistentVolumeBlock
	v := framework.PersistentVolume{
		ObjectMeta: framework.ObjectMeta{Name: "disk-of-n2"},
		Spec: framework.PersistentVolumeSpec{
			Capacity:               resource.List{resource.Storage: resource.MustParse("1Ti")},
			PersistentVolumeSource: framework.PersistentVolumeSource{Local: &framework.LocalVolumeSource{Path: "/dev/sdb"}},
			AccessModes:            []framework.PersistentVolumeAccessMode{framework.ReadWriteOnce},
			ClaimRef:               &framework.ObjectReference{Namespace: "shop", Name: "data"},
			StorageClassName:       "local",
			VolumeMode:             &block,
			NodeAffinity: &framework.VolumeNodeAffinity{Required: &framework.NodeSelector{
				NodeSelectorTerms: []framework.NodeSelectorTerm{{MatchExpressions: []framework.NodeSelectorRequirement{
					{Key: framework.LabelHostname, Operator: framework.NodeSelectorOpIn, Values: []string{"n2"}},
				}}},
			}},
		},
		Status: framework.PersistentVolumeStatus{Phase: framework.VolumeAvailable},
	}
	fmt.Println(v.Name, v.Status.Phase, "kept for", v.Spec.ClaimRef.Namespace+"/"+v.Spec.ClaimRef.Name)
	// Output: disk-of-n2 Available kept for shop/data
}

// What a volume is made of, where that differs from what a pod would mount.
func ExamplePersistentVolumeSource() {
	sources := []framework.PersistentVolumeSource{
		{CSI: &framework.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-1"}},
		{AzureFile: &framework.AzureFilePersistentVolumeSource{SecretName: "key", ShareName: "share", SecretNamespace: new("kube-system")}},
		{Cinder: &framework.CinderPersistentVolumeSource{VolumeID: "vol-2"}},
		{RBD: &framework.RBDPersistentVolumeSource{CephMonitors: []string{"10.0.0.1:6789"}, RBDImage: "image"}},
		{ISCSI: &framework.ISCSIPersistentVolumeSource{TargetPortal: "10.0.0.2:3260", IQN: "iqn.2026-01.com.example:disk"}},
	}
	for _, s := range sources {
		printJSON(s)
	}
	// Output:
	// {"csi":{"driver":"ebs.csi.aws.com","volumeHandle":"vol-1"}}
	// {"azureFile":{"secretName":"key","shareName":"share","secretNamespace":"kube-system"}}
	// {"cinder":{"volumeID":"vol-2"}}
	// {"rbd":{"monitors":["10.0.0.1:6789"],"image":"image"}}
	// {"iscsi":{"targetPortal":"10.0.0.2:3260","iqn":"iqn.2026-01.com.example:disk","lun":0}}
}

// A claim without a class of its own that has found its volume.
func ExamplePersistentVolumeClaimSpec() {
	c := framework.PersistentVolumeClaim{
		ObjectMeta: framework.ObjectMeta{Namespace: "shop", Name: "data"},
		Spec: framework.PersistentVolumeClaimSpec{
			AccessModes: []framework.PersistentVolumeAccessMode{framework.ReadWriteOncePod},
			Resources:   framework.VolumeResourceRequirements{Requests: resource.List{resource.Storage: resource.MustParse("5Gi")}},
			VolumeName:  "pv-1",
		},
		Status: framework.PersistentVolumeClaimStatus{Phase: framework.ClaimBound},
	}
	fmt.Println(c.Key(), c.Status.Phase, "to", c.Spec.VolumeName)
	// Output: shop/data Bound to pv-1
}

// A class of volumes that are made where the pod goes, in two zones only.
func ExampleVolumeBindingMode() {
	mode := framework.VolumeBindingWaitForFirstConsumer
	c := framework.StorageClass{
		ObjectMeta:        framework.ObjectMeta{Name: "zonal"},
		Provisioner:       "ebs.csi.aws.com",
		VolumeBindingMode: &mode,
		AllowedTopologies: []framework.TopologySelectorTerm{{
			MatchLabelExpressions: []framework.TopologySelectorLabelRequirement{
				{Key: framework.LabelTopologyZone, Values: []string{"eu-1a", "eu-1b"}},
			},
		}},
	}
	fmt.Println(*c.VolumeBindingMode, c.AllowedTopologies[0].MatchLabelExpressions[0].Values)
	// Output: WaitForFirstConsumer [eu-1a eu-1b]
}

// How many volumes of a driver a node can hold.
func ExampleCSINodeDriver() {
	n := framework.CSINode{
		ObjectMeta: framework.ObjectMeta{Name: "n1"},
		Spec: framework.CSINodeSpec{Drivers: []framework.CSINodeDriver{{
			Name:        "ebs.csi.aws.com",
			NodeID:      "i-1",
			Allocatable: &framework.VolumeNodeResources{Count: new(int32(25))},
		}}},
	}
	fmt.Println(n.Name, n.Spec.Drivers[0].Name, *n.Spec.Drivers[0].Allocatable.Count)
	// Output: n1 ebs.csi.aws.com 25
}

func ExampleCSIDriverSpec() {
	d := framework.CSIDriver{
		ObjectMeta: framework.ObjectMeta{Name: "local.csi.example.com"},
		Spec:       framework.CSIDriverSpec{AttachRequired: new(false), StorageCapacity: new(true)},
	}
	printJSON(d.Spec)
	// Output: {"attachRequired":false,"storageCapacity":true}
}

// A volume that is, or soon will be, at a node counts against the node's limit
// even before its pod is known to be there.
func ExampleVolumeAttachmentSpec() {
	a := framework.VolumeAttachment{
		ObjectMeta: framework.ObjectMeta{Name: "a-1"},
		Spec: framework.VolumeAttachmentSpec{
			Attacher: "ebs.csi.aws.com",
			NodeName: "n1",
			Source:   framework.VolumeAttachmentSource{PersistentVolumeName: new("pv-1")},
		},
		Status: framework.VolumeAttachmentStatus{Attached: true},
	}
	fmt.Println(*a.Spec.Source.PersistentVolumeName, "at", a.Spec.NodeName, a.Status.Attached)
	// Output: pv-1 at n1 true
}
