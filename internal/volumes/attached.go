package volumes

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/changelog"
	"github.com/berth-sched/berth/internal/cow"
)

// An Attached knows the CSI volumes on each node with limited drivers. It is the snapshot's: it
// follows pods, nodes and objects. What a change concerns is read again by the next
// [AttachedTo]. Several goroutines may ask it about nodes.
//
// Invariant: nodes has what reading the node would find, by slot; nil if it is to be read
// again. Then missing has the slot. users and inUse are those of nodes.
type Attached struct {
	snapshot *framework.Snapshot
	nodes    cow.Pages[*NodeVolumes]
	owner    *cow.Owner // of pages, and of what is in them
	missing  []int32
	users    users
	inUse    cow.Map[Handle, int] // on how many nodes pods use a volume
	others   attachments
	log      changelog.Log[int32] // of slots whose volumes changed because objects did
	version  uint64               // of all that [KeyVersion] is about; no state has it twice
}

var attachedKey = framework.NewExtensionKey(func(s *framework.Snapshot) *Attached {
	a := &Attached{snapshot: s, owner: new(cow.Owner)}
	a.Rebuild(s)
	return a
})

// AttachedTo returns the volumes on the nodes of a snapshot. It costs O(changes since the last
// call).
func AttachedTo(s *framework.Snapshot) *Attached {
	a := attachedKey.Of(s)
	a.update()
	return a
}

// Rebuild reads everything again: the snapshot calls it after a rollback of the transaction in which
// a was made.
func (a *Attached) Rebuild(s *framework.Snapshot) {
	a.nodes, a.missing = nil, a.missing[:0]
	a.users, a.inUse, a.others = users{}, cow.Map[Handle, int]{}, attachmentsIn(s)
	a.log = changelog.From[int32](a.log.End() + 1) // nobody knows how all that came about
	a.version = s.NewVersion()
	for _, slot := range s.Slots() {
		a.missing = append(a.missing, int32(slot))
	}
}

// Fork implements [framework.Extension].
func (a *Attached) Fork(s *framework.Snapshot) framework.Extension {
	a.owner = new(cow.Owner)
	return &Attached{
		snapshot: s, nodes: slices.Clone(a.nodes), owner: new(cow.Owner), missing: slices.Clone(a.missing),
		users: a.users.fork(), inUse: a.inUse.Fork(), others: a.others.fork(),
		log: changelog.From[int32](a.log.End() + 1), version: a.version,
	}
}

// Version is [incremental.DomainTracker.Version], for filters that ask On. It counts changes
// of objects alone.
func (a *Attached) Version() uint64 { return a.log.End() }

// Changed is [incremental.DomainTracker.Changed], for filters that ask On.
func (a *Attached) Changed(since uint64, dirty func(slot int)) bool {
	slots, ok := a.log.Since(since)
	for _, slot := range slots {
		if a.snapshot.AtSlot(int(slot)) != nil {
			dirty(int(slot))
		}
	}
	return ok
}

// On returns the volumes of a node.
func (a *Attached) On(n *framework.NodeInfo) NodeVolumes {
	if v := a.nodes.At(n.Slot()); v != nil {
		return *v
	}
	return readVolumes(a.snapshot, n, &a.others)
}

// With returns the volumes of a node as if the pods had been added to it.
func (a *Attached) With(n *framework.NodeInfo, added []*framework.PodInfo) NodeVolumes {
	v := a.On(n)
	if !hasLimits(v.Node) {
		return v
	}
	v = *v.clone(nil)
	for _, p := range added {
		mounts := Of(p).Mounts
		for i := range mounts {
			if h, err := handleOfMount(a.snapshot, p.Pod, &mounts[i], true); err == nil {
				v.use(h)
			}
		}
	}
	return v
}

// uses reports whether a pod uses the volume on a node that limits a driver. All nodes must have
// been read.
func (a *Attached) uses(h Handle) bool {
	_, used := a.inUse.Get(h)
	return used
}

// update reads the nodes that are missing.
func (a *Attached) update() {
	for _, slot := range a.missing {
		if n := a.snapshot.AtSlot(int(slot)); n != nil && a.nodes.At(int(slot)) == nil {
			a.read(n)
		}
	}
	a.missing = a.missing[:0]
}

// read reads a node. What a transaction reads may come from objects that it has changed.
func (a *Attached) read(n *framework.NodeInfo) {
	v, slot := readVolumes(a.snapshot, n, &a.others), int32(n.Slot())
	v.owner = a.owner
	*a.nodes.Own(a.owner, n.Slot()) = &v
	for h := range v.Used {
		a.countUser(h, 1)
	}
	for key := range v.claims {
		a.users.addClaim(key, slot, claimFactsOf(a.snapshot, key))
	}
	for key := range v.volumes {
		a.users.volumes.add(key, slot, volumeFactsOf(a.snapshot, key))
	}
	a.recordRead(slot)
}

// recordRead has a rollback read a node again.
func (a *Attached) recordRead(slot int32) {
	if a.snapshot.Recording() {
		a.snapshot.Record(readUndo{a, slot})
	}
}

// readUndo forgets what a transaction has read of a node, or counted because of objects.
type readUndo struct {
	a    *Attached
	slot int32
}

func (u readUndo) Undo(*framework.Snapshot) { u.a.objectsChanged(u.slot) }

// countUser counts a node whose pods use the volume, or no longer do.
func (a *Attached) countUser(h Handle, by int) {
	count, _ := a.inUse.Get(h)
	if count += by; count == 0 {
		a.inUse.Remove(h)
		return
	}
	a.inUse.Set(h, count)
}

// forget has a node read again.
func (a *Attached) forget(slot int32) {
	v := a.nodes.At(int(slot))
	if v == nil {
		return
	}
	for h := range v.Used {
		a.countUser(h, -1)
	}
	for key := range v.claims {
		a.users.removeClaim(key, slot)
	}
	for key := range v.volumes {
		a.users.volumes.remove(key, slot)
	}
	*a.nodes.Own(a.owner, int(slot)) = nil
	a.missing = append(a.missing, slot)
}

// changes notes that keys of pods may differ, now and after a rollback.
func (a *Attached) changes() {
	a.version = a.snapshot.NewVersion()
	if a.snapshot.Recording() {
		a.snapshot.Record(versionUndo{a})
	}
}

type versionUndo struct{ a *Attached }

func (u versionUndo) Undo(s *framework.Snapshot) { u.a.version = s.NewVersion() }

// objectsChanged has a node read again, and says that its answers may differ. That a node is to be read
// already says nothing: its pods may have changed, and answers from before may count again after a rollback.
func (a *Attached) objectsChanged(slot int32) {
	a.forget(slot)
	a.log.Add(slot)
}

// PodAdded implements [framework.PodWatcher].
func (a *Attached) PodAdded(_ *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	a.podChanged(n, p, a.mount)
}

// PodRemoved implements [framework.PodWatcher].
func (a *Attached) PodRemoved(_ *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	a.podChanged(n, p, a.unmount)
}

// podChanged changes what a pod uses of its node: a node may have many pods. In a rollback, objects are as they were
// when the pod came or went: what has changed since has been taken back before. That the node has changed is known by
// its generation.
func (a *Attached) podChanged(n *framework.NodeInfo, p *framework.PodInfo, change func(*NodeVolumes, int32, *api.Pod, *Mount)) {
	mounts := Of(p).Mounts
	if len(mounts) == 0 {
		return
	}
	a.changes()
	switch v := a.nodes.At(n.Slot()); {
	case v == nil || !hasLimits(v.Node):
		return
	case len(mounts) > triedMounts && (a.snapshot.Recording() || a.snapshot.RollingBack()):
		a.forget(int32(n.Slot()))
		return
	}
	v := a.own(int32(n.Slot()))
	for i := range mounts {
		change(v, int32(n.Slot()), p.Pod, &mounts[i])
	}
}

// triedMounts is up to how many mounts of a pod are counted in a transaction. With more, the node is read again when
// somebody asks: a preemption that tries many pods, and puts them back, may not ask.
const triedMounts = 64

// own returns the volumes of a node that has been read, to be changed.
func (a *Attached) own(slot int32) *NodeVolumes {
	v := a.nodes.At(int(slot))
	if v.owner != a.owner {
		v = v.clone(a.owner)
		*a.nodes.Own(a.owner, int(slot)) = v
	}
	return v
}

// use counts a mount that uses a volume.
func (a *Attached) use(v *NodeVolumes, h Handle) {
	if v.use(h) {
		a.countUser(h, 1)
	}
}

// drop takes back a mount that used a volume.
func (a *Attached) drop(v *NodeVolumes, h Handle) {
	if v.drop(h) {
		a.countUser(h, -1)
	}
}

// join notes that a claim or an attachment of a node names a volume, or "".
func (a *Attached) join(v *NodeVolumes, slot int32, volume string) {
	if volume != "" && v.volumes.add(volume) {
		a.users.volumes.add(volume, slot, volumeFactsOf(a.snapshot, volume))
	}
}

// leave takes back what join noted.
func (a *Attached) leave(v *NodeVolumes, slot int32, volume string) {
	if volume != "" && v.volumes.remove(volume) {
		a.users.volumes.remove(volume, slot)
	}
}

// mount counts a mount of a pod that has come.
func (a *Attached) mount(v *NodeVolumes, slot int32, p *api.Pod, m *Mount) {
	s := a.snapshot
	if h, err := handleOfMount(s, p, m, true); err == nil {
		a.use(v, h)
	}
	if m.Disk != nil || m.Claim.Name == "" {
		return
	}
	claim := key(p.Namespace, m.Claim.Name)
	if m.Claim.Ephemeral {
		v.owned.add(claim)
	}
	if v.claims.add(claim) {
		facts := claimFactsOf(s, claim)
		a.users.addClaim(claim, slot, facts)
		a.join(v, slot, facts.volume)
	}
}

// unmount takes back a mount of a pod that has left. What counts of objects is as it was when the mount was
// counted, or has been counted anew since.
func (a *Attached) unmount(v *NodeVolumes, slot int32, p *api.Pod, m *Mount) {
	s := a.snapshot
	if h, err := handleOfMount(s, p, m, true); err == nil {
		a.drop(v, h)
	}
	if m.Disk != nil || m.Claim.Name == "" {
		return
	}
	claim := key(p.Namespace, m.Claim.Name)
	if m.Claim.Ephemeral {
		v.owned.remove(claim)
	}
	if v.claims.remove(claim) {
		a.users.removeClaim(claim, slot)
		a.leave(v, slot, claimFactsOf(s, claim).volume)
	}
}

// NodeAdded implements [framework.NodeWatcher].
func (a *Attached) NodeAdded(_ *framework.Snapshot, n *framework.NodeInfo) {
	a.changes()
	a.forget(int32(n.Slot()))
	if len(a.missing) > 2*a.snapshot.SlotLimit() { // nobody has asked for long, and nodes came again and again
		slices.Sort(a.missing)
		a.missing = slices.Compact(a.missing)
	}
	a.missing = append(a.missing, int32(n.Slot()))
}

// NodeRemoved implements [framework.NodeWatcher].
func (a *Attached) NodeRemoved(_ *framework.Snapshot, n *framework.NodeInfo) {
	a.changes()
	a.forget(int32(n.Slot()))
}

// NodeUpdated implements [framework.NodeWatcher]: only the name of a node counts.
func (a *Attached) NodeUpdated(*framework.Snapshot, *framework.NodeInfo, *framework.NodeInfo) {}

// ObjectChanged implements [framework.ObjectWatcher].
func (a *Attached) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	switch o := obj.(type) {
	case *api.PersistentVolumeClaim:
		a.claimChanged(key)
		a.missingChanged()
	case *api.PersistentVolume:
		a.volumeChanged(key)
		a.missingChanged()
	case *api.StorageClass:
		a.missingChanged()
		for _, slot := range s.Slots() { // administrators change classes, and seldom
			if v := a.nodes.At(slot); v != nil && hasLimits(v.Node) {
				a.objectsChanged(int32(slot))
			}
		}
	case *api.CSINode:
		a.nodeChanged(key)
	case *api.VolumeAttachment:
		for _, node := range a.others.set(s, key, o) {
			a.attachmentsChanged(node)
		}
	case *api.CSIDriver, *api.CSIStorageCapacity:
	default:
		return
	}
	a.changes()
}

// claimChanged counts on all nodes whose pods mount a claim what the claim stands for now.
func (a *Attached) claimChanged(key string) {
	is := claimFactsOf(a.snapshot, key)
	slots, was := a.users.renewClaim(key, is)
	slots.each(func(slot int32) {
		n, v := a.snapshot.AtSlot(int(slot)), a.own(slot)
		for range was.madeFor.mounts(key, n, v) {
			a.drop(v, was.handle)
		}
		for range is.madeFor.mounts(key, n, v) {
			a.use(v, is.handle)
		}
		if was.volume != is.volume {
			a.leave(v, slot, was.volume)
			a.join(v, slot, is.volume)
		}
		a.objectCounted(slot)
	})
}

// volumeChanged is claimChanged for a volume: it counts for the claims that name it, and where it is attached.
func (a *Attached) volumeChanged(name string) {
	slots, _ := a.users.volumes.renew(name, volumeFactsOf(a.snapshot, name))
	if slots.empty() {
		return
	}
	a.users.bound.each(name, a.claimChanged)
	slots.each(func(slot int32) {
		if slices.ContainsFunc(a.nodes.At(int(slot)).attachments, func(x attachment) bool { return x.volume == name }) {
			a.attach(slot)
		}
	})
}

// attachmentsChanged follows the attachments to a node.
func (a *Attached) attachmentsChanged(node string) {
	n := a.snapshot.Node(node)
	if n == nil {
		return
	}
	if v := a.nodes.At(n.Slot()); v == nil || !hasLimits(v.Node) {
		a.objectsChanged(int32(n.Slot()))
		return
	}
	a.attach(int32(n.Slot()))
}

// attach counts what is attached to a node that has been read.
func (a *Attached) attach(slot int32) {
	v := a.own(slot)
	was, is := v.attachments, a.others.on(a.snapshot.AtSlot(int(slot)).Name())
	v.attachments = is
	v.attach(handlesOf(a.snapshot, is))
	for _, x := range is {
		a.join(v, slot, x.volume)
	}
	for _, x := range was {
		a.leave(v, slot, x.volume)
	}
	a.objectCounted(slot)
}

// objectCounted says that the answers of a node may differ, because an object has changed. A rollback has the
// node read again: it does not tell of objects.
func (a *Attached) objectCounted(slot int32) {
	a.log.Add(slot)
	a.recordRead(slot)
}

// missingMost is how many missing nodes are listed one by one.
const missingMost = 64

// missingChanged says that the answers of nodes that are to be read may differ: after a rollback they have
// generations for which answers may be kept, and nobody knows which objects these came from.
func (a *Attached) missingChanged() {
	if len(a.missing) > missingMost {
		a.log = changelog.From[int32](a.log.End() + 1)
		return
	}
	a.log.AddAll(a.missing)
}

func (a *Attached) nodeChanged(name string) {
	if n := a.snapshot.Node(name); n != nil {
		a.objectsChanged(int32(n.Slot()))
	}
}
