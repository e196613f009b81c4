package queue_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// TestHold: whatever happens, a held pod is not tried again until time passes, and
// then as early as any other.
func TestHold(t *testing.T) {
	waker := profiles(t, scheduling.Profile{Filter: []framework.Plugin{
		plugin{"A", []queueing.EventHint{on(queueing.ResourceNode, queueing.ActionAdd, nil)}},
	}})
	for _, tt := range []struct {
		name    string
		options queue.Config
		pending []string      // the plugins that are pending, instead of rejecting
		until   time.Duration // when the pod is ready again
	}{
		{"backoff", queue.Config{}, nil, 1},
		{"none", queue.Config{Backoff: queue.Backoff{Max: queue.NoBackoff}}, nil, 1},
		{"pending", queue.Config{}, []string{"A"}, 1},
		{"full", queue.Config{FullBackoff: true}, nil, time.Second},
		{"full, none", queue.Config{FullBackoff: true, Backoff: queue.Backoff{Max: queue.NoBackoff}}, nil, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.Profiles = waker
			r := newRig(t, tt.options)
			it := r.add("p", 0)
			if r.Pop() != it {
				t.Fatal("Pop() is not the only pod")
			}
			r.Hold(it)
			plugins := []string{"A"}
			if tt.pending != nil {
				plugins = nil
			}
			r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: plugins, Pending: tt.pending})
			r.depth(queue.Length{Unschedulable: 1})
			r.happen(queueing.ResourceNode, queueing.ActionAdd)
			r.depth(queue.Length{Backoff: 1})
			if got := r.pop(); got != "" {
				t.Fatalf("Pop() = %q at the instant of the rejection, want none", got)
			}
			if at, ok := r.NextFlush(); !ok || at.After(epoch.Add(2*time.Second)) || !at.After(epoch) {
				t.Errorf("NextFlush() = %v, %t, want within 2 s", at, ok)
			}
			if items := r.Items(); len(items) != 1 || items[0] != it {
				t.Errorf("Items() = %v, want the pod", items)
			}
			r.pass(tt.until - 1)
			if got := r.pop(); got != "" {
				t.Fatalf("Pop() = %q after %v, want none", got, tt.until-1)
			}
			r.pass(1)
			if got := r.pop(); got != "p" {
				t.Fatalf("Pop() = %q after %v, want p", got, tt.until)
			}
			// The next attempt is not held.
			r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
			r.happen(queueing.ResourceNode, queueing.ActionAdd)
			if got := r.pop(); (got == "p") != (!tt.options.FullBackoff || tt.options.Backoff.Max == queue.NoBackoff) {
				t.Errorf("Pop() = %q for a pod that is no longer held", got)
			}
		})
	}
}

// TestHeldPodsLeave: a held pod that waits for time to pass can be deleted and
// activated.
func TestHeldPodsLeave(t *testing.T) {
	r := newRig(t, queue.Config{})
	stand := func(name string) *queue.Item {
		it := r.add(name, 0)
		if r.Pop() != it {
			t.Fatalf("Pop() is not %s", name)
		}
		r.Hold(it)
		r.Done(it)
		r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
		return it
	}
	gone, asked, stays := stand("gone"), stand("asked"), stand("stays")
	r.depth(queue.Length{Backoff: 3})
	r.Delete(gone)
	r.Update(r.ctx, stays, r.info(api.MakePod("stays").Priority(1)))
	r.Activate(r.ctx, asked)
	r.depth(queue.Length{Active: 1, Backoff: 1})
	if got := r.pop() + r.pop(); got != "asked" {
		t.Errorf("ready at that instant: %q, want asked", got)
	}
	r.pass(1)
	if got := r.pop() + r.pop(); got != "stays" {
		t.Errorf("ready afterwards: %q, want stays", got)
	}
}
