package framework_test

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
)

// A clock is made of two functions; here, one that stands still.
func ExampleClock() {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := framework.ClockOf(func() time.Time { return at }, func(time.Duration, func()) *time.Timer { return time.NewTimer(time.Hour) })
	stop := clock.AfterFunc(time.Minute, func() {})
	fmt.Println(clock.Now(), stop())
	// Output: 2026-01-02 03:04:05 +0000 UTC true
}
