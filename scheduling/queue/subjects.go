package queue

import (
	"slices"

	"github.com/berth-sched/berth/internal/subjects"
	"github.com/berth-sched/berth/scheduling"
)

// A listener is what one of a group's rejectors registered for. Once an event has come that the
// registration narrows, this listener and those of later groups have their items by subject.
type listener struct {
	*scheduling.RegisteredEvent
	items *subjects.Index[*Item] // nil until then
}

func (g *group) listener(r *scheduling.RegisteredEvent) *listener {
	l := g.listeners[r]
	if l == nil {
		l = &listener{RegisteredEvent: r}
		g.listeners[r] = l
	}
	return l
}

// narrow takes the items of the group that the event may concern. It reports false if that may
// be any of them.
func (g *group) narrow(e event, to *subjects.Gathering[*Item]) bool {
	if e.IsWildcard() || g.profile == nil || g.rejectors.none() {
		return false
	}
	list := g.heard[e.ClusterEvent]
	for _, l := range list {
		if !subjects.Narrows(l.EventHint, e.Event) && subjects.Matters(l.EventHint, e.Event) {
			return false
		}
	}
	for _, l := range list {
		if subjects.Narrows(l.EventHint, e.Event) && subjects.Matters(l.EventHint, e.Event) && !g.takeFor(l, e, to) {
			return false
		}
	}
	return true
}

// takeFor takes the items of the group that look at what the event is about, as a listener says
// that narrows it. It reports false if that may be any of them.
func (g *group) takeFor(l *listener, e event, to *subjects.Gathering[*Item]) bool {
	about, known := subjects.About(l.EventHint, e.Event)
	if known && (l.About == nil || len(about) > 0) {
		g.build(l)
		l.items.Gather(e.Event, about, to)
	}
	return known
}

// build has the listener keep the items of the group by subject, and those of later groups do so
// from the beginning: an event must not pay for pods that have come before it.
func (g *group) build(l *listener) {
	if l.items != nil {
		return
	}
	if !slices.Contains(g.profile.narrow, l.RegisteredEvent) {
		g.profile.narrow = append(g.profile.narrow, l.RegisteredEvent)
	}
	l.items = subjects.NewIndex[*Item](l.EventHint)
	g.indexed = append(g.indexed, l)
	for it := g.first; it != nil; it = it.behind {
		l.items.Add(&it.waiter, it.Pod)
	}
}

// prepare builds the listeners of a new group for what has narrowed events before.
func (g *group) prepare() {
	if g.profile == nil {
		return
	}
	for _, r := range g.profile.narrow {
		if g.rejectors.wakes(r, r.Event) {
			g.build(g.listener(r))
		}
	}
}

// index notes an item of the group with the listeners that keep them by subject.
func (g *group) index(it *Item) {
	it.waiter.Of = it
	for _, l := range g.indexed {
		l.items.Add(&it.waiter, it.Pod)
	}
}
