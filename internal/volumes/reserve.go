package volumes

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// annBoundByController tells on a volume that its binding was not made by hand.
const annBoundByController = "pv.kubernetes.io/bound-by-controller"

// Assumed is what is reserved of claims and volumes: for which pods, and in place
// of which objects, so that it can be given back.
//
// A pod that has left its node may have been bound, or its node has gone while it
// waits, or it comes back as a new version: what it counts on stays noted as long
// as nobody else puts or reserves those objects.
type Assumed struct {
	pods    cowMap[podID, holding]
	volumes cowMap[string, reserved[api.PersistentVolume]]
	claims  cowMap[string, reserved[api.PersistentVolumeClaim]]
}

// podID identifies a pod: by its UID, without one by its key.
type podID struct{ uid, key string }

func idOf(p *api.Pod) podID {
	if p.UID != "" {
		return podID{uid: string(p.UID)}
	}
	return podID{key: p.Key()}
}

// held is a volume or a claim that a pod counts on, as the user of the snapshot
// put it there.
type held struct {
	volume *api.PersistentVolume
	claim  *api.PersistentVolumeClaim
}

// holding is what a pod counts on.
type holding struct {
	list []held
	left bool // the pod came to a node, and is on none now
}

// reserved is an object that stands in the place of the one that the user put
// there.
//
// Invariant: now is what the snapshot holds. Who puts another object there ends
// it.
type reserved[T api.Object] struct {
	put, now *T
	left     []podID // the pods that count on it and have left
}

var assumedKey = framework.NewExtensionKey(func(*framework.Snapshot) *Assumed { return new(Assumed) })

// Fork implements [framework.Extension].
func (a *Assumed) Fork(*framework.Snapshot) framework.Extension {
	return &Assumed{a.pods.fork(), a.volumes.fork(), a.claims.fork()}
}

// PodAdded implements [framework.PodWatcher].
func (a *Assumed) PodAdded(s *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	if len(a.pods.entries) == 0 {
		return
	}
	id := idOf(p.Pod)
	h := a.pods.entries[id]
	if !h.left {
		return
	}
	for _, x := range h.list {
		a.note(s, x, id, false)
	}
	change(s, &a.pods, id, &holding{list: h.list})
}

// PodRemoved implements [framework.PodWatcher].
func (a *Assumed) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	if len(a.pods.entries) == 0 {
		return
	}
	id := idOf(p.Pod)
	h := a.pods.entries[id]
	if h.left || len(h.list) == 0 {
		return
	}
	var list []held
	for _, x := range h.list {
		if a.note(s, x, id, true) {
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		change(s, &a.pods, id, nil)
		return
	}
	change(s, &a.pods, id, &holding{list, true})
}

// note notes with what a pod counts on whether the pod has left. It reports false
// if the pod can no longer give it back.
func (a *Assumed) note(s *framework.Snapshot, x held, id podID, left bool) bool {
	if x.volume != nil {
		return noteLeft(s, &a.volumes, x.volume, id, left)
	}
	return noteLeft(s, &a.claims, x.claim, id, left)
}

func noteLeft[T api.Object](s *framework.Snapshot, m *cowMap[string, reserved[T]], put *T, id podID, left bool) bool {
	key := api.KeyOf(put)
	r, ok := m.entries[key]
	if !ok || r.put != put {
		return false
	}
	r.left = slices.DeleteFunc(slices.Clone(r.left), func(other podID) bool { return other == id })
	if left {
		r.left = append(r.left, id)
	}
	change(s, m, key, &r)
	return true
}

// forget ends that pods which have left count on x.
func (a *Assumed) forget(s *framework.Snapshot, left []podID, x held) {
	for _, id := range left {
		h := a.pods.entries[id]
		if !h.left {
			continue
		}
		h.list = slices.DeleteFunc(slices.Clone(h.list), func(y held) bool { return x == y })
		if len(h.list) == 0 {
			change(s, &a.pods, id, nil)
		} else {
			change(s, &a.pods, id, &h)
		}
	}
}

// ObjectChanged implements [framework.ObjectWatcher]: of an object that somebody
// has put there nothing is reserved.
func (a *Assumed) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	switch o := obj.(type) {
	case *api.PersistentVolume:
		if r, ok := a.volumes.entries[key]; ok && r.now != o {
			a.forget(s, r.left, held{volume: r.put})
			change(s, &a.volumes, key, nil)
		}
	case *api.PersistentVolumeClaim:
		if r, ok := a.claims.entries[key]; ok && r.now != o {
			a.forget(s, r.left, held{claim: r.put})
			change(s, &a.claims, key, nil)
		}
	}
}

// change sets an entry, or takes it out, so that a rollback takes that back.
func change[K comparable, V any](s *framework.Snapshot, m *cowMap[K, V], key K, value *V) {
	u := &changeUndo[K, V]{m: m, key: key}
	if before, was := m.entries[key]; was {
		u.before = &before
	}
	s.Record(u)
	m.replace(key, value)
}

type changeUndo[K comparable, V any] struct {
	m      *cowMap[K, V]
	key    K
	before *V
}

func (u *changeUndo[K, V]) Undo(*framework.Snapshot) { u.m.replace(u.key, u.before) }

// reserve puts now in the place of an object, and returns what the user put there.
// They may be the same: then nothing changes.
func reserve[T api.Object](s *framework.Snapshot, m *cowMap[string, reserved[T]], before, now *T) (put *T, err error) {
	key := api.KeyOf(before)
	put = before
	if r, ok := m.entries[key]; ok {
		put = r.put
	}
	if now == before {
		return put, nil
	}
	if err := framework.Put(s, now); err != nil {
		return nil, err
	}
	change(s, m, key, &reserved[T]{put: put, now: now})
	return put, nil
}

// restore puts back what the user put there, unless that has changed.
func restore[T api.Object](s *framework.Snapshot, m *cowMap[string, reserved[T]], put *T) error {
	if r, ok := m.entries[api.KeyOf(put)]; ok && r.put == put {
		return framework.Put(s, put)
	}
	return nil
}

// Assume gives the pod's claims what was found on a node, in the snapshot:
// volumes are reserved for their claims, and the node is noted on claims for
// which a volume is to be made. found is changed to hold the new objects.
//
// Source: kube-scheduler 1.37, volumebinding, AssumePodVolumes.
func Assume(s *framework.Snapshot, p *framework.PodInfo, node string, found *Found) error {
	a, attached := assumedKey.Of(s), attachedKey.Of(s)
	before := versionsOf(s)
	id := idOf(p.Pod)
	list := slices.Clone(a.pods.entries[id].list)
	for i := range found.Bindings {
		b := &found.Bindings[i]
		v := reservedFor(b.Volume, b.Claim)
		if r, ok := a.volumes.entries[v.Name]; ok && r.now == v {
			a.forget(s, r.left, held{volume: r.put}) // it is the same for this pod
			r.left = nil
			change(s, &a.volumes, v.Name, &r)
		}
		put, err := reserve(s, &a.volumes, b.Volume, v)
		if err != nil {
			return err
		}
		b.Volume = v
		list = including(list, held{volume: put})
	}
	for i := range found.Provisions {
		c := withNode(found.Provisions[i].Claim, node)
		put, err := reserve(s, &a.claims, found.Provisions[i].Claim, c)
		if err != nil {
			return err
		}
		found.Provisions[i].Claim = c
		list = including(list, held{claim: put})
	}
	if len(list) > 0 {
		change(s, &a.pods, id, &holding{list: list})
	}
	attached.standsThrough(s, before)
	return nil
}

// including returns the list with x in it.
func including(list []held, x held) []held {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// Revert gives back what Assume gave to a pod, as far as nobody has changed it
// since, wherever the pod is now. It does nothing for other pods. What pods share
// is given back with the first of them.
//
// Source: kube-scheduler 1.37, volumebinding, RevertAssumedPodVolumes.
func Revert(s *framework.Snapshot, p *framework.PodInfo) error {
	a, id := assumedKey.Of(s), idOf(p.Pod)
	list := a.pods.entries[id].list
	if len(list) == 0 {
		return nil
	}
	attached, before := attachedKey.Of(s), versionsOf(s)
	for _, h := range list {
		var err error
		if h.volume != nil {
			err = restore(s, &a.volumes, h.volume)
		} else {
			err = restore(s, &a.claims, h.claim)
		}
		if err != nil {
			return err
		}
	}
	change(s, &a.pods, id, nil)
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
func reservedFor(v *api.PersistentVolume, c *api.PersistentVolumeClaim) *api.PersistentVolume {
	r := v.Spec.ClaimRef
	exact := r != nil && r.Name == c.Name && r.Namespace == c.Namespace && r.UID == c.UID
	_, noted := v.Annotations[annBoundByController]
	byHand := isReservedFor(v, c)
	if exact && (byHand || noted) {
		return v
	}
	copied := *v
	if !exact {
		copied.Spec.ClaimRef = &api.ObjectReference{
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
func withNode(c *api.PersistentVolumeClaim, node string) *api.PersistentVolumeClaim {
	copied := *c
	copied.Annotations = with(c.Annotations, api.AnnSelectedNode, node)
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
