package queue_test

import (
	"testing"
	"time"
	"unique"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

// TestAddAfter: what has failed before waits for the rest of its backoff and no longer, also
// if nothing else is ready. Its failures count on.
func TestAddAfter(t *testing.T) {
	full, none := queue.Config{FullBackoff: true}, queue.Config{Backoff: queue.Backoff{Max: queue.NoBackoff}}
	for _, tt := range []struct {
		name        string
		config      queue.Config
		pods        int
		before      queue.Failures
		ago         time.Duration // when the last of them failed
		ready, next time.Duration // how long it waits, and after another failure
	}{
		{"no failures", queue.Config{}, 1, queue.Failures{}, 0, 0, 2 * time.Second},
		{"no failures, but a time", queue.Config{}, 1, queue.Failures{}, time.Minute, 0, 2 * time.Second},
		{"one rejection", queue.Config{}, 1, queue.Failures{Unschedulable: 1}, 0, 2 * time.Second, 2 * time.Second},
		{"three rejections", queue.Config{}, 1, queue.Failures{Unschedulable: 3}, 0, 5 * time.Second, 2 * time.Second},
		{"one error", queue.Config{}, 1, queue.Failures{Errors: 1}, 0, 2 * time.Second, 3 * time.Second},
		{"errors count alone", queue.Config{}, 1, queue.Failures{Unschedulable: 4, Errors: 2}, 0, 3 * time.Second, 5 * time.Second},
		{"part of it is over", queue.Config{}, 1, queue.Failures{Errors: 4}, 3 * time.Second, 6 * time.Second, 11 * time.Second},
		{"its last second", queue.Config{}, 1, queue.Failures{Errors: 4}, 8 * time.Second, time.Second, 11 * time.Second},
		{"all of it is over", queue.Config{}, 1, queue.Failures{Errors: 4}, 9 * time.Second, 0, 11 * time.Second},
		{"the longest for one pod", queue.Config{}, 1, queue.Failures{Errors: 9}, 0, 11 * time.Second, 11 * time.Second},
		{"the longest for four pods", queue.Config{}, 4, queue.Failures{Errors: 9}, 0, 21 * time.Second, 21 * time.Second},
		{"no pods are one", queue.Config{}, 0, queue.Failures{Errors: 9}, 0, 11 * time.Second, 11 * time.Second},
		{"full backoff", full, 1, queue.Failures{Errors: 3}, 500 * time.Millisecond, 3500 * time.Millisecond, 8 * time.Second},
		{"no backoff, rejections", none, 1, queue.Failures{Unschedulable: 3}, 0, 0, 2 * time.Second},
		{"no backoff, errors", none, 1, queue.Failures{Errors: 3}, 0, 2 * time.Second, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.config)
			r.now = r.now.Add(time.Hour)
			before := tt.before
			before.Last = r.now.Add(-tt.ago)
			it := r.AddAfter(r.ctx, r.info(api.MakePod("p")), tt.pods, before)
			since := r.now
			if tt.before != (queue.Failures{}) {
				since = before.Last
			}
			if it.Unschedulable != before.Unschedulable || it.Errors != before.Errors || !it.Timestamp.Equal(since) || it.Attempts != 0 {
				t.Errorf("the item is %+v, want %+v since %v", it, before, since)
			}
			r.waits(it, tt.ready)
			r.Requeue(r.ctx, it, nil, queue.Rejectors{})
			r.waits(it, tt.next)
		})
	}
}

// waits fails unless the item, which is alone, is ready after that time and not before. It
// is in flight then.
func (r *rig) waits(it *queue.Item, d time.Duration) {
	r.tb.Helper()
	if d > 0 {
		r.depth(queue.Length{Backoff: 1})
		if at, ok := r.NextFlush(); !ok || at.Sub(r.now) != d {
			r.tb.Errorf("NextFlush() is in %v (%t), want %v", at.Sub(r.now), ok, d)
		}
		r.pass(d - 1)
		if got := r.pop(); got != "" {
			r.tb.Fatalf("Pop() = %q 1 ns before %v are over, want none", got, d)
		}
		r.pass(1)
	}
	r.depth(queue.Length{Active: 1})
	if got := r.Pop(); got != it {
		r.tb.Fatalf("Pop() = %v after %v, want the item", got, d)
	}
}

// TestAddAfterKeepsItsTurn: what has served its backoff goes before pods that came since
// its last failure.
func TestAddAfterKeepsItsTurn(t *testing.T) {
	r := newRig(t, queue.Config{})
	r.now = r.now.Add(time.Hour)
	r.add("first", 0)
	r.now = r.now.Add(time.Minute)
	r.add("second", 0)
	r.now = r.now.Add(time.Minute)
	r.AddAfter(r.ctx, r.info(api.MakePod("back")), 1, queue.Failures{Errors: 1, Last: r.now.Add(-90 * time.Second)})
	r.AddAfter(r.ctx, r.info(api.MakePod("new")), 1, queue.Failures{Last: r.now.Add(-time.Hour)})
	if diff := cmp.Diff([]string{"first", "back", "second", "new"}, r.popAll()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestAddAfterGate: a PreEnqueue plugin keeps out what has failed before, as it does every
// pod, and what is left of the backoff follows.
func TestAddAfterGate(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{PreEnqueue: []framework.Plugin{
		gate{name: "G", events: []queueing.EventHint{on(queueing.ResourceTargetPod, queueing.ActionUpdatePodLabel, nil)}},
	}})})
	for name, before := range map[string]queue.Failures{"new": {}, "backs off": {Errors: 4, Last: r.now}, "over": {Errors: 4, Last: r.now.Add(-time.Hour)}} {
		it := r.AddAfter(r.ctx, r.info(api.MakePod("p").Labels("G", "")), 1, before)
		if r.depth(queue.Length{Gated: 1}); it.Gate != "G" {
			t.Errorf("%s: gate %q, want G", name, it.Gate)
		}
		want := queue.Length{Active: 1}
		if name == "backs off" {
			want = queue.Length{Backoff: 1}
		}
		r.Update(r.ctx, it, r.info(api.MakePod("p")))
		r.depth(want)
		r.Delete(it)
	}
}

// TestGroupIsAlone: pods that failed alike part when some of them stand for groups, whose
// backoffs are longer.
func TestGroupIsAlone(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{
		plugin{"A", []queueing.EventHint{on(queueing.ResourceNode, queueing.ActionAdd, nil)}},
	}})})
	alike := queue.Rejectors{Plugins: []string{"A"}, Class: unique.Make("c")}
	r.now = r.now.Add(time.Hour)
	for name, pods := range map[string]int{"p": 1, "q": 1, "group": 1, "four": 4} {
		r.items[name] = r.AddAfter(r.ctx, r.info(api.MakePod(name)), pods, queue.Failures{Unschedulable: 6, Last: r.now.Add(-time.Hour)})
	}
	for it := r.Pop(); it != nil; it = r.Pop() {
		r.Requeue(r.ctx, it, nil, alike)
	}
	r.Resize(r.items["group"], 9) // 30 s
	r.happen(queueing.ResourceNode, queueing.ActionAdd)
	r.depth(queue.Length{Backoff: 4})
	for _, step := range []struct {
		after  time.Duration
		active int
	}{{10 * time.Second, 0}, {time.Second, 2}, {9 * time.Second, 2}, {time.Second, 3}, {9 * time.Second, 3}, {time.Second, 4}} {
		r.pass(step.after)
		r.depth(queue.Length{Active: step.active, Backoff: 4 - step.active})
	}
}
