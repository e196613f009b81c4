package filter

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/volumes"
)

// ClaimLookup returns the newest versions of objects by their keys; nil for an object that
// does not exist.
type ClaimLookup struct {
	Volume func(name string) *api.PersistentVolume
	Claim  func(key string) *api.PersistentVolumeClaim // namespace/name
	// CSINode returns the drivers of a node: those that took over in-tree volumes say where these can be
	// used. nil means that none has.
	CSINode func(node string) *api.CSINode
}

// Bound reports whether every claim is bound, after a driver has written the changes: then
// it may bind the pod. Set each ResourceVersion to the one that the API server answered
// with; objects of older versions are waited for. An error means that the pod must be
// scheduled again.
//
// Source: kube-scheduler 1.37, volumebinding, checkBindings.
func (b ClaimBindings) Bound(newest ClaimLookup, node *api.Node) (bool, error) {
	for _, r := range b.Volumes {
		if ok, err := r.bound(newest, node); !ok || err != nil {
			return false, err
		}
	}
	for _, n := range b.Claims {
		if ok, err := n.bound(newest, node); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (r VolumeReservation) bound(newest ClaimLookup, node *api.Node) (bool, error) {
	v := newest.Volume(r.Volume)
	if v == nil {
		return false, fmt.Errorf("volume %s does not exist any more", r.Volume)
	}
	if older(&v.ObjectMeta, r.ResourceVersion) {
		return false, nil
	}
	if err := newest.usable(v, node); err != nil {
		return false, err
	}
	if ref := v.Spec.ClaimRef; ref == nil || ref.UID == "" {
		return false, fmt.Errorf("ClaimRef got reset for pv %q", v.Name)
	}
	claim := newest.Claim(r.Claim.Namespace + "/" + r.Claim.Name) // the volume may be for another one by now
	if claim == nil {
		return false, fmt.Errorf("claim %s/%s does not exist any more", r.Claim.Namespace, r.Claim.Name)
	}
	return volumes.IsBound(claim), nil
}

func (n NodeSelection) bound(newest ClaimLookup, node *api.Node) (bool, error) {
	claim := newest.Claim(n.Namespace + "/" + n.Name)
	if claim == nil {
		return false, fmt.Errorf("claim %s/%s does not exist any more", n.Namespace, n.Name)
	}
	if older(&claim.ObjectMeta, n.ResourceVersion) {
		return false, nil
	}
	if claim.Annotations[api.AnnSelectedNode] != node.Name {
		return false, fmt.Errorf("provisioning failed for PVC %q", claim.Name)
	}
	if claim.Spec.VolumeName != "" {
		v := newest.Volume(claim.Spec.VolumeName)
		if v == nil {
			return false, nil // it comes with a later event
		}
		if err := newest.usable(v, node); err != nil {
			return false, err
		}
	}
	return volumes.IsBound(claim), nil
}

// older reports whether an object has not got to a version yet.
func older(m *api.ObjectMeta, version string) bool {
	order, ok := api.CompareResourceVersions(m.ResourceVersion, version)
	return ok && order < 0
}

// usable returns an error if the node cannot use the volume.
func (l ClaimLookup) usable(v *api.PersistentVolume, node *api.Node) error {
	var drivers *api.CSINode
	if l.CSINode != nil {
		drivers = l.CSINode(node.Name)
	}
	switch ok, err := volumes.UsableOn(v, node, drivers); {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("pv %q node affinity doesn't match node %q: no matching NodeSelectorTerms", v.Name, node.Name)
	}
	return nil
}
