package framework

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/berth-sched/berth/framework/api"
)

// table holds the objects of one kind by key. It is no generic type, because its code would
// be there once for each of the kinds.
//
// Invariant: sorted is nil or holds all objects in the order of their keys; several
// goroutines may make it at once. If it is nil, before may be an earlier one, and changed
// has the keys that differ since. Otherwise a table of another owner is shared and
// never changed.
type table struct {
	owner   *owner
	none    any                  // the nil pointer of the kind
	keyOf   func(obj any) string // api.KeyOf
	objects map[string]any       // pointers of the kind
	sorted  atomic.Pointer[listing]
	before  *listing
	changed []string
	version uint64
}

// A listing is the objects of a kind in the order of their keys. It never changes.
type listing struct {
	entries []entry
	list    any // a slice of pointers of the kind
}

type entry struct {
	key string
	obj any
}

// tableOf returns the table of a kind.
func tableOf[T api.Object](s *Snapshot) *table {
	s.must()
	for _, t := range s.tables {
		if _, ok := t.none.(*T); ok { // less work than to compare interfaces
			return t
		}
	}
	return nil
}

// ownTable returns the table of the kind for writing.
func (s *Snapshot) ownTable(none any) *table {
	for i, t := range s.tables {
		if t.none != none {
			continue
		}
		if t.owner != s.owner {
			own := &table{owner: s.owner, none: none, keyOf: t.keyOf, objects: maps.Clone(t.objects), before: t.before, changed: slices.Clip(t.changed), version: t.version}
			own.sorted.Store(t.sorted.Load())
			s.tables = slices.Clone(s.tables)
			s.tables[i], t = own, own
		}
		return t
	}
	t := &table{owner: s.owner, none: none, objects: map[string]any{}}
	s.tables = append(slices.Clip(s.tables), t)
	return t
}

// at returns the object of a key, the nil pointer if there is none.
func (t *table) at(key string) any {
	if obj, ok := t.objects[key]; ok {
		return obj
	}
	return t.none
}

// set sets the object of a key, or removes it if obj is the nil pointer.
func (t *table) set(key string, obj any) {
	if obj == t.none {
		delete(t.objects, key)
	} else {
		t.objects[key] = obj
	}
	if l := t.sorted.Swap(nil); l != nil {
		t.before, t.changed = l, nil
	}
	if t.before == nil {
		return
	}
	if t.changed = append(t.changed, key); len(t.changed) > 8+len(t.before.entries)/8 {
		t.before, t.changed = nil, nil // sorting all costs little more
	}
}

// arrange returns the objects in the order of their keys. After a few changes it only moves
// entries: users change objects all the time, and others list them.
func (t *table) arrange() []entry {
	if t.before == nil {
		list := make([]entry, 0, len(t.objects))
		for _, key := range slices.Sorted(maps.Keys(t.objects)) {
			list = append(list, entry{key, t.objects[key]})
		}
		return list
	}
	rest, changed := t.before.entries, slices.Sorted(slices.Values(t.changed))
	list := make([]entry, 0, len(rest)+len(changed))
	for _, key := range slices.Compact(changed) {
		i, found := slices.BinarySearchFunc(rest, key, func(e entry, key string) int { return strings.Compare(e.key, key) })
		list = append(list, rest[:i]...)
		if rest = rest[i:]; found {
			rest = rest[1:]
		}
		if obj, ok := t.objects[key]; ok {
			list = append(list, entry{key, obj})
		}
	}
	return append(list, rest...)
}

// Lookup returns the object of a kind by its key, "namespace/name" or, for
// kinds without namespaces, the name; nil if the snapshot does not hold it.
//
//	claim := framework.Lookup[api.PersistentVolumeClaim](s, "default/data")
//
// For pods and nodes see [Snapshot.Pod] and [Snapshot.Node].
func Lookup[T api.Object](s *Snapshot, key string) *T {
	if t := tableOf[T](s); t != nil {
		return t.at(key).(*T)
	}
	return nil
}

// List returns the objects of a kind in the order of their keys. The slice must not be
// changed. It stays the same when objects come or go. The first call sorts them. The first
// after a change costs O(n) for n objects, and later calls nothing.
func List[T api.Object](s *Snapshot) []*T {
	t := tableOf[T](s)
	if t == nil {
		return nil
	}
	if sorted := t.sorted.Load(); sorted != nil {
		return sorted.list.([]*T)
	}
	entries := t.arrange()
	list := make([]*T, len(entries))
	for i, e := range entries {
		list[i] = e.obj.(*T)
	}
	t.sorted.Store(&listing{entries, list})
	return list
}

// Any reports whether the snapshot holds an object of a kind. Unlike [List] it never sorts.
func Any[T api.Object](s *Snapshot) bool {
	t := tableOf[T](s)
	return t != nil && len(t.objects) > 0
}

// ObjectsVersion identifies all objects of a kind within the snapshot and its forks, as
// a generation does: every Put and Delete of the kind changes it, and a rollback
// restores it. It is 0 before the first Put.
func ObjectsVersion[T api.Object](s *Snapshot) uint64 {
	if t := tableOf[T](s); t != nil {
		return t.version
	}
	return 0
}

// Put adds an object of the cluster to the snapshot, or replaces the object of the same
// key. The object must not change while it is there. It is an [*api.InvalidError] if the
// object is nil, has no name, or is a pod or a node: use [Snapshot.AddPod] and
// [Snapshot.AddNode] for these.
func Put[T api.Object](s *Snapshot, obj *T) error {
	if err := s.check(); err != nil {
		return err
	}
	if obj == nil {
		return &api.InvalidError{Object: "object", Err: errNil}
	}
	if err := s.admit(reflect.TypeFor[T]().Name(), api.MetaOf(obj), obj); err != nil {
		return err
	}
	s.startChange()
	t := s.ownTable((*T)(nil))
	if t.keyOf == nil {
		t.keyOf = func(obj any) string { return api.KeyOf(obj.(*T)) }
	}
	return s.replace(t, api.KeyOf(obj), obj)
}

// admit refuses an object that is none of the cluster, and prepares for others.
func (s *Snapshot) admit(kind string, m *api.ObjectMeta, obj any) error {
	kind = strings.ToLower(kind)
	if m.Name == "" {
		return &api.InvalidError{Object: kind, Field: "metadata.name", Err: errEmpty}
	}
	switch obj := obj.(type) {
	case *api.Pod, *api.Node:
		return &api.InvalidError{Object: kind + " " + m.Key(), Err: errNotAnObject}
	case *api.DeviceClass:
		s.admitClass(obj)
	}
	return nil
}

var errNotAnObject = errors.New("pods and nodes are added with Snapshot.AddPod and Snapshot.AddNode")

// Delete removes an object from the snapshot, if it is there. A panic of an extension
// breaks the snapshot, and a broken one keeps the object; see [ErrBroken].
func Delete[T api.Object](s *Snapshot, key string) {
	if s.Broken() != nil {
		return
	}
	if t := tableOf[T](s); t != nil && t.at(key) != t.none {
		s.startChange()
		_ = s.replace(s.ownTable(t.none), key, t.none) // the snapshot keeps the error
	}
}

// replace sets the object of a key in an own table, or removes it if obj is the nil pointer.
// It ends the change.
func (s *Snapshot) replace(t *table, key string, obj any) error {
	if s.undo.isOpen() && !s.undo.rolling {
		s.Record(&tableUndo{t.none, key, t.at(key), t.version, s.objects})
	}
	t.version = s.newGeneration()
	s.objects.note(t.none, t.version)
	t.set(key, obj)
	s.endChange()
	return s.tellObjects(key, obj)
}

// tableUndo takes back one replace.
type tableUndo struct {
	none    any
	key     string
	old     any
	version uint64
	objects ObjectVersions
}

func (u *tableUndo) Undo(s *Snapshot) {
	t := s.ownTable(u.none)
	t.set(u.key, u.old)
	t.version, s.objects = u.version, u.objects
}

// Objects identifies all objects besides pods and nodes like a generation: every [Put]
// and [Delete] changes it.
func (s *Snapshot) Objects() uint64 { return s.objects.all }

// ObjectVersions identifies all objects besides pods and nodes, and the parts of them that a [Scope] may
// name, like generations.
type ObjectVersions struct{ all, volumes, devices uint64 }

// ObjectVersions returns the versions of now.
func (s *Snapshot) ObjectVersions() ObjectVersions { return s.objects }

// Differ returns which of [ReadsObjects], [ReadsVolumes] and [ReadsDevices] stand for objects that
// are not the same.
func (v ObjectVersions) Differ(other ObjectVersions) (reads Reads) {
	if v.all == other.all {
		return 0
	}
	reads = ReadsObjects
	if v.volumes != other.volumes {
		reads |= ReadsVolumes
	}
	if v.devices != other.devices {
		reads |= ReadsDevices
	}
	return reads
}

// note notes that objects of the kind of none have changed.
func (v *ObjectVersions) note(none any, version uint64) {
	v.all = version
	switch none.(type) {
	case *api.PersistentVolume, *api.PersistentVolumeClaim, *api.StorageClass, *api.VolumeAttachment,
		*api.CSINode, *api.CSIDriver, *api.CSIStorageCapacity:
		v.volumes = version
	case *api.ResourceClaim, *api.ResourceClaimTemplate, *api.DeviceClass, *api.ResourceSlice, *api.DeviceTaintRule:
		v.devices = version
	}
}
