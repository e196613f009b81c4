package queue

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/subjects"
)

// eventLog remembers what happens while pods are in flight. Events are numbered
// consecutively.
type eventLog struct {
	events []event
	first  uint64 // number of events[0]
}

type event struct {
	subjects.Event
	member *Item // if it is about a pod for which this item stands, too: that item
}

func newEvent(e queueing.ClusterEvent, before, after any) event {
	return event{Event: subjects.Event{ClusterEvent: e, Before: before, After: after}}
}

// isPersonal reports whether the event concerns the pod that it is about in another way than
// pods that are like it.
func (e event) isPersonal() bool {
	if e.Resource == queueing.ResourceTargetPod {
		return true
	}
	_, about := e.After.(*framework.PodInfo)
	return about && e.IsWildcard()
}

// next returns the number of the next event.
func (l *eventLog) next() uint64 { return l.first + uint64(len(l.events)) }

func (l *eventLog) add(e event) { l.events = append(l.events, e) }

// since returns the events from the given number on.
func (l *eventLog) since(number uint64) []event { return l.events[number-l.first:] }

// roomKept is for how many events there is always room. A pod that was in flight for long
// must not leave more behind.
const roomKept = 1 << 10

func (l *eventLog) dropAll() {
	l.first = l.next()
	clear(l.events)
	if l.events = l.events[:0]; cap(l.events) > roomKept {
		l.events = nil
	}
}

// dropBefore forgets the events before the given number. It moves the rest only if
// there is more to forget than to keep.
func (l *eventLog) dropBefore(number uint64) {
	drop := int(number - l.first)
	if drop <= len(l.events)/2 {
		return
	}
	kept := copy(l.events, l.events[drop:])
	clear(l.events[kept:])
	if l.events = l.events[:kept]; cap(l.events) > max(roomKept, 4*kept) {
		l.events = slices.Clone(l.events)
	}
	l.first = number
}
