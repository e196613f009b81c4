package volumes

import (
	"maps"

	"github.com/berth-sched/berth/framework"
)

// annBoundByController tells on a volume that its binding was not made by hand.
const annBoundByController = "pv.kubernetes.io/bound-by-controller"

// Assumed is what pods changed of claims and volumes, so that it can be given
// back.
type Assumed struct{ pods cowMap[podID, []changed] }

// podID identifies a pod: by its UID, without one by its key.
type podID struct{ uid, key string }

func idOf(p *framework.Pod) podID {
	if p.UID != "" {
		return podID{uid: string(p.UID)}
	}
	return podID{key: p.Key()}
}

// changed is one object that was replaced: a volume or a claim.
type changed struct {
	volume, volumeBefore *framework.PersistentVolume
	claim, claimBefore   *framework.PersistentVolumeClaim
}

var assumedKey = framework.NewExtensionKey(func(*framework.Snapshot) *Assumed { return new(Assumed) })

// Fork implements [framework.Extension].
func (a *Assumed) Fork(*framework.Snapshot) framework.Extension { return &Assumed{a.pods.fork()} }

// PodAdded implements [framework.PodWatcher]. It has nothing to do.
func (a *Assumed) PodAdded(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}

// PodRemoved forgets what a pod that left has changed: that stays.
func (a *Assumed) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	if len(a.pods.entries) == 0 {
		return
	}
	a.put(s, idOf(p.Pod), nil)
}

// put replaces what is known of a pod.
func (a *Assumed) put(s *framework.Snapshot, id podID, list []changed) {
	before, was := a.pods.entries[id]
	if !was && list == nil {
		return
	}
	s.Record(&assumedUndo{a, id, before})
	a.replace(id, list)
}

func (a *Assumed) replace(id podID, list []changed) {
	if list == nil {
		a.pods.delete(id)
	} else {
		a.pods.set(id, list)
	}
}

type assumedUndo struct {
	assumed *Assumed
	id      podID
	before  []changed
}

func (u *assumedUndo) Undo(*framework.Snapshot) { u.assumed.replace(u.id, u.before) }

// Assume gives the pod's claims what was found on a node, in the snapshot:
// volumes are reserved for their claims, and the node is noted on claims for
// which a volume is to be made. found is changed to hold the new objects.
//
// Source: kube-scheduler 1.37, volumebinding, AssumePodVolumes.
func Assume(s *framework.Snapshot, p *framework.PodInfo, node string, found *Found) error {
	a, attached := assumedKey.Of(s), attachedKey.Of(s)
	before := versionsOf(s)
	id := idOf(p.Pod)
	list := a.pods.entries[id]
	list = list[:len(list):len(list)]
	for i := range found.Bindings {
		b := &found.Bindings[i]
		if v := reservedFor(b.Volume, b.Claim); v != b.Volume {
			if err := framework.Put(s, v); err != nil {
				return err
			}
			list = append(list, changed{volume: v, volumeBefore: b.Volume})
			b.Volume = v
		}
	}
	for i := range found.Provisions {
		was := found.Provisions[i].Claim
		c := withNode(was, node)
		if err := framework.Put(s, c); err != nil {
			return err
		}
		list = append(list, changed{claim: c, claimBefore: was})
		found.Provisions[i].Claim = c
	}
	if len(list) > 0 {
		a.put(s, id, list)
	}
	attached.standsThrough(s, before)
	return nil
}

// Revert gives back what Assume gave to a pod, as far as nobody has changed it
// since. It does nothing for other pods.
func Revert(s *framework.Snapshot, p *framework.PodInfo) error {
	a, id := assumedKey.Of(s), idOf(p.Pod)
	list := a.pods.entries[id]
	if len(list) == 0 {
		return nil
	}
	attached, before := attachedKey.Of(s), versionsOf(s)
	for i := len(list) - 1; i >= 0; i-- {
		c := &list[i]
		var err error
		switch {
		case c.volume != nil && framework.Lookup[framework.PersistentVolume](s, c.volume.Key()) == c.volume:
			err = framework.Put(s, c.volumeBefore)
		case c.claim != nil && framework.Lookup[framework.PersistentVolumeClaim](s, c.claim.Key()) == c.claim:
			err = framework.Put(s, c.claimBefore)
		}
		if err != nil {
			return err
		}
	}
	a.put(s, id, nil)
	attached.standsThrough(s, before)
	return nil
}

// standsThrough notes that the objects changed since only in what Attached does
// not depend on: reserved volumes and selected nodes. Without it every pod
// whose claims get something would have all nodes read anew.
func (a *Attached) standsThrough(s *framework.Snapshot, before versions) {
	now := versionsOf(s)
	if a.versions != before || now == before {
		return
	}
	s.Record(&standsUndo{a, before, now})
	a.versions = now
}

type standsUndo struct {
	attached      *Attached
	before, after versions
}

func (u *standsUndo) Undo(*framework.Snapshot) {
	if u.attached.versions == u.after {
		u.attached.versions = u.before
	}
}

// reservedFor returns the volume as reserved for the claim: a copy, or the same
// if it is already.
//
// Source: k8s.io/component-helpers/storage/volume, GetBindVolumeToClaim.
func reservedFor(v *framework.PersistentVolume, c *framework.PersistentVolumeClaim) *framework.PersistentVolume {
	r := v.Spec.ClaimRef
	exact := r != nil && r.Name == c.Name && r.Namespace == c.Namespace && r.UID == c.UID
	_, noted := v.Annotations[annBoundByController]
	byHand := isReservedFor(v, c)
	if exact && (byHand || noted) {
		return v
	}
	copied := *v
	if !exact {
		copied.Spec.ClaimRef = &framework.ObjectReference{
			Kind: "PersistentVolumeClaim", APIVersion: "v1",
			Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion,
		}
	}
	if !byHand && !noted {
		copied.Annotations = with(v.Annotations, annBoundByController, "yes")
	}
	return &copied
}

// withNode returns a copy of the claim on which the node is noted.
func withNode(c *framework.PersistentVolumeClaim, node string) *framework.PersistentVolumeClaim {
	copied := *c
	copied.Annotations = with(c.Annotations, framework.AnnSelectedNode, node)
	return &copied
}

// with returns a copy of the map with one entry more.
func with(m map[string]string, name, value string) map[string]string {
	if m = maps.Clone(m); m == nil {
		m = map[string]string{}
	}
	m[name] = value
	return m
}
