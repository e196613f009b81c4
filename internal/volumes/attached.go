package volumes

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// A Handle identifies a volume of a CSI driver.
type Handle struct {
	Driver, Name string
	unmade       bool // Name is the key of the claim that needs the volume
}

// Handles is a set of volumes.
type Handles map[Handle]struct{}

// add adds a volume; the zero Handle is none.
func (h *Handles) add(v Handle) {
	if v == (Handle{}) {
		return
	}
	if *h == nil {
		*h = Handles{}
	}
	(*h)[v] = struct{}{}
}

// A NodeVolumes holds the volumes that pods use on a node, and other volumes
// attached to it.
type NodeVolumes struct {
	// Node lists the drivers on the node; it may be nil.
	Node *api.CSINode
	// Used are the volumes that the node's pods use, without those that cannot be
	// determined.
	Used Handles
	// Counts holds the number of volumes by driver, including attached volumes that
	// no pod uses.
	Counts map[string]int

	generation uint64 // of the node
}

// An Attached finds the CSI volumes on each node with limited drivers. Prepare fills it
// once per cycle. Several goroutines may then ask it about many nodes.
//
// A runner may keep it and ask it in later cycles, as long as the objects of the snapshot
// are the same as at Prepare, or after a rollback has restored them.
type Attached struct {
	snapshot *framework.Snapshot
	cache    *attachedCache
	versions versions // at Prepare

	// others stands in for the cache's others while the cache has other versions. It
	// is made on first use; several goroutines may make it at once.
	others atomic.Pointer[map[string][]Handle]
}

// attachedCache holds the volumes on every node. Prepare updates it: for nodes whose
// pods changed, or for all nodes if a relevant object changed.
//
// A rollback restores the generations and versions of the snapshot, but not the cache.
// So an entry is valid only if both the versions and the generation of the node agree.
type attachedCache struct {
	slots    cow.Pages[*NodeVolumes]
	owner    *cow.Owner
	others   map[string][]Handle // attachments by node
	versions versions
}

// versions identifies all inputs of Attached besides the nodes and their pods.
type versions struct{ claims, volumes, classes, nodes, attachments uint64 }

func versionsOf(s *framework.Snapshot) versions {
	return versions{
		framework.ObjectsVersion[api.PersistentVolumeClaim](s),
		framework.ObjectsVersion[api.PersistentVolume](s),
		framework.ObjectsVersion[api.StorageClass](s),
		framework.ObjectsVersion[api.CSINode](s),
		framework.ObjectsVersion[api.VolumeAttachment](s),
	}
}

var attachedKey = framework.NewExtensionKey(func(*framework.Snapshot) *attachedCache {
	return &attachedCache{owner: new(cow.Owner)}
})

// Fork implements [framework.Extension].
func (c *attachedCache) Fork(*framework.Snapshot) framework.Extension {
	c.owner = new(cow.Owner)
	f := *c
	f.slots, f.owner = slices.Clone(c.slots), new(cow.Owner)
	return &f
}

// Prepare reads the volumes in a snapshot. It costs O(N) for N nodes if little has
// changed.
func (a *Attached) Prepare(s *framework.Snapshot) {
	c := attachedKey.Of(s)
	c.update(s)
	a.snapshot, a.cache, a.versions = s, c, c.versions
	a.others.Store(nil)
}

func (c *attachedCache) update(s *framework.Snapshot) {
	now := versionsOf(s)
	if now != c.versions {
		c.slots, c.versions = nil, now
		c.others = attachments(s)
	}
	if now.nodes == 0 {
		return // no node is limited
	}
	for _, slot := range s.Slots() {
		n := s.AtSlot(slot)
		if known := c.slots.At(slot); known == nil || known.generation != n.Generation() {
			v := nodeVolumesOf(s, n, c.others)
			*c.slots.Own(c.owner, slot) = &v
		}
	}
}

// On returns the current volumes of a node. Do not change the result.
func (a *Attached) On(n *framework.NodeInfo) NodeVolumes {
	c := a.cache
	if c.versions != a.versions {
		return nodeVolumesOf(a.snapshot, n, a.attachments())
	}
	if known := c.slots.At(n.Slot()); known != nil && known.generation == n.Generation() {
		return *known
	}
	return nodeVolumesOf(a.snapshot, n, c.others)
}

// attachments returns the attachments by node without using the cache.
func (a *Attached) attachments() map[string][]Handle {
	if others := a.others.Load(); others != nil {
		return *others
	}
	others := attachments(a.snapshot)
	a.others.Store(&others)
	return others
}

// nodeVolumesOf reads the volumes on a node, if the node limits any driver. attached
// are the attachments by node.
func nodeVolumesOf(s *framework.Snapshot, n *framework.NodeInfo, attached map[string][]Handle) NodeVolumes {
	v := NodeVolumes{Node: CSINode(s, n.Name()), generation: n.Generation()}
	if !hasLimits(v.Node) {
		return v
	}
	for _, p := range n.Pods {
		mounts := Of(p).Mounts
		for i := range mounts {
			if h, err := handleOfMount(s, p.Pod, &mounts[i], true); err == nil {
				v.Used.add(h)
			}
		}
	}
	others := attached[n.Name()]
	if len(v.Used)+len(others) == 0 {
		return v
	}
	v.Counts = map[string]int{}
	for h := range v.Used {
		v.Counts[h.Driver]++
	}
	for _, h := range others {
		if _, used := v.Used[h]; !used {
			v.Counts[h.Driver]++
		}
	}
	return v
}

func hasLimits(n *api.CSINode) bool {
	return n != nil && slices.ContainsFunc(n.Spec.Drivers, isLimited)
}

func isLimited(d api.CSINodeDriver) bool {
	return d.Allocatable != nil && d.Allocatable.Count != nil
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

// Limited reports whether the node limits any driver.
func (v *NodeVolumes) Limited() bool { return hasLimits(v.Node) }

// attachments returns the CSI volumes that are attached, or to be attached, by
// node.
func attachments(s *framework.Snapshot) map[string][]Handle {
	by := map[string][]Handle{}
	type placed struct {
		node string
		Handle
	}
	seen := map[placed]struct{}{}
	for _, a := range framework.List[api.VolumeAttachment](s) {
		if a.Spec.Attacher == "" || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		v := framework.Lookup[api.PersistentVolume](s, *a.Spec.Source.PersistentVolumeName)
		if v == nil || v.Spec.CSI == nil {
			continue
		}
		h := Handle{Driver: a.Spec.Attacher, Name: v.Spec.CSI.VolumeHandle}
		at := placed{a.Spec.NodeName, h}
		if _, known := seen[at]; !known {
			seen[at] = struct{}{}
			by[at.node] = append(by[at.node], h)
		}
	}
	return by
}

// NewHandles returns the CSI volumes that a pod would use. known says whether the
// drivers of the node are known. An error names the first volume that cannot be
// determined; for a missing claim it is a [*MissingError].
func NewHandles(s *framework.Snapshot, p *framework.PodInfo, known bool) (h Handles, err error) {
	mounts := Of(p).Mounts
	for i := range mounts {
		v, err := handleOfMount(s, p.Pod, &mounts[i], known)
		if err != nil {
			return h, err
		}
		h.add(v)
	}
	return h, nil
}

// Drivers returns the drivers of the volumes, sorted.
func (h Handles) Drivers() []string {
	var list []string
	for v := range h {
		list = append(list, v.Driver)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

var errNoName = errors.New("PersistentVolumeClaim had no name")

// handleOfMount returns the CSI volume of a pod's mount, the zero Handle if it is none. If
// known is set, the drivers of the node are known, and in-tree disks count as volumes of the
// driver that took them over.
//
// Source: kube-scheduler 1.37, nodevolumelimits, filterAttachableVolumes.
func handleOfMount(s *framework.Snapshot, p *api.Pod, m *Mount, known bool) (Handle, error) {
	if m.Disk != nil {
		return handleOfDisk(m.Disk, known)
	}
	if m.Claim.Name == "" {
		return Handle{}, errNoName
	}
	claim, err := Claim(s, p.Namespace, m.Claim.Name)
	if err != nil {
		return Handle{}, fmt.Errorf("looking up PVC %s/%s: %w", p.Namespace, m.Claim.Name, err)
	}
	if m.Claim.Ephemeral {
		if err := CheckOwner(p, claim); err != nil {
			return Handle{}, err
		}
	}
	h := handleOfClaim(s, claim, known)
	if h.Driver == "" || h.Name == "" {
		return Handle{}, nil
	}
	return h, nil
}

// handleOfDisk returns the volume of a disk that a pod names directly.
func handleOfDisk(v *api.Volume, known bool) (Handle, error) {
	plugin := inTreeOf(&v.VolumeSource)
	if !known || !plugin.countable {
		return Handle{}, nil
	}
	name, err := handleOf(&v.VolumeSource)
	if err != nil {
		return Handle{}, fmt.Errorf("converting volume(%s) from inline to csi: %w", v.Name, err)
	}
	return Handle{Driver: plugin.driver, Name: name}, nil
}

// handleOfClaim returns the CSI volume of a claim, or the volume to be made for it.
// It returns the zero Handle if this is not a CSI volume.
func handleOfClaim(s *framework.Snapshot, c *api.PersistentVolumeClaim, known bool) Handle {
	v := framework.Lookup[api.PersistentVolume](s, c.Spec.VolumeName)
	if c.Spec.VolumeName == "" || v == nil {
		return handleOfClass(s, c, known)
	}
	if v.Spec.CSI != nil {
		return Handle{Driver: v.Spec.CSI.Driver, Name: v.Spec.CSI.VolumeHandle}
	}
	plugin := inTreeOfVolume(&v.Spec.PersistentVolumeSource)
	if plugin == nil || !plugin.countable || !known {
		return Handle{}
	}
	name, err := handleOfVolume(v)
	if err != nil {
		return Handle{}
	}
	return Handle{Driver: plugin.driver, Name: name}
}

func handleOfClass(s *framework.Snapshot, c *api.PersistentVolumeClaim, known bool) Handle {
	name := ClassOfClaim(c)
	class := framework.Lookup[api.StorageClass](s, name)
	if name == "" || class == nil {
		return Handle{}
	}
	h := Handle{Driver: class.Provisioner, Name: key(c.Namespace, c.Name), unmade: true}
	if plugin := inTreeNamed(class.Provisioner); plugin != nil {
		if !known || !plugin.countable {
			return Handle{}
		}
		h.Driver = plugin.driver
	}
	return h
}
