package cases

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// volume makes one that is free.
func (g *generator) volume(name string) *framework.PersistentVolume {
	v := &framework.PersistentVolume{ObjectMeta: framework.ObjectMeta{Name: name, UID: framework.UID(name), Labels: map[string]string{}}}
	v.Spec.Capacity = g.storageList("1Gi", "5Gi", "10Gi", "20Gi", "100Gi")
	v.Spec.AccessModes = g.accessModes()
	if g.sound && g.chance(60) {
		v.Spec.AccessModes = []framework.PersistentVolumeAccessMode{framework.ReadWriteOnce, framework.ReadOnlyMany, framework.ReadWriteMany, framework.ReadWriteOncePod}
	}
	if v.Spec.StorageClassName = ""; !g.flaw(30) {
		v.Spec.StorageClassName = pick(g.dice, g.classes...)
	}
	v.Status.Phase = pick(g.dice, framework.VolumeAvailable, framework.VolumeAvailable, framework.VolumeAvailable, framework.VolumeAvailable,
		framework.VolumeReleased, framework.VolumePending, framework.VolumeFailed)
	if g.flaw(10) {
		v.Spec.VolumeMode = new(pick(g.dice, framework.PersistentVolumeBlock, framework.PersistentVolumeFilesystem))
	}
	v.Spec.VolumeAttributesClassName = g.attributes()
	if g.flaw(8) {
		v.DeletionTimestamp = new(noon)
	}
	g.betaClass(&v.ObjectMeta)
	g.noteProvisioner(&v.ObjectMeta)
	if g.chance(10) {
		annotate(&v.ObjectMeta, "volume.beta.kubernetes.io/mount-options", "ro,soft")
	}
	if g.chance(50) {
		v.Spec.NodeAffinity = g.volumeAffinity()
	}
	if g.chance(50) && !(g.sound && g.chance(60)) {
		for range g.between(1, 2) {
			key := pick(g.dice, framework.LabelTopologyZone, framework.LabelFailureDomainZone, framework.LabelTopologyRegion, framework.LabelFailureDomainRegion)
			v.Labels[key] = pick(g.dice, "z0", "z1", "r0", "r1", "z0__z1", " z0 __ z1 ", "", "z0__", "us-east1-b", "us-east1-b__us-east1-c",
				"us-east1-b__eu-west1-c", "z0__z0")
		}
	}
	if g.chance(30) {
		v.Labels["app"] = pick(g.dice, "web", "db")
	}
	g.source(&v.Spec.PersistentVolumeSource, name)
	return v
}

// volumeAffinity is where a volume can be used.
func (g *generator) volumeAffinity() *framework.VolumeNodeAffinity {
	if g.chance(5) {
		return &framework.VolumeNodeAffinity{}
	}
	if g.sound && g.chance(70) {
		zone := framework.NodeSelectorRequirement{
			Key: framework.LabelTopologyZone, Operator: framework.NodeSelectorOpIn, Values: []string{pick(g.dice, "z0", "z1", "z2")},
		}
		return &framework.VolumeNodeAffinity{Required: &framework.NodeSelector{NodeSelectorTerms: []framework.NodeSelectorTerm{
			{MatchExpressions: []framework.NodeSelectorRequirement{zone}},
		}}}
	}
	a := &framework.VolumeNodeAffinity{Required: g.nodeSelector()}
	if g.chance(50) {
		key := pick(g.dice, framework.LabelTopologyZone, framework.LabelFailureDomainZone, framework.LabelTopologyRegion,
			framework.LabelFailureDomainRegion, zoneLabels[0], zoneLabels[1])
		zone := framework.NodeSelectorRequirement{
			Key: key, Operator: pick(g.dice, framework.NodeSelectorOpIn, framework.NodeSelectorOpIn, framework.NodeSelectorOpNotIn, framework.NodeSelectorOpExists),
		}
		if zone.Operator != framework.NodeSelectorOpExists {
			zone.Values = pick(g.dice, []string{"z0"}, []string{"z0", "z1"}, []string{"r0"}, []string{"z2", "r1"})
		}
		terms := a.Required.NodeSelectorTerms
		if len(terms) == 0 {
			terms = append(terms, framework.NodeSelectorTerm{})
		}
		terms[0].MatchExpressions = append(terms[0].MatchExpressions, zone)
		a.Required.NodeSelectorTerms = terms
	}
	return a
}

func (g *generator) accessModes() []framework.PersistentVolumeAccessMode {
	return pick(g.dice,
		[]framework.PersistentVolumeAccessMode{framework.ReadWriteOnce},
		[]framework.PersistentVolumeAccessMode{framework.ReadWriteOnce},
		[]framework.PersistentVolumeAccessMode{framework.ReadWriteOnce, framework.ReadOnlyMany},
		[]framework.PersistentVolumeAccessMode{framework.ReadWriteMany},
		[]framework.PersistentVolumeAccessMode{framework.ReadWriteOncePod},
	)
}

// source says what a volume is on.
func (g *generator) source(s *framework.PersistentVolumeSource, name string) {
	readOnly := g.chance(30)
	switch g.IntN(20) {
	case 0, 1:
		s.AWSElasticBlockStore = &framework.AWSElasticBlockStoreVolumeSource{VolumeID: g.ebs(), ReadOnly: readOnly}
	case 2, 3:
		s.GCEPersistentDisk = &framework.GCEPersistentDiskVolumeSource{PDName: pick(g.dice, "pd-1", "pd-2"), ReadOnly: readOnly}
	case 4:
		s.AzureDisk = &framework.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: pick(g.dice, "u1", "u2"), ReadOnly: &readOnly}
	case 5:
		s.Cinder = &framework.CinderPersistentVolumeSource{VolumeID: pick(g.dice, "c1", "c2"), ReadOnly: readOnly}
	case 6:
		s.PortworxVolume = &framework.PortworxVolumeSource{VolumeID: pick(g.dice, "p1", "p2"), ReadOnly: readOnly}
	case 7:
		s.AzureFile = &framework.AzureFilePersistentVolumeSource{SecretName: pick(g.dice, "s", ""), ShareName: "share", ReadOnly: readOnly}
		if g.chance(50) {
			s.AzureFile.SecretNamespace = new(pick(g.dice, "default", ""))
		}
	case 8:
		s.VsphereVolume = &framework.VsphereVirtualDiskVolumeSource{VolumePath: pick(g.dice, "[ds] v1", "[ds] v2")}
	case 9:
		s.RBD = &framework.RBDPersistentVolumeSource{CephMonitors: []string{"a"}, RBDImage: pick(g.dice, "i", "j"), ReadOnly: readOnly}
	case 10:
		s.ISCSI = &framework.ISCSIPersistentVolumeSource{TargetPortal: "t", IQN: pick(g.dice, "iqn.1", "iqn.2"), ReadOnly: readOnly}
	case 11:
		s.Local = &framework.LocalVolumeSource{Path: "/mnt"}
	case 12:
		s.NFS = &framework.NFSVolumeSource{Server: "nfs", Path: "/", ReadOnly: readOnly}
	case 13:
		if g.chance(50) {
			s.HostPath = &framework.HostPathVolumeSource{Path: "/data"}
		}
	default:
		driver := pick(g.dice, drivers[:4]...)
		if g.chance(25) {
			driver = pick(g.dice, drivers...)
		}
		if g.flaw(3) {
			driver = ""
		}
		if g.flaw(3) {
			name = ""
		}
		s.CSI = &framework.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: pick(g.dice, "h1", "h2", "h3", "vol-1", "c1", name, name), ReadOnly: readOnly}
	}
}

// ebs names a disk in the ways that there are, and in some that there are not.
func (g *generator) ebs() string {
	if g.flaw(40) {
		return pick(g.dice, "bogus", "aws://us-east-1a/bogus", "aws://us-east-1a/")
	}
	return pick(g.dice, "vol-1", "vol-1", "vol-2", "aws://us-east-1a/vol-1", "aws:///vol-2")
}

// disk is a volume without a claim.
func (g *generator) disk(s *framework.VolumeSource) {
	readOnly := g.chance(40)
	none := g.flaw(6) // its name
	or := func(name string) string {
		if none {
			return ""
		}
		return name
	}
	switch g.IntN(14) {
	case 0, 1:
		s.GCEPersistentDisk = &framework.GCEPersistentDiskVolumeSource{PDName: or(pick(g.dice, "pd-1", "pd-2")), ReadOnly: readOnly, Partition: int32(g.IntN(2))}
	case 2, 3:
		s.AWSElasticBlockStore = &framework.AWSElasticBlockStoreVolumeSource{VolumeID: or(g.ebs()), ReadOnly: readOnly}
	case 4, 5:
		s.RBD = &framework.RBDVolumeSource{
			CephMonitors: some(g.dice, 2, "a", "b", "c"), RBDImage: or(pick(g.dice, "i", "j")), RBDPool: pick(g.dice, "", "rbd", "pool"), ReadOnly: readOnly,
		}
	case 6:
		s.ISCSI = &framework.ISCSIVolumeSource{TargetPortal: "t", IQN: or(pick(g.dice, "iqn.1", "iqn.2")), Lun: int32(g.IntN(2)), ReadOnly: readOnly}
	case 7:
		s.AzureDisk = &framework.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: or(pick(g.dice, "u1", "u2")), ReadOnly: pick(g.dice, nil, &readOnly)}
	case 8:
		s.Cinder = &framework.CinderVolumeSource{VolumeID: or(pick(g.dice, "c1", "c2")), ReadOnly: readOnly}
	case 9:
		s.AzureFile = &framework.AzureFileVolumeSource{SecretName: pick(g.dice, "s", ""), ShareName: "share", ReadOnly: readOnly}
	case 10:
		s.VsphereVolume = &framework.VsphereVirtualDiskVolumeSource{VolumePath: pick(g.dice, "[ds] v1", "[ds] v2")}
	case 11:
		s.PortworxVolume = &framework.PortworxVolumeSource{VolumeID: or(pick(g.dice, "p1", "p2")), ReadOnly: readOnly}
	case 12:
		s.CSI = &framework.CSIVolumeSource{Driver: pick(g.dice, drivers...), ReadOnly: &readOnly}
	default:
		s.EmptyDir = &framework.EmptyDirVolumeSource{Medium: pick(g.dice, framework.StorageMediumDefault, framework.StorageMediumMemory)}
		if g.chance(50) {
			s.EmptyDir.SizeLimit = new(resource.MustParse("1Gi"))
		}
	}
}
