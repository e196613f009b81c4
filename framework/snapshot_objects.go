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

// table holds the objects of one kind by key.
//
// Invariant: sorted is nil or holds all objects in the order of their keys; several
// goroutines may make it at once. Otherwise a table of another owner is shared and
// never changed.
type table[T api.Object] struct {
	owner   *owner
	objects map[string]*T
	sorted  atomic.Pointer[[]*T]
	version uint64
}

func tableOf[T api.Object](s *Snapshot) *table[T] {
	s.must()
	for _, t := range s.tables {
		if t, ok := t.(*table[T]); ok {
			return t
		}
	}
	return nil
}

// ownTable returns the table of the kind for writing.
func ownTable[T api.Object](s *Snapshot) *table[T] {
	for i := range s.tables {
		t, ok := s.tables[i].(*table[T])
		if !ok {
			continue
		}
		if t.owner != s.owner {
			t = &table[T]{owner: s.owner, objects: maps.Clone(t.objects), version: t.version}
			s.tables = slices.Clone(s.tables)
			s.tables[i] = t
		}
		return t
	}
	t := &table[T]{owner: s.owner, objects: map[string]*T{}}
	s.tables = append(slices.Clip(s.tables), t)
	return t
}

// Lookup returns the object of a kind by its key, "namespace/name" or, for
// kinds without namespaces, the name; nil if the snapshot does not hold it.
//
//	claim := framework.Lookup[api.PersistentVolumeClaim](s, "default/data")
//
// For pods and nodes see [Snapshot.Pod] and [Snapshot.Node].
func Lookup[T api.Object](s *Snapshot, key string) *T {
	if t := tableOf[T](s); t != nil {
		return t.objects[key]
	}
	return nil
}

// List returns the objects of a kind in the order of their keys. The slice must not be
// changed. It stays the same when objects come or go. The first call after a change
// sorts them; later calls cost nothing.
func List[T api.Object](s *Snapshot) []*T {
	t := tableOf[T](s)
	if t == nil {
		return nil
	}
	if sorted := t.sorted.Load(); sorted != nil {
		return *sorted
	}
	sorted := make([]*T, 0, len(t.objects))
	for _, key := range slices.Sorted(maps.Keys(t.objects)) {
		sorted = append(sorted, t.objects[key])
	}
	t.sorted.Store(&sorted)
	return sorted
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
	kind := strings.ToLower(reflect.TypeFor[T]().Name())
	m := api.MetaOf(obj)
	if m.Name == "" {
		return &api.InvalidError{Object: kind, Field: "metadata.name", Err: errEmpty}
	}
	switch obj := any(obj).(type) {
	case *api.Pod, *api.Node:
		return &api.InvalidError{Object: kind + " " + m.Key(), Err: errNotAnObject}
	case *api.DeviceClass:
		s.admitClass(obj)
	}
	return replace(s, api.KeyOf(obj), obj)
}

var errNotAnObject = errors.New("pods and nodes are added with Snapshot.AddPod and Snapshot.AddNode")

// Delete removes an object from the snapshot, if it is there. A panic of an extension
// breaks the snapshot; see [ErrBroken].
func Delete[T api.Object](s *Snapshot, key string) {
	if Lookup[T](s, key) != nil {
		_ = replace[T](s, key, nil) // the snapshot keeps the error
	}
}

// replace sets the object of a key, or removes it if obj is nil.
func replace[T api.Object](s *Snapshot, key string, obj *T) error {
	s.startChange()
	t := ownTable[T](s)
	if s.undo.isOpen() && !s.undo.rolling {
		s.Record(&tableUndo[T]{key, t.objects[key], t.version, s.objects})
	}
	s.objects = s.newGeneration()
	t.version = s.objects
	t.set(key, obj)
	s.endChange()
	return s.tellObjects(key, obj)
}

func (t *table[T]) set(key string, obj *T) {
	if obj == nil {
		delete(t.objects, key)
	} else {
		t.objects[key] = obj
	}
	t.sorted.Store(nil)
}

// tableUndo takes back one replace.
type tableUndo[T api.Object] struct {
	key     string
	old     *T
	version uint64
	objects uint64
}

func (u *tableUndo[T]) Undo(s *Snapshot) {
	t := ownTable[T](s)
	t.set(u.key, u.old)
	t.version, s.objects = u.version, u.objects
}

// Objects identifies all objects besides pods and nodes like a generation: every [Put]
// and [Delete] changes it.
func (s *Snapshot) Objects() uint64 { return s.objects }
