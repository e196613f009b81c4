package lifecycle

import (
	"context"
	"fmt"
	"unique"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// refusals are what came of the last attempts, by the classes of pods that fail alike. When
// a pod leaves a full cluster, many that wait are worth another attempt; one takes the room,
// and all others of its class are rejected for the same reasons.
//
// Invariant: an attempt for a pod of the class, with the snapshot as it is, fails like this,
// unless the pod is nominated to a node.
type refusals struct {
	version, objects uint64 // of the snapshot
	by               map[queue.Class]refusal
}

// refusalsMost bounds what is kept while a cluster stands still. Of classes beyond it, everything is
// found out anew: were earlier ones given up for them, pods that are tried in turn would find none.
const refusalsMost = 4096

// refusal is an attempt that found no node, and no room to make.
type refusal struct {
	decision scheduling.Decision
	fit      *scheduling.FitError
	by       queue.Rejectors
}

// forget forgets everything if the snapshot has changed.
func (r *refusals) forget(snap *framework.Snapshot) {
	if len(r.by) > 0 && !r.stand(snap) {
		clear(r.by)
	}
}

func (r *refusals) stand(snap *framework.Snapshot) bool {
	return r.version == snap.Version() && r.objects == snap.Objects()
}

// keep notes what came of an attempt. What was known before the attempt stands, although
// what PostFilter tried and took back counts as changes.
func (r *refusals) keep(snap *framework.Snapshot, class queue.Class, what refusal) {
	if r.by == nil {
		r.by = map[queue.Class]refusal{}
	}
	r.version, r.objects = snap.Version(), snap.Objects()
	if _, known := r.by[class]; known || len(r.by) < refusalsMost {
		r.by[class] = what
	}
}

// refused returns the pod to the queue, together with those that are like it: neither is
// there a node, nor can room be made.
func (d *Driver) refused(ctx context.Context, sched *scheduling.Scheduler, p *pod, it *queue.Item, a *Attempt, fit *scheduling.FitError) {
	a.State, a.Err = Failed, fit
	by := rejectorsOf(fit)
	by.Unresolvable = sched.Unresolvable(it.Pod, fit)
	if key, ok := d.alike(sched, p, a); ok {
		by.Class = unique.Make(key)
		if d.observers.alike != nil {
			by.Message = fit.Error()
		}
		d.refusals.keep(d.snap, by.Class, refusal{a.Decision, fit, by})
	}
	d.requeue(ctx, p, it, a, by)
}

// alike returns the key of pods that are like the one that has just failed.
func (d *Driver) alike(sched *scheduling.Scheduler, p *pod, a *Attempt) (key string, ok bool) {
	if p.nominated != "" || a.Nominated != "" || d.observers.eachCall() {
		return "", false
	}
	return sched.Alike(d.snap, a.Pod, a.Decision)
}

// refusal returns what becomes of an attempt for the pod, if one for a pod that is like it has
// just failed.
func (d *Driver) refusal(p *pod, it *queue.Item) (r refusal, known bool) {
	r, known = d.refusals.by[it.Class]
	return r, known && p.nominated == "" && d.refusals.stand(d.snap)
}

// repeat makes an attempt without asking any plugin.
func (d *Driver) repeat(ctx context.Context, sched *scheduling.Scheduler, p *pod, it *queue.Item, a *Attempt, r refusal) {
	fit := *r.fit
	fit.Pod = a.Pod.Pod.Key()
	a.Decision, a.Decided = sched.Repeat(r.decision, 1), a.Started
	a.State, a.Err = Failed, &fit
	d.requeue(ctx, p, it, a, r.by)
}

// verify reports an attempt that was made, and did not fail like this.
func (r *refusal) verify(a *Attempt) error {
	if a.State == Failed && a.Err.Error() == r.fit.Error() {
		return nil
	}
	return fmt.Errorf("pod %s: attempt %d is %v (%v), but pods that are alike fail: %w", a.Pod.Pod.Key(), a.Number, a.State, a.Err, r.fit)
}

// passOver has the next pods fail that would fail for sure, all at once, if nobody wants to
// know of each.
func (d *Driver) passOver(ctx context.Context, sched *scheduling.Scheduler, a *Attempt) {
	_, reports := d.config.Binder.(Reporter)
	switch {
	case (reports || d.observers.any) && d.observers.alike == nil || d.verify:
		return
	case a.State != Failed || len(d.refusals.by) == 0 || !d.refusals.stand(d.snap):
		return
	case d.mail.len() > 0 || len(d.retries) > 0: // they come before the next attempt
		return
	}
	a.Alike = d.queue.RequeueAlike(ctx, func(class queue.Class) (by queue.Rejectors, ok bool) {
		r, ok := d.refusals.by[class]
		return r.by, ok
	})
	sched.Repeat(a.Decision, a.Alike)
	if d.observers.alike != nil && a.Alike > 0 {
		d.tell("Alike", func() { d.observers.alike.Alike(a.Alike) })
	}
}

// Failures returns how often a pod in the queue was tried, and why it waits: "" unless it
// failed under an [AlikeObserver]. It reports whether the pod is in the queue. Like all
// methods but Apply it belongs to the scheduling goroutine.
func (d *Driver) Failures(pod *api.Pod) (attempts int, message string, ok bool) {
	p := d.pods[keyOf(pod)]
	if p == nil || p.item == nil {
		return 0, "", false
	}
	attempts, message = d.queue.Failures(p.item)
	return attempts, message, true
}
