package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// The CSI drivers, two of which took over from volumes of the tree.
var drivers = []string{"csi.example.com", "other.example.com", "ebs.csi.aws.com", "pd.csi.storage.gke.io"}

// storage makes classes, drivers, volumes and claims.
func (g *generator) storage() {
	g.storageClasses()
	g.csi()
	for i := range g.between(1, 8) {
		g.volumeAndClaim(i)
	}
	for i := range g.IntN(4) {
		g.c.PersistentVolumes = append(g.c.PersistentVolumes, g.volume(fmt.Sprintf("free%d", i)))
	}
	g.attachments()
}

func (g *generator) storageClasses() {
	provisioners := []string{drivers[0], drivers[1], drivers[2], "kubernetes.io/no-provisioner", "kubernetes.io/aws-ebs", "example.com/external"}
	for i := range g.between(1, 4) {
		name := fmt.Sprintf("sc%d", i)
		s := &framework.StorageClass{ObjectMeta: framework.ObjectMeta{Name: name}, Provisioner: pick(g.dice, provisioners...)}
		mode := pick(g.dice, framework.VolumeBindingImmediate, framework.VolumeBindingWaitForFirstConsumer, framework.VolumeBindingWaitForFirstConsumer)
		if !g.chance(3) {
			s.VolumeBindingMode = &mode
		}
		if g.chance(25) {
			s.AllowedTopologies = []framework.TopologySelectorTerm{{MatchLabelExpressions: []framework.TopologySelectorLabelRequirement{
				{Key: framework.LabelTopologyZone, Values: some(g.dice, 2, "z0", "z1", "z2")},
			}}}
		}
		g.c.StorageClasses = append(g.c.StorageClasses, s)
		g.classes = append(g.classes, name)
	}
}

// csi makes drivers, what nodes say of them, and free space.
func (g *generator) csi() {
	c := g.c
	one := false // must be on the node; of several that are missing kube-scheduler tells any
	for _, name := range drivers {
		if g.chance(60) {
			d := &framework.CSIDriver{ObjectMeta: framework.ObjectMeta{Name: name}}
			if g.chance(60) {
				d.Spec.StorageCapacity = new(g.chance(60))
			}
			if g.chance(30) {
				must := g.chance(60) && !one
				d.Spec.PreventPodSchedulingIfMissing = &must
				one = one || must
			}
			c.CSIDrivers = append(c.CSIDrivers, d)
		}
	}
	for _, n := range c.Nodes {
		if !g.chance(80) {
			continue
		}
		node := &framework.CSINode{ObjectMeta: framework.ObjectMeta{Name: n.Name}, Spec: framework.CSINodeSpec{Drivers: []framework.CSINodeDriver{}}}
		for _, name := range drivers {
			if !g.chance(60) {
				continue
			}
			d := framework.CSINodeDriver{Name: name, NodeID: n.Name, TopologyKeys: []string{framework.LabelTopologyZone}}
			if g.chance(70) {
				d.Allocatable = &framework.VolumeNodeResources{}
				if g.chance(85) {
					d.Allocatable.Count = new(int32(pick(g.dice, 0, 1, 1, 2, 3, 10)))
				}
			}
			node.Spec.Drivers = append(node.Spec.Drivers, d)
		}
		if g.chance(40) {
			node.Annotations = map[string]string{framework.AnnMigratedPlugins: pick(g.dice, "kubernetes.io/aws-ebs", "kubernetes.io/aws-ebs,kubernetes.io/gce-pd", "")}
		}
		c.CSINodes = append(c.CSINodes, node)
	}
	for i := range g.IntN(6) {
		s := &framework.CSIStorageCapacity{
			ObjectMeta:       framework.ObjectMeta{Name: fmt.Sprintf("cap%d", i), Namespace: "default"},
			StorageClassName: pick(g.dice, g.classes...),
		}
		if g.chance(85) {
			s.NodeTopology = pick(g.dice, &framework.LabelSelector{},
				&framework.LabelSelector{MatchLabels: map[string]string{framework.LabelTopologyZone: pick(g.dice, "z0", "z1")}})
		}
		if g.chance(90) {
			s.Capacity = new(g.quantity("0", "1Gi", "10Gi", "100Gi"))
		}
		if g.chance(30) {
			s.MaximumVolumeSize = new(g.quantity("1Gi", "5Gi", "50Gi"))
		}
		c.CSIStorageCapacities = append(c.CSIStorageCapacities, s)
	}
}

// volume makes one that is free.
func (g *generator) volume(name string) *framework.PersistentVolume {
	v := &framework.PersistentVolume{ObjectMeta: framework.ObjectMeta{Name: name, UID: framework.UID(name), Labels: map[string]string{}}}
	v.Spec.Capacity = resource.List{"storage": g.quantity("1Gi", "5Gi", "10Gi", "20Gi", "100Gi")}
	v.Spec.AccessModes = g.accessModes()
	v.Spec.StorageClassName = pick(g.dice, append([]string{""}, g.classes...)...)
	v.Status.Phase = pick(g.dice, framework.VolumeAvailable, framework.VolumeAvailable, framework.VolumeAvailable, framework.VolumeReleased, framework.VolumePending)
	if g.chance(10) {
		v.Spec.VolumeMode = new(pick(g.dice, framework.PersistentVolumeBlock, framework.PersistentVolumeFilesystem))
	}
	if g.chance(5) {
		v.Spec.VolumeAttributesClassName = new(pick(g.dice, "", "gold"))
	}
	if g.chance(50) {
		v.Spec.NodeAffinity = &framework.VolumeNodeAffinity{Required: g.nodeSelector()}
	}
	if g.chance(50) {
		v.Labels[pick(g.dice, framework.LabelTopologyZone, framework.LabelFailureDomainZone, framework.LabelTopologyRegion, framework.LabelFailureDomainRegion)] = pick(g.dice, "z0", "z1", "r0", "r1", "z0__z1", "")
	}
	if g.chance(30) {
		v.Labels["app"] = pick(g.dice, "web", "db")
	}
	g.source(v)
	return v
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
func (g *generator) source(v *framework.PersistentVolume) {
	s := &v.Spec.PersistentVolumeSource
	switch g.IntN(8) {
	case 0:
		s.AWSElasticBlockStore = &framework.AWSElasticBlockStoreVolumeSource{VolumeID: pick(g.dice, "vol-1", "vol-2", "aws://us-east-1a/vol-3")}
	case 1:
		s.GCEPersistentDisk = &framework.GCEPersistentDiskVolumeSource{PDName: pick(g.dice, "pd-1", "pd-2")}
	case 2:
		s.Local = &framework.LocalVolumeSource{Path: "/mnt"}
	case 3:
		s.NFS = &framework.NFSVolumeSource{Server: "nfs", Path: "/"}
	default:
		s.CSI = &framework.CSIPersistentVolumeSource{Driver: pick(g.dice, drivers...), VolumeHandle: pick(g.dice, "h1", "h2", "h3", v.Name)}
	}
}

// volumeAndClaim makes a claim in one of the states that claims are in, and the
// volume that it is bound to.
func (g *generator) volumeAndClaim(i int) {
	claim := &framework.PersistentVolumeClaim{ObjectMeta: framework.ObjectMeta{
		Name: fmt.Sprintf("claim%d", i), Namespace: pick(g.dice, "default", "default", "ns-a"), Annotations: map[string]string{},
	}}
	claim.UID = framework.UID("u" + claim.Namespace + claim.Name)
	claim.Spec.AccessModes = g.accessModes()
	claim.Spec.Resources.Requests = resource.List{"storage": g.quantity("1Gi", "1Gi", "5Gi", "8Gi", "50Gi")}
	claim.Status.Phase = framework.ClaimPending
	if !g.chance(5) {
		claim.Spec.StorageClassName = new(pick(g.dice, append([]string{"", "missing"}, append(g.classes, g.classes...)...)...))
	}
	if g.chance(10) {
		claim.Spec.VolumeMode = new(pick(g.dice, framework.PersistentVolumeBlock, framework.PersistentVolumeFilesystem))
	}
	if g.chance(10) {
		claim.Spec.Selector = g.labelSelector()
	}
	switch {
	case g.chance(45):
		g.bind(claim, fmt.Sprintf("pv%d", i))
	case g.chance(8):
		claim.Status.Phase = framework.ClaimLost
		claim.Spec.VolumeName = "gone"
	case g.chance(8):
		claim.DeletionTimestamp = new(noon)
	case g.chance(8):
		claim.Annotations[framework.AnnSelectedNode] = pick(g.dice, g.nodeName(), "nowhere")
	case g.chance(5):
		claim.Spec.VolumeName = "pending"
	}
	g.c.PersistentVolumeClaims = append(g.c.PersistentVolumeClaims, claim)
	g.claims = append(g.claims, claim.Name)
}

// bind binds the claim to a new volume.
func (g *generator) bind(claim *framework.PersistentVolumeClaim, name string) {
	claim.Spec.VolumeName = name
	if !g.chance(10) {
		claim.Annotations[framework.AnnBindCompleted] = "yes"
		claim.Status.Phase = framework.ClaimBound
	}
	if g.chance(5) {
		return // the volume is gone
	}
	v := g.volume(name)
	v.Spec.AccessModes = claim.Spec.AccessModes
	v.Status.Phase = framework.VolumeBound
	if claim.Spec.StorageClassName != nil {
		v.Spec.StorageClassName = *claim.Spec.StorageClassName
	}
	if !g.chance(10) {
		v.Spec.ClaimRef = &framework.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	}
	g.c.PersistentVolumes = append(g.c.PersistentVolumes, v)
}

// attachments are of volumes that may have no pod on the node.
func (g *generator) attachments() {
	for i := range g.IntN(5) {
		a := &framework.VolumeAttachment{ObjectMeta: framework.ObjectMeta{Name: fmt.Sprintf("at%d", i)}}
		a.Spec.Attacher, a.Spec.NodeName = pick(g.dice, drivers...), g.nodeName()
		if n := len(g.c.PersistentVolumes); n > 0 {
			a.Spec.Source.PersistentVolumeName = new(g.c.PersistentVolumes[g.IntN(n)].Name)
		}
		a.Status.Attached = g.chance(80)
		g.c.VolumeAttachments = append(g.c.VolumeAttachments, a)
	}
}

// mount gives the pod volumes.
func (g *generator) mount(p *framework.Pod) {
	for i := range pick(g.dice, 1, 1, 2, 3) {
		v := framework.Volume{Name: fmt.Sprintf("v%d", i)}
		switch {
		case g.chance(65) && len(g.claims) > 0:
			claim := pick(g.dice, g.claims...)
			if g.chance(2) {
				claim = "missing"
			}
			for _, c := range g.c.PersistentVolumeClaims {
				if c.Name == claim && g.chance(90) {
					p.Namespace = c.Namespace
					p.UID = framework.UID("u-" + p.Namespace + "-" + p.Name)
				}
			}
			v.PersistentVolumeClaim = &framework.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		case g.chance(12):
			v.Ephemeral = &framework.EphemeralVolumeSource{}
			g.ephemeralClaim(p, v.Name)
		default:
			g.disk(&v.VolumeSource)
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
}

// ephemeralClaim makes, most of the time, the claim of an ephemeral volume.
func (g *generator) ephemeralClaim(p *framework.Pod, volume string) {
	if g.chance(15) {
		return
	}
	claim := &framework.PersistentVolumeClaim{ObjectMeta: framework.ObjectMeta{Name: p.Name + "-" + volume, Namespace: p.Namespace}}
	claim.Spec.AccessModes = g.accessModes()
	claim.Spec.Resources.Requests = resource.List{"storage": g.quantity("1Gi", "5Gi")}
	claim.Spec.StorageClassName = new(pick(g.dice, g.classes...))
	if !g.chance(10) {
		claim.OwnerReferences = []framework.OwnerReference{{Kind: "Pod", APIVersion: "v1", Name: p.Name, UID: p.UID, Controller: new(true)}}
	}
	g.c.PersistentVolumeClaims = append(g.c.PersistentVolumeClaims, claim)
}

// disk is a volume without a claim.
func (g *generator) disk(s *framework.VolumeSource) {
	switch g.IntN(7) {
	case 0:
		s.GCEPersistentDisk = &framework.GCEPersistentDiskVolumeSource{PDName: pick(g.dice, "pd-1", "pd-2"), ReadOnly: g.chance(40)}
	case 1:
		s.AWSElasticBlockStore = &framework.AWSElasticBlockStoreVolumeSource{VolumeID: pick(g.dice, "vol-1", "vol-2"), ReadOnly: g.chance(40)}
	case 2:
		s.RBD = &framework.RBDVolumeSource{
			CephMonitors: some(g.dice, 2, "a", "b", "c"), RBDImage: pick(g.dice, "i", "j"), RBDPool: pick(g.dice, "", "rbd", "pool"), ReadOnly: g.chance(40),
		}
	case 3:
		s.ISCSI = &framework.ISCSIVolumeSource{TargetPortal: "t", IQN: pick(g.dice, "iqn.1", "iqn.2"), Lun: int32(g.IntN(2)), ReadOnly: g.chance(40)}
	case 4:
		s.AzureDisk = &framework.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: pick(g.dice, "u1", "u2")}
	case 5:
		s.Cinder = &framework.CinderVolumeSource{VolumeID: pick(g.dice, "c1", "c2")}
	default:
		s.EmptyDir = &framework.EmptyDirVolumeSource{}
	}
}
