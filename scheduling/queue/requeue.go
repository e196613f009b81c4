package queue

import (
	"cmp"
	"context"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// Requeue puts a pod back after a failed attempt, with the plugins that rejected it.
//
// The events since Pop decide where the pod goes. If one of them may have helped it,
// it is tried again after its backoff, or at once if a pending plugin asks for that;
// otherwise it waits for an event. After an error, or after [Queue.Done], it is
// tried again after its backoff. pod is its latest version; nil means the version of
// the last Update.
//
// Source: kube-scheduler 1.37, AddUnschedulablePodIfNotPresent.
func (q *Queue) Requeue(ctx context.Context, it *Item, pod *framework.PodInfo, by Rejectors) {
	if it.at != inFlight && it.at != nowhere {
		return // it is back already
	}
	if by.none() {
		it.Errors++
	} else {
		it.Unschedulable++
		it.Errors = 0
	}
	it.Rejectors = by
	it.Timestamp, it.timed = q.options.Now(), false
	if pod == nil {
		pod = it.latest
	}
	if pod != nil {
		if pod != it.Pod {
			it.Class = Class{} // that of another version
		}
		it.Pod, it.profile = pod, q.profileOf(pod.Pod)
	}
	it.latest = nil
	best := afterBackoff
	if it.at == inFlight && !by.none() {
		best = skip
		for _, e := range q.events.since(it.since) {
			if best = max(best, q.worth(it, e)); best == immediately {
				break
			}
		}
	}
	q.Done(it)
	q.send(ctx, it, best)
}

// send moves the item to the part of the queue that the strategy names.
func (q *Queue) send(ctx context.Context, it *Item, s strategy) {
	switch {
	case s == skip:
		if it.at != unschedulable {
			q.toWaiting(it)
		}
	case s == afterBackoff && q.isBackingOff(it), q.holds(it), q.mustWait(it):
		q.toBackoff(ctx, it)
	default:
		q.toActive(ctx, it, true)
	}
}

// Move tells the queue what happened in the cluster, and moves the waiting pods that
// it may help. before and after are the object before and after the event, as in
// [queueing.QueueingHintFunc]. If except is not nil, that item stays where it is.
//
// Cost: O(waiting pods that a plugin rejected which registered for the event, and that have a
// subject of it if the plugin says so, see [queueing.EventHint]); nothing for all others, such as
// gated pods. Pods that are alike and wait together count once.
func (q *Queue) Move(ctx context.Context, e queueing.ClusterEvent, before, after any, except *Item) {
	if !q.isInteresting(e) {
		return
	}
	what := newEvent(e, before, after)
	if except != nil {
		q.detach(except)
	}
	if what.isPersonal() {
		for _, it := range q.concerned(what) {
			q.scatter(it)
		}
	}
	concerned := q.concerned(what)
	for _, it := range concerned {
		if it != except {
			q.wake(ctx, it, what)
		}
	}
	clear(concerned) // the scratch must not keep pods
	if q.flight.len > 0 {
		q.events.add(what)
	}
}

// wake moves one waiting item if the event may help it.
func (q *Queue) wake(ctx context.Context, it *Item, e event) bool {
	if !it.heeds(e) {
		return false
	}
	s := q.worth(it, e)
	if s == skip {
		return false
	}
	q.send(ctx, it, s)
	return true
}

// Update tells the queue that a pod has changed. A pod in flight takes on the change
// when it comes back. A waiting pod moves on if the change may help it
// ([PodChanges]).
func (q *Queue) Update(ctx context.Context, it *Item, pod *framework.PodInfo) {
	before := it.Pod
	if it.at == inFlight {
		if it.latest != nil {
			before = it.latest
		}
		for _, e := range PodChanges(before, pod) {
			if q.isInteresting(e) {
				q.events.add(newEvent(e, before, pod))
			}
		}
		it.latest = pod
		return
	}
	q.SetApart(it)
	it.Pod, it.profile = pod, q.profileOf(pod.Pod)
	q.regroup(it)
	switch it.at {
	case active:
		q.active.fix(it)
	case backingOff:
		q.backingOff.fix(it)
	case unschedulable:
		for _, e := range PodChanges(before, pod) {
			if q.wake(ctx, it, newEvent(e, before, pod)) {
				return
			}
		}
	}
}

// UpdateMember tells the queue that a pod has changed for which an item stands beside its
// own, as for the other pods of a group. The item moves on if the change may help that pod.
func (q *Queue) UpdateMember(ctx context.Context, it *Item, before, after *framework.PodInfo) {
	for _, e := range PodChanges(before, after) {
		what := newEvent(e, before, after)
		what.member = it
		switch it.at {
		case inFlight:
			if q.isInteresting(e) {
				q.events.add(what)
			}
		case unschedulable:
			q.SetApart(it)
			if q.wake(ctx, it, what) {
				return
			}
		}
	}
}

// Delete takes a pod out of the queue. A pod in flight stays in flight until Done.
func (q *Queue) Delete(it *Item) {
	q.detach(it)
	if it.at != inFlight {
		q.leave(it)
	}
}

// Activate makes a waiting pod ready, whatever it waits for, unless a PreEnqueue
// plugin rejects it. For a pod in flight it counts as an event.
func (q *Queue) Activate(ctx context.Context, it *Item) {
	q.SetApart(it)
	switch it.at {
	case nowhere, active:
	case inFlight:
		q.events.add(newEvent(wildcard, nil, it.Pod))
	default:
		q.toActive(ctx, it, true)
	}
}

// wildcard is the event that matches every registration.
var wildcard = queueing.ClusterEvent{Resource: queueing.ResourceAny, Action: queueing.ActionAll}

// Items returns everything in the queue and in flight, in the order of arrival.
// It costs O(n log n).
func (q *Queue) Items() []*Item {
	var all []*Item
	add := func(it *Item) {
		all = append(all, it)
		each(it.rest, func(other *Item) {
			other.follow(it)
			all = append(all, other)
		})
	}
	q.active.all(add)
	q.backingOff.all(add)
	q.failing.all(add)
	q.delayed.all(add)
	q.waiting.all(add)
	for _, l := range []*list{&q.standing, &q.flight} {
		for it := l.first; it != nil; it = it.next {
			add(it)
		}
	}
	slices.SortFunc(all, func(a, b *Item) int { return cmp.Compare(a.serial, b.serial) })
	return all
}
