package queue

import (
	"context"
	"time"
)

// Flush makes ready the pods that wait only for time: pods whose backoff has ended
// and, every 30 seconds, pods that have waited for an event longer than
// MaxUnschedulable. Call it at [Queue.NextFlush] or as often as you like.
//
// Source: kube-scheduler 1.37, flushBackoffQCompleted and
// flushUnschedulablePodsLeftover.
func (q *Queue) Flush(ctx context.Context) {
	q.release()
	for _, h := range []*sorted{&q.backingOff, &q.failing} {
		for it := h.top(); it != nil && !q.isBackingOff(it); it = h.top() {
			q.toActive(ctx, it, q.options.FullBackoff)
		}
	}
	now := q.options.Now().Sub(q.start)
	tick := now.Truncate(sweepInterval) // so the result does not depend on how often Flush is called
	if tick <= q.swept {
		return
	}
	q.swept = tick
	for it := q.waiting.top(); it != nil && tick-q.waitingSince(it) > q.options.MaxUnschedulable; it = q.waiting.top() {
		it.flushed, it.Flushed = now, true
		tell(it.rest, happened{flushed: true})
		if !q.wake(ctx, it, newEvent(wildcard, nil, nil)) || it.at == unschedulable {
			q.groups.serial++
			it.waits = q.groups.serial
			q.waiting.fix(it)
			q.part(it)
			q.join(it)
		}
	}
}

// NextFlush returns when Flush will next have something to do; false if no pod waits
// for a time.
func (q *Queue) NextFlush() (at time.Time, ok bool) {
	sooner := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if it := q.delayed.top(); it != nil {
		sooner(it.NotBefore)
	}
	if q.standing.first != nil {
		sooner(q.start.Add(q.standUntil + window))
	}
	for _, h := range []*sorted{&q.backingOff, &q.failing} {
		if it := h.top(); it != nil {
			if q.options.FullBackoff {
				sooner(q.expiration(it))
			} else {
				sooner(q.expiration(it).Add(window))
			}
		}
	}
	if it := q.waiting.top(); it != nil {
		tick := (q.waitingSince(it) + q.options.MaxUnschedulable).Truncate(sweepInterval) + sweepInterval
		sooner(q.start.Add(max(tick, q.swept+sweepInterval)))
	}
	return at, ok
}
