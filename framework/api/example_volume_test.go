package api_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A volume has a name and exactly one source. These are sources that no plugin
// reads, and the one that most plugins read: a claim.
func ExampleVolume() {
	limit := resource.MustParse("1Gi")
	volumes := []api.Volume{
		{Name: "data", VolumeSource: api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
		{Name: "tmp", VolumeSource: api.VolumeSource{EmptyDir: &api.EmptyDirVolumeSource{Medium: api.StorageMediumMemory, SizeLimit: &limit}}},
		{Name: "logs", VolumeSource: api.VolumeSource{HostPath: &api.HostPathVolumeSource{Path: "/var/log"}}},
		{Name: "keys", VolumeSource: api.VolumeSource{Secret: &api.SecretVolumeSource{SecretName: "keys"}}},
		{Name: "conf", VolumeSource: api.VolumeSource{ConfigMap: &api.ConfigMapVolumeSource{Name: "conf"}}},
		{Name: "model", VolumeSource: api.VolumeSource{Image: &api.ImageVolumeSource{Reference: "example.com/model:7", PullPolicy: api.PullIfNotPresent}}},
		{Name: "share", VolumeSource: api.VolumeSource{NFS: &api.NFSVolumeSource{Server: "nfs.example.com", Path: "/share"}}},
	}
	pod := api.MakePod("web").Obj()
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

// Disks that a pod mounts without a claim: filter.VolumeRestrictions keeps two pods
// from sharing one, and the disk-limit plugins count them.
func ExampleVolumeSource() {
	sources := []api.VolumeSource{
		{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: "disk-1", ReadOnly: true}},
		{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}},
		{AzureDisk: &api.AzureDiskVolumeSource{DiskName: "disk-2", DataDiskURI: "/disks/2"}},
		{AzureFile: &api.AzureFileVolumeSource{SecretName: "key", ShareName: "share"}},
		{Cinder: &api.CinderVolumeSource{VolumeID: "vol-2"}},
		{RBD: &api.RBDVolumeSource{CephMonitors: []string{"10.0.0.1:6789"}, RBDPool: "kube", RBDImage: "image"}},
		{ISCSI: &api.ISCSIVolumeSource{TargetPortal: "10.0.0.2:3260", IQN: "iqn.2026-01.com.example:disk", Lun: 1}},
		{VsphereVolume: &api.VsphereVirtualDiskVolumeSource{VolumePath: "[store] disk.vmdk"}},
		{PortworxVolume: &api.PortworxVolumeSource{VolumeID: "vol-3"}},
		{CSI: &api.CSIVolumeSource{Driver: "secrets.csi.example.com", ReadOnly: new(true)}},
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

// An ephemeral volume is a claim that lives as long as its pod. Its name combines
// the names of the pod and the volume.
func ExampleEphemeralVolumeSource() {
	v := api.Volume{Name: "scratch"}
	v.Ephemeral = &api.EphemeralVolumeSource{VolumeClaimTemplate: &api.PersistentVolumeClaimTemplate{
		Spec: api.PersistentVolumeClaimSpec{
			StorageClassName: new("fast"),
			AccessModes:      []api.PersistentVolumeAccessMode{api.ReadWriteOnce},
			Resources: api.VolumeResourceRequirements{
				Requests: resource.List{resource.Storage: resource.MustParse("10Gi")},
			},
		},
	}}
	pod := api.MakePod("web").Volume(v).Obj()
	fmt.Println(pod.Name + "-" + pod.Spec.Volumes[0].Name)
	printJSON(v.Ephemeral.VolumeClaimTemplate.Spec)
	// Output:
	// web-scratch
	// {"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"10Gi"}},"storageClassName":"fast"}
}

// A local disk names its node.
func ExamplePersistentVolumeSpec() {
	block := api.PersistentVolumeBlock
	v := api.PersistentVolume{
		ObjectMeta: api.ObjectMeta{Name: "disk-of-n2"},
		Spec: api.PersistentVolumeSpec{
			Capacity:               resource.List{resource.Storage: resource.MustParse("1Ti")},
			PersistentVolumeSource: api.PersistentVolumeSource{Local: &api.LocalVolumeSource{Path: "/dev/sdb"}},
			AccessModes:            []api.PersistentVolumeAccessMode{api.ReadWriteOnce},
			ClaimRef:               &api.ObjectReference{Namespace: "shop", Name: "data"},
			StorageClassName:       "local",
			VolumeMode:             &block,
			NodeAffinity: &api.VolumeNodeAffinity{Required: &api.NodeSelector{
				NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{
					{Key: api.LabelHostname, Operator: api.NodeSelectorOpIn, Values: []string{"n2"}},
				}}},
			}},
		},
		Status: api.PersistentVolumeStatus{Phase: api.VolumeAvailable},
	}
	fmt.Println(v.Name, v.Status.Phase, "kept for", v.Spec.ClaimRef.Namespace+"/"+v.Spec.ClaimRef.Name)
	// Output: disk-of-n2 Available kept for shop/data
}

// Sources of a persistent volume, where they differ from the sources of a pod's
// volume.
func ExamplePersistentVolumeSource() {
	sources := []api.PersistentVolumeSource{
		{CSI: &api.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-1"}},
		{AzureFile: &api.AzureFilePersistentVolumeSource{SecretName: "key", ShareName: "share", SecretNamespace: new("kube-system")}},
		{Cinder: &api.CinderPersistentVolumeSource{VolumeID: "vol-2"}},
		{RBD: &api.RBDPersistentVolumeSource{CephMonitors: []string{"10.0.0.1:6789"}, RBDImage: "image"}},
		{ISCSI: &api.ISCSIPersistentVolumeSource{TargetPortal: "10.0.0.2:3260", IQN: "iqn.2026-01.com.example:disk"}},
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

// A claim without a storage class, bound to its volume.
func ExamplePersistentVolumeClaimSpec() {
	c := api.PersistentVolumeClaim{
		ObjectMeta: api.ObjectMeta{Namespace: "shop", Name: "data"},
		Spec: api.PersistentVolumeClaimSpec{
			AccessModes: []api.PersistentVolumeAccessMode{api.ReadWriteOncePod},
			Resources:   api.VolumeResourceRequirements{Requests: resource.List{resource.Storage: resource.MustParse("5Gi")}},
			VolumeName:  "pv-1",
		},
		Status: api.PersistentVolumeClaimStatus{Phase: api.ClaimBound},
	}
	fmt.Println(c.Key(), c.Status.Phase, "to", c.Spec.VolumeName)
	// Output: shop/data Bound to pv-1
}

// A class whose volumes are provisioned where the pod is placed, in two zones only.
func ExampleVolumeBindingMode() {
	mode := api.VolumeBindingWaitForFirstConsumer
	c := api.StorageClass{
		ObjectMeta:        api.ObjectMeta{Name: "zonal"},
		Provisioner:       "ebs.csi.aws.com",
		VolumeBindingMode: &mode,
		AllowedTopologies: []api.TopologySelectorTerm{{
			MatchLabelExpressions: []api.TopologySelectorLabelRequirement{
				{Key: api.LabelTopologyZone, Values: []string{"eu-1a", "eu-1b"}},
			},
		}},
	}
	fmt.Println(*c.VolumeBindingMode, c.AllowedTopologies[0].MatchLabelExpressions[0].Values)
	// Output: WaitForFirstConsumer [eu-1a eu-1b]
}

// The number of volumes of a driver that a node can hold.
func ExampleCSINodeDriver() {
	n := api.CSINode{
		ObjectMeta: api.ObjectMeta{Name: "n1"},
		Spec: api.CSINodeSpec{Drivers: []api.CSINodeDriver{{
			Name:        "ebs.csi.aws.com",
			NodeID:      "i-1",
			Allocatable: &api.VolumeNodeResources{Count: new(int32(25))},
		}}},
	}
	fmt.Println(n.Name, n.Spec.Drivers[0].Name, *n.Spec.Drivers[0].Allocatable.Count)
	// Output: n1 ebs.csi.aws.com 25
}

func ExampleCSIDriverSpec() {
	d := api.CSIDriver{
		ObjectMeta: api.ObjectMeta{Name: "local.csi.example.com"},
		Spec:       api.CSIDriverSpec{AttachRequired: new(false), StorageCapacity: new(true)},
	}
	printJSON(d.Spec)
	// Output: {"attachRequired":false,"storageCapacity":true}
}

// A volume attached to a node, or soon to be, counts against the node's limit even
// before the pod is known there.
func ExampleVolumeAttachmentSpec() {
	a := api.VolumeAttachment{
		ObjectMeta: api.ObjectMeta{Name: "a-1"},
		Spec: api.VolumeAttachmentSpec{
			Attacher: "ebs.csi.aws.com",
			NodeName: "n1",
			Source:   api.VolumeAttachmentSource{PersistentVolumeName: new("pv-1")},
		},
		Status: api.VolumeAttachmentStatus{Attached: true},
	}
	fmt.Println(*a.Spec.Source.PersistentVolumeName, "at", a.Spec.NodeName, a.Status.Attached)
	// Output: pv-1 at n1 true
}
