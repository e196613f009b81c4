// Package virtualclock is a clock that moves only when told to: a day of a simulated
// cluster passes in the time that its decisions take.
//
//	clock := virtualclock.New(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
//	clock.AfterFunc(time.Hour, func() { fmt.Println("an hour later") })
//	for clock.Step() {
//	}
//
// # What it leaves to you
//
// You decide when to move the clock: [Clock.Step] goes to the time of the next
// timer. lifecycle.Driver.Simulate does it whenever there is nothing else to do.
//
// # Determinism and concurrency
//
// Callbacks run one after the other in the goroutine that moves the clock, in the
// order of their times; callbacks of one time run in the order of their requests.
// Any goroutine may call any method, and so may callbacks. If you need the same
// order in every run, use one goroutine.
package virtualclock
