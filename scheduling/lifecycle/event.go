package lifecycle

import (
	"context"
	"reflect"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
)

// An Event says that an object was added, updated or deleted. Make one with [Update] or
// [Delete].
type Event struct {
	apply func(ctx context.Context, d *Driver) error
}

// Add is the event that the object has come. It is the same as [Update]: the driver
// compares the object with what it knows. Informers have both.
func Add[T api.Object](obj *T) Event { return Update(obj) }

// Update is the event that the object is there, as it is given, whether it is new or
// has changed. It must not change any more. A pod that Succeeded or Failed no longer
// counts.
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

// Delete is the event that an object was deleted. The object is identified by its
// name, a pod also by its UID; an unknown object is ignored.
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
	if err := framework.Put(d.snap, obj); err != nil {
		return err
	}
	e := queueing.ClusterEvent{Resource: resourceOf[T](), Action: queueing.ActionAdd}
	if before == nil {
		d.queue.Move(ctx, e, nil, obj, nil)
		return nil
	}
	e.Action = queueing.ActionUpdate
	d.queue.Move(ctx, e, before, obj, nil)
	return nil
}

func deleteObject[T api.Object](ctx context.Context, d *Driver, obj *T) error {
	if obj == nil {
		return framework.Put(d.snap, obj)
	}
	key := api.KeyOf(obj)
	before := framework.Lookup[T](d.snap, key)
	if before == nil {
		return nil
	}
	framework.Delete[T](d.snap, key)
	d.queue.Move(ctx, queueing.ClusterEvent{Resource: resourceOf[T](), Action: queueing.ActionDelete}, before, nil, nil)
	return nil
}

func resourceOf[T api.Object]() queueing.EventResource {
	return queueing.EventResource(reflect.TypeFor[T]().Name())
}
