package volumes

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A DiskKind is a kind of disk with a limit per node, as the plugins before CSI
// count them.
type DiskKind struct {
	plugin *inTree
	id     func(*api.VolumeSource) (id string, is bool)
	idOf   func(*api.PersistentVolumeSource) (id string, is bool)
}

// The kinds of disks.
var (
	EBSDisks = &DiskKind{
		awsEBS,
		func(v *api.VolumeSource) (string, bool) {
			if v.AWSElasticBlockStore == nil {
				return "", false
			}
			return v.AWSElasticBlockStore.VolumeID, true
		},
		func(v *api.PersistentVolumeSource) (string, bool) {
			if v.AWSElasticBlockStore == nil {
				return "", false
			}
			return v.AWSElasticBlockStore.VolumeID, true
		},
	}
	GCEDisks = &DiskKind{
		gcePD,
		func(v *api.VolumeSource) (string, bool) {
			if v.GCEPersistentDisk == nil {
				return "", false
			}
			return v.GCEPersistentDisk.PDName, true
		},
		func(v *api.PersistentVolumeSource) (string, bool) {
			if v.GCEPersistentDisk == nil {
				return "", false
			}
			return v.GCEPersistentDisk.PDName, true
		},
	}
	AzureDisks = &DiskKind{
		azureDisk,
		func(v *api.VolumeSource) (string, bool) {
			if v.AzureDisk == nil {
				return "", false
			}
			return v.AzureDisk.DiskName, true
		},
		func(v *api.PersistentVolumeSource) (string, bool) {
			if v.AzureDisk == nil {
				return "", false
			}
			return v.AzureDisk.DiskName, true
		},
	}
	CinderDisks = &DiskKind{
		cinder,
		func(v *api.VolumeSource) (string, bool) {
			if v.Cinder == nil {
				return "", false
			}
			return v.Cinder.VolumeID, true
		},
		func(v *api.PersistentVolumeSource) (string, bool) {
			if v.Cinder == nil {
				return "", false
			}
			return v.Cinder.VolumeID, true
		},
	}
)

// A Disk identifies a disk of one kind.
type Disk struct {
	id     string
	unmade bool // id is the key of the claim that needs the disk
}

// MayMount reports whether the pod mounts a disk of the kind, or a claim, because a
// claim may be such a disk.
func (k *DiskKind) MayMount(p *framework.PodInfo) bool {
	return slices.ContainsFunc(Of(p).Mounts, func(m Mount) bool {
		if m.Disk == nil {
			return !m.Claim.Ephemeral
		}
		_, is := k.id(&m.Disk.VolumeSource)
		return is
	})
}

// Migrated reports whether a CSI driver has taken over such disks on the node.
func (k *DiskKind) Migrated(node *api.CSINode) bool { return Migrated(node, k.plugin.name) }

// Append adds the pod's disks that the list lacks. A claim without a volume counts
// if its class makes such disks. Missing claims and ephemeral volumes do not count.
//
// Source: kube-scheduler 1.18, nodevolumelimits, filterVolumes.
func (k *DiskKind) Append(list []Disk, s *framework.Snapshot, p *framework.PodInfo) ([]Disk, error) {
	set, err := k.include(distinct[Disk]{list: list}, s, p)
	return set.list, err
}

// include returns the set with the pod's disks that it lacks.
func (k *DiskKind) include(set distinct[Disk], s *framework.Snapshot, p *framework.PodInfo) (distinct[Disk], error) {
	mounts := Of(p).Mounts
	for i := range mounts {
		m := &mounts[i]
		disk, is := Disk{}, false
		switch {
		case m.Disk != nil:
			disk.id, is = k.id(&m.Disk.VolumeSource)
		case m.Claim.Ephemeral:
		case m.Claim.Name == "":
			return set, errNoName
		default:
			disk, is = k.ofClaim(s, p.Pod.Namespace, m.Claim.Name)
		}
		if is {
			set = set.with(disk)
		}
	}
	return set, nil
}

// Count counts the different disks of the kind on a node, and the disks in added
// that are not among them.
func (k *DiskKind) Count(s *framework.Snapshot, n *framework.NodeInfo, added []Disk) (there, more int64, err error) {
	var buffer [fewDistinct]Disk
	set := distinct[Disk]{list: buffer[:0]}
	for _, p := range n.Pods {
		if set, err = k.include(set, s, p); err != nil {
			return 0, 0, err
		}
	}
	for _, d := range added {
		if !set.has(d) {
			more++
		}
	}
	return int64(len(set.list)), more, nil
}

func (k *DiskKind) ofClaim(s *framework.Snapshot, namespace, name string) (d Disk, is bool) {
	claim := framework.Lookup[api.PersistentVolumeClaim](s, key(namespace, name))
	if claim == nil {
		return d, false
	}
	if claim.Spec.VolumeName != "" {
		if v := framework.Lookup[api.PersistentVolume](s, claim.Spec.VolumeName); v != nil {
			d.id, is = k.idOf(&v.Spec.PersistentVolumeSource)
			return d, is
		}
	}
	if claim.Spec.StorageClassName == nil {
		return d, false
	}
	class := framework.Lookup[api.StorageClass](s, *claim.Spec.StorageClassName)
	return Disk{claim.Key(), true}, class != nil && class.Provisioner == k.plugin.name
}
