package lifecycle

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/berth-sched/berth/internal/errtext"
)

// Run schedules by the events of the source until ctx is done or the source fails,
// and returns ctx's error or the source's. It stops gracefully: it tries no further
// pod, returns pods that wait on Permit to the queue, and lets bindings and
// evictions under way finish, including those that run in the scheduling goroutine.
// After Config.Grace it cancels their contexts. When Run returns, none of its
// goroutines is left. If the snapshot breaks, Run stops in the same way and returns
// [framework.ErrBroken]: make a new driver, and give it all objects again.
//
// Run uses the time of Config.Clock. It does not move a virtual clock: another
// goroutine must do so while Run runs, or no backoff and no Grace ever ends. For
// simulations use [Driver.Simulate].
//
// The source may be nil; then events come by [Driver.Apply] alone. Run may be called
// again, with a source that continues where the last one ended.
func (d *Driver) Run(ctx context.Context, source Source) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	bindings, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	d.binding = bindings
	defer func() { d.binding = nil }()
	defer d.limit(ctx, cancel)()

	var pump sync.WaitGroup
	pump.Go(func() {
		for source != nil {
			e, err := source.Next(ctx)
			switch err = errtext.Safe(err); {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				stop(err)
				return
			}
			d.Apply(e)
		}
	})
	for ctx.Err() == nil {
		_, ok := d.ScheduleOne(ctx)
		if err := d.snap.Broken(); err != nil {
			stop(err)
			break
		}
		if ok {
			continue
		}
		select {
		case <-ctx.Done():
		case <-d.mail.ring:
		}
	}
	d.drain(bindings)
	pump.Wait()
	d.Flush(bindings)
	d.reports.closed = false
	d.alarm.stop()
	return context.Cause(ctx)
}

// limit cancels the bindings Config.Grace after ctx is done, wherever the scheduling
// goroutine is then: it may itself hang in a binding. The returned function stops
// the timer; it must be called when ctx is done.
func (d *Driver) limit(ctx context.Context, cancel func()) (release func()) {
	timer := make(chan func() bool, 1)
	stop := context.AfterFunc(ctx, func() { timer <- d.clock.AfterFunc(d.config.Grace, cancel) })
	return func() {
		if !stop() {
			(<-timer)()
		}
	}
}

// drain waits until all bindings, evictions and reports under way have ended.
func (d *Driver) drain(ctx context.Context) {
	for _, w := range d.waiting.all() {
		w.Reject("", "the scheduler stops")
	}
	d.closeReports()
	for d.Flush(ctx); d.open > 0 || d.reports.running > 0; d.Flush(ctx) {
		<-d.mail.ring
	}
}

// bindingContext returns the context of bindings. Within Run, bindings outlive the
// scheduling of pods.
func (d *Driver) bindingContext(ctx context.Context) context.Context {
	if d.binding != nil {
		return d.binding
	}
	return ctx
}

// alarm is the timer that wakes the loop when time makes a pod ready.
type alarm struct {
	at     time.Time
	cancel func() bool
}

func (a *alarm) stop() {
	if a.cancel != nil {
		a.cancel()
	}
	*a = alarm{}
}

// arm sets the alarm for the next thing that happens by time alone.
func (d *Driver) arm() {
	at, ok := d.queue.NextFlush()
	if len(d.expiring) > 0 {
		if e := d.expiring[0]; !ok || e.at.Before(at) {
			at, ok = e.at, true
		}
	}
	if ok && at.Equal(d.alarm.at) && d.alarm.cancel != nil {
		return
	}
	d.alarm.stop()
	if !ok {
		return
	}
	d.alarm.at = at
	d.alarm.cancel = d.clock.AfterFunc(max(0, at.Sub(d.clock.Now())), func() {
		d.mail.post(func(context.Context) {
			if d.alarm.at.Equal(at) {
				d.alarm = alarm{}
			}
		})
	})
}
