package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// list is a source of some events, followed by an error.
type list struct {
	events []lifecycle.Event
	end    error // nil: wait for the context
}

func (l *list) Next(ctx context.Context) (lifecycle.Event, error) {
	if len(l.events) > 0 {
		e := l.events[0]
		l.events = l.events[1:]
		return e, nil
	}
	if l.end != nil {
		return lifecycle.Event{}, l.end
	}
	<-ctx.Done()
	return lifecycle.Event{}, ctx.Err()
}

var realClock = framework.ClockOf(time.Now, time.AfterFunc)

func TestRunStopsGracefully(t *testing.T) {
	events := func(labels ...string) []lifecycle.Event {
		return []lifecycle.Event{
			lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()),
			lifecycle.Update(api.MakePod("p").Labels(labels...).Obj()),
		}
	}
	for _, tt := range []struct {
		name  string
		hangs bool // the binder hangs until its context is done
		slow  time.Duration
		waits bool
		grace time.Duration
		bound bool
	}{
		{name: "a binding that ends in time", slow: 20 * time.Millisecond, grace: patience, bound: true},
		{name: "a binding that hangs", hangs: true, grace: 5 * time.Millisecond},
		{name: "a pod that waits", waits: true, grace: patience},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			binding := lifecycle.BinderFunc(func(bctx context.Context, _ *api.Pod, _ string) error {
				cancel() // while the binding is under way
				if tt.hangs {
					<-bctx.Done()
					return bctx.Err()
				}
				time.Sleep(tt.slow)
				return bctx.Err()
			})
			p := scheduling.Profile{}
			if tt.waits {
				p.Permit = []framework.Plugin{stopper{patient{"p"}, cancel}}
			}
			d, err := lifecycle.New(lifecycle.Config{
				Profiles: []scheduling.Profile{p}, Binder: binding, Clock: realClock, Bindings: 2, Grace: tt.grace,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Run(ctx, &list{events: events()}); !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
			want := queue.Length{Backoff: 1}
			if tt.bound {
				want = queue.Length{}
			}
			if got := d.QueueLength(); got != want {
				t.Errorf("QueueLength() = %+v, want %+v", got, want)
			}
			if pods := len(d.Snapshot().Node("n").Pods); (pods > 0) != tt.bound {
				t.Errorf("the node holds %d pods, want bound %t", pods, tt.bound)
			}
			onlyLeft(t, before)
		})
	}
}

// stopper makes a pod wait and stops the scheduler.
type stopper struct {
	patient
	stop func()
}

func (s stopper) Permit(ctx context.Context, c *framework.Cycle, node string) (framework.Status, time.Duration) {
	s.stop()
	return s.patient.Permit(ctx, c, node)
}

func TestRunEndsWithItsSource(t *testing.T) {
	lost := errors.New("connection lost")
	d, err := lifecycle.New(lifecycle.Config{Profiles: []scheduling.Profile{{}}, Binder: lifecycle.BinderFunc(nil), Clock: realClock})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Run(context.Background(), &list{end: lost}); err != lost {
		t.Errorf("Run: %v, want %v", err, lost)
	}
	// After the last event, Run continues until it is stopped, and it can run again.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := d.Run(ctx, &list{end: io.EOF}); err != context.DeadlineExceeded {
		t.Errorf("Run: %v, want %v", err, context.DeadlineExceeded)
	}
}

// TestBindingsAreBounded: no more bindings run at once than configured, and pods
// that wait on Permit do not count.
func TestBindingsAreBounded(t *testing.T) {
	const most, pods = 3, 40
	var running, peak, done atomic.Int32
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	binder := lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error {
		now := running.Add(1)
		for old := peak.Load(); now > old && !peak.CompareAndSwap(old, now); old = peak.Load() {
		}
		for peak.Load() < 2 && ctx.Err() == nil { // the first waits for another
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Millisecond)
		running.Add(-1)
		if done.Add(1) == pods {
			cancel()
		}
		return nil
	})
	h := lifecycle.NewHandle()
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{{Permit: []framework.Plugin{gang{h, 10}}}},
		Binder:   binder, Clock: realClock, Handle: h, Bindings: most,
	})
	if err != nil {
		t.Fatal(err)
	}
	src := &list{events: []lifecycle.Event{lifecycle.Update(api.MakeNode("n", "64", "64Gi").Obj())}}
	for i := range pods {
		src.events = append(src.events, lifecycle.Update(api.MakePod(fmt.Sprint("p", i)).Labels("gang", fmt.Sprint(i%4)).Obj()))
	}
	if err := d.Run(ctx, src); !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v; %d of %d pods were bound", err, done.Load(), pods)
	}
	if p := peak.Load(); p > most || p < 2 {
		t.Errorf("%d bindings ran at once, want 2 to %d", p, most)
	}
}
