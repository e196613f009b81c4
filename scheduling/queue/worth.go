package queue

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/subjects"
	"github.com/berth-sched/berth/scheduling"
)

// profile is a scheduler and the events that its plugins registered for.
type profile struct {
	*scheduling.Scheduler
	events  []scheduling.RegisteredEvent
	matches map[queueing.ClusterEvent][]*scheduling.RegisteredEvent // by event
	narrow  []*scheduling.RegisteredEvent                           // that have narrowed an event
}

func newProfile(s *scheduling.Scheduler) *profile {
	return &profile{Scheduler: s, events: s.Events(), matches: map[queueing.ClusterEvent][]*scheduling.RegisteredEvent{}}
}

// matching lists the registrations that match the event.
func (p *profile) matching(e queueing.ClusterEvent) []*scheduling.RegisteredEvent {
	list, ok := p.matches[e]
	if !ok {
		for i := range p.events {
			if r := &p.events[i]; r.Event.Matches(e) {
				list = append(list, r)
			}
		}
		p.matches[e] = list
	}
	return list
}

func (q *Queue) profileOf(p *api.Pod) *profile {
	name := p.Spec.SchedulerName
	if name == "" {
		name = scheduling.DefaultName
	}
	if q.lastName != name { // most pods ask for the same one
		q.lastName, q.lastProfile = name, q.profiles[name]
	}
	return q.lastProfile
}

// isInteresting reports whether any plugin registered for the event.
func (q *Queue) isInteresting(e queueing.ClusterEvent) bool {
	if e.IsWildcard() {
		return true
	}
	yes, ok := q.interest[e]
	if !ok {
		for _, p := range q.profiles {
			yes = yes || len(p.matching(e)) > 0
		}
		q.interest[e] = yes
	}
	return yes
}

// strategy says where a pod goes if an event may help it.
type strategy uint8

const (
	skip strategy = iota
	afterBackoff
	immediately
)

// worth says what the event means for a rejected pod.
//
// Source: kube-scheduler 1.37, isPodWorthRequeuing.
func (q *Queue) worth(it *Item, e event) strategy {
	if it.none() {
		return afterBackoff
	}
	if e.IsWildcard() {
		if other, ok := e.After.(*framework.PodInfo); ok && other != nil && !it.isOf(other.Pod) {
			return skip
		}
		return afterBackoff
	}
	pod := it.Pod
	switch p, ok := e.After.(*framework.PodInfo); {
	case e.member != nil:
		if e.member != it {
			return skip
		}
		pod = p
	case e.Resource == queueing.ResourceTargetPod && (!ok || p == nil || !it.isOf(p.Pod)):
		return skip
	}
	if it.profile == nil {
		return afterBackoff
	}
	best := skip
	for _, r := range it.profile.matching(e.ClusterEvent) {
		if !it.wakes(r, e.ClusterEvent) || !Helps(r.EventHint, pod, e.Before, e.After) {
			continue
		}
		switch {
		case slices.Contains(it.Pending, r.Plugin):
			return immediately
		case len(it.Pending) == 0:
			return afterBackoff
		}
		best = afterBackoff
	}
	return best
}

// Helps reports whether a plugin that registered for an event says that it may help the pod. An
// error or panic there must not keep a pod waiting.
func Helps(r queueing.EventHint, pod *framework.PodInfo, before, after any) (yes bool) {
	if !subjects.Matters(r, subjects.Event{Before: before, After: after}) {
		return false
	}
	if r.Hint == nil {
		return true
	}
	defer func() {
		if recover() != nil {
			yes = true
		}
	}()
	h, err := r.Hint(pod, before, after)
	return err != nil || h != queueing.QueueSkip
}

// heeds reports whether the event concerns the item. Only an event that a gate
// registered for can open that gate.
func (it *Item) heeds(e event) bool {
	if it.Gate == "" || e.IsWildcard() || it.profile == nil {
		return true
	}
	return slices.ContainsFunc(it.profile.matching(e.ClusterEvent), func(r *scheduling.RegisteredEvent) bool {
		return r.Plugin == it.Gate
	})
}
