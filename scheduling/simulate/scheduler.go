package simulate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/workload"
)

// Bind starts the pod on the node.
func (w *world) Bind(_ context.Context, pod *api.Pod, node string) error {
	l, n := w.pods[pod.Key()], w.nodes[node]
	if l == nil || n == nil {
		return &api.InvalidError{Object: "pod " + pod.Key(), Field: "spec.nodeName", Value: node, Err: errGone}
	}
	w.bound++
	w.waiting--
	delete(w.stuck, l)
	l.waited += w.clock.Now().Sub(l.since)
	l.Node, l.Message, l.Waited, l.Order = node, "", seconds(l.waited), w.bound
	l.Bound = new(seconds(w.now()))
	running := *pod
	running.Spec.NodeName, running.Status.Phase = node, api.PodRunning
	l.pod = &running
	w.update(podItem(l.pod))
	w.start(l, n)
	w.startInOrder(l)
	return nil
}

// Evict removes a victim of preemption.
func (w *world) Evict(_ context.Context, victim, _ *api.Pod) error {
	if l := w.pods[victim.Key()]; l != nil && l.node != nil && !l.leaving { // otherwise it has left meanwhile
		w.result.Evictions++
		if w.config.Trace.Recorded {
			w.vacate(l)
		} else {
			w.displace(l)
		}
		w.reconcile()
	}
	w.proceed()
	return nil
}

// vacate lets a victim leave as in the recording, or at once.
func (w *world) vacate(l *life) {
	l.Evictions++
	if l.victim == nil || l.victim.Grace == 0 {
		w.end(l, false)
		return
	}
	l.leaving = true
	leaving := *l.pod
	leaving.DeletionTimestamp = new(w.clock.Now())
	leaving.Status.Conditions = append(slices.Clip(leaving.Status.Conditions), api.PodCondition{
		Type: api.DisruptionTarget, Status: api.ConditionTrue, Reason: api.PodReasonPreemptionByScheduler,
	})
	l.pod = &leaving
	w.update(podItem(l.pod))
	if l.byEvent = w.now()+l.victim.Grace == l.victim.At; l.byEvent {
		return
	}
	w.goAfter(l, l.victim.Grace)
}

// goAt lets a pod that is being deleted go at a time, or at once if that is past. If it is more than 50
// years after the start, beyond the times of every trace, the pod stays until something else ends it,
// and does not keep the run going.
func (w *world) goAt(l *life, at time.Time) {
	if at.Sub(w.begin) > longest {
		l.leaving = true
		return
	}
	w.goAfter(l, max(0, at.Sub(w.clock.Now())))
}

// goAfter lets a pod that is being deleted go after a time.
func (w *world) goAfter(l *life, d time.Duration) {
	l.leaving = true
	w.expect(w.clock.Now().Add(d))
	w.clock.AfterFunc(d, func() {
		if w.pods[l.Pod] == l {
			w.end(l, false)
			w.reconcile()
		}
	})
}

// Report records why a pod waits.
func (w *world) Report(_ context.Context, pod *api.Pod, r lifecycle.Report) {
	l := w.pods[pod.Key()]
	if l == nil || l.node != nil || r.Message == "" {
		return
	}
	l.Message = r.Message
	w.stuck[l] = true
}

// Attempt counts attempts.
func (w *world) Attempt(a *lifecycle.Attempt) {
	if r := w.config.Recorder; r != nil {
		r.Attempt(a)
	}
	w.moment.step(w.now())
	w.journal.attempt(a, w.now())
	if l := w.pods[a.Pod.Pod.Key()]; l != nil {
		l.Attempts++
	}
	w.tried(1)
	w.bindClaims(a)
	w.proceed()
}

// tried counts attempts.
func (w *world) tried(n int) {
	before := w.attempts / 1000
	if w.attempts += n; w.config.Progress != nil && w.attempts/1000 > before {
		w.config.Progress(w.progress())
	}
}

// together is a world in which pods fail together that are alike. Nobody needs to know
// after which of these attempts something happens.
type together struct{ *world }

var _ lifecycle.AlikeObserver = together{}

// observer returns what the driver tells of attempts.
func (w *world) observer() lifecycle.Observer {
	after := slices.ContainsFunc(w.config.Trace.Events, func(e Event) bool { return e.After > 0 })
	if after || w.config.Recorder != nil || w.config.Trace.Recorded || w.config.Groups != nil {
		return w
	}
	return together{w}
}

// Attempt counts the attempts of a pod since its last one, too.
func (w together) Attempt(a *lifecycle.Attempt) {
	if l := w.pods[a.Pod.Pod.Key()]; l != nil {
		l.Attempts = l.before + a.Number - 1
	}
	w.world.Attempt(a)
}

// Alike counts attempts of pods that nobody names.
func (w together) Alike(n int) { w.tried(n) }

// catchUp notes what has become of a pod that waits since its last attempt of its own.
func (w *world) catchUp(l *life) {
	attempts, message, ok := w.driver.Failures(l.pod)
	if !ok || message == "" {
		return
	}
	l.Attempts, l.Message = l.before+attempts, message
}

// Evicting notes a victim of preemption.
func (w *world) Evicting(e lifecycle.Eviction) {
	if r := w.config.Recorder; r != nil {
		r.Evicting(e)
	}
	w.moment.step(w.now())
	w.journal.evicting(e, w.now())
}

func (w *world) progress() Progress {
	return Progress{Now: w.now(), Attempts: w.attempts, Bound: w.bound, Waiting: w.waiting}
}

// delete removes an object.
func (w *world) delete(event *Event) error {
	ref := event.Delete
	switch ref.Kind {
	case "Node":
		return w.deleteNode(ref.Name)
	case "Pod":
		l := w.pods[ref.Name]
		// A victim of the recording goes if this run evicts it, when Evict says.
		if l != nil && (!event.Evicted || l.byEvent && l.victim == event) { // otherwise it has ended
			w.end(l, false)
		}
		return nil
	}
	w.deleteController(ref)
	e, err := deletion(ref)
	if err == nil {
		w.forget(ref, e)
	}
	return err
}

// deleteController removes a workload with its pods, and what it owns.
func (w *world) deleteController(ref Ref) {
	c := w.controllers[ref]
	if c == nil {
		return
	}
	delete(w.controllers, ref)
	w.forgetDaemons(c)
	w.owned.remove(w, c)
	for _, l := range c.pods() {
		l.owner = nil
		w.end(l, false)
	}
	owned := w.owned[ref]
	delete(w.owned, ref)
	for _, other := range owned {
		w.deleteController(Ref{other.Kind, other.Key()})
	}
}

// deleteNode lets a node fail: its pods have to leave it.
func (w *world) deleteNode(name string) error {
	n := w.nodes[name]
	switch {
	case n == nil && w.config.Trace.Recorded:
		return nil // it went before the recording began
	case n == nil:
		return &api.InvalidError{Object: "node " + name, Err: errGone}
	}
	w.beforeNodes()
	for _, l := range byArrival(n.pods) {
		if w.config.Trace.Recorded {
			w.series.add(l.pod, -1, w) // it stays until it is deleted
			w.absent[name] = n
		} else if workload.BelongsToNode(l.pod) {
			w.end(l, false)
		} else {
			w.displace(l)
		}
	}
	delete(w.nodes, name)
	w.lookAtNode(name)
	w.forget(Ref{"Node", name}, lifecycle.Delete(n.node))
	n.node = nil
	for _, slice := range n.devices {
		ref := Ref{"ResourceSlice", slice}
		e, err := deletion(ref)
		if err != nil {
			return err
		}
		w.forget(ref, e)
	}
	n.devices = nil
	return nil
}

// byArrival lists pods in the order of their arrival.
func byArrival(set map[*life]bool) []*life {
	list := make([]*life, 0, len(set))
	for l := range set {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *life) int { return cmp.Compare(a.serial, b.serial) })
	return list
}
