package lifecycle_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// running starts a driver with goroutines for bindings and without a source. The returned
// function stops it and fails the test unless it stops well.
func running(t *testing.T, b lifecycle.Binder, p scheduling.Profile, bindings int, o lifecycle.Observer) *lifecycle.Driver {
	t.Helper()
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Binder: b, Clock: realClock, Bindings: bindings, Observer: o,
		Backoff: queue.Backoff{Max: queue.NoBackoff}, ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx, nil) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(patience):
			t.Error("Run does not end")
		}
	})
	return d
}

// patience is how long a test waits for what must happen: far longer than it takes on a
// slow machine that has much else to do.
const patience = 3 * time.Minute

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal("did not happen: " + what)
}

// onlyLeft fails unless at most so many goroutines are left in the end.
func onlyLeft(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("%d goroutines are left, there were %d at the start", runtime.NumGoroutine(), before)
			return
		}
	}
}

// TestRunWithoutSource: events that are pushed are enough, and Do and forks see what they
// lead to.
func TestRunWithoutSource(t *testing.T) {
	d := running(t, lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }), scheduling.Profile{}, 2, nil)
	ctx := context.Background()
	d.Apply(lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()), lifecycle.Update(api.MakePod("p").Obj()))
	var fork *framework.Snapshot
	eventually(t, "the pod counts on its node", func() bool {
		pods := 0
		if err := d.Do(ctx, func(s *framework.Snapshot) {
			if n := s.Node("n"); n != nil {
				pods = len(n.Pods)
			}
			fork = s.Fork()
		}); err != nil {
			t.Fatal(err)
		}
		return pods == 1
	})
	d.Apply(lifecycle.Delete(api.MakeNode("n", "4", "8Gi").Obj()))
	if err := d.Do(ctx, func(s *framework.Snapshot) {
		if s.Node("n") != nil {
			t.Error("Do comes before an event that was applied before")
		}
	}); err != nil {
		t.Fatal(err)
	}
	if fork.Node("n") == nil {
		t.Error("the fork has changed")
	}
	if err := d.Do(ctx, func(*framework.Snapshot) { panic("oh") }); err == nil || err.Error() != "Do: panic: oh" {
		t.Errorf("Do of a function that panics: %v", err)
	}
	if err := d.Do(ctx, func(*framework.Snapshot) {}); err != nil {
		t.Errorf("Do after a panic: %v", err)
	}
}

// TestDoWithoutRun: if nobody runs the driver, Do ends with its context, and does nothing
// later.
func TestDoWithoutRun(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(late)
	if err := w.d.Do(ctx, func(*framework.Snapshot) { t.Error("called after Do has returned") }); err != late {
		t.Errorf("Do: %v, want %v", err, late)
	}
	w.d.Flush(w.ctx)
}
