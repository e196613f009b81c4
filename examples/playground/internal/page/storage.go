package page

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// storagePartWork is the work of a look at a part of a volume's node affinity, or of a class's topologies, for one node.
const storagePartWork = 4

// affinityParts counts the parts of a selector of nodes.
func affinityParts(s *api.NodeSelector) (n int) {
	if s == nil {
		return 0
	}
	for i := range s.NodeSelectorTerms {
		n++
		for _, list := range [2][]api.NodeSelectorRequirement{s.NodeSelectorTerms[i].MatchExpressions, s.NodeSelectorTerms[i].MatchFields} {
			for k := range list {
				n += 1 + len(list[k].Values)
			}
		}
	}
	return n
}

// volumeParts counts the parts of a volume's node affinity.
func volumeParts(v *api.PersistentVolume) int {
	if v == nil || v.Spec.NodeAffinity == nil {
		return 0
	}
	return affinityParts(v.Spec.NodeAffinity.Required)
}

// classParts counts the parts of a class's topologies.
func classParts(c *api.StorageClass) (n int) {
	if c == nil {
		return 0
	}
	for i := range c.AllowedTopologies {
		n++
		for _, e := range c.AllowedTopologies[i].MatchLabelExpressions {
			n += 1 + len(e.Values)
		}
	}
	return n
}

// checkStorage refuses volumes and classes that are too large for so many nodes.
func checkStorage(o *api.Objects) error {
	check := func(object, field string, parts int) error {
		if parts*storagePartWork <= maxSearch/max(1, len(o.Nodes)) {
			return nil
		}
		return &api.InvalidError{
			Object: object, Field: field, Value: fmt.Sprintf("%d parts", parts), Err: fmt.Errorf("is too much to compare with %d nodes, on this page", len(o.Nodes)),
		}
	}
	var errs []error
	for _, v := range o.PersistentVolumes {
		errs = append(errs, check("persistentvolume "+v.Key(), "spec.nodeAffinity", volumeParts(v)))
	}
	for _, c := range o.StorageClasses {
		errs = append(errs, check("storageclass "+c.Key(), "allowedTopologies", classParts(c)))
	}
	return errors.Join(errs...)
}

// storageWork is the work of a search of so many nodes for the volumes of a pod.
func (w *world) storageWork(p *api.Pod, nodes int) (work int) {
	for i := range p.Spec.Volumes {
		switch v := &p.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			claim := framework.Lookup[api.PersistentVolumeClaim](w.snapshot, p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
			if claim != nil {
				work += w.claimWork(claim, nodes)
			}
		case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
			template := v.Ephemeral.VolumeClaimTemplate
			work += w.claimWork(&api.PersistentVolumeClaim{ObjectMeta: template.ObjectMeta, Spec: template.Spec}, nodes)
		}
	}
	return work
}

// claimWork is the part of one claim: that of its volume, or of its class and all storage capacities.
func (w *world) claimWork(claim *api.PersistentVolumeClaim, nodes int) int {
	if name := claim.Spec.VolumeName; name != "" {
		return storagePartWork * nodes * volumeParts(framework.Lookup[api.PersistentVolume](w.snapshot, name))
	}
	class := framework.Lookup[api.StorageClass](w.snapshot, className(claim))
	return storagePartWork*nodes*classParts(class) + len(framework.List[api.CSIStorageCapacity](w.snapshot))
}

// className returns the name of a claim's class. An annotation from before there was a field still counts, and first.
func className(claim *api.PersistentVolumeClaim) string {
	if name, ok := claim.Annotations["volume.beta.kubernetes.io/storage-class"]; ok {
		return name
	}
	if name := claim.Spec.StorageClassName; name != nil {
		return *name
	}
	return ""
}
