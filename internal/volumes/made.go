package volumes

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// MadeMost bounds the claims that are made for one question: they are kept until it ends.
const MadeMost = 100_000

// MakeClaims puts the claims of the pod's ephemeral volumes that the snapshot does not have into it, as
// the controller of ephemeral volumes makes them. A template without a class gets the default class. The volume
// of a class that binds at once, and provisions, is taken to be usable on every node. It returns how many claims
// it has made.
func MakeClaims(s *framework.Snapshot, pod *api.Pod) (made int, err error) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil || framework.Lookup[api.PersistentVolumeClaim](s, madeKey(pod, v)) != nil {
			continue
		}
		t := v.Ephemeral.VolumeClaimTemplate
		claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{
			Name: pod.Name + "-" + v.Name, Namespace: pod.Namespace, Labels: t.Labels, Annotations: t.Annotations,
			OwnerReferences: []api.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true)}},
		}, Spec: t.Spec}
		if claim.Spec.StorageClassName == nil {
			list := api.Objects{StorageClasses: copies(framework.List[api.StorageClass](s)), PersistentVolumeClaims: []*api.PersistentVolumeClaim{claim}}
			if err := list.Default(); err != nil {
				return made, err
			}
			claim = list.PersistentVolumeClaims[0]
		}
		if err := provisionAtOnce(s, claim); err != nil {
			return made, err
		}
		if err := framework.Put(s, claim); err != nil {
			return made, err
		}
		made++
	}
	return made, nil
}

// copies copies classes, because defaults are filled into them.
func copies(classes []*api.StorageClass) []*api.StorageClass {
	list := make([]*api.StorageClass, len(classes))
	for i, c := range classes {
		own := *c
		list[i] = &own
	}
	return list
}

// provisionAtOnce makes the volume of a claim that was just made, if its class binds at once.
func provisionAtOnce(s *framework.Snapshot, claim *api.PersistentVolumeClaim) error {
	class := framework.Lookup[api.StorageClass](s, ClassOfClaim(claim))
	if class == nil || class.VolumeBindingMode == nil || *class.VolumeBindingMode != api.VolumeBindingImmediate || class.Provisioner == noProvisioner || claim.Spec.VolumeName != "" {
		return nil
	}
	return makeVolume(s, class, claim, nil)
}

// makeVolume makes the volume of a claim, which is written to, and binds them.
func makeVolume(s *framework.Snapshot, class *api.StorageClass, claim *api.PersistentVolumeClaim, reach *api.VolumeNodeAffinity) error {
	claim.Spec.VolumeName = madeVolume(claim)
	claim.Annotations = with(claim.Annotations, api.AnnBindCompleted, "yes")
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: claim.Spec.VolumeName}}
	v.Spec.StorageClassName, v.Spec.AccessModes, v.Spec.Capacity = class.Name, claim.Spec.AccessModes, claim.Spec.Resources.Requests
	v.Spec.ClaimRef = &api.ObjectReference{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: driverOf(class), VolumeHandle: v.Name}
	v.Spec.NodeAffinity = reach
	return framework.Put(s, v)
}

// MakeVolumes binds the claims that a pod names, and that wait for their first pod, once the pod was placed on the
// node, as controllers do: to the free volumes that were found for them, or to new ones if they wait for a
// provisioner. So the next pod with such a claim goes where its volume can be reached.
func MakeVolumes(s *framework.Snapshot, pod *api.Pod, node *api.Node) error {
	for i := range pod.Spec.Volumes {
		v := pod.Spec.Volumes[i].PersistentVolumeClaim
		if v == nil {
			continue
		}
		claim := framework.Lookup[api.PersistentVolumeClaim](s, key(pod.Namespace, v.ClaimName))
		if claim == nil || claim.Spec.VolumeName != "" {
			continue
		}
		bound := *claim
		if free := foundFor(s, pod, claim); free != nil {
			bound.Spec.VolumeName = free.Name
			bound.Annotations = with(claim.Annotations, api.AnnBindCompleted, "yes")
			given := *free
			given.Status.Phase = api.VolumeBound
			if err := framework.Put(s, &given); err != nil {
				return err
			}
		} else {
			class := framework.Lookup[api.StorageClass](s, ClassOfClaim(claim))
			if class == nil || class.Provisioner == noProvisioner || claim.Annotations[api.AnnSelectedNode] != node.Name {
				continue
			}
			if err := makeVolume(s, class, &bound, reachOf(s, class, claim, node)); err != nil {
				return err
			}
		}
		if err := framework.Put(s, &bound); err != nil {
			return err
		}
	}
	return nil
}

// foundFor returns the free volume that is reserved for a claim since its pod was placed, nil if there is none.
func foundFor(s *framework.Snapshot, pod *api.Pod, claim *api.PersistentVolumeClaim) *api.PersistentVolume {
	holds, _ := assumedKey.Of(s).pods.Get(idOf(pod))
	for _, h := range holds.list {
		if h.volume == nil {
			continue
		}
		if v := framework.Lookup[api.PersistentVolume](s, h.volume.Name); v != nil && isReservedFor(v, claim) {
			return v
		}
	}
	return nil
}

// reachOf says which nodes reach a volume that is provisioned for a node: those that equal it in the labels by
// which the driver tells nodes apart or, if the snapshot does not have the driver, in those of the class. If neither is
// known, all nodes reach a volume for many of them, and those of the zone another one. nil stands for all.
func reachOf(s *framework.Snapshot, class *api.StorageClass, claim *api.PersistentVolumeClaim, node *api.Node) *api.VolumeNodeAffinity {
	keys, known := driverKeys(s, driverOf(class), node.Name)
	for _, term := range class.AllowedTopologies {
		for i := range term.MatchLabelExpressions {
			if k := term.MatchLabelExpressions[i].Key; !known && !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	forMany := slices.ContainsFunc(claim.Spec.AccessModes, func(m api.PersistentVolumeAccessMode) bool {
		return m == api.ReadWriteMany || m == api.ReadOnlyMany
	})
	if len(keys) == 0 && !known && !forMany {
		if keys = []string{api.LabelTopologyZone}; node.Labels[api.LabelTopologyZone] == "" {
			keys = []string{api.LabelHostname}
		}
	}
	var term api.NodeSelectorTerm
	for _, k := range keys {
		if value, ok := node.Labels[k]; ok {
			term.MatchExpressions = append(term.MatchExpressions, api.NodeSelectorRequirement{Key: k, Operator: api.NodeSelectorOpIn, Values: []string{value}})
		}
	}
	if len(term.MatchExpressions) == 0 {
		return nil
	}
	return &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{term}}}
}

// driverOf is the driver that makes the volumes of a class: the one that has taken over, if that was in-tree.
func driverOf(class *api.StorageClass) string {
	if plugin := inTreeNamed(class.Provisioner); plugin != nil {
		return plugin.driver
	}
	return class.Provisioner
}

// driverKeys returns the labels by which a driver on a node tells nodes apart, false if it is not there.
func driverKeys(s *framework.Snapshot, driver, node string) (keys []string, ok bool) {
	n := framework.Lookup[api.CSINode](s, node)
	if n == nil {
		return nil, false
	}
	for i := range n.Spec.Drivers {
		if d := &n.Spec.Drivers[i]; d.Name == driver {
			return d.TopologyKeys, true
		}
	}
	return nil, false
}

// madeVolume is the name of the volume that makeVolume makes: no volume of a cluster has it.
func madeVolume(c *api.PersistentVolumeClaim) string { return "made~" + c.Namespace + "~" + c.Name }

// DropClaims takes the claims out of the snapshot that were made for the pod, as they go with it.
func DropClaims(s *framework.Snapshot, pod *api.Pod) {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Ephemeral != nil {
			key := madeKey(pod, v)
			if c := framework.Lookup[api.PersistentVolumeClaim](s, key); c != nil && CheckOwner(pod, c) == nil {
				framework.Delete[api.PersistentVolumeClaim](s, key)
				if c.Spec.VolumeName == madeVolume(c) {
					framework.Delete[api.PersistentVolume](s, c.Spec.VolumeName)
				}
			}
		}
	}
}

// madeKey is the key of the claim of an ephemeral volume.
func madeKey(pod *api.Pod, v *api.Volume) string { return key(pod.Namespace, pod.Name+"-"+v.Name) }
