package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// storage makes classes, drivers, volumes and claims.
func (g *generator) storage() {
	g.storageClasses()
	g.csi()
	g.capacities()
	for i := range g.between(1, 8) {
		g.volumeAndClaim(i)
	}
	free := g.IntN(4)
	if g.sound {
		free = g.between(1, 8)
	}
	for i := range free {
		g.c.PersistentVolumes = append(g.c.PersistentVolumes, g.volume(fmt.Sprintf("free%d", i)))
	}
	g.attachments()
}

// annBetaClass is the annotation that named the class of claims and volumes before
// there was a field.
const annBetaClass = "volume.beta.kubernetes.io/storage-class"

// annotate sets an annotation of an object.
func annotate(m *api.ObjectMeta, key, value string) {
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations[key] = value
}

// betaClass also names a class by the old annotation, which overrules the field.
func (g *generator) betaClass(m *api.ObjectMeta) {
	if g.flaw(6) {
		annotate(m, annBetaClass, pick(g.dice, append([]string{"", "missing"}, append(g.classes, g.classes...)...)...))
	}
}

// attributes returns the attributes class of a volume or of a claim, mostly none.
func (g *generator) attributes() *string {
	if !g.flaw(18) {
		return nil
	}
	return new(pick(g.dice, "", "gold", "gold", "silver"))
}

// attachments adds attachments of volumes that may have no pod on the node.
func (g *generator) attachments() {
	for i := range g.IntN(5) {
		a := &api.VolumeAttachment{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("at%d", i)}}
		a.Spec.Attacher, a.Spec.NodeName = pick(g.dice, drivers...), g.nodeName()
		if n := len(g.c.PersistentVolumes); n > 0 {
			v := g.c.PersistentVolumes[g.IntN(n)]
			if g.chance(10) {
				a.Spec.Source.InlineVolumeSpec = &v.Spec
			} else {
				a.Spec.Source.PersistentVolumeName = &v.Name
			}
			if v.Spec.CSI != nil && g.chance(60) {
				a.Spec.Attacher = v.Spec.CSI.Driver
			}
		}
		switch g.IntN(20) {
		case 0:
			a.Spec.Attacher = ""
		case 1:
			a.Spec.NodeName = "nowhere"
		case 2:
			a.Spec.Source.PersistentVolumeName = new("gone")
		case 3:
			a.DeletionTimestamp = new(noon)
		}
		a.Status.Attached = g.chance(80)
		g.c.VolumeAttachments = append(g.c.VolumeAttachments, a)
	}
}

// mount gives the pod volumes.
func (g *generator) mount(p *api.Pod) {
	for i := range pick(g.dice, 1, 1, 2, 3) {
		v := api.Volume{Name: fmt.Sprintf("v%d", i)}
		switch {
		case g.chance(65) && len(g.claims) > 0:
			claim := pick(g.dice, g.claims...)
			switch {
			case g.flaw(2):
				claim = "missing"
			case g.flaw(1):
				claim = ""
			}
			for _, c := range g.c.PersistentVolumeClaims {
				if c.Name == claim && g.chance(90) {
					p.Namespace = c.Namespace
					p.UID = api.UID("u-" + p.Namespace + "-" + p.Name)
				}
			}
			v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: claim, ReadOnly: g.chance(20)}
		case g.chance(20):
			v.Ephemeral = &api.EphemeralVolumeSource{}
			g.ephemeralClaim(p, v.Name)
		default:
			g.disk(&v.VolumeSource)
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
}

// ephemeralClaim usually makes the claim of an ephemeral volume.
func (g *generator) ephemeralClaim(p *api.Pod, volume string) {
	if g.flaw(15) {
		return
	}
	claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: p.Name + "-" + volume, Namespace: p.Namespace}}
	claim.UID = api.UID("u" + claim.Namespace + claim.Name)
	claim.Spec.AccessModes = g.accessModes()
	claim.Spec.Resources.Requests = resource.List{resource.Storage: g.quantity("1Gi", "5Gi")}
	claim.Spec.StorageClassName = new(pick(g.dice, g.classes...))
	owner := api.OwnerReference{Kind: "Pod", APIVersion: "v1", Name: p.Name, UID: p.UID, Controller: new(true)}
	flaw := 3
	if g.flaw(20) {
		flaw = g.IntN(3)
	}
	switch flaw {
	case 0:
		owner.UID = "another"
	case 1:
		owner.Controller = pick(g.dice, nil, new(false))
	case 2:
		owner.Kind, owner.Name = "Job", "job" // only the UID is compared
	}
	if !g.flaw(6) {
		claim.OwnerReferences = []api.OwnerReference{owner}
	}
	if g.chance(30) {
		g.bind(claim, "pv-"+claim.Namespace+"-"+claim.Name)
	}
	g.c.PersistentVolumeClaims = append(g.c.PersistentVolumeClaims, claim)
}
