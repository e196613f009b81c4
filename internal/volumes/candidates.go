package volumes

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

// candidates are the volumes that could be bound to a claim, on whatever node.
//
// Source: k8s.io/component-helpers/storage/volume, FindMatchingVolume.
type candidates struct {
	reserved []*volume // reserved for this claim, by name
	free     []*volume // by size, then by name
	index    index     // of free
	err      error     // the claim cannot be matched with any volume
}

// candidatesFor finds matching volumes of the claim's class.
func candidatesFor(s *framework.Snapshot, claim *api.PersistentVolumeClaim) (c candidates) {
	selector, limited := match.LabelSelector{}, claim.Spec.Selector != nil
	if limited {
		var err error
		if selector, err = match.NewLabelSelector(claim.Spec.Selector); err != nil {
			c.err = fmt.Errorf("error creating internal label selector for claim: %s/%s: %w", claim.Namespace, claim.Name, err)
			return c
		}
	}
	class, request := ClassOfClaim(claim), claim.Spec.Resources.Requests[resource.Storage]
	for _, v := range volumesIn(s) {
		spec := &v.object.Spec
		reserved := isReservedFor(v.object, claim)
		switch {
		case v.class != class, spec.ClaimRef != nil && !reserved, v.size.Cmp(request) < 0,
			modeOf(spec.VolumeMode) != modeOf(claim.Spec.VolumeMode),
			deref(spec.VolumeAttributesClassName) != deref(claim.Spec.VolumeAttributesClassName),
			v.object.DeletionTimestamp != nil:
		case reserved:
			c.reserved = append(c.reserved, v)
		case spec.ClaimRef != nil || v.object.Status.Phase != api.VolumeAvailable,
			limited && !selector.Matches(v.object.Labels),
			!hasModes(spec.AccessModes, claim.Spec.AccessModes):
		default:
			c.free = append(c.free, v)
		}
	}
	bySize := func(a, b *volume) int { return a.size.Cmp(b.size) }
	if !slices.IsSortedFunc(c.free, bySize) {
		slices.SortStableFunc(c.free, bySize)
	}
	for rank, v := range c.free {
		c.index.add(rank, v.must)
	}
	return c
}

// on returns the volume that the claim would get on a node. A volume reserved for
// it comes first, and must then be usable there; otherwise the smallest one is
// chosen. Volumes taken by earlier claims are skipped.
func (c *candidates) on(n *api.Node, taken []Binding) *volume {
	for _, v := range c.reserved {
		if isTaken(v, taken) {
			continue
		}
		if v.affinity.Allows(n) {
			return v
		}
		return nil
	}
	rank := c.index.first(n.Labels, func(rank int) bool {
		v := c.free[rank]
		return !isTaken(v, taken) && v.affinity.Allows(n)
	})
	if rank < 0 {
		return nil
	}
	return c.free[rank]
}

func isTaken(v *volume, taken []Binding) bool {
	return slices.ContainsFunc(taken, func(b Binding) bool { return b.Volume == v.object })
}

// isReservedFor reports whether the volume's claimRef names the claim.
func isReservedFor(v *api.PersistentVolume, c *api.PersistentVolumeClaim) bool {
	r := v.Spec.ClaimRef
	return r != nil && r.Name == c.Name && r.Namespace == c.Namespace && (r.UID == "" || r.UID == c.UID)
}

func modeOf(m *api.PersistentVolumeMode) api.PersistentVolumeMode {
	if m == nil {
		return api.PersistentVolumeFilesystem
	}
	return *m
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// hasModes reports whether a volume has all access modes that a claim requests.
func hasModes(have, want []api.PersistentVolumeAccessMode) bool {
	for _, mode := range want {
		if !slices.Contains(have, mode) {
			return false
		}
	}
	return true
}
