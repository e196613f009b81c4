package volumes

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// MadeMost bounds the claims that are made for one question: they are kept until it ends.
const MadeMost = 100_000

// put puts claims and volumes into the snapshot.
func put(s *framework.Snapshot, o *api.Objects) error {
	for _, v := range o.PersistentVolumes {
		if err := framework.Put(s, v); err != nil {
			return err
		}
	}
	for _, c := range o.PersistentVolumeClaims {
		if err := framework.Put(s, c); err != nil {
			return err
		}
	}
	return nil
}

// MakeClaims puts what [NewClaims] returns into the snapshot. It returns how many claims it has made.
func MakeClaims(s *framework.Snapshot, pod *api.Pod) (made int, err error) {
	o, err := NewClaims(s, pod)
	if err != nil {
		return 0, err
	}
	return len(o.PersistentVolumeClaims), put(s, &o)
}

// NewClaims returns the claims of the pod's ephemeral volumes that the snapshot does not have, as
// the controller of ephemeral volumes makes them. A template without a class gets the default class. The volume
// of a class that binds at once, and provisions, is taken to be usable on every node.
func NewClaims(s *framework.Snapshot, pod *api.Pod) (o api.Objects, err error) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil || framework.Lookup[api.PersistentVolumeClaim](s, madeKey(pod, v)) != nil {
			continue
		}
		t := v.Ephemeral.VolumeClaimTemplate
		claim := &api.PersistentVolumeClaim{TypeMeta: api.TypeMeta{Kind: "PersistentVolumeClaim", APIVersion: "v1"}, ObjectMeta: api.ObjectMeta{
			Name: pod.Name + "-" + v.Name, Namespace: pod.Namespace, Labels: t.Labels, Annotations: t.Annotations,
			OwnerReferences: []api.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true)}},
		}, Spec: t.Spec}
		if pod.UID != "" {
			claim.UID = pod.UID + api.UID("-"+v.Name) // so that no volume of an earlier pod with its name is for it
		}
		if claim.Spec.StorageClassName == nil {
			list := api.Objects{StorageClasses: copies(framework.List[api.StorageClass](s)), PersistentVolumeClaims: []*api.PersistentVolumeClaim{claim}}
			if err := list.Default(); err != nil {
				return o, err
			}
			claim = list.PersistentVolumeClaims[0]
		}
		if made := AtOnce(s, claim); made.PersistentVolumeClaims != nil {
			claim = made.PersistentVolumeClaims[0]
			o.PersistentVolumes = append(o.PersistentVolumes, made.PersistentVolumes...)
		}
		o.PersistentVolumeClaims = append(o.PersistentVolumeClaims, claim)
	}
	return o, nil
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

// AtOnce returns a claim with the volume that a provisioner makes for it, if its class binds at once; nothing for
// other claims.
func AtOnce(s *framework.Snapshot, claim *api.PersistentVolumeClaim) (o api.Objects) {
	class := framework.Lookup[api.StorageClass](s, ClassOfClaim(claim))
	if class == nil || class.VolumeBindingMode == nil || *class.VolumeBindingMode != api.VolumeBindingImmediate || class.Provisioner == noProvisioner || claim.Spec.VolumeName != "" {
		return o
	}
	bind(&o, claim, newVolume(class, claim, nil))
	return o
}

// newVolume makes a volume for a claim.
func newVolume(class *api.StorageClass, claim *api.PersistentVolumeClaim, reach *api.VolumeNodeAffinity) *api.PersistentVolume {
	v := &api.PersistentVolume{TypeMeta: api.TypeMeta{Kind: "PersistentVolume", APIVersion: "v1"}, ObjectMeta: api.ObjectMeta{Name: madeVolume(claim)}}
	v.Spec.StorageClassName, v.Spec.AccessModes, v.Spec.Capacity = class.Name, claim.Spec.AccessModes, claim.Spec.Resources.Requests
	v.Spec.ClaimRef = &api.ObjectReference{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: driverOf(class), VolumeHandle: v.Name}
	v.Spec.NodeAffinity = reach
	return v
}

// bind adds copies of a claim and its volume that are bound to each other.
func bind(o *api.Objects, claim *api.PersistentVolumeClaim, v *api.PersistentVolume) {
	c, given := *claim, *v
	c.Spec.VolumeName = v.Name
	c.Annotations = with(claim.Annotations, api.AnnBindCompleted, "yes")
	given.Status.Phase = api.VolumeBound
	o.PersistentVolumeClaims, o.PersistentVolumes = append(o.PersistentVolumeClaims, &c), append(o.PersistentVolumes, &given)
}

// MakeVolumes puts what [Bound] returns into the snapshot.
func MakeVolumes(s *framework.Snapshot, pod *api.Pod, node *api.Node) error {
	o := Bound(s, pod, node)
	return put(s, &o)
}

// Bound returns the claims that a pod names, and that waited for their first pod, as controllers bind them once the
// pod was placed on the node: to the free volumes that were found for them, or to new ones if they wait for a
// provisioner. So the next pod with such a claim goes where its volume can be reached.
func Bound(s *framework.Snapshot, pod *api.Pod, node *api.Node) (o api.Objects) {
	found := foundFor(s, pod)
	for i := range pod.Spec.Volumes {
		v := pod.Spec.Volumes[i].PersistentVolumeClaim
		if v == nil {
			continue
		}
		claim := framework.Lookup[api.PersistentVolumeClaim](s, key(pod.Namespace, v.ClaimName))
		if claim == nil || claim.Spec.VolumeName != "" {
			continue
		}
		if free := found[claim.Key()]; free != nil && isReservedFor(free, claim) {
			bind(&o, claim, free)
			continue
		}
		class := framework.Lookup[api.StorageClass](s, ClassOfClaim(claim))
		if class != nil && class.Provisioner != noProvisioner && claim.Annotations[api.AnnSelectedNode] == node.Name {
			bind(&o, claim, newVolume(class, claim, reachOf(s, class, claim, node)))
		}
	}
	return o
}

// foundFor returns the free volumes that are reserved for claims since the pod was placed, by the keys of the claims.
func foundFor(s *framework.Snapshot, pod *api.Pod) map[string]*api.PersistentVolume {
	holds, _ := assumedKey.Of(s).pods.Get(idOf(pod))
	found := make(map[string]*api.PersistentVolume, len(holds.list))
	for _, h := range holds.list {
		if h.volume == nil {
			continue
		}
		if v := framework.Lookup[api.PersistentVolume](s, h.volume.Name); v != nil && v.Spec.ClaimRef != nil {
			if claim := key(v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name); found[claim] == nil {
				found[claim] = v
			}
		}
	}
	return found
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

// DropClaims takes out of the snapshot what [GoneClaims] returns.
func DropClaims(s *framework.Snapshot, pod *api.Pod) {
	o := GoneClaims(s, pod)
	for _, c := range o.PersistentVolumeClaims {
		framework.Delete[api.PersistentVolumeClaim](s, c.Key())
	}
	for _, v := range o.PersistentVolumes {
		framework.Delete[api.PersistentVolume](s, v.Name)
	}
}

// GoneClaims returns the claims that were made for the pod, as they go with it, and their volumes if
// those were made here.
func GoneClaims(s *framework.Snapshot, pod *api.Pod) (o api.Objects) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil {
			continue
		}
		c := framework.Lookup[api.PersistentVolumeClaim](s, madeKey(pod, v))
		if c == nil || CheckOwner(pod, c) != nil {
			continue
		}
		o.PersistentVolumeClaims = append(o.PersistentVolumeClaims, c)
		if made := framework.Lookup[api.PersistentVolume](s, madeVolume(c)); made != nil && c.Spec.VolumeName == made.Name {
			o.PersistentVolumes = append(o.PersistentVolumes, made)
		}
	}
	return o
}

// madeKey is the key of the claim of an ephemeral volume.
func madeKey(pod *api.Pod, v *api.Volume) string { return key(pod.Namespace, pod.Name+"-"+v.Name) }
