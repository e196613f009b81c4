package volumes

import (
	"iter"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// fewNames is up to how many claims or disks of a pod are compared one by one.
const fewNames = 8

// names are what two pods on a node may both name, for pods with many claims or disks.
type names struct {
	claims map[string]struct{} // keys
	disks  map[diskName]bool   // whether the pod writes
}

// A diskName names a disk that pods may not share: by one name, or, for a Ceph block
// device, by pool, image and a monitor.
type diskName struct {
	kind          string
	name          string
	pool, monitor string
}

// index makes names, if the pod needs them.
func (p *Pod) index() {
	disks := 0
	for _, v := range p.Exclusive {
		disks++
		if v.RBD != nil {
			disks += len(v.RBD.CephMonitors)
		}
	}
	if p.disks = disks; disks <= fewNames && len(p.Keys) <= fewNames {
		return
	}
	p.names = &names{claims: map[string]struct{}{}, disks: map[diskName]bool{}}
	for _, key := range p.Keys {
		p.names.claims[key] = struct{}{}
	}
	for _, v := range p.Exclusive {
		for name, writes := range disksOf(v) {
			p.names.disks[name] = p.names.disks[name] || writes
		}
	}
}

// disksOf yields the names of the disks that a volume is, and whether it writes to them.
func disksOf(v *api.Volume) iter.Seq2[diskName, bool] {
	return func(yield func(diskName, bool) bool) {
		if d := v.GCEPersistentDisk; d != nil && !yield(diskName{kind: "gce", name: d.PDName}, !d.ReadOnly) {
			return
		}
		if d := v.AWSElasticBlockStore; d != nil && !yield(diskName{kind: "ebs", name: d.VolumeID}, true) { // never shared
			return
		}
		if d := v.ISCSI; d != nil && !yield(diskName{kind: "iscsi", name: d.IQN}, !d.ReadOnly) {
			return
		}
		if d := v.RBD; d != nil {
			for _, monitor := range d.CephMonitors {
				if !yield(diskName{"rbd", d.RBDImage, d.RBDPool, monitor}, !d.ReadOnly) {
					return
				}
			}
		}
	}
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
	if p.disks < q.disks {
		p, q = q, p
	}
	if p.disks > fewNames {
		return slices.ContainsFunc(q.Exclusive, p.conflicts)
	}
	for _, a := range q.Exclusive {
		for _, b := range p.Exclusive {
			if disksConflict(a, b) {
				return true
			}
		}
	}
	return false
}

// disksConflict reports whether two pods of a node cannot use both disks.
func disksConflict(a, b *api.Volume) bool {
	if a, b := a.GCEPersistentDisk, b.GCEPersistentDisk; a != nil && b != nil && a.PDName == b.PDName && !(a.ReadOnly && b.ReadOnly) {
		return true
	}
	if a, b := a.AWSElasticBlockStore, b.AWSElasticBlockStore; a != nil && b != nil && a.VolumeID == b.VolumeID {
		return true
	}
	if a, b := a.ISCSI, b.ISCSI; a != nil && b != nil && a.IQN == b.IQN && !(a.ReadOnly && b.ReadOnly) {
		return true
	}
	if a, b := a.RBD, b.RBD; a != nil && b != nil && a.RBDPool == b.RBDPool && a.RBDImage == b.RBDImage && !(a.ReadOnly && b.ReadOnly) {
		return slices.ContainsFunc(a.CephMonitors, func(m string) bool { return slices.Contains(b.CephMonitors, m) })
	}
	return false
}

// conflicts reports whether the pod, which has many disks, cannot be on one node with another one's volume.
func (p *Pod) conflicts(v *api.Volume) bool {
	for name, writes := range disksOf(v) {
		if others, shared := p.names.disks[name]; shared && (writes || others) {
			return true
		}
	}
	return false
}
