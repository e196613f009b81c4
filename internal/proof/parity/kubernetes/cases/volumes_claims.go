package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// volumeAndClaim makes a claim in one of its possible states, and the volume that is
// bound to it or kept for it.
func (g *generator) volumeAndClaim(i int) {
	claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{
		Name: fmt.Sprintf("claim%d", i), Namespace: pick(g.dice, "default", "default", "ns-a"), Annotations: map[string]string{},
	}}
	if g.sound {
		claim.Namespace = "default"
	}
	claim.UID = api.UID("u" + claim.Namespace + claim.Name)
	claim.Spec.AccessModes = g.accessModes()
	claim.Spec.Resources.Requests = g.storageList("1Gi", "1Gi", "5Gi", "8Gi", "50Gi")
	claim.Spec.VolumeAttributesClassName = g.attributes()
	claim.Status.Phase = pick(g.dice, api.ClaimPending, api.ClaimPending, api.ClaimPending, "")
	switch {
	case g.sound:
		claim.Spec.StorageClassName = new(pick(g.dice, g.classes...))
	case !g.chance(5):
		claim.Spec.StorageClassName = new(pick(g.dice, append([]string{"", "missing"}, append(g.classes, g.classes...)...)...))
	}
	g.betaClass(&claim.ObjectMeta)
	g.noteProvisioner(&claim.ObjectMeta)
	if g.chance(10) {
		claim.Spec.VolumeMode = new(pick(g.dice, api.PersistentVolumeBlock, api.PersistentVolumeFilesystem))
	}
	if g.flaw(10) {
		claim.Spec.Selector = g.labelSelector()
	}
	name := fmt.Sprintf("pv%d", i)
	switch {
	case g.chance(40):
		g.bind(claim, name)
	case g.flaw(8):
		claim.Status.Phase = api.ClaimLost
		claim.Spec.VolumeName = "gone"
	case g.flaw(8):
		claim.DeletionTimestamp = new(noon)
	case g.chance(8):
		claim.Annotations[api.AnnSelectedNode] = pick(g.dice, g.nodeName(), "nowhere", "")
	case g.flaw(5):
		claim.Spec.VolumeName = "pending"
	case g.chance(40):
		g.keep(claim, name)
	}
	g.c.PersistentVolumeClaims = append(g.c.PersistentVolumeClaims, claim)
	g.claims = append(g.claims, claim.Name)
}

// noteProvisioner records the provisioner that makes, or took over, the volume of a
// claim. No scheduler reads that.
func (g *generator) noteProvisioner(m *api.ObjectMeta) {
	if g.chance(25) {
		annotate(m, "volume.kubernetes.io/storage-provisioner", pick(g.dice, drivers...))
	}
	if g.chance(15) {
		annotate(m, "volume.beta.kubernetes.io/storage-provisioner", pick(g.dice, inTree...))
	}
	if g.chance(15) {
		annotate(m, api.AnnMigratedTo, pick(g.dice, drivers...))
	}
}

// reference refers to a claim, sometimes to one of another time or place.
func (g *generator) reference(c *api.PersistentVolumeClaim, right int) *api.ObjectReference {
	r := &api.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID}
	if g.chance(right) {
		return r
	}
	switch g.IntN(4) {
	case 0:
		r.UID = ""
	case 1:
		r.UID = "before"
	case 2:
		r.Name = "another"
	default:
		r.Namespace = "ns-b"
	}
	return r
}

// keep makes a volume that mostly suits the claim and is kept for it. The claim does
// not know that yet.
func (g *generator) keep(claim *api.PersistentVolumeClaim, name string) {
	v := g.volume(name)
	v.Spec.ClaimRef = g.reference(claim, 45)
	if g.chance(70) {
		v.Spec.AccessModes, v.Spec.VolumeMode = claim.Spec.AccessModes, claim.Spec.VolumeMode
		v.Spec.VolumeAttributesClassName = claim.Spec.VolumeAttributesClassName
		if claim.Spec.StorageClassName != nil {
			v.Spec.StorageClassName = *claim.Spec.StorageClassName
		}
		if g.chance(70) {
			v.Spec.Capacity = claim.Spec.Resources.Requests
		}
	}
	g.c.PersistentVolumes = append(g.c.PersistentVolumes, v)
}

// bind binds the claim to a new volume.
func (g *generator) bind(claim *api.PersistentVolumeClaim, name string) {
	claim.Spec.VolumeName = name
	if !g.flaw(10) {
		annotate(&claim.ObjectMeta, api.AnnBindCompleted, pick(g.dice, "yes", "yes", "yes", ""))
		claim.Status.Phase = pick(g.dice, api.ClaimBound, api.ClaimBound, api.ClaimBound, api.ClaimBound, api.ClaimPending)
	}
	if g.flaw(3) {
		claim.DeletionTimestamp = new(noon)
	}
	if g.flaw(5) {
		return // the volume is gone
	}
	v := g.volume(name)
	v.Spec.AccessModes = claim.Spec.AccessModes
	v.Status.Phase = api.VolumeBound
	if claim.Spec.StorageClassName != nil {
		v.Spec.StorageClassName = *claim.Spec.StorageClassName
	}
	if !g.chance(10) {
		v.Spec.ClaimRef = g.reference(claim, 85)
	}
	g.c.PersistentVolumes = append(g.c.PersistentVolumes, v)
}
