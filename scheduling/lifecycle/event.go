package lifecycle

import (
	"context"
	"reflect"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling/queue"
)

// An Event says that an object was added, updated or deleted. Make one with [Update] or
// [Delete].
type Event struct {
	apply func(ctx context.Context, d *Driver) error
}

// Add is the event that the object has come. It is the same as [Update]: the driver
// compares the object with what it knows. Informers have both.
//
// A version that is not newer than the known one is ignored; see [Update].
func Add[T api.Object](obj *T) Event { return Update(obj) }

// Update is the event that the object is there, as it is given, whether it is new or
// has changed. It must not change any more. A pod that Succeeded or Failed no longer
// counts, and is forgotten: an older version must not come after that one.
//
// If the driver knows the same object (by UID) in an equal or a newer version
// (metadata.resourceVersion), the event is ignored. Otherwise every new list of an
// informer would undo what plugins have reserved in the snapshot. Objects whose versions
// are not numbers are never ignored.
func Update[T api.Object](obj *T) Event {
	return Event{func(ctx context.Context, d *Driver) error {
		switch o := any(obj).(type) {
		case *api.Pod:
			return d.updatePod(ctx, o)
		case *api.Node:
			return d.updateNode(ctx, o)
		}
		return updateObject(ctx, d, obj)
	}}
}

// Delete is the event that an object was deleted. The object is identified by its name
// and its UID, if it has one; an unknown object is ignored.
func Delete[T api.Object](obj *T) Event {
	return Event{func(ctx context.Context, d *Driver) error {
		switch o := any(obj).(type) {
		case *api.Pod:
			return d.deletePod(ctx, o)
		case *api.Node:
			return d.deleteNode(ctx, o)
		}
		return deleteObject(ctx, d, obj)
	}}
}

func updateObject[T api.Object](ctx context.Context, d *Driver, obj *T) error {
	if obj == nil {
		return framework.Put(d.snap, obj) // returns the error
	}
	before := framework.Lookup[T](d.snap, api.KeyOf(obj))
	if before != nil && !newer(api.MetaOf(before), api.MetaOf(obj)) {
		return nil
	}
	if err := framework.Put(d.snap, obj); err != nil {
		return err
	}
	e := queueing.ClusterEvent{Resource: resourceOf[T](), Action: queueing.ActionAdd}
	if before == nil {
		d.move(ctx, e, nil, obj, nil)
	} else {
		e.Action = queueing.ActionUpdate
		d.move(ctx, e, before, obj, nil)
	}
	return nil
}

func deleteObject[T api.Object](ctx context.Context, d *Driver, obj *T) error {
	if obj == nil {
		return framework.Put(d.snap, obj)
	}
	key := api.KeyOf(obj)
	before := framework.Lookup[T](d.snap, key)
	if before == nil || another(api.MetaOf(before), api.MetaOf(obj)) {
		return nil
	}
	framework.Delete[T](d.snap, key)
	e := queueing.ClusterEvent{Resource: resourceOf[T](), Action: queueing.ActionDelete}
	d.move(ctx, e, before, nil, nil)
	return nil
}

// move tells the pods that wait, and the groups that gates keep out, of an event.
func (d *Driver) move(ctx context.Context, e queueing.ClusterEvent, before, after any, except *queue.Item) {
	d.queue.Move(ctx, e, before, after, except)
	d.regateAll(ctx, e, before, after)
}

func resourceOf[T api.Object]() queueing.EventResource {
	return queueing.EventResource(reflect.TypeFor[T]().Name())
}

// newer reports whether the object has to be applied over the known one: it is another
// object of the same name, its version is newer, or the versions cannot be compared.
func newer(known, m *api.ObjectMeta) bool {
	order, ok := api.CompareResourceVersions(m.ResourceVersion, known.ResourceVersion)
	return !ok || order > 0 || known.UID != m.UID
}

// another reports whether m identifies another object than the known one of its name.
func another(known, m *api.ObjectMeta) bool {
	return known.UID != "" && m.UID != "" && known.UID != m.UID
}
