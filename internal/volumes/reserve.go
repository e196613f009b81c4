package volumes

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// AnnBoundByController marks a volume whose binding was not made by hand.
const AnnBoundByController = "pv.kubernetes.io/bound-by-controller"

// Assumed records reserved claims and volumes: for which pods they are reserved,
// and which objects they replace, so that they can be given back.
//
// Records of a pod outlive its departure from a node: the pod may have been bound,
// its node may be gone while it waits, or it may come back as a new version. They
// stay until somebody else puts or reserves those objects.
type Assumed struct {
	pods    cow.Map[podID, holding]
	volumes cow.Map[string, reserved[api.PersistentVolume]]
	claims  cow.Map[string, reserved[api.PersistentVolumeClaim]]
}

// podID identifies a pod: by its UID or, without one, by its key.
type podID struct{ uid, key string }

func idOf(p *api.Pod) podID {
	if p.UID != "" {
		return podID{uid: string(p.UID)}
	}
	return podID{key: p.Key()}
}

// held is a volume or a claim that a pod counts on, in the version that the user
// put into the snapshot.
type held struct {
	volume *api.PersistentVolume
	claim  *api.PersistentVolumeClaim
}

// holding lists the objects that a pod counts on.
type holding struct {
	list []held
	left bool // the pod was on a node, and is on none now
}

// reserved is an object that replaces the user's object in the snapshot.
//
// Invariant: now is the object in the snapshot. If anyone puts another object
// there, the reservation ends.
type reserved[T api.Object] struct {
	put, now *T
	left     []podID // pods that count on it and have left
}

var assumedKey = framework.NewExtensionKey(func(*framework.Snapshot) *Assumed { return new(Assumed) })

// Fork implements [framework.Extension].
func (a *Assumed) Fork(*framework.Snapshot) framework.Extension {
	return &Assumed{a.pods.Fork(), a.volumes.Fork(), a.claims.Fork()}
}

// PodAdded implements [framework.PodWatcher].
func (a *Assumed) PodAdded(s *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	if a.pods.Empty() {
		return
	}
	id := idOf(p.Pod)
	h, _ := a.pods.Get(id)
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
	if a.pods.Empty() {
		return
	}
	id := idOf(p.Pod)
	h, _ := a.pods.Get(id)
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

// note records, for an object that a pod counts on, whether the pod has left. It
// returns false if the pod can no longer give the object back.
func (a *Assumed) note(s *framework.Snapshot, x held, id podID, left bool) bool {
	if x.volume != nil {
		return noteLeft(s, &a.volumes, x.volume, id, left)
	}
	return noteLeft(s, &a.claims, x.claim, id, left)
}

func noteLeft[T api.Object](s *framework.Snapshot, m *cow.Map[string, reserved[T]], put *T, id podID, left bool) bool {
	key := api.KeyOf(put)
	r, ok := m.Get(key)
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

// forget removes x from the holdings of pods that have left.
func (a *Assumed) forget(s *framework.Snapshot, left []podID, x held) {
	for _, id := range left {
		h, _ := a.pods.Get(id)
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

// ObjectChanged implements [framework.ObjectWatcher]: a new object from anyone else
// ends the reservation.
func (a *Assumed) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	switch o := obj.(type) {
	case *api.PersistentVolume:
		if r, ok := a.volumes.Get(key); ok && r.now != o {
			a.forget(s, r.left, held{volume: r.put})
			change(s, &a.volumes, key, nil)
		}
	case *api.PersistentVolumeClaim:
		if r, ok := a.claims.Get(key); ok && r.now != o {
			a.forget(s, r.left, held{claim: r.put})
			change(s, &a.claims, key, nil)
		}
	}
}

// change sets or deletes an entry, and records that for a rollback.
func change[K comparable, V any](s *framework.Snapshot, m *cow.Map[K, V], key K, value *V) {
	u := &changeUndo[K, V]{m: m, key: key}
	if before, was := m.Get(key); was {
		u.before = &before
	}
	s.Record(u)
	replace(m, key, value)
}

// replace sets the value of a key, or removes the key if value is nil.
func replace[K comparable, V any](m *cow.Map[K, V], key K, value *V) {
	if value == nil {
		m.Remove(key)
	} else {
		m.Set(key, *value)
	}
}

type changeUndo[K comparable, V any] struct {
	m      *cow.Map[K, V]
	key    K
	before *V
}

func (u *changeUndo[K, V]) Undo(*framework.Snapshot) { replace(u.m, u.key, u.before) }

// reserve puts now in place of an object, and returns the user's object. If both
// are the same, nothing changes.
func reserve[T api.Object](s *framework.Snapshot, m *cow.Map[string, reserved[T]], before, now *T) (put *T, err error) {
	key := api.KeyOf(before)
	put = before
	if r, ok := m.Get(key); ok {
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

// restore puts the user's object back, unless that object has changed.
func restore[T api.Object](s *framework.Snapshot, m *cow.Map[string, reserved[T]], put *T) error {
	if r, ok := m.Get(api.KeyOf(put)); ok && r.put == put {
		return framework.Put(s, put)
	}
	return nil
}

// Assume gives the volumes found on a node to the pod's claims, in the snapshot. It
// reserves volumes for their claims, and notes the node on claims that need a new
// volume. It changes found to hold the new objects.
//
// Source: kube-scheduler 1.37, volumebinding, AssumePodVolumes.
func Assume(s *framework.Snapshot, p *framework.PodInfo, node string, found *Found) error {
	a, id := assumedKey.Of(s), idOf(p.Pod)
	had, _ := a.pods.Get(id)
	list := distinct[held]{list: slices.Clone(had.list)}
	for i := range found.Bindings {
		b := &found.Bindings[i]
		v := reservedFor(b.Volume, b.Claim)
		if r, ok := a.volumes.Get(v.Name); ok && r.now == v {
			a.forget(s, r.left, held{volume: r.put}) // the same as before for this pod
			r.left = nil
			change(s, &a.volumes, v.Name, &r)
		}
		put, err := reserve(s, &a.volumes, b.Volume, v)
		if err != nil {
			return err
		}
		b.Volume = v
		list = list.with(held{volume: put})
	}
	var rooms [2][4]*api.PersistentVolumeClaim
	claims := distinct[*api.PersistentVolumeClaim]{list: rooms[0][:0]}
	noted := rooms[1][:0] // claims with the node
	for i := range found.Provisions {
		p := &found.Provisions[i]
		if at := claims.at(p.Claim); at >= 0 { // mounted more than once
			p.Claim = noted[at]
			continue
		}
		c := withNode(p.Claim, node)
		put, err := reserve(s, &a.claims, p.Claim, c)
		if err != nil {
			return err
		}
		claims, noted = claims.with(p.Claim), append(noted, c)
		p.Claim = c
		list = list.with(held{claim: put})
	}
	if len(list.list) > 0 {
		change(s, &a.pods, id, &holding{list: list.list})
	}
	return nil
}

// Revert gives back the volumes that Assume gave to a pod, unless somebody has
// changed them since, wherever the pod is now. It does nothing for other pods. The
// first of several pods gives back what they share.
//
// Source: kube-scheduler 1.37, volumebinding, RevertAssumedPodVolumes.
func Revert(s *framework.Snapshot, p *framework.PodInfo) error {
	a, id := assumedKey.Of(s), idOf(p.Pod)
	had, _ := a.pods.Get(id)
	list := had.list
	if len(list) == 0 {
		return nil
	}
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
	return nil
}

// reservedFor returns the volume as reserved for the claim: a copy, or the volume
// itself if it is reserved already.
//
// Source: k8s.io/component-helpers/storage/volume, GetBindVolumeToClaim.
func reservedFor(v *api.PersistentVolume, c *api.PersistentVolumeClaim) *api.PersistentVolume {
	r := v.Spec.ClaimRef
	exact := r != nil && r.Name == c.Name && r.Namespace == c.Namespace && r.UID == c.UID
	_, noted := v.Annotations[AnnBoundByController]
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
		copied.Annotations = with(v.Annotations, AnnBoundByController, "yes")
	}
	return &copied
}

// withNode returns a copy of the claim with the node noted on it.
func withNode(c *api.PersistentVolumeClaim, node string) *api.PersistentVolumeClaim {
	copied := *c
	copied.Annotations = with(c.Annotations, api.AnnSelectedNode, node)
	return &copied
}

// with returns a copy of the map with one more entry.
func with(m map[string]string, name, value string) map[string]string {
	if m = maps.Clone(m); m == nil {
		m = map[string]string{}
	}
	m[name] = value
	return m
}
