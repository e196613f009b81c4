package lifecycle

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Run schedules what the source tells of until ctx is done or the source
// fails, and returns ctx's error or the source's. It stops gracefully: no
// further pod is tried, pods that wait on Permit go back to the queue, and
// bindings under way come to their end, for Config.Grace in peace and then with
// a cancelled context. When it returns, no goroutine of its own is left.
//
// Run may be called again, with a source that goes on where the last one ended.
func (d *Driver) Run(ctx context.Context, source Source) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	bindings, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	d.binding = bindings
	defer func() { d.binding = nil }()

	var pump sync.WaitGroup
	pump.Go(func() {
		for {
			e, err := source.Next(ctx)
			switch {
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
		if _, ok := d.ScheduleOne(ctx); ok {
			continue
		}
		select {
		case <-ctx.Done():
		case <-d.mail.ring:
		}
	}
	d.drain(bindings, cancel)
	pump.Wait()
	d.Settle(bindings)
	d.alarm.stop()
	return context.Cause(ctx)
}

// drain waits for the end of what is under way.
func (d *Driver) drain(ctx context.Context, cancel func()) {
	for _, w := range d.waiting.all() {
		w.Reject("", "the scheduler stops")
	}
	stop := d.clock.AfterFunc(d.config.Grace, cancel)
	defer stop()
	for d.Settle(ctx); d.open > 0; d.Settle(ctx) {
		<-d.mail.ring
	}
}

// bindingContext is the context of bindings: within Run they outlive the
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

// arm sets the alarm for the next thing that only time brings.
func (d *Driver) arm() {
	at, ok := d.queue.NextFlush()
	if len(d.expiring) > 0 {
		if p := d.expiring[0]; !ok || p.expires.Before(at) {
			at, ok = p.expires, true
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
