package cases

import (
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// volume makes a free volume.
func (g *generator) volume(name string) *api.PersistentVolume {
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name, UID: api.UID(name), Labels: map[string]string{}}}
	v.Spec.Capacity = g.storageList("1Gi", "5Gi", "10Gi", "20Gi", "100Gi")
	v.Spec.AccessModes = g.accessModes()
	if g.sound && g.chance(60) {
		v.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce, api.ReadOnlyMany, api.ReadWriteMany, api.ReadWriteOncePod}
	}
	if v.Spec.StorageClassName = ""; !g.flaw(30) {
		v.Spec.StorageClassName = pick(g.dice, g.classes...)
	}
	v.Status.Phase = pick(g.dice, api.VolumeAvailable, api.VolumeAvailable, api.VolumeAvailable, api.VolumeAvailable,
		api.VolumeReleased, api.VolumePending, api.VolumeFailed)
	if g.flaw(10) {
		v.Spec.VolumeMode = new(pick(g.dice, api.PersistentVolumeBlock, api.PersistentVolumeFilesystem))
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
			key := pick(g.dice, api.LabelTopologyZone, api.LabelFailureDomainZone, api.LabelTopologyRegion, api.LabelFailureDomainRegion)
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

// volumeAffinity returns where a volume can be used.
func (g *generator) volumeAffinity() *api.VolumeNodeAffinity {
	if g.chance(5) {
		return &api.VolumeNodeAffinity{}
	}
	if g.sound && g.chance(70) {
		zone := api.NodeSelectorRequirement{
			Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{pick(g.dice, "z0", "z1", "z2")},
		}
		return &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{
			{MatchExpressions: []api.NodeSelectorRequirement{zone}},
		}}}
	}
	a := &api.VolumeNodeAffinity{Required: g.nodeSelector()}
	if g.chance(50) {
		key := pick(g.dice, api.LabelTopologyZone, api.LabelFailureDomainZone, api.LabelTopologyRegion,
			api.LabelFailureDomainRegion, zoneLabels[0], zoneLabels[1])
		zone := api.NodeSelectorRequirement{
			Key: key, Operator: pick(g.dice, api.NodeSelectorOpIn, api.NodeSelectorOpIn, api.NodeSelectorOpNotIn, api.NodeSelectorOpExists),
		}
		if zone.Operator != api.NodeSelectorOpExists {
			zone.Values = pick(g.dice, []string{"z0"}, []string{"z0", "z1"}, []string{"r0"}, []string{"z2", "r1"})
		}
		terms := a.Required.NodeSelectorTerms
		if len(terms) == 0 {
			terms = append(terms, api.NodeSelectorTerm{})
		}
		terms[0].MatchExpressions = append(terms[0].MatchExpressions, zone)
		a.Required.NodeSelectorTerms = terms
	}
	return a
}

func (g *generator) accessModes() []api.PersistentVolumeAccessMode {
	return pick(g.dice,
		[]api.PersistentVolumeAccessMode{api.ReadWriteOnce},
		[]api.PersistentVolumeAccessMode{api.ReadWriteOnce},
		[]api.PersistentVolumeAccessMode{api.ReadWriteOnce, api.ReadOnlyMany},
		[]api.PersistentVolumeAccessMode{api.ReadWriteMany},
		[]api.PersistentVolumeAccessMode{api.ReadWriteOncePod},
	)
}

// source sets the backend of a volume.
func (g *generator) source(s *api.PersistentVolumeSource, name string) {
	readOnly := g.chance(30)
	switch g.IntN(20) {
	case 0, 1:
		s.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: g.ebs(), ReadOnly: readOnly}
	case 2, 3:
		s.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: pick(g.dice, "pd-1", "pd-2"), ReadOnly: readOnly}
	case 4:
		s.AzureDisk = &api.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: pick(g.dice, "u1", "u2"), ReadOnly: &readOnly}
	case 5:
		s.Cinder = &api.CinderPersistentVolumeSource{VolumeID: pick(g.dice, "c1", "c2"), ReadOnly: readOnly}
	case 6:
		s.PortworxVolume = &api.PortworxVolumeSource{VolumeID: pick(g.dice, "p1", "p2"), ReadOnly: readOnly}
	case 7:
		s.AzureFile = &api.AzureFilePersistentVolumeSource{SecretName: pick(g.dice, "s", ""), ShareName: "share", ReadOnly: readOnly}
		if g.chance(50) {
			s.AzureFile.SecretNamespace = new(pick(g.dice, "default", ""))
		}
	case 8:
		s.VsphereVolume = &api.VsphereVirtualDiskVolumeSource{VolumePath: pick(g.dice, "[ds] v1", "[ds] v2")}
	case 9:
		s.RBD = &api.RBDPersistentVolumeSource{CephMonitors: []string{"a"}, RBDImage: pick(g.dice, "i", "j"), ReadOnly: readOnly}
	case 10:
		s.ISCSI = &api.ISCSIPersistentVolumeSource{TargetPortal: "t", IQN: pick(g.dice, "iqn.1", "iqn.2"), ReadOnly: readOnly}
	case 11:
		s.Local = &api.LocalVolumeSource{Path: "/mnt"}
	case 12:
		s.NFS = &api.NFSVolumeSource{Server: "nfs", Path: "/", ReadOnly: readOnly}
	case 13:
		if g.chance(50) {
			s.HostPath = &api.HostPathVolumeSource{Path: "/data"}
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
		s.CSI = &api.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: pick(g.dice, "h1", "h2", "h3", "vol-1", "c1", name, name), ReadOnly: readOnly}
	}
}

// ebs names a disk in one of the valid forms, or in an invalid one.
func (g *generator) ebs() string {
	if g.flaw(40) {
		return pick(g.dice, "bogus", "aws://us-east-1a/bogus", "aws://us-east-1a/")
	}
	return pick(g.dice, "vol-1", "vol-1", "vol-2", "aws://us-east-1a/vol-1", "aws:///vol-2")
}

// disk makes a volume without a claim.
func (g *generator) disk(s *api.VolumeSource) {
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
		s.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: or(pick(g.dice, "pd-1", "pd-2")), ReadOnly: readOnly, Partition: int32(g.IntN(2))}
	case 2, 3:
		s.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: or(g.ebs()), ReadOnly: readOnly}
	case 4, 5:
		s.RBD = &api.RBDVolumeSource{
			CephMonitors: some(g.dice, 2, "a", "b", "c"), RBDImage: or(pick(g.dice, "i", "j")), RBDPool: pick(g.dice, "", "rbd", "pool"), ReadOnly: readOnly,
		}
	case 6:
		s.ISCSI = &api.ISCSIVolumeSource{TargetPortal: "t", IQN: or(pick(g.dice, "iqn.1", "iqn.2")), Lun: int32(g.IntN(2)), ReadOnly: readOnly}
	case 7:
		s.AzureDisk = &api.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: or(pick(g.dice, "u1", "u2")), ReadOnly: pick(g.dice, nil, &readOnly)}
	case 8:
		s.Cinder = &api.CinderVolumeSource{VolumeID: or(pick(g.dice, "c1", "c2")), ReadOnly: readOnly}
	case 9:
		s.AzureFile = &api.AzureFileVolumeSource{SecretName: pick(g.dice, "s", ""), ShareName: "share", ReadOnly: readOnly}
	case 10:
		s.VsphereVolume = &api.VsphereVirtualDiskVolumeSource{VolumePath: pick(g.dice, "[ds] v1", "[ds] v2")}
	case 11:
		s.PortworxVolume = &api.PortworxVolumeSource{VolumeID: or(pick(g.dice, "p1", "p2")), ReadOnly: readOnly}
	case 12:
		s.CSI = &api.CSIVolumeSource{Driver: pick(g.dice, drivers...), ReadOnly: &readOnly}
	default:
		s.EmptyDir = &api.EmptyDirVolumeSource{Medium: pick(g.dice, api.StorageMediumDefault, api.StorageMediumMemory)}
		if g.chance(50) {
			s.EmptyDir.SizeLimit = new(resource.MustParse("1Gi"))
		}
	}
}
