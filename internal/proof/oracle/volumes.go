package oracle

import (
	"slices"
	"sort"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Storage is the storage of a cluster, as lists. Class names are read only from the
// specs.
type Storage struct {
	Claims     []*api.PersistentVolumeClaim
	Volumes    []*api.PersistentVolume // by name
	Classes    []*api.StorageClass
	Drivers    []*api.CSIDriver
	Capacities []*api.CSIStorageCapacity // by key
}

// A Placement is VolumeBinding's result for a node. It holds the texts of the
// reasons against the node. If there are none, it holds, by claim, the volumes to
// bind and the capacities for new ones ("" if none is counted).
type Placement struct {
	Reasons        []string
	Bound, Created map[string]string
}

// PlaceVolumes answers for pods if all their claims exist and are bound or wait for
// their first pod.
func (s *Storage) PlaceVolumes(pod *api.Pod, node *api.Node) Placement {
	p := Placement{Bound: map[string]string{}, Created: map[string]string{}}
	affinity, found, room, exists := true, true, true, true

	var matching, creating []*api.PersistentVolumeClaim
	elsewhere, checking := false, true
	for _, claim := range s.claimsOf(pod) {
		if claim.Annotations["pv.kubernetes.io/bind-completed"] != "" && claim.Spec.VolumeName != "" {
			if !checking {
				continue
			}
			volume := s.volume(claim.Spec.VolumeName)
			if volume == nil {
				exists, checking = false, false
			} else if !reachable(volume, node) {
				affinity, checking = false, false
			}
			continue
		}
		if selected, ok := claim.Annotations["volume.kubernetes.io/selected-node"]; ok {
			elsewhere = elsewhere || selected != node.Name
			creating = append(creating, claim)
		} else {
			matching = append(matching, claim)
		}
	}
	if elsewhere {
		found = false
	} else {
		found, room = s.placeWaiting(&p, matching, creating, node)
	}
	for _, r := range []struct {
		ok   bool
		text string
	}{
		{affinity, "node(s) didn't match PersistentVolume's node affinity"},
		{found, "node(s) didn't find available persistent volumes to bind"},
		{room, "node(s) did not have enough free storage"},
		{exists, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"},
	} {
		if !r.ok {
			p.Reasons = append(p.Reasons, r.text)
		}
	}
	return p
}

func (s *Storage) placeWaiting(p *Placement, matching, creating []*api.PersistentVolumeClaim, node *api.Node) (found, room bool) {
	sort.SliceStable(matching, func(i, j int) bool { return size(matching[i]).Cmp(size(matching[j])) < 0 })
	for _, claim := range matching {
		if name := s.match(claim, node, p.Bound); name != "" {
			p.Bound[claim.Name] = name
		} else {
			creating = append(creating, claim)
		}
	}
	for _, claim := range creating {
		i := slices.IndexFunc(s.Classes, func(c *api.StorageClass) bool { return c.Name == *claim.Spec.StorageClassName })
		class := s.Classes[i]
		if class.Provisioner == "" || class.Provisioner == "kubernetes.io/no-provisioner" || !allowed(class, node) {
			return false, true
		}
		capacity, enough := s.capacityFor(claim, class, node)
		if !enough {
			return true, false
		}
		p.Created[claim.Name] = capacity
	}
	return true, true
}

// match returns the name of the volume that the claim gets, or "".
func (s *Storage) match(claim *api.PersistentVolumeClaim, node *api.Node, taken map[string]string) string {
	best := ""
	var bestSize resource.Quantity
	for _, v := range s.Volumes {
		used := false
		for _, name := range taken {
			used = used || name == v.Name
		}
		ref := v.Spec.ClaimRef
		mine := ref != nil && ref.Name == claim.Name && ref.Namespace == claim.Namespace && (ref.UID == "" || ref.UID == claim.UID)
		capacity := v.Spec.Capacity["storage"]
		if used || v.Spec.StorageClassName != *claim.Spec.StorageClassName || ref != nil && !mine || capacity.Cmp(size(claim)) < 0 ||
			filesystem(v.Spec.VolumeMode) != filesystem(claim.Spec.VolumeMode) ||
			text(v.Spec.VolumeAttributesClassName) != text(claim.Spec.VolumeAttributesClassName) || v.DeletionTimestamp != nil {
			continue
		}
		if mine {
			if reachable(v, node) {
				return v.Name
			}
			return ""
		}
		if v.Status.Phase != "Available" || claim.Spec.Selector != nil && !SelectsLabels(claim.Spec.Selector, v.Labels) || !reachable(v, node) {
			continue
		}
		modes := true
		for _, m := range claim.Spec.AccessModes {
			modes = modes && slices.Contains(v.Spec.AccessModes, m)
		}
		if modes && (best == "" || bestSize.Cmp(capacity) > 0) {
			best, bestSize = v.Name, capacity
		}
	}
	return best
}

func (s *Storage) capacityFor(claim *api.PersistentVolumeClaim, class *api.StorageClass, node *api.Node) (name string, enough bool) {
	if _, asks := claim.Spec.Resources.Requests["storage"]; !asks {
		return "", true
	}
	for _, d := range s.Drivers {
		if d.Name != class.Provisioner || d.Spec.StorageCapacity == nil || !*d.Spec.StorageCapacity {
			continue
		}
		request := size(claim)
		for _, c := range s.Capacities {
			limit := c.MaximumVolumeSize
			if limit == nil {
				limit = c.Capacity
			}
			if c.StorageClassName == class.Name && limit != nil && limit.Value() >= request.Value() && SelectsLabels(c.NodeTopology, node.Labels) {
				return c.Name, true
			}
		}
		return "", false
	}
	return "", true
}

func allowed(class *api.StorageClass, node *api.Node) bool {
	if len(class.AllowedTopologies) == 0 {
		return true
	}
	for _, term := range class.AllowedTopologies {
		all := len(term.MatchLabelExpressions) > 0
		for _, e := range term.MatchLabelExpressions {
			value, ok := node.Labels[e.Key]
			all = all && ok && slices.Contains(e.Values, value)
		}
		if all {
			return true
		}
	}
	return false
}

func (s *Storage) claimsOf(pod *api.Pod) (list []*api.PersistentVolumeClaim) {
	for _, v := range pod.Spec.Volumes {
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = strings.Join([]string{pod.Name, v.Name}, "-")
		default:
			continue
		}
		for _, c := range s.Claims {
			if c.Name == name && c.Namespace == pod.Namespace {
				list = append(list, c)
			}
		}
	}
	return list
}

func (s *Storage) volume(name string) *api.PersistentVolume {
	for _, v := range s.Volumes {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func reachable(v *api.PersistentVolume, node *api.Node) bool {
	a := v.Spec.NodeAffinity
	return a == nil || a.Required == nil || SelectsNode(a.Required, node)
}

func size(c *api.PersistentVolumeClaim) resource.Quantity {
	return c.Spec.Resources.Requests["storage"]
}

func filesystem(m *api.PersistentVolumeMode) bool { return m == nil || *m == "Filesystem" }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// StorageScore is VolumeBinding's score of a node for one storage class. shape maps
// the utilization to a score, from 0 to 100.
func StorageScore(requested, capacity int64, shape func(utilization int64) int64) int64 {
	if capacity == 0 || requested > capacity {
		return shape(100)
	}
	return shape(saturated(over(times(number(requested), number(100)), number(capacity))))
}
