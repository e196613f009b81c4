package simulate

import (
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// happen applies the events of the trace that are due. It is called at the time of each.
// Those that come after something that the scheduler does at this time wait for it, as long
// as it does anything.
func (w *world) happen() {
	w.advance(func(e *Event) bool { return e.At < w.now() || e.After <= w.moment.done(w.now()) })
	if !w.waits() {
		return
	}
	progress := w.applied + w.moment.total
	if at, ok := w.clock.Next(); progress == w.stalled && !(ok && at.Equal(w.clock.Now())) {
		w.advance(func(*Event) bool { return true }) // nothing else comes
		return
	}
	w.stalled = progress
	w.clock.AfterFunc(0, w.happen)
}

// proceed applies events that come after what the scheduler has just done.
func (w *world) proceed() {
	if w.waits() {
		w.advance(func(e *Event) bool { return e.After > 0 && e.After <= w.moment.done(w.now()) })
	}
}

// waits reports whether an event of the present time has not happened yet.
func (w *world) waits() bool {
	events := w.config.Trace.Events
	return w.applied < len(events) && events[w.applied].At <= w.now() && w.err == nil
}

// advance applies the next events of the present time as long as they are due.
func (w *world) advance(due func(e *Event) bool) {
	some := false
	for w.waits() && due(&w.config.Trace.Events[w.applied]) {
		e := &w.config.Trace.Events[w.applied]
		w.applied++
		if e.Wake {
			continue
		}
		some, w.last = true, w.clock.Now()
		var err error
		if e.Apply != nil {
			err = w.apply(e.Apply)
		} else {
			err = w.delete(e)
		}
		if err != nil {
			w.fail(&TraceError{w.applied, err})
		}
	}
	if some {
		w.reconcile()
	}
}

// findDeletions notes which events of a recorded trace delete pods.
func (w *world) findDeletions() {
	if !w.config.Trace.Recorded {
		return
	}
	w.deletions = map[string][]int{}
	for i := range w.config.Trace.Events {
		if e := &w.config.Trace.Events[i]; e.Apply == nil && e.Delete.Kind == "Pod" {
			w.deletions[e.Delete.Name] = append(w.deletions[e.Delete.Name], i)
		}
	}
}

// findSets notes the StatefulSets that come at any time: pods of other workloads with such a name never get a name that the
// set numbers.
func (w *world) findSets() {
	w.sets = map[string]bool{}
	for i := range w.config.Trace.Events {
		if o := w.config.Trace.Events[i].Apply; o != nil {
			for _, x := range o.StatefulSets {
				w.sets[x.Key()] = true
			}
		}
	}
}

// evictedLater returns the event that deletes the pod that has just come, if it goes
// because it was evicted; otherwise nil.
func (w *world) evictedLater(pod string) *Event {
	list := w.deletions[pod]
	for len(list) > 0 && list[0] < w.applied {
		list = list[1:]
	}
	if w.deletions != nil {
		w.deletions[pod] = list
	}
	if len(list) > 0 && w.config.Trace.Events[list[0]].Evicted {
		return &w.config.Trace.Events[list[0]]
	}
	return nil
}

// update tells the scheduler, and a recorder, of an object that came or changed.
func (w *world) update(x item) {
	if r := w.config.Recorder; r != nil {
		r.item(w.clock.Now(), x)
	}
	w.keep(x.object)
	w.driver.Apply(x.update)
}

// forget tells the scheduler, and a recorder, of an object that went.
func (w *world) forget(ref Ref, e lifecycle.Event) {
	if r := w.config.Recorder; r != nil {
		r.Deleted(w.clock.Now(), ref)
	}
	w.drop(ref)
	w.driver.Apply(e)
}

// remove tells the scheduler, and a recorder, of a pod that went.
func (w *world) remove(p *api.Pod) {
	w.journal.gone(p.Key())
	w.forget(Ref{"Pod", p.Key()}, lifecycle.Delete(p))
	w.leaveClaims(p)
}
