package volumes

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/cow"
)

// DiskUses counts, for each node, the uses of disks that pods may not share, by the name of the disk. So what keeps a pod off a
// node is found whatever number of pods it has. The counts are made on first use, and follow pods from then on.
type DiskUses struct {
	counts cow.Map[diskOn, diskUse]
}

// A diskOn is a disk on the node of a slot.
type diskOn struct {
	slot int
	name diskName
}

// A diskUse is how many volumes of pods are a disk, and how many of them write to it.
type diskUse struct{ all, writing int }

var diskUsesKey = framework.NewExtensionKey(newDiskUses)

func newDiskUses(s *framework.Snapshot) *DiskUses {
	u := new(DiskUses)
	for _, n := range s.All() {
		for _, p := range n.Pods {
			u.PodAdded(s, n, p)
		}
	}
	return u
}

// DiskUsesIn returns the counts of a snapshot.
func DiskUsesIn(s *framework.Snapshot) *DiskUses { return diskUsesKey.Of(s) }

// Conflict reports whether a pod on the node uses a disk of p that it cannot share with it.
func (u *DiskUses) Conflict(p *Pod, n *framework.NodeInfo) bool {
	for _, v := range p.Exclusive {
		for name, writes := range disksOf(v) {
			if use, ok := u.counts.Get(diskOn{n.Slot(), name}); ok && (writes || use.writing > 0) {
				return true
			}
		}
	}
	return false
}

// Fork implements [framework.Extension].
func (u *DiskUses) Fork(*framework.Snapshot) framework.Extension { return &DiskUses{u.counts.Fork()} }

// WatchedParts spares pods without volumes.
func (u *DiskUses) WatchedParts() framework.PodParts { return framework.PartVolumes }

// PodAdded counts the disks of a pod that has come to a node.
func (u *DiskUses) PodAdded(_ *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	u.count(n, p, 1)
}

// PodRemoved takes the disks of a pod that has left out of the counts.
func (u *DiskUses) PodRemoved(_ *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	u.count(n, p, -1)
}

func (u *DiskUses) count(n *framework.NodeInfo, p *framework.PodInfo, by int) {
	for _, v := range Of(p).Exclusive {
		for name, writes := range disksOf(v) {
			at := diskOn{n.Slot(), name}
			use, _ := u.counts.Get(at)
			use.all += by
			if writes {
				use.writing += by
			}
			if use.all == 0 {
				u.counts.Remove(at)
			} else {
				u.counts.Set(at, use)
			}
		}
	}
}

// Check implements [framework.Checker].
func (u *DiskUses) Check(s *framework.Snapshot) error {
	anew := newDiskUses(s)
	if u.counts.Len() != anew.counts.Len() {
		return fmt.Errorf("%d disks are in use, and %d are counted", anew.counts.Len(), u.counts.Len())
	}
	for at, want := range anew.counts.All() {
		if got, _ := u.counts.Get(at); got != want {
			return fmt.Errorf("disk %q in slot %d: %+v are counted, want %+v", at.name.name, at.slot, got, want)
		}
	}
	return nil
}
