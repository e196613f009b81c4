package lifecycle

import (
	"context"
	"errors"
	"time"
)

// A SteppingClock is a clock that is moved by its user, such as
// virtualclock.Clock.
type SteppingClock interface {
	// Next returns the time of the next timer; false when there is none.
	Next() (time.Time, bool)
	// Step moves to the next timer and calls its function.
	Step() bool
	// AdvanceTo moves to a time, calling what is due until then.
	AdvanceTo(to time.Time)
}

// Simulate schedules on a clock of the simulation's own, which must be the
// driver's: whenever no pod is ready the clock steps to its next timer, whose
// function may Apply events. It ends, with the clock at until, when all that
// happens before has happened, or when ctx is done. Everything runs in the
// calling goroutine, and Config.Bindings must be 0.
func (d *Driver) Simulate(ctx context.Context, clock SteppingClock, until time.Time) error {
	if d.config.Bindings > 0 {
		return errors.New("lifecycle: Simulate: Config.Bindings must be 0")
	}
	for ctx.Err() == nil {
		if _, ok := d.ScheduleOne(ctx); ok {
			continue
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
