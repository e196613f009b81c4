package filter

import (
	"encoding/json"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/volumes"
)

// ClaimBindings lists what a driver has to write for the claims of a placed pod before
// it binds the pod. It holds changes, not objects: the objects of a snapshot lack the
// fields that scheduling does not read, so an update with one of them would delete
// these fields.
type ClaimBindings struct {
	// AllBound is set if all claims had their volumes before, so there is nothing to
	// do.
	AllBound bool
	// Volumes are to be reserved.
	Volumes []VolumeReservation
	// Claims are to get a volume that is provisioned on the chosen node.
	Claims []NodeSelection
}

// ClaimBindingsKey holds the ClaimBindings of a pod with claims, once Reserve of
// VolumeBinding has run.
var ClaimBindingsKey = framework.NewKey[ClaimBindings]("ClaimBindings")

// A VolumeReservation reserves a volume for a claim: it sets spec.claimRef.
type VolumeReservation struct {
	// Volume is the name of the volume; UID and ResourceVersion are those of the
	// version that was chosen.
	Volume          string
	UID             api.UID
	ResourceVersion string
	// Claim is the volume's claimRef.
	Claim api.ObjectReference
	// ByController is set if the volume gets, or has, the annotation
	// pv.kubernetes.io/bound-by-controller: nobody has reserved it by hand.
	ByController bool
}

// MergePatch returns the change as a JSON merge patch (RFC 7386) of the
// PersistentVolume. The API server refuses it if the volume has changed since it was
// chosen.
func (r VolumeReservation) MergePatch() ([]byte, error) {
	p := mergePatch{Metadata: patchMeta{UID: r.UID, ResourceVersion: r.ResourceVersion}}
	if r.ByController {
		p.Metadata.Annotations = map[string]string{volumes.AnnBoundByController: "yes"}
	}
	p.Spec = &patchSpec{r.Claim}
	return json.Marshal(p)
}

// A NodeSelection notes the chosen node on a claim, in the annotation
// [api.AnnSelectedNode], so that a volume is provisioned there.
type NodeSelection struct {
	// Namespace and Name are the claim's; UID and ResourceVersion are those of the
	// version that was chosen.
	Namespace, Name string
	UID             api.UID
	ResourceVersion string
	// Node is the chosen node.
	Node string
}

// MergePatch returns the change as a JSON merge patch (RFC 7386) of the
// PersistentVolumeClaim. The API server refuses it if the claim has changed since the
// node was chosen.
func (n NodeSelection) MergePatch() ([]byte, error) {
	return json.Marshal(mergePatch{Metadata: patchMeta{
		UID: n.UID, ResourceVersion: n.ResourceVersion,
		Annotations: map[string]string{api.AnnSelectedNode: n.Node},
	}})
}

type mergePatch struct {
	Metadata patchMeta  `json:"metadata"`
	Spec     *patchSpec `json:"spec,omitempty"`
}

type patchMeta struct {
	UID             api.UID           `json:"uid,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
}

type patchSpec struct {
	ClaimRef api.ObjectReference `json:"claimRef"`
}

// bindingsOf lists the changes that Reserve has made to the snapshot's objects.
func bindingsOf(found *volumes.Found, node string) ClaimBindings {
	var b ClaimBindings
	for _, f := range found.Bindings {
		v := f.Volume
		_, byController := v.Annotations[volumes.AnnBoundByController]
		b.Volumes = append(b.Volumes, VolumeReservation{v.Name, v.UID, v.ResourceVersion, *v.Spec.ClaimRef, byController})
	}
	for _, f := range found.Provisions {
		c := f.Claim
		b.Claims = append(b.Claims, NodeSelection{c.Namespace, c.Name, c.UID, c.ResourceVersion, node})
	}
	return b
}
