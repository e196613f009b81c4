package volumes

import "slices"

// fewNames is up to how many claims or disks of a pod are compared one by one.
const fewNames = 8

// names are what two pods on a node may both name, for pods with many claims or disks.
type names struct {
	claims map[string]struct{} // keys
	disks  map[diskName]*disk
}

// A diskName names a disk that pods may not share.
type diskName struct {
	kind       diskType
	pool, name string // pool is of Ceph block devices
}

// A diskType is a kind of such disks.
type diskType uint8

const (
	gceDisk diskType = iota
	ebsDisk
	iscsiDisk
	cephDisk
)

// A disk is what the volumes of a pod that name it have in common. It conflicts with the same disk of another pod if one of
// them writes. A Ceph block device is the same one only if they have a monitor in common, too; any other disk has one
// monitor, "".
type disk struct {
	name    diskName
	all     *monitors // of all volumes
	writing *monitors // of those that write; nil if none does
}

// conflicts reports whether pods on one node cannot use both, which have one name.
func (d *disk) conflicts(other *disk) bool {
	return d.writing.meets(other.all) || d.all.meets(other.writing)
}

// index makes disks and names, if the pod needs them.
func (p *Pod) index() {
	if len(p.Exclusive) > fewNames || len(p.Keys) > fewNames {
		p.names = &names{make(map[string]struct{}, len(p.Keys)), make(map[diskName]*disk, len(p.Exclusive))}
		for _, key := range p.Keys {
			p.names.claims[key] = struct{}{}
		}
	}
	for _, v := range p.Exclusive {
		if d := v.GCEPersistentDisk; d != nil {
			p.addDisk(diskName{kind: gceDisk, name: d.PDName}, anyMonitor, !d.ReadOnly)
		}
		if d := v.AWSElasticBlockStore; d != nil {
			p.addDisk(diskName{kind: ebsDisk, name: d.VolumeID}, anyMonitor, true) // never shared
		}
		if d := v.ISCSI; d != nil {
			p.addDisk(diskName{kind: iscsiDisk, name: d.IQN}, anyMonitor, !d.ReadOnly)
		}
		if d := v.RBD; d != nil {
			p.addDisk(diskName{cephDisk, d.RBDPool, d.RBDImage}, &monitors{list: slices.Clip(d.CephMonitors)}, !d.ReadOnly)
		}
	}
	for i := range p.disks {
		p.disks[i].all.settle()
		p.disks[i].writing.settle()
	}
}

// addDisk adds what a volume names.
func (p *Pod) addDisk(name diskName, m *monitors, writes bool) {
	d := p.disk(name)
	if d == nil {
		d = &disk{name: name}
		p.disks = append(p.disks, d)
		if p.names != nil {
			p.names.disks[name] = d
		}
	}
	d.all = d.all.and(m)
	if writes {
		d.writing = d.writing.and(m)
	}
}

// disk returns the pod's disk of the name, nil if it has none.
func (p *Pod) disk(name diskName) *disk {
	if p.names != nil {
		return p.names.disks[name]
	}
	for _, d := range p.disks {
		if d.name == name {
			return d
		}
	}
	return nil
}

// ExclusiveNames are the names of the disks that two pods on a node may not share. Two pods that
// cannot share a disk have a name in common.
func (p *Pod) ExclusiveNames() (list []string) {
	for _, v := range p.Exclusive {
		if d := v.GCEPersistentDisk; d != nil {
			list = append(list, d.PDName)
		}
		if d := v.AWSElasticBlockStore; d != nil {
			list = append(list, d.VolumeID)
		}
		if d := v.ISCSI; d != nil {
			list = append(list, d.IQN)
		}
		if d := v.RBD; d != nil {
			list = append(list, d.RBDImage)
		}
	}
	return list
}

// SharesClaim reports whether both pods mount a claim that is not ephemeral.
func (p *Pod) SharesClaim(q *Pod) bool {
	if len(p.Keys) < len(q.Keys) {
		p, q = q, p
	}
	return slices.ContainsFunc(q.Keys, p.mounts)
}

// mounts reports whether one of Keys is this.
func (p *Pod) mounts(key string) bool {
	if len(p.Keys) <= fewNames {
		return slices.Contains(p.Keys, key)
	}
	_, ok := p.names.claims[key]
	return ok
}

// MayShare reports whether a volume that the other pod uses may be one of the pod's: they
// mount one claim, which may have been made for one of them, or one of them names a disk
// directly.
func (p *Pod) MayShare(other *Pod) bool {
	if p.HasDisks() || other.HasDisks() {
		return len(p.Mounts) > 0 && len(other.Mounts) > 0
	}
	return p.SharesClaim(other) || slices.ContainsFunc(p.made, other.mounts) || slices.ContainsFunc(other.made, p.mounts)
}

// HasDisks reports whether the pod mounts a disk directly.
func (p *Pod) HasDisks() bool { return len(p.Mounts) > len(p.Claims) }

// SharesDisk reports whether a disk of one pod cannot be used by the other on the same node.
func (p *Pod) SharesDisk(q *Pod) bool {
	if len(p.disks) < len(q.disks) {
		p, q = q, p
	}
	return slices.ContainsFunc(q.disks, func(d *disk) bool {
		mine := p.disk(d.name)
		return mine != nil && mine.conflicts(d)
	})
}

// WritesDisks reports whether two pods with these disks cannot be on one node.
func (p *Pod) WritesDisks() bool {
	return slices.ContainsFunc(p.disks, func(d *disk) bool { return d.conflicts(d) })
}
