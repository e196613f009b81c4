package filter

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/podsize"
)

// on registers for events about objects of type T. r is the resource of the events.
// helps reports whether an event may make a rejected pod schedulable; before is nil
// for an added object, after for a deleted one. An event without any object always
// counts as helpful, and so does any event to a large pod, unless it is about the pod itself: to compare it with each event
// may cost all others more than to try it in vain, which the queue does seldom.
func on[T any](r queueing.EventResource, a queueing.ActionType, helps func(pod *framework.PodInfo, before, after *T) bool) queueing.EventHint {
	return queueing.EventHint{
		Event: queueing.ClusterEvent{Resource: r, Action: a},
		Hint: func(pod *framework.PodInfo, before, after any) (queueing.QueueingHint, error) {
			b, err := asObject[T](r, before)
			if err != nil {
				return queueing.Queue, err
			}
			a, err := asObject[T](r, after)
			if err != nil {
				return queueing.Queue, err
			}
			if b == nil && a == nil || r != queueing.ResourceTargetPod && podsize.IsLarge(pod) || helps(pod, b, a) {
				return queueing.Queue, nil
			}
			return queueing.QueueSkip, nil
		},
	}
}

func asObject[T any](r queueing.EventResource, x any) (*T, error) {
	if x == nil {
		return nil, nil
	}
	object, ok := x.(*T)
	if !ok {
		return nil, fmt.Errorf("an event about a %s carries a %T, want a %T", r, x, object)
	}
	return object, nil
}

// onNode registers for events about nodes.
func onNode(a queueing.ActionType, helps func(pod *framework.PodInfo, before, after *api.Node) bool) queueing.EventHint {
	return on(queueing.ResourceNode, a, helps)
}

// onPods registers for events about pods on nodes. Such an event is never about
// the waiting pod.
func onPods(a queueing.ActionType, helps func(pod, before, after *framework.PodInfo) bool) queueing.EventHint {
	return on(queueing.ResourceAssignedPod, a, helps)
}

// about narrows a registration for pods on nodes by their namespaces and labels.
func about(h queueing.EventHint, subjects func(pod *framework.PodInfo) []queueing.Subject) queueing.EventHint {
	h.Subjects = subjects
	return h
}

// aboutThese narrows a registration to waiting pods that have a subject of the event. of says what an
// event is about; before is nil for an added object, after for a deleted one. An event without any
// object is about anything.
func aboutThese[T any](h queueing.EventHint, subjects func(pod *framework.PodInfo) []queueing.Subject, of func(before, after *T) []queueing.Subject) queueing.EventHint {
	h.Subjects = subjects
	h.About = func(before, after any) []queueing.Subject {
		b, isOld := before.(*T)
		a, isNew := after.(*T)
		if before != nil && !isOld || after != nil && !isNew {
			return anything // the hint says that as an error
		}
		if b == nil && a == nil {
			return anything
		}
		return of(b, a)
	}
	return h
}

// freeing says that the events give back what other pods use, and nothing else.
func freeing(h queueing.EventHint) queueing.EventHint {
	h.Frees = true
	return h
}

// anything is what an event is about that may help any pod.
var anything = []queueing.Subject{{}}

// ifAny narrows a registration to events that may help some pod, as their objects say. before is nil
// for an added object, after for a deleted one. An event without any object always matters.
func ifAny[T any](h queueing.EventHint, may func(before, after *T) bool) queueing.EventHint {
	h.Matters = func(before, after any) bool {
		b, isOld := before.(*T)
		a, isNew := after.(*T)
		if before != nil && !isOld || after != nil && !isNew {
			return true // the hint says that as an error
		}
		return b == nil && a == nil || may(b, a)
	}
	return h
}

// onAny registers for all events about a resource: each may help.
func onAny(r queueing.EventResource, a queueing.ActionType) queueing.EventHint {
	return queueing.EventHint{Event: queueing.ClusterEvent{Resource: r, Action: a}}
}

// onSelf registers for changes of the waiting pod in a part that the plugin
// reads.
func onSelf(plugin framework.Scoper) queueing.EventHint {
	return on(queueing.ResourceTargetPod, queueing.ActionUpdate, func(_, before, after *framework.PodInfo) bool {
		return readsOther(plugin, before, after)
	})
}

// readsOther reports whether two versions of a pod differ in a part that the
// plugin reads.
func readsOther(plugin framework.Scoper, before, after *framework.PodInfo) bool {
	if before == nil || after == nil {
		return true
	}
	fields := fieldsOf(plugin, after)
	return fields != fieldsOf(plugin, before) || before.ClassKey(fields) != after.ClassKey(fields)
}

// became turns a condition on a node into a check of events: the node meets the
// condition now, and was just added or did not meet it before.
func became(fits func(pod *framework.PodInfo, node *api.Node) bool) func(pod *framework.PodInfo, before, after *api.Node) bool {
	return func(pod *framework.PodInfo, before, after *api.Node) bool {
		return after != nil && fits(pod, after) && (before == nil || !fits(pod, before))
	}
}

// gone covers pods that leave, or change so that they no longer count.
const gone = queueing.ActionDelete | queueing.ActionUpdate

// fieldsOf is what the plugin reads of a pod. A [incremental.ClassKeyer] leaves out of its
// scope what its key covers. It says itself what that is, or these parts are it.
func fieldsOf(plugin framework.Scoper, pod *framework.PodInfo) framework.PodFields {
	fields := plugin.Scope(pod).Pod
	switch x := plugin.(type) {
	case interface {
		keyed(pod *framework.PodInfo) framework.PodFields
	}:
		fields |= x.keyed(pod)
	case incremental.ClassKeyer:
		fields |= framework.FieldNamespace | framework.FieldLabels | framework.FieldOwner | framework.FieldPodAffinity | framework.FieldSpread
	}
	return fields
}
