package lifecycle

import (
	"context"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/errtext"
)

// Do calls look with the driver's snapshot, between two attempts, and waits until it has
// returned. Any goroutine but the scheduling goroutine may call it, for debug pages and
// what-ifs. look must only read the snapshot, and not keep it; it may fork it and keep
// the fork, which costs some microseconds, or 0.2 ms with 4,000 pods of unlike affinity
// terms:
//
//	var fork *framework.Snapshot
//	err := d.Do(ctx, func(s *framework.Snapshot) { fork = s.Fork() })
//
// The snapshot has the time of the clock; a fork that is kept needs [framework.Snapshot.SetNow].
// No pod is scheduled while look runs. The error is the cause of ctx if ctx is done
// first; then look is not called any more. That also happens if the driver does not
// run. A panic of look is an error.
func (d *Driver) Do(ctx context.Context, look func(*framework.Snapshot)) error {
	var claimed atomic.Bool
	done := make(chan error, 1)
	d.mail.post(func(context.Context) {
		if claimed.CompareAndSwap(false, true) {
			done <- protected("Do", func() { look(d.snap) })
		}
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if claimed.CompareAndSwap(false, true) {
		return context.Cause(ctx)
	}
	return <-done
}

// protected calls f and returns its panic as an error.
func protected(what string, f func()) error {
	return errtext.Guard(what, func() error {
		f()
		return nil
	})
}
