package queue

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/subjects"
	"github.com/berth-sched/berth/scheduling"
)

// groups are the waiting items by what can wake them: their profile, their gate and the
// plugins that rejected them. An event for which no plugin of a group registered costs
// nothing for the items of that group, however many they are.
type groups struct {
	byKey  map[string]*group
	list   []*group                  // in the order of creation
	key    []byte                    // scratch
	serial uint64                    // of the item that began to wait last
	woken  subjects.Gathering[*Item] // by the last event
}

// group holds the waiting items that the same events can wake. If mixed is not set, they are
// in the order of the waiting list, but for items that were alike until something happened
// to one of them.
type group struct {
	key         string
	profile     *profile
	gate        string
	rejectors   Rejectors
	first, last *Item
	mixed       bool
	heard       map[queueing.ClusterEvent][]*listener
	listeners   map[*scheduling.RegisteredEvent]*listener
	indexed     []*listener // those that have their items by subject
}

// heeds reports whether the event may concern items of the group. It leaves open only
// what hints say, and whose pod an event is about.
func (g *group) heeds(e queueing.ClusterEvent) bool {
	if e.IsWildcard() || g.profile == nil || g.rejectors.none() {
		return true
	}
	list, known := g.heard[e]
	if !known {
		list = g.listening(e)
		g.heard[e] = list
	}
	return len(list) > 0
}

// listening lists what the group's rejectors registered for that matches the event.
func (g *group) listening(e queueing.ClusterEvent) (list []*listener) {
	matching := g.profile.matching(e)
	if g.gate != "" && !slices.ContainsFunc(matching, func(r *scheduling.RegisteredEvent) bool { return r.Plugin == g.gate }) {
		return nil
	}
	for _, r := range matching {
		if g.rejectors.wakes(r, e) {
			list = append(list, g.listener(r))
		}
	}
	return list
}

// join puts a waiting item into its group, as the last. It looks at no other item.
func (q *Queue) join(it *Item) {
	g := q.groupOf(it)
	g.mixed = g.mixed || g.last != nil && q.waitsBefore(it, g.last)
	g.insertAfter(it, g.last)
}

// insertAfter puts an item behind another one of the group; nil means at the beginning.
func (g *group) insertAfter(it, ahead *Item) {
	it.group, it.ahead, it.behind = g, ahead, g.first
	g.index(it)
	if ahead != nil {
		it.behind, ahead.behind = ahead.behind, it
	} else {
		g.first = it
	}
	if it.behind != nil {
		it.behind.ahead = it
	} else {
		g.last = it
	}
}

// part takes an item out of its group. A group without items is dropped.
func (q *Queue) part(it *Item) {
	g := it.group
	it.waiter.Leave()
	if it.ahead != nil {
		it.ahead.behind = it.behind
	} else {
		g.first = it.behind
	}
	if it.behind != nil {
		it.behind.ahead = it.ahead
	} else {
		g.last = it.ahead
	}
	it.group, it.ahead, it.behind = nil, nil, nil
	if g.first == nil {
		delete(q.groups.byKey, g.key)
		i := slices.Index(q.groups.list, g)
		q.groups.list = slices.Delete(q.groups.list, i, i+1)
	}
}

// regroup follows a change of an item that may be waiting. Most changes leave it in its
// group.
func (q *Queue) regroup(it *Item) {
	if it.group == nil {
		return
	}
	if it.group != q.groupOf(it) {
		q.part(it)
		q.join(it)
		return
	}
	it.waiter.Leave()
	it.group.index(it)
}

// waitsBefore compares items by their places in the waiting list.
func (q *Queue) waitsBefore(a, b *Item) bool {
	if x, y := q.waitingSince(a), q.waitingSince(b); x != y {
		return x < y
	}
	return cmp.Or(cmp.Compare(a.waits, b.waits), cmp.Compare(a.serial, b.serial)) < 0
}

// groupOf returns the group of an item, a new one if there is none.
func (q *Queue) groupOf(it *Item) *group {
	gs := &q.groups
	b := gs.key[:0]
	if it.profile != nil {
		b = append(b, it.profile.Profile()...)
	}
	for _, list := range [][]string{{it.Gate, it.Early}, it.Plugins, it.Pending, it.Unresolvable} {
		b = append(b, 0)
		for _, name := range list {
			b = append(append(b, name...), 1)
		}
	}
	if it.profile == nil {
		b = append(b, 2)
	}
	gs.key = b
	g := gs.byKey[string(b)]
	if g == nil {
		g = &group{
			key: string(b), profile: it.profile, gate: it.Gate, rejectors: it.Rejectors,
			heard: map[queueing.ClusterEvent][]*listener{}, listeners: map[*scheduling.RegisteredEvent]*listener{},
		}
		g.prepare()
		gs.byKey[g.key] = g
		gs.list = append(gs.list, g)
	}
	return g
}

// concerned returns the waiting items that the event may concern, in the order of the
// waiting list. The list is valid until the next call.
func (q *Queue) concerned(e event) []*Item {
	w := &q.groups.woken
	w.Begin()
	several := false // or one that is not in order
	for _, g := range q.groups.list {
		if !g.heeds(e.ClusterEvent) {
			continue
		}
		if g.narrow(e, w) {
			several = true
			continue
		}
		several = several || len(w.List) > 0 || g.mixed
		for it := g.first; it != nil; it = it.behind {
			w.Take(&it.waiter)
		}
	}
	if several {
		slices.SortFunc(w.List, func(a, b *Item) int {
			if q.waitsBefore(a, b) {
				return -1
			}
			return 1
		})
	}
	return w.List
}
