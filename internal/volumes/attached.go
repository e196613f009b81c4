package volumes

import (
	"errors"
	"fmt"
	"slices"

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

func (h *Handles) add(v Handle) {
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
	// Used are the volumes that the node's pods use.
	Used Handles
	// Counts holds the number of volumes by driver, including attached volumes that
	// no pod uses.
	Counts map[string]int
	// Err reports that the volumes of a pod cannot be determined.
	Err error

	generation uint64 // of the node
}

// Attached keeps the CSI volumes on every node with limited drivers. It is updated
// on demand: for nodes whose pods changed, or for all nodes if a relevant object
// changed.
type Attached struct {
	slots    cow.Pages[*NodeVolumes]
	owner    *cow.Owner
	others   map[string][]Handle
	versions versions
}

// versions identifies all inputs of Attached besides pods.
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

var attachedKey = framework.NewExtensionKey(func(*framework.Snapshot) *Attached { return &Attached{owner: new(cow.Owner)} })

// Fork implements [framework.Extension].
func (a *Attached) Fork(*framework.Snapshot) framework.Extension {
	a.owner = new(cow.Owner)
	f := *a
	f.slots, f.owner = slices.Clone(a.slots), new(cow.Owner)
	return &f
}

// AttachedIn returns the attached volumes of a snapshot. It costs O(N) for N nodes
// if little has changed.
func AttachedIn(s *framework.Snapshot) *Attached {
	a := attachedKey.Of(s)
	now := versionsOf(s)
	if now != a.versions {
		a.slots, a.versions = nil, now
		a.others = attachments(s)
	}
	if now.nodes == 0 {
		return a // no node is limited
	}
	for _, slot := range s.Slots() {
		n := s.AtSlot(slot)
		if known := a.slots.At(slot); known == nil || known.generation != n.Generation() {
			v := a.read(s, n)
			*a.slots.Own(a.owner, slot) = &v
		}
	}
	return a
}

// On returns the current volumes of a node. Do not change the result.
func (a *Attached) On(s *framework.Snapshot, n *framework.NodeInfo) NodeVolumes {
	if known := a.slots.At(n.Slot()); known != nil && known.generation == n.Generation() {
		return *known
	}
	return a.read(s, n)
}

// read reads the volumes of the node's pods, if the node limits any driver.
func (a *Attached) read(s *framework.Snapshot, n *framework.NodeInfo) NodeVolumes {
	v := NodeVolumes{Node: CSINode(s, n.Name()), generation: n.Generation()}
	if !hasLimits(v.Node) {
		return v
	}
	for _, p := range n.Pods {
		if mounts := Of(p).Mounts; len(mounts) > 0 {
			if v.Err = handles(s, p.Pod, mounts, true, false, &v.Used); v.Err != nil {
				return v
			}
		}
	}
	others := a.others[n.Name()]
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
	for _, a := range framework.List[api.VolumeAttachment](s) {
		if a.Spec.Attacher == "" || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		v := framework.Lookup[api.PersistentVolume](s, *a.Spec.Source.PersistentVolumeName)
		if v == nil || v.Spec.CSI == nil {
			continue
		}
		h := Handle{Driver: a.Spec.Attacher, Name: v.Spec.CSI.VolumeHandle}
		if node := a.Spec.NodeName; !slices.Contains(by[node], h) {
			by[node] = append(by[node], h)
		}
	}
	return by
}

// NewHandles returns the CSI volumes that a pod would use. known says whether the
// drivers of the node are known. For a missing claim it returns a [*MissingError].
func NewHandles(s *framework.Snapshot, p *framework.PodInfo, known bool) (h Handles, err error) {
	err = handles(s, p.Pod, Of(p).Mounts, known, true, &h)
	return h, err
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

// handles adds the CSI volumes of a pod's mounts. If known is set, the drivers of
// the node are known, and in-tree disks count as volumes of the driver that took
// them over. A missing claim is an error for a new pod; a pod already on the node
// may run without it.
//
// Source: kube-scheduler 1.37, nodevolumelimits, filterAttachableVolumes.
func handles(s *framework.Snapshot, p *api.Pod, mounts []Mount, known, comes bool, to *Handles) error {
	for i := range mounts {
		m := &mounts[i]
		if m.Disk != nil {
			if err := addDisk(m.Disk, known, to); err != nil {
				return err
			}
			continue
		}
		if m.Claim.Name == "" {
			return errNoName
		}
		claim, err := Claim(s, p.Namespace, m.Claim.Name)
		switch {
		case err != nil && comes:
			return fmt.Errorf("looking up PVC %s/%s: %w", p.Namespace, m.Claim.Name, err)
		case err != nil:
			continue
		case m.Claim.Ephemeral:
			if err := CheckOwner(p, claim); err != nil {
				return err
			}
		}
		if h := handleOfClaim(s, claim, known); h.Driver != "" && h.Name != "" {
			to.add(h)
		}
	}
	return nil
}

// addDisk adds a disk that a pod names directly.
func addDisk(v *api.Volume, known bool, to *Handles) error {
	plugin := inTreeOf(&v.VolumeSource)
	if !known || !plugin.countable {
		return nil
	}
	name, err := handleOf(&v.VolumeSource)
	if err != nil {
		return fmt.Errorf("converting volume(%s) from inline to csi: %w", v.Name, err)
	}
	to.add(Handle{Driver: plugin.driver, Name: name})
	return nil
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
