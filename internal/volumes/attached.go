package volumes

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/changelog"
	"github.com/berth-sched/berth/internal/cow"
)

// A NodeVolumes holds the volumes that pods use on a node, and other volumes
// attached to it. It never changes.
type NodeVolumes struct {
	// Node lists the drivers on the node; it may be nil.
	Node *api.CSINode
	// Used are the volumes that the node's pods use, without those that cannot be
	// determined. They are known if the node limits a driver.
	Used Handles
	// Counts holds the number of volumes by driver, including attached volumes that
	// no pod uses.
	Counts map[string]int
	// Attached is set if volumes are attached, or are to be, in use or not.
	Attached bool

	claims, volumes []string // that this was read from: keys, and names; sorted
}

// Limit returns how many volumes of a driver a node takes, or false if there is no
// limit. If there are several entries, the last one counts.
func (v *NodeVolumes) Limit(driver string) (limit int, limited bool) {
	if v.Node == nil {
		return 0, false
	}
	for _, d := range v.Node.Spec.Drivers {
		if d.Name == driver && isLimited(d) {
			limit, limited = int(*d.Allocatable.Count), true
		}
	}
	return limit, limited
}

// Adds counts those of the volumes that the node's pods do not use.
func (v *NodeVolumes) Adds(list []Handle) (n int) {
	for _, h := range list {
		if _, there := v.Used[h]; !there {
			n++
		}
	}
	return n
}

func hasLimits(n *api.CSINode) bool {
	return n != nil && slices.ContainsFunc(n.Spec.Drivers, isLimited)
}

func isLimited(d api.CSINodeDriver) bool {
	return d.Allocatable != nil && d.Allocatable.Count != nil
}

// An Attached knows the CSI volumes on each node with limited drivers. It is the snapshot's: it
// follows pods, nodes and objects. What a change concerns is read again by the next
// [AttachedTo]. Several goroutines may ask it about nodes.
//
// Invariant: nodes has what reading the node would find, by slot; nil if it is to be read
// again. Then missing has the slot. users and inUse are those of nodes.
type Attached struct {
	snapshot *framework.Snapshot
	nodes    cow.Pages[*NodeVolumes]
	owner    *cow.Owner
	missing  []int32
	users    users
	inUse    cow.Map[Handle, int] // on how many nodes pods use a volume
	others   attachments
	log      changelog.Log[int32] // of slots whose volumes changed because objects did
	version  uint64               // changes with inUse
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

// With returns the volumes of a node as if the pods had been added to it. It is not ok if that cannot be
// told, because volumes are attached there that the pods may use.
func (a *Attached) With(n *framework.NodeInfo, added []*framework.PodInfo) (v NodeVolumes, ok bool) {
	v = a.On(n)
	if !hasLimits(v.Node) {
		return v, true
	}
	var more Handles
	for _, p := range added {
		mounts := Of(p).Mounts
		for i := range mounts {
			if h, err := handleOfMount(a.snapshot, p.Pod, &mounts[i], true); err == nil {
				more.add(h)
			}
		}
	}
	if len(more) == 0 {
		return v, true
	}
	if v.Attached {
		return v, false
	}
	v.Counts = maps.Clone(v.Counts)
	if v.Counts == nil {
		v.Counts = map[string]int{}
	}
	for h := range v.Used {
		more.add(h)
	}
	for h := range more {
		if _, used := v.Used[h]; !used {
			v.Counts[h.Driver]++
		}
	}
	v.Used = more
	return v, true
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
	*a.nodes.Own(a.owner, n.Slot()) = &v
	for h := range v.Used {
		count, _ := a.inUse.Get(h)
		a.inUse.Set(h, count+1)
	}
	for _, key := range v.claims {
		a.users.claims.add(key, slot, claimFactsOf(a.snapshot, key))
	}
	for _, name := range v.volumes {
		a.users.volumes.add(name, slot, volumeFactsOf(a.snapshot, name))
	}
	if a.snapshot.Recording() {
		a.snapshot.Record(readUndo{a, slot})
	}
}

// readUndo forgets what a transaction has read of a node.
type readUndo struct {
	a    *Attached
	slot int32
}

func (u readUndo) Undo(*framework.Snapshot) { u.a.objectsChanged(u.slot) }

// forget has a node read again. It reports whether the node had been read.
func (a *Attached) forget(slot int32) bool {
	v := a.nodes.At(int(slot))
	if v == nil {
		return false
	}
	for h := range v.Used {
		if count, _ := a.inUse.Get(h); count > 1 {
			a.inUse.Set(h, count-1)
		} else {
			a.inUse.Remove(h)
		}
	}
	for _, key := range v.claims {
		a.users.claims.remove(key, slot)
	}
	for _, name := range v.volumes {
		a.users.volumes.remove(name, slot)
	}
	*a.nodes.Own(a.owner, int(slot)) = nil
	a.missing = append(a.missing, slot)
	a.version = a.snapshot.NewVersion()
	return true
}

// objectsChanged has a node read again, and says that its answers may differ. That a node is to be read
// already says nothing: its pods may have changed, and answers from before may count again after a rollback.
func (a *Attached) objectsChanged(slot int32) {
	a.forget(slot)
	a.log.Add(slot)
}

// PodAdded implements [framework.PodWatcher]. It adds what the pod uses: a node may have many pods. In a rollback
// not all objects are as they will be.
func (a *Attached) PodAdded(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	if s.RollingBack() || !a.add(n, p) {
		a.podChanged(n, p)
	}
}

// add adds what a pod uses to what was read of its node. It cannot if nothing was, or if volumes are attached
// that the pod may use.
func (a *Attached) add(n *framework.NodeInfo, p *framework.PodInfo) bool {
	mounts, was := Of(p).Mounts, a.nodes.At(n.Slot())
	if len(mounts) == 0 || was == nil || !hasLimits(was.Node) || was.Attached {
		return false
	}
	v, slot := *was, int32(n.Slot())
	v.claims, v.volumes = slices.Clone(v.claims), slices.Clone(v.volumes)
	for i := range mounts {
		m := &mounts[i]
		if h, err := handleOfMount(a.snapshot, p.Pod, m, true); err == nil && h != (Handle{}) {
			a.addHandle(&v, was, h)
		}
		if m.Disk != nil || m.Claim.Name == "" {
			continue
		}
		claim := key(p.Pod.Namespace, m.Claim.Name)
		facts := claimFactsOf(a.snapshot, claim)
		if insert(&v.claims, claim) {
			a.users.claims.add(claim, slot, facts)
		}
		if facts.volume != "" && insert(&v.volumes, facts.volume) {
			a.users.volumes.add(facts.volume, slot, volumeFactsOf(a.snapshot, facts.volume))
		}
	}
	*a.nodes.Own(a.owner, n.Slot()) = &v
	a.version = a.snapshot.NewVersion()
	return true
}

// addHandle adds a volume to v, which shares the maps of what it was made from until then.
func (a *Attached) addHandle(v, was *NodeVolumes, h Handle) {
	if _, there := v.Used[h]; there {
		return
	}
	if len(v.Used) == len(was.Used) {
		v.Used, v.Counts = maps.Clone(v.Used), maps.Clone(v.Counts)
		if v.Counts == nil {
			v.Counts = map[string]int{}
		}
	}
	v.Used.add(h)
	v.Counts[h.Driver]++
	count, _ := a.inUse.Get(h)
	a.inUse.Set(h, count+1)
}

// insert inserts a text into a sorted list, and reports whether it was not there.
func insert(list *[]string, text string) bool {
	i, there := slices.BinarySearch(*list, text)
	if !there {
		*list = slices.Insert(*list, i, text)
	}
	return !there
}

// PodRemoved implements [framework.PodWatcher].
func (a *Attached) PodRemoved(_ *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	a.podChanged(n, p)
}

// podChanged has the node read again if the pod may count there. That the node has changed is known
// by its generation.
func (a *Attached) podChanged(n *framework.NodeInfo, p *framework.PodInfo) {
	if len(Of(p).Mounts) == 0 {
		return
	}
	if v := a.nodes.At(n.Slot()); v != nil && hasLimits(v.Node) {
		a.forget(int32(n.Slot()))
	}
}

// NodeAdded implements [framework.NodeWatcher].
func (a *Attached) NodeAdded(_ *framework.Snapshot, n *framework.NodeInfo) {
	if a.forget(int32(n.Slot())) {
		return
	}
	if len(a.missing) > 2*a.snapshot.SlotLimit() { // nobody has asked for long, and nodes came again and again
		slices.Sort(a.missing)
		a.missing = slices.Compact(a.missing)
	}
	a.missing = append(a.missing, int32(n.Slot()))
}

// NodeRemoved implements [framework.NodeWatcher].
func (a *Attached) NodeRemoved(_ *framework.Snapshot, n *framework.NodeInfo) {
	a.forget(int32(n.Slot()))
}

// NodeUpdated implements [framework.NodeWatcher]: only the name of a node counts.
func (a *Attached) NodeUpdated(*framework.Snapshot, *framework.NodeInfo, *framework.NodeInfo) {}

// ObjectChanged implements [framework.ObjectWatcher].
func (a *Attached) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	switch o := obj.(type) {
	case *api.PersistentVolumeClaim:
		a.changed(a.users.claims.changed(key, claimFactsOf(s, key)))
		a.missingChanged()
	case *api.PersistentVolume:
		a.changed(a.users.volumes.changed(key, volumeFactsOf(s, key)))
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
			a.nodeChanged(node)
		}
	}
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

func (a *Attached) changed(slots []int32) {
	for _, slot := range slots {
		a.objectsChanged(slot)
	}
}

func (a *Attached) nodeChanged(name string) {
	if n := a.snapshot.Node(name); n != nil {
		a.objectsChanged(int32(n.Slot()))
	}
}

// readVolumes reads the volumes on a node, if the node limits any driver.
func readVolumes(s *framework.Snapshot, n *framework.NodeInfo, others *attachments) NodeVolumes {
	v := NodeVolumes{Node: CSINode(s, n.Name())}
	if !hasLimits(v.Node) {
		return v
	}
	for _, p := range n.Pods {
		mounts := Of(p).Mounts
		for i := range mounts {
			m := &mounts[i]
			if m.Disk == nil && m.Claim.Name != "" {
				v.claims = append(v.claims, key(p.Pod.Namespace, m.Claim.Name))
			}
			if h, err := handleOfMount(s, p.Pod, m, true); err == nil {
				v.Used.add(h)
			}
		}
	}
	v.claims = unique(v.claims)
	for _, key := range v.claims {
		if c := framework.Lookup[api.PersistentVolumeClaim](s, key); c != nil && c.Spec.VolumeName != "" {
			v.volumes = append(v.volumes, c.Spec.VolumeName)
		}
	}
	attached := others.on(n.Name())
	v.Attached = len(attached) > 0
	for _, x := range attached {
		v.volumes = append(v.volumes, x.volume)
	}
	v.volumes = unique(v.volumes)
	if len(v.Used)+len(attached) == 0 {
		return v
	}
	v.Counts = map[string]int{}
	for h := range v.Used {
		v.Counts[h.Driver]++
	}
	for h := range handlesOf(s, attached) {
		if _, used := v.Used[h]; !used {
			v.Counts[h.Driver]++
		}
	}
	return v
}

// unique sorts a list and drops what it has twice.
func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

var errNoName = errors.New("PersistentVolumeClaim had no name")

// compareHandles orders handles by driver.
func compareHandles(a, b Handle) int {
	switch {
	case a.Driver != b.Driver:
		return strings.Compare(a.Driver, b.Driver)
	case a.Name != b.Name:
		return strings.Compare(a.Name, b.Name)
	case a.unmade == b.unmade:
		return 0
	case b.unmade:
		return -1
	}
	return 1
}
