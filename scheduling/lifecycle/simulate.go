package lifecycle

import (
	"context"
	"errors"
	"time"
)

// A SteppingClock is a clock that its user moves, such as virtualclock.Clock.
type SteppingClock interface {
	// Next returns the time of the next timer; false if there is none.
	Next() (time.Time, bool)
	// Step moves to the next timer and calls its function.
	Step() bool
	// AdvanceTo moves to a time and calls the timers due until then.
	AdvanceTo(to time.Time)
}

// Simulate schedules on a simulation's clock, which must be the driver's clock.
// Whenever no pod is ready, the clock steps to its next timer, whose function may
// Apply events. Simulate ends, with the clock at until, when everything before that
// time has happened; it also ends when ctx is done, or with [framework.ErrBroken].
// Everything runs in the calling goroutine, and Config.Bindings must be 0.
func (d *Driver) Simulate(ctx context.Context, clock SteppingClock, until time.Time) error {
	if d.config.Bindings > 0 {
		return errors.New("lifecycle: Simulate: Config.Bindings must be 0")
	}
	for ctx.Err() == nil {
		_, ok := d.ScheduleOne(ctx)
		if err := d.snap.Broken(); err != nil {
			return err
		}
		if ok {
			continue
		}
		if ctx.Err() != nil {
			break // a pod may be ready
		}
		if at, ok := clock.Next(); !ok || at.After(until) {
			clock.AdvanceTo(until)
			d.Flush(ctx)
			return nil
		}
		clock.Step()
	}
	return context.Cause(ctx)
}
