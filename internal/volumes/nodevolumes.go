package volumes

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// A NodeVolumes holds the volumes that pods use on a node, and other volumes
// attached to it.
type NodeVolumes struct {
	// Node lists the drivers on the node; it may be nil.
	Node *api.CSINode
	// Used says how many mounts of the node's pods use each volume, without those that cannot be
	// determined. They are known if the node limits a driver.
	Used map[Handle]int
	// Counts holds the number of volumes by driver, including attached volumes that
	// no pod uses.
	Counts map[string]int

	attachments []attachment // never changes
	attached    Handles      // those of attachments; never changes
	claims      uses         // by mounts
	owned       uses         // claims that were made for pods, by mounts
	volumes     uses         // of these claims, and attached ones
	owner       *cow.Owner
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

// readVolumes reads the volumes on a node, if the node limits any driver.
func readVolumes(s *framework.Snapshot, n *framework.NodeInfo, others *attachments) NodeVolumes {
	v := NodeVolumes{Node: CSINode(s, n.Name())}
	if !hasLimits(v.Node) {
		return v
	}
	v.attachments = others.on(n.Name())
	v.attach(handlesOf(s, v.attachments))
	for _, x := range v.attachments {
		v.volumes.add(x.volume)
	}
	for _, p := range n.Pods {
		mounts := Of(p).Mounts
		for i := range mounts {
			m := &mounts[i]
			if h, err := handleOfMount(s, p.Pod, m, true); err == nil {
				v.use(h)
			}
			if m.Disk != nil || m.Claim.Name == "" {
				continue
			}
			claim := key(p.Pod.Namespace, m.Claim.Name)
			if v.claims.add(claim); m.Claim.Ephemeral {
				v.owned.add(claim)
			}
		}
	}
	for key := range v.claims {
		if c := framework.Lookup[api.PersistentVolumeClaim](s, key); c != nil && c.Spec.VolumeName != "" {
			v.volumes.add(c.Spec.VolumeName)
		}
	}
	return v
}

// attach replaces the attached volumes.
func (v *NodeVolumes) attach(is Handles) {
	was := v.attached
	v.attached = is
	v.countUnused(was, is, -1)
	v.countUnused(is, was, 1)
}

// countUnused counts the volumes that no pod uses, except some.
func (v *NodeVolumes) countUnused(list, except Handles, by int) {
	for h := range list {
		_, other := except[h]
		if _, used := v.Used[h]; !other && !used {
			v.count(h.Driver, by)
		}
	}
}

// use counts a mount that uses a volume, and reports whether it is the first; the zero Handle is none.
func (v *NodeVolumes) use(h Handle) (first bool) {
	if h == (Handle{}) {
		return false
	}
	if v.Used == nil {
		v.Used = map[Handle]int{}
	}
	if v.Used[h]++; v.Used[h] > 1 {
		return false
	}
	if _, there := v.attached[h]; !there {
		v.count(h.Driver, 1)
	}
	return true
}

// drop takes back a mount that used a volume, and reports whether it was the last.
func (v *NodeVolumes) drop(h Handle) (last bool) {
	if h == (Handle{}) {
		return false
	}
	if v.Used[h]--; v.Used[h] > 0 {
		return false
	}
	delete(v.Used, h)
	if _, there := v.attached[h]; !there {
		v.count(h.Driver, -1)
	}
	return true
}

func (v *NodeVolumes) count(driver string, by int) {
	if v.Counts == nil {
		v.Counts = map[string]int{}
	}
	if v.Counts[driver] += by; v.Counts[driver] == 0 {
		delete(v.Counts, driver)
	}
}

// clone returns a copy that the owner may change.
func (v *NodeVolumes) clone(owner *cow.Owner) *NodeVolumes {
	c := *v
	c.Used, c.Counts = maps.Clone(v.Used), maps.Clone(v.Counts)
	c.claims, c.owned, c.volumes = maps.Clone(v.claims), maps.Clone(v.owned), maps.Clone(v.volumes)
	c.owner = owner
	return &c
}
