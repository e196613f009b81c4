package lifecycle

import (
	"context"
	"reflect"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// An Event says that an object was added, updated or deleted. Make one with [Put] or
// [Gone].
type Event struct {
	apply func(ctx context.Context, d *Driver) error
}

// Put is the event that an object was added or updated. The object must not change
// any more. A pod that Succeeded or Failed no longer counts.
func Put[T api.Object](obj *T) Event {
	return Event{func(ctx context.Context, d *Driver) error {
		switch o := any(obj).(type) {
		case *api.Pod:
			return d.putPod(ctx, o)
		case *api.Node:
			return d.putNode(ctx, o)
		}
		return putObject(ctx, d, obj)
	}}
}

// Gone is the event that an object was deleted. The object is identified by its
// name, a pod also by its UID; an unknown object is ignored.
func Gone[T api.Object](obj *T) Event {
	return Event{func(ctx context.Context, d *Driver) error {
		switch o := any(obj).(type) {
		case *api.Pod:
			return d.gonePod(ctx, o)
		case *api.Node:
			return d.goneNode(ctx, o)
		}
		return goneObject(ctx, d, obj)
	}}
}

func putObject[T api.Object](ctx context.Context, d *Driver, obj *T) error {
	if obj == nil {
		return framework.Put(d.snap, obj) // returns the error
	}
	before := framework.Lookup[T](d.snap, api.KeyOf(obj))
	if err := framework.Put(d.snap, obj); err != nil {
		return err
	}
	e := framework.ClusterEvent{Resource: resourceOf[T](), Action: framework.ActionAdd}
	if before == nil {
		d.queue.Move(ctx, e, nil, obj, nil)
		return nil
	}
	e.Action = framework.ActionUpdate
	d.queue.Move(ctx, e, before, obj, nil)
	return nil
}

func goneObject[T api.Object](ctx context.Context, d *Driver, obj *T) error {
	if obj == nil {
		return framework.Put(d.snap, obj)
	}
	key := api.KeyOf(obj)
	before := framework.Lookup[T](d.snap, key)
	if before == nil {
		return nil
	}
	framework.Delete[T](d.snap, key)
	d.queue.Move(ctx, framework.ClusterEvent{Resource: resourceOf[T](), Action: framework.ActionDelete}, before, nil, nil)
	return nil
}

func resourceOf[T api.Object]() framework.EventResource {
	return framework.EventResource(reflect.TypeFor[T]().Name())
}
