// Package virtualclock is a clock that stands still until it is told to move
// on: a day of a simulated cluster passes in the time that its decisions take.
//
//	clock := virtualclock.New(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
//	clock.AfterFunc(time.Hour, func() { fmt.Println("an hour later") })
//	for clock.Step() {
//	}
//
// # What it leaves to you
//
// When to move on: [Clock.Step] goes to the next time that something waits for.
// lifecycle.Driver.Simulate does it whenever there is nothing else to do.
//
// # Determinism and concurrency
//
// Callbacks run one after the other in the goroutine that moves the clock, in
// the order of their times, and those of one time in the order in which they
// were asked for. All methods may be called by any goroutine, callbacks
// included; who wants the same order on every run uses one.
package virtualclock
