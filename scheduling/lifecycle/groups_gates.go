package lifecycle

import (
	"cmp"
	"container/list"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/subjects"
	"github.com/berth-sched/berth/scheduling"
)

// gates are the PreEnqueue plugins that have kept groups out.
type gates struct {
	list  []*gate // in the order in which they were first needed
	turn  uint64  // of the group that was shut out last
	woken subjects.Gathering[*group]
}

// A gate is a PreEnqueue plugin that keeps pods of a profile out of the queue, and the groups whose bars
// it keeps out. An event costs nothing for groups that it cannot help, as the plugin registered for
// events, however many they are.
type gate struct {
	gates   *gates
	sched   *scheduling.Scheduler
	plugin  string
	groups  list.List // of *group
	hints   []*gateHint
	heeding map[queueing.ClusterEvent][]*gateHint // those of hints that match an event
}

// A gateHint is what the plugin of a gate registered for.
type gateHint struct {
	queueing.EventHint
	groups *subjects.Index[*group] // by what it looks at for their bars; nil if it looks at all objects
}

// shutting is how a gate keeps a group out.
type shutting struct {
	gate   *gate              // nil if no pod is barred
	listed *framework.PodInfo // the bar, as it was when the indexes got it
	place  *list.Element      // in gate.groups
	turn   uint64             // in which it was shut out
	waiter subjects.Waiter[*group]
}

// of returns the gate of a plugin.
func (gs *gates) of(sched *scheduling.Scheduler, plugin string) *gate {
	for _, x := range gs.list {
		if x.sched == sched && x.plugin == plugin {
			return x
		}
	}
	x := &gate{gates: gs, sched: sched, plugin: plugin, heeding: map[queueing.ClusterEvent][]*gateHint{}}
	for _, r := range sched.Events() {
		if r.Plugin != plugin || r.Frees { // what others give back opens no gate
			continue
		}
		hint := &gateHint{EventHint: r.EventHint}
		if r.Subjects != nil {
			hint.groups = subjects.NewIndex[*group](r.EventHint)
		}
		x.hints = append(x.hints, hint)
	}
	gs.list = append(gs.list, x)
	return x
}

// shut keeps a group out, whose bar is the pod.
func (x *gate) shut(g *group, bar *framework.PodInfo) {
	switch {
	case g.gate == x && g.listed == bar:
		return
	case g.gate == x: // it keeps its turn
		g.waiter.Leave()
	default:
		g.open()
		x.gates.turn++
		g.shutting = shutting{gate: x, place: x.groups.PushBack(g), turn: x.gates.turn, waiter: subjects.Waiter[*group]{Of: g}}
	}
	g.listed = bar
	for _, r := range x.hints {
		if r.groups != nil {
			r.groups.Add(&g.waiter, bar)
		}
	}
}

// open lets a group pass.
func (g *group) open() {
	if g.gate != nil {
		g.gate.groups.Remove(g.place)
		g.waiter.Leave()
		g.shutting = shutting{}
	}
}

// heed lists the hints that may say that the event helps a group.
func (x *gate) heed(e subjects.Event) []*gateHint {
	if x.groups.Len() == 0 {
		return nil
	}
	list, known := x.heeding[e.ClusterEvent]
	if !known {
		for _, r := range x.hints {
			if r.Event.Matches(e.ClusterEvent) {
				list = append(list, r)
			}
		}
		x.heeding[e.ClusterEvent] = list
	}
	return slices.DeleteFunc(slices.Clone(list), func(r *gateHint) bool { return !subjects.Matters(r.EventHint, e) })
}

// concerned returns the groups that the event may help, as the hints say, in the order in which they were
// shut out. The list is valid until the next call.
func (x *gate) concerned(hints []*gateHint, e subjects.Event) []*group {
	w := &x.gates.woken
	w.Begin()
	if !x.gather(hints, e) {
		w.Begin()
		for at := x.groups.Front(); at != nil; at = at.Next() {
			w.Take(&at.Value.(*group).waiter)
		}
	}
	slices.SortFunc(w.List, func(a, b *group) int { return cmp.Compare(a.turn, b.turn) })
	return w.List
}

// gather takes the groups whose bars look at what the event is about. It reports false if that may be any.
func (x *gate) gather(hints []*gateHint, e subjects.Event) bool {
	for _, r := range hints {
		if !subjects.Narrows(r.EventHint, e) {
			return false
		}
	}
	for _, r := range hints {
		about, known := subjects.About(r.EventHint, e)
		if !known {
			return false
		}
		r.groups.Gather(e, about, &x.gates.woken)
	}
	return true
}
