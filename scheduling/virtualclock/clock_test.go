package virtualclock_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/berth-sched/berth/scheduling/virtualclock"
	"github.com/google/go-cmp/cmp"
)

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// rig records when callbacks run.
type rig struct {
	*virtualclock.Clock
	log []string
}

func newRig() *rig { return &rig{Clock: virtualclock.New(epoch)} }

func (r *rig) after(d time.Duration, name string) func() bool {
	return r.AfterFunc(d, func() { r.note(name) })
}

func (r *rig) note(name string) {
	r.log = append(r.log, fmt.Sprint(name, " ", r.Now().Sub(epoch)))
}

func (r *rig) want(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.log); diff != "" {
		t.Errorf("callbacks (-want +got):\n%s", diff)
	}
}

func TestOrder(t *testing.T) {
	r := newRig()
	r.after(2*time.Second, "c")
	r.after(time.Second, "a")
	r.after(time.Second, "b") // the same time, requested later
	r.after(-time.Second, "now")
	r.want(t)
	r.Advance(time.Second)
	r.want(t, "now 0s", "a 1s", "b 1s")
	r.Advance(time.Minute)
	r.want(t, "now 0s", "a 1s", "b 1s", "c 2s")
	if got := r.Now().Sub(epoch); got != 61*time.Second {
		t.Errorf("Now() is %v after the start, want 1m1s", got)
	}
	r.AdvanceTo(epoch)
	if got := r.Now().Sub(epoch); got != 61*time.Second {
		t.Errorf("the clock went back to %v", got)
	}
}

func TestStop(t *testing.T) {
	r := newRig()
	stopA, stopB := r.after(time.Second, "a"), r.after(2*time.Second, "b")
	if !stopA() || stopA() {
		t.Error("stopping a timer must work once")
	}
	r.Advance(time.Hour)
	if stopB() {
		t.Error("a timer that has run was stopped")
	}
	r.want(t, "b 2s")
}

func TestStep(t *testing.T) {
	r := newRig()
	if _, ok := r.Next(); ok || r.Step() {
		t.Error("a clock without timers has a next one")
	}
	r.after(time.Hour, "a")
	if at, ok := r.Next(); !ok || !at.Equal(epoch.Add(time.Hour)) {
		t.Errorf("Next() = %v, %t", at, ok)
	}
	if !r.Step() || r.Step() {
		t.Error("Step must move to the only timer")
	}
	r.want(t, "a 1h0m0s")
}

func TestCallbacksSetTimers(t *testing.T) {
	r := newRig()
	var tick func()
	tick = func() {
		r.note("tick")
		r.AfterFunc(time.Second, tick)
	}
	r.AfterFunc(time.Second, tick)
	r.Advance(3 * time.Second)
	r.want(t, "tick 1s", "tick 2s", "tick 3s")
}

func TestManyGoroutines(t *testing.T) {
	c := virtualclock.New(epoch)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ran, stopped := 0, 0
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				stop := c.AfterFunc(time.Duration(i)*time.Millisecond, func() {
					mu.Lock()
					defer mu.Unlock()
					ran++
				})
				if g == 0 && stop() {
					mu.Lock()
					stopped++
					mu.Unlock()
				}
				c.Advance(time.Millisecond)
			}
		})
	}
	wg.Wait()
	c.Advance(time.Hour)
	mu.Lock()
	defer mu.Unlock()
	if ran+stopped != 800 {
		t.Errorf("%d callbacks ran and %d were stopped, want 800 together", ran, stopped)
	}
}

func BenchmarkTimer(b *testing.B) {
	c := virtualclock.New(epoch)
	for i := range 100_000 {
		c.AfterFunc(time.Duration(i)*time.Second, func() {})
	}
	b.ReportAllocs()
	for b.Loop() {
		c.AfterFunc(100_000*time.Second, func() {})
		c.Step()
	}
}

func ExampleClock() {
	clock := virtualclock.New(epoch)
	clock.AfterFunc(90*time.Minute, func() { fmt.Println("it is", clock.Now().Format(time.TimeOnly)) })
	stop := clock.AfterFunc(time.Hour, func() { fmt.Println("never") })
	stop()
	for clock.Step() {
	}
	// Output: it is 01:30:00
}
