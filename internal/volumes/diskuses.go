package volumes

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/cow"
)

// DiskUses counts, for each node, the disks that its pods may not share with others. So what keeps a pod off a node is found
// whatever number of pods it has: pods with the same disk, of one template, are one use. The counts are made on first use, and
// follow pods from then on.
type DiskUses struct {
	owner *cow.Owner
	nodes cow.Pages[*nodeDisks] // by slot; nil for a node without
}

// nodeDisks are the disks of a node's pods.
type nodeDisks struct {
	owner *cow.Owner
	uses  map[diskName][]diskUse
}

// A diskUse is how many pods have a disk in the same way.
type diskUse struct {
	disk *disk
	pods int
}

var diskUsesKey = framework.NewExtensionKey(newDiskUses)

func newDiskUses(s *framework.Snapshot) *DiskUses {
	u := &DiskUses{owner: new(cow.Owner)}
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
	there := u.nodes.At(n.Slot())
	if there == nil {
		return false
	}
	if len(there.uses) < len(p.disks) {
		for name, uses := range there.uses {
			if d := p.disk(name); d != nil && d.conflictsWith(uses) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(p.disks, func(d *disk) bool { return d.conflictsWith(there.uses[d.name]) })
}

func (d *disk) conflictsWith(uses []diskUse) bool {
	return slices.ContainsFunc(uses, func(u diskUse) bool { return d.conflicts(u.disk) })
}

// Fork implements [framework.Extension].
func (u *DiskUses) Fork(*framework.Snapshot) framework.Extension {
	u.owner = new(cow.Owner) // what there is, is shared now
	return &DiskUses{new(cow.Owner), slices.Clone(u.nodes)}
}

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
	disks := Of(p).disks
	if len(disks) == 0 {
		return
	}
	there := u.own(n.Slot())
	for _, d := range disks {
		there.count(d, by)
	}
	if len(there.uses) == 0 {
		*u.nodes.Own(u.owner, n.Slot()) = nil
	}
}

// own returns the disks of a slot for writing.
func (u *DiskUses) own(slot int) *nodeDisks {
	there := u.nodes.At(slot)
	if there != nil && there.owner == u.owner {
		return there
	}
	mine := &nodeDisks{u.owner, map[diskName][]diskUse{}}
	if there != nil {
		for name, uses := range there.uses {
			mine.uses[name] = slices.Clone(uses)
		}
	}
	*u.nodes.Own(u.owner, slot) = mine
	return mine
}

func (there *nodeDisks) count(d *disk, by int) {
	uses := there.uses[d.name]
	i := slices.IndexFunc(uses, func(u diskUse) bool { return u.disk.same(d) })
	if i < 0 {
		there.uses[d.name] = append(uses, diskUse{d, by})
		return
	}
	if uses[i].pods += by; uses[i].pods != 0 {
		return
	}
	if uses = slices.Delete(uses, i, i+1); len(uses) > 0 {
		there.uses[d.name] = uses
	} else {
		delete(there.uses, d.name)
	}
}

// same reports whether pods have the disk, of one name, in the same way.
func (d *disk) same(other *disk) bool { return d.all.same(other.all) && d.writing.same(other.writing) }

// Check implements [framework.Checker].
func (u *DiskUses) Check(s *framework.Snapshot) error {
	anew := newDiskUses(s)
	for slot := range max(len(u.nodes), len(anew.nodes)) * cow.PageSize {
		got, want := u.nodes.At(slot), anew.nodes.At(slot)
		if got == nil || want == nil {
			if got != want {
				return fmt.Errorf("slot %d: pods have %d disks, and %d are counted", slot, want.len(), got.len())
			}
			continue
		}
		if err := got.check(want); err != nil {
			return fmt.Errorf("slot %d: %w", slot, err)
		}
	}
	return nil
}

func (there *nodeDisks) len() int {
	if there == nil {
		return 0
	}
	return len(there.uses)
}

// check compares the counts with those that they should be.
func (there *nodeDisks) check(want *nodeDisks) error {
	if there.len() != want.len() {
		return fmt.Errorf("pods have %d disks, and %d are counted", want.len(), there.len())
	}
	for name, uses := range want.uses {
		if len(there.uses[name]) != len(uses) {
			return fmt.Errorf("disk %q is used in %d ways, and %d are counted", name.name, len(uses), len(there.uses[name]))
		}
		for _, w := range uses {
			if !slices.ContainsFunc(there.uses[name], func(g diskUse) bool { return g.pods == w.pods && g.disk.same(w.disk) }) {
				return fmt.Errorf("disk %q: the counts of pods are wrong", name.name)
			}
		}
	}
	return nil
}
