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
)

// TestDelayBeforeTheEndOfTheBackoff: items that an event wakes are tried before their backoff ends, each from the
// time on that Delay has said, and NextFlush tells the first of these. Where no pod is tried early, the backoff
// alone counts. Items that wait are told apart if one of them was delayed.
func TestDelayBeforeTheEndOfTheBackoff(t *testing.T) {
	for _, full := range []bool{false, true} {
		r := newRig(t, queue.Config{FullBackoff: full, Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{
			plugin{"A", []queueing.EventHint{on(queueing.ResourceNode, queueing.ActionAdd, nil)}},
		}})})
		begin := r.now
		delays := []time.Duration{700, 300, 0, 500}
		for i, name := range []string{"late", "early", "none", "middle"} {
			it := r.AddAfter(r.ctx, r.info(api.MakePod(name)), 1, queue.Failures{Unschedulable: 5, Last: begin.Add(-time.Hour)})
			if r.Pop() != it {
				t.Fatal("another pod is first")
			}
			if delays[i] > 0 {
				r.Delay(it, begin.Add(delays[i]*time.Millisecond))
			}
			r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}, Class: unique.Make("c")})
			r.items[name] = it
		}
		r.happen(queueing.ResourceNode, queueing.ActionAdd)
		r.depth(queue.Length{Backoff: 4})
		if full {
			if it := r.Pop(); it != nil {
				t.Errorf("pod %s is tried early", it.Pod.Pod.Name)
			}
			if at, ok := r.NextFlush(); !ok || at.Before(begin.Add(9*time.Second)) {
				t.Errorf("NextFlush() = %v, %t, want the end of the backoffs", at, ok)
			}
			continue
		}
		for _, step := range []struct {
			at   time.Duration
			want string
		}{{0, "none"}, {0, ""}, {299, ""}, {300, "early"}, {499, ""}, {700, "late"}, {700, "middle"}, {700, ""}} {
			r.now = begin.Add(step.at * time.Millisecond)
			name := ""
			if step.want == "" && step.at < 700 {
				next := map[time.Duration]time.Duration{0: 300, 299: 300, 499: 500}[step.at]
				if at, ok := r.NextFlush(); !ok || !at.Equal(begin.Add(next*time.Millisecond)) {
					t.Errorf("after %d ms: NextFlush() = %v, %t, want after %d ms", step.at, at, ok, next)
				}
			}
			if it := r.Pop(); it != nil {
				name = it.Pod.Pod.Name
			}
			if name != step.want {
				t.Errorf("after %d ms pod %q is tried, want %q", step.at, name, step.want)
			}
		}
	}
}

// TestDelayOfPendingPods: a pod whose plugin only waits for an event is tried at once after it, but not before
// the time that Delay has said, unless no pod is tried early and its backoff ends later.
func TestDelayOfPendingPods(t *testing.T) {
	for _, test := range []struct {
		full  bool
		delay time.Duration
		wait  bool
	}{{false, 0, false}, {false, 100 * time.Millisecond, true}, {false, time.Hour, true}, {true, 100 * time.Millisecond, false}, {true, time.Hour, true}} {
		r := newRig(t, queue.Config{FullBackoff: test.full, Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{
			plugin{"A", []queueing.EventHint{on(queueing.ResourceNode, queueing.ActionAdd, nil)}},
		}})})
		it := r.Add(r.ctx, r.info(api.MakePod("p")))
		r.Pop()
		if test.delay > 0 {
			r.Delay(it, r.now.Add(test.delay))
		}
		r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}, Pending: []string{"A"}})
		r.happen(queueing.ResourceNode, queueing.ActionAdd)
		if got := r.Pop(); got == nil != test.wait {
			t.Errorf("%+v: %v is tried", test, got)
		}
		if test.wait {
			r.pass(test.delay + 2*time.Second)
			if r.Flush(r.ctx); r.Pop() != it {
				t.Errorf("%+v: it is not tried later", test)
			}
		}
	}
}

// TestDelayedAreFollowedByNone: of two pods that are alike, tried at an instant that stands, the first is delayed or deferred the
// last time. The other does not wait with it, and is tried although the first has gone.
func TestDelayedAreFollowedByNone(t *testing.T) {
	for name, later := range map[string]func(r *rig, it *queue.Item){
		"delayed":  func(r *rig, it *queue.Item) { r.Delay(it, r.now.Add(time.Minute)) },
		"deferred": func(r *rig, it *queue.Item) { r.Defer(it, r.now.Add(time.Minute)) },
	} {
		for _, gone := range []bool{false, true} {
			r := newRig(t, queue.Config{Backoff: queue.Backoff{Max: queue.NoBackoff}, Profiles: profiles(t, scheduling.Profile{
				Filter: []framework.Plugin{plugin{"A", []queueing.EventHint{on(queueing.ResourceNode, queueing.ActionAdd, nil)}}},
			})})
			by := queue.Rejectors{Plugins: []string{"A"}, Class: unique.Make("c")}
			added := queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: queueing.ActionAdd}
			p, q := r.add("p", 1), r.add("q", 0)
			pop := func() {
				for _, want := range []*queue.Item{p, q} {
					if got := r.Pop(); got != want {
						t.Fatalf("%s: Pop() = %v, want %v", name, got, want)
					}
				}
			}
			for range 2 {
				pop()
				r.Requeue(r.ctx, p, nil, by)
				r.Requeue(r.ctx, q, nil, queue.Rejectors{Plugins: []string{"A"}}) // apart
				r.Move(r.ctx, added, nil, nil, nil)
			}
			pop()
			later(r, p)
			r.Requeue(r.ctx, p, nil, by)
			r.Requeue(r.ctx, q, nil, by)
			r.Move(r.ctx, added, nil, nil, nil)
			if gone {
				r.Delete(p)
			}
			r.now = r.now.Add(2 * time.Second)
			r.Flush(r.ctx)
			got := r.Pop()
			if got == p {
				got = r.Pop()
			}
			if got != q {
				t.Errorf("%s, gone %t: after 2 s Pop() = %v, want q", name, gone, got)
			}
			r.Delete(q)
		}
	}
}
