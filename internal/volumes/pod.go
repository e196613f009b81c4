package volumes

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A ClaimRef is a claim that a pod mounts.
type ClaimRef struct {
	// Name is the claim's name, in the namespace of the pod.
	Name string
	// Ephemeral says that the claim is made for the pod, and lives as long as the
	// pod.
	Ephemeral bool
}

// A Mount is a volume of a pod that may need attaching to the node: a claim, or a
// disk that the pod names directly.
type Mount struct {
	Claim ClaimRef
	Disk  *api.Volume // nil for claims
}

// A Pod holds the parts of a pod's volumes that the volume plugins read. Lists are
// in the order of the volumes.
type Pod struct {
	// Claims are the claims. A claim that is mounted twice appears twice.
	Claims []ClaimRef
	// Keys are the keys of the claims that are not ephemeral.
	Keys []string
	// Mounts are the claims, and the disks that a CSI driver may have taken over.
	Mounts []Mount
	// Exclusive are the disks that two pods on a node may not share.
	Exclusive []*api.Volume

	made  []string // keys of the claims that are ephemeral
	disks []*disk  // that Exclusive are
	names *names   // nil for most pods
}

var none Pod

// Of returns the data that the volume plugins read of the pod.
func Of(p *framework.PodInfo) *Pod {
	if !p.HasVolumes() {
		return &none
	}
	return ofPod.Of(p)
}

var ofPod = framework.NewPodDerived(func(p *framework.PodInfo) *Pod {
	list := p.Pod.Spec.Volumes
	v := new(Pod)
	for i := range list {
		switch source := &list[i]; {
		case source.PersistentVolumeClaim != nil:
			name := source.PersistentVolumeClaim.ClaimName
			v.Keys = append(v.Keys, key(p.Pod.Namespace, name))
			v.claim(ClaimRef{Name: name})
		case source.Ephemeral != nil:
			v.made = append(v.made, madeKey(p.Pod, source))
			v.claim(ClaimRef{Name: p.Pod.Name + "-" + source.Name, Ephemeral: true})
		case inTreeOf(&source.VolumeSource) != nil:
			v.Mounts = append(v.Mounts, Mount{Disk: source})
		}
		if isExclusive(&list[i]) {
			v.Exclusive = append(v.Exclusive, &list[i])
		}
	}
	if len(v.Mounts) == 0 && len(v.Exclusive) == 0 {
		return &none // most pods mount nothing of interest
	}
	v.index()
	return v
})

func (p *Pod) claim(c ClaimRef) {
	p.Claims = append(p.Claims, c)
	p.Mounts = append(p.Mounts, Mount{Claim: c})
}

func isExclusive(v *api.Volume) bool {
	return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.RBD != nil || v.ISCSI != nil
}

// Fields returns the parts of the pod that determine its claims and disks, or none
// for a pod without any. That is safe: the equivalence class of a pod includes the
// set of parts read, so such pods never share a class with pods that have claims or
// disks.
func (p *Pod) Fields() framework.PodFields {
	switch {
	case len(p.made) > 0:
		return framework.FieldVolumes | framework.FieldNamespace | framework.FieldIdentity
	case len(p.Claims) > 0:
		return framework.FieldVolumes | framework.FieldNamespace
	case p != &none:
		return framework.FieldVolumes
	}
	return 0
}
