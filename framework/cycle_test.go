package framework_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
)

func TestCycle(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := snapshotOf(t, framework.ZoneInterleaved, "n1")
	s.SetNow(noon)
	a, b := podInfo(t, s, plainPod("a")), podInfo(t, s, plainPod("b"))
	key := framework.NewKey[int]("count")

	var c framework.Cycle
	if !c.Now().IsZero() {
		t.Errorf("Now() of a cycle without a snapshot = %v, want the zero time", c.Now())
	}
	c.Reset(a, s, 7, 0xfeed)
	if c.Pod != a || c.Snapshot != s || c.Number != 7 || c.Seed != 0xfeed || !c.Now().Equal(noon) {
		t.Errorf("after Reset: %v, %v, %d, %x, %v", c.Pod, c.Snapshot, c.Number, c.Seed, c.Now())
	}
	key.Set(&c, 5)

	d := c.Detach()
	if d.Pod != a || d.Snapshot != nil || d.Number != 7 || d.Seed != 0xfeed || !d.Now().IsZero() {
		t.Errorf("after Detach: %v, %v, %d, %x, %v", d.Pod, d.Snapshot, d.Number, d.Seed, d.Now())
	}
	c.Reset(b, s, 8, 0xbeef)
	if v, ok := key.Get(&c); ok {
		t.Errorf("the value %d outlived its cycle", v)
	}
	if v, ok := key.Get(d); !ok || v != 5 {
		t.Errorf("value of the detached cycle = %d, %t, want 5, true", v, ok)
	}
	key.Set(d, 6)
	if _, ok := key.Get(&c); ok {
		t.Error("a value set while binding shows in the next cycle")
	}
}

// A cycle without values detaches into one that can hold some.
func TestDetachEmpty(t *testing.T) {
	var c framework.Cycle
	d := c.Detach()
	key := framework.NewKey[string]("")
	key.Set(d, "x")
	if v, _ := key.Get(d); v != "x" {
		t.Errorf("Get = %q, want x", v)
	}
}

func TestScratch(t *testing.T) {
	type state struct{ rows []int }
	var c framework.Cycle
	c.Runner().At = 2
	first := framework.Scratch[state](&c)
	first.rows = append(first.rows, 1, 2, 3)
	c.Runner().At = 0
	if other := framework.Scratch[state](&c); other == first || other.rows != nil {
		t.Error("two plugins got the same memory")
	}
	c.Reset(nil, nil, 1, 1)
	c.Runner().At = 2
	if again := framework.Scratch[state](&c); again != first || cap(again.rows) < 3 {
		t.Error("the memory was not handed out again in the next cycle")
	}
	if n := framework.Scratch[int](&c); *n != 0 {
		t.Errorf("memory of another type = %d, want 0", *n)
	}
	if d := c.Detach(); framework.Scratch[state](d) == first {
		t.Error("a detached cycle shares memory with the next one")
	}
}

func TestScratchAllocations(t *testing.T) {
	type state struct{ rows [8]int }
	var c framework.Cycle
	got := testing.AllocsPerRun(100, func() {
		c.Reset(nil, nil, 0, 0)
		for slot := range 4 {
			c.Runner().At = slot
			framework.Scratch[state](&c).rows[0]++
		}
	})
	if got != 0 {
		t.Errorf("a cycle with Scratch allocates %v times, want 0", got)
	}
}
