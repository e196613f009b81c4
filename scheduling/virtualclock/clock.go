package virtualclock

import (
	"sync"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/heap"
)

// A Clock is a [framework.Clock] whose time passes only in calls of Step,
// Advance and AdvanceTo.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	serial uint64
	timers heap.Heap[*timer]
}

var _ framework.Clock = (*Clock)(nil)

// New returns a clock at the given time.
func New(start time.Time) *Clock { return &Clock{now: start, timers: heap.New(earlier, placed)} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc calls f when the clock has moved on by d. It never calls f before the
// clock moves, even if d is not positive. It costs O(log n) for n timers.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	t := &timer{at: c.now.Add(max(d, 0)), serial: c.serial, f: f}
	c.timers.Push(t)
	return func() bool { return c.stop(t) }
}

func (c *Clock) stop(t *timer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.index < 0 {
		return false
	}
	c.timers.Remove(t.index)
	return true
}

// Next returns the time of the next timer; false if there is none.
func (c *Clock) Next() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timers.Len() == 0 {
		return time.Time{}, false
	}
	return (*c.timers.Top()).at, true
}

// Step moves the clock to the next timer and calls its function. If there is no
// timer, it returns false and changes nothing.
func (c *Clock) Step() bool {
	c.mu.Lock()
	if c.timers.Len() == 0 {
		c.mu.Unlock()
		return false
	}
	t := c.pop()
	c.mu.Unlock()
	t.f()
	return true
}

// Advance moves the clock on by d and calls the functions of all timers until then,
// each at its time, including timers set meanwhile.
func (c *Clock) Advance(d time.Duration) { c.AdvanceTo(c.Now().Add(d)) }

// AdvanceTo is Advance to a given time. For a past time it calls the functions that
// are due and does not move the clock.
func (c *Clock) AdvanceTo(to time.Time) {
	for {
		c.mu.Lock()
		if c.timers.Len() == 0 || (*c.timers.Top()).at.After(to) {
			if to.After(c.now) {
				c.now = to
			}
			c.mu.Unlock()
			return
		}
		t := c.pop()
		c.mu.Unlock()
		t.f()
	}
}

// pop takes the next timer and moves the clock to its time.
func (c *Clock) pop() *timer {
	t := c.timers.Remove(0)
	if t.at.After(c.now) {
		c.now = t.at
	}
	return t
}

type timer struct {
	at     time.Time
	serial uint64
	f      func()
	index  int // in the heap, -1 once it has been removed
}

// earlier orders timers by time, then by serial number.
func earlier(a, b **timer) bool {
	if c := (*a).at.Compare((*b).at); c != 0 {
		return c < 0
	}
	return (*a).serial < (*b).serial
}

func placed(t **timer, place int) { (*t).index = place }
