//go:build full

package queue

import (
	"context"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
)

// TestEventsGiveBackMemory: a pod was in flight while very many events happened.
func TestEventsGiveBackMemory(t *testing.T) {
	const flood = 100_000
	ctx, s := context.Background(), framework.NewSnapshot(framework.Arrival)
	q, err := New(Config{Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	pop := func(name string) *Item {
		p, err := s.NewPodInfo(api.MakePod(name).Obj())
		if err != nil {
			t.Fatal(err)
		}
		q.Add(ctx, p)
		return q.Pop()
	}
	rain := func() {
		for range flood {
			q.Move(ctx, wildcard, nil, nil, nil)
		}
	}
	room := func(when string, events int) {
		t.Helper()
		if got := len(q.events.events); got != events {
			t.Errorf("%s: %d events are kept, want %d", when, got, events)
		}
		if got := cap(q.events.events); got > max(roomKept, 8*events) {
			t.Errorf("%s: there is room for %d events, and %d are kept", when, got, events)
		}
	}
	first := pop("first")
	rain()
	second := pop("second")
	q.Move(ctx, queueing.ClusterEvent{Resource: queueing.ResourceAny, Action: queueing.ActionAll}, nil, nil, nil)
	q.Done(first)
	room("while the second pod is in flight", 1)
	rain()
	q.Done(second)
	room("when none is", 0)
}

// TestScratchKeepsNoPods: what an event woke, or did not, is not kept beside the queue.
func TestScratchKeepsNoPods(t *testing.T) {
	ctx, s := context.Background(), framework.NewSnapshot(framework.Arrival)
	q, err := New(Config{Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		p, err := s.NewPodInfo(api.MakePod(name).Scheduler("other").Obj())
		if err != nil {
			t.Fatal(err)
		}
		q.Add(ctx, p)
		q.Requeue(ctx, q.Pop(), nil, Rejectors{Plugins: []string{"x"}})
	}
	if q.Len().Unschedulable != 3 {
		t.Fatalf("%+v, want 3 unschedulable", q.Len())
	}
	q.Move(ctx, wildcard, nil, nil, nil)
	if cap(q.groups.woken.List) < 3 {
		t.Fatalf("there is room for %d items, want 3", cap(q.groups.woken.List))
	}
	for _, it := range q.groups.woken.List[:cap(q.groups.woken.List)] {
		if it != nil {
			t.Errorf("pod %s is kept", it.Pod.Pod.Key())
		}
	}
}
