package framework

import "time"

// A Clock returns the time and calls back. The library has no clock of its own: a
// program passes one in, the wall clock or a virtual one.
//
// Both methods may be called by any goroutine.
type Clock interface {
	// Now returns the time. It must not go backwards.
	Now() time.Time
	// AfterFunc calls f once when d has passed, in any goroutine. The returned
	// function cancels the call; it returns false if f was called, is about to be, or
	// was cancelled before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// ClockOf returns a clock made of two functions. Programs use it for the clock of the
// machine:
//
//	clock := framework.ClockOf(time.Now, time.AfterFunc)
func ClockOf(now func() time.Time, afterFunc func(time.Duration, func()) *time.Timer) Clock {
	return clockOf{now, afterFunc}
}

type clockOf struct {
	now       func() time.Time
	afterFunc func(time.Duration, func()) *time.Timer
}

func (c clockOf) Now() time.Time { return c.now() }

func (c clockOf) AfterFunc(d time.Duration, f func()) func() bool { return c.afterFunc(d, f).Stop }
