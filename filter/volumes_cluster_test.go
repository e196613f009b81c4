package filter_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/resource"
)

const csiDriver = "csi.example.com"

// storageCluster returns a random cluster in which pods mount claims and disks of
// all kinds. Claims for a single pod are never shared between pods.
func storageCluster(seed uint64) *api.Objects {
	o := frameworktest.Cluster(seed)
	g := storage{rand.New(rand.NewPCG(seed, 77)), o}
	g.classes()
	for i := range 8 {
		o.PersistentVolumes = append(o.PersistentVolumes, g.volume(fmt.Sprint("pv-", i)))
	}
	for _, n := range o.Nodes {
		if g.chance(50) {
			n.Status.DeclaredFeatures = []string{"VolumeBindMountOptions"}
		}
		if g.chance(70) {
			o.CSINodes = append(o.CSINodes, g.csiNode(n.Name))
		}
	}
	for i := range 4 {
		o.CSIStorageCapacities = append(o.CSIStorageCapacities, g.capacity(fmt.Sprint("room-", i)))
	}
	for i, p := range o.Pods {
		if g.chance(60) {
			g.mount(p, i)
		}
	}
	return o
}

// storage draws objects of storage.
type storage struct {
	*rand.Rand
	o *api.Objects
}

func (g storage) chance(percent int) bool { return g.IntN(100) < percent }

func (g storage) one(list ...string) string { return list[g.IntN(len(list))] }

func (g storage) size(list ...string) resource.List {
	return resource.List{resource.Storage: resource.MustParse(g.one(list...))}
}

func (g storage) classes() {
	add := func(name, provisioner string, mode api.VolumeBindingMode) *api.StorageClass {
		c := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
		g.o.StorageClasses = append(g.o.StorageClasses, c)
		return c
	}
	add("local", "kubernetes.io/no-provisioner", api.VolumeBindingWaitForFirstConsumer)
	add("csi", csiDriver, api.VolumeBindingWaitForFirstConsumer)
	add("now", csiDriver, api.VolumeBindingImmediate)
	add("zonal", csiDriver, api.VolumeBindingWaitForFirstConsumer).AllowedTopologies = []api.TopologySelectorTerm{{
		MatchLabelExpressions: []api.TopologySelectorLabelRequirement{{Key: api.LabelTopologyZone, Values: []string{"a", "b"}}},
	}}
	d := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: csiDriver}}
	d.Spec.StorageCapacity, d.Spec.PreventPodSchedulingIfMissing = new(g.chance(50)), new(g.chance(30))
	g.o.CSIDrivers = append(g.o.CSIDrivers, d)
}

func (g storage) volume(name string) *api.PersistentVolume {
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
	v.Spec.StorageClassName, v.Spec.Capacity = g.one("local", "csi", "zonal"), g.size("1Gi", "5Gi", "10Gi")
	v.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce, api.ReadWriteOncePod}
	v.Status.Phase = api.VolumeAvailable
	switch g.IntN(3) {
	case 0:
		v.Spec.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-" + name}
	case 1:
		v.Spec.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: name}
	default:
		v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: csiDriver, VolumeHandle: name}
	}
	if g.chance(30) {
		v.Labels = map[string]string{g.one(api.LabelTopologyZone, api.LabelFailureDomainZone): g.one("a", "b", "a__b")}
	}
	if g.chance(60) {
		value, label := g.one("a", "b", "c"), api.LabelTopologyZone
		if len(g.o.Nodes) > 0 && g.chance(40) {
			value, label = g.o.Nodes[g.IntN(len(g.o.Nodes))].Name, api.LabelHostname
		}
		v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{
			NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{
				{Key: label, Operator: api.NodeSelectorOpIn, Values: []string{value}},
			}}},
		}}
	}
	return v
}

func (g storage) csiNode(name string) *api.CSINode {
	n := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: name}}
	if g.chance(30) {
		n.Annotations = map[string]string{api.AnnMigratedPlugins: "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"}
	}
	for _, driver := range []string{csiDriver, "ebs.csi.aws.com"} {
		if g.chance(75) {
			d := api.CSINodeDriver{Name: driver, NodeID: name}
			d.Allocatable = &api.VolumeNodeResources{Count: new(int32(g.IntN(4)))}
			n.Spec.Drivers = append(n.Spec.Drivers, d)
		}
	}
	return n
}

func (g storage) capacity(name string) *api.CSIStorageCapacity {
	c := &api.CSIStorageCapacity{ObjectMeta: api.ObjectMeta{Namespace: "kube-system", Name: name}}
	c.StorageClassName, c.NodeTopology = g.one("csi", "zonal"), &api.LabelSelector{}
	c.Capacity = new(resource.MustParse(g.one("2Gi", "20Gi")))
	if g.chance(60) {
		c.NodeTopology.MatchLabels = map[string]string{api.LabelTopologyZone: g.one("a", "b")}
	}
	return c
}

// mount gives the pod volumes, and makes the claims that it mounts.
func (g storage) mount(p *api.Pod, serial int) {
	p.Spec.Volumes = nil
	for i := range 1 + g.IntN(2) {
		v := api.Volume{Name: fmt.Sprint("v", i)}
		switch g.IntN(10) {
		case 0:
			v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: g.one("vol-1", "vol-2")}
		case 1:
			v.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: "pd", ReadOnly: g.chance(50)}
		case 2:
			v.ISCSI = &api.ISCSIVolumeSource{IQN: "iqn", ReadOnly: g.chance(50)}
		case 3:
			v.RBD = &api.RBDVolumeSource{CephMonitors: []string{g.one("m1", "m2"), "m3"}, RBDImage: "i", ReadOnly: g.chance(50)}
		case 4:
			v.AzureDisk = &api.AzureDiskVolumeSource{DiskName: g.one("d1", "d2")}
		case 5:
			v.Cinder = &api.CinderVolumeSource{VolumeID: g.one("c1", "c2")}
		case 6:
			v.Ephemeral = &api.EphemeralVolumeSource{}
			c := g.claim(p.Namespace, p.Name+"-"+v.Name)
			c.OwnerReferences = []api.OwnerReference{{Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
		default:
			name := fmt.Sprint("claim-", serial, "-", i)
			v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: name}
			if g.chance(95) {
				g.claim(p.Namespace, name)
			}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
		if len(p.Spec.Containers) > 0 && g.chance(15) {
			p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts, api.VolumeMount{Name: v.Name, BindMountOptions: []string{"noexec"}})
		}
	}
}

func (g storage) claim(namespace, name string) *api.PersistentVolumeClaim {
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: namespace, Name: name}}
	c.Spec.StorageClassName, c.Spec.Resources.Requests = new(g.one("local", "csi", "zonal", "csi")), g.size("1Gi", "4Gi")
	c.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
	if g.chance(30) {
		c.Spec.AccessModes[0] = api.ReadWriteOncePod
	}
	if g.chance(40) {
		c.Spec.VolumeName, c.Annotations = fmt.Sprint("pv-", g.IntN(8)), map[string]string{api.AnnBindCompleted: "yes"}
	}
	g.o.PersistentVolumeClaims = append(g.o.PersistentVolumeClaims, c)
	return c
}
