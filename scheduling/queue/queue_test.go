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

func TestOptionsAreChecked(t *testing.T) {
	now := func() time.Time { return epoch }
	for _, tt := range []struct {
		options queue.Config
		want    string
	}{
		{queue.Config{}, "queue: Config.Now is nil"},
		{queue.Config{Now: now, MaxUnschedulable: -1}, "queue: Config.MaxUnschedulable: -1ns: must not be negative"},
		{
			queue.Config{Now: now, Backoff: queue.Backoff{Max: -8446744073709551616}},
			"queue: Config.Backoff.Max: -2346317h47m53.709551616s: must not be negative; NoBackoff means that there is none",
		},
		{queue.Config{Now: now, Backoff: queue.Backoff{Initial: -1}}, "queue: Config.Backoff.Initial: -1ns: must not be negative"},
		{
			queue.Config{Now: now, Backoff: queue.Backoff{Initial: 2 * time.Second, Max: time.Second}},
			"queue: Config.Backoff.Max: 1s: must be greater than or equal to Initial, 2s",
		},
	} {
		if _, err := queue.New(tt.options); err == nil || err.Error() != tt.want {
			t.Errorf("New: %v, want %s", err, tt.want)
		}
	}
}

func TestOrder(t *testing.T) {
	r := newRig(t, queue.Config{})
	r.add("first", 0)
	r.add("second", 0) // at the same time
	r.now = r.now.Add(time.Second)
	r.add("later", 0)
	r.add("important", 7)
	r.add("negative", -1)
	want := []string{"important", "first", "second", "later", "negative"}
	if diff := cmp.Diff(want, r.popAll()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	r.depth(queue.Length{})
}

// byName sorts by name, longer names first.
type byName struct{}

func (byName) Name() string { return "ByName" }
func (byName) Less(a, b *queueing.QueuedPod) bool {
	return len(a.Pod.Pod.Name) > len(b.Pod.Pod.Name)
}

func TestOwnOrder(t *testing.T) {
	r := newRig(t, queue.Config{Sort: byName{}})
	for _, name := range []string{"bb", "a", "ccc", "dd", "eee"} {
		r.add(name, int32(len(r.items)))
	}
	if diff := cmp.Diff([]string{"ccc", "eee", "bb", "dd", "a"}, r.popAll()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestItemCounts(t *testing.T) {
	r := newRig(t, queue.Config{})
	it := r.add("p", 0)
	if !it.Timestamp.Equal(epoch) || !it.InitialAttempt.Equal(epoch) || it.Attempts != 0 {
		t.Errorf("after Add: %v, %v, %d attempts", it.Timestamp, it.InitialAttempt, it.Attempts)
	}
	r.Pop()
	r.now = r.now.Add(3 * time.Second)
	r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
	r.Activate(r.ctx, it)
	r.Pop()
	r.Requeue(r.ctx, it, nil, queue.Rejectors{})
	if it.Attempts != 2 || it.Unschedulable != 1 || it.Errors != 1 {
		t.Errorf("after a rejection and an error: %d attempts, %d rejections, %d errors, want 2, 1, 1", it.Attempts, it.Unschedulable, it.Errors)
	}
	if !it.InitialAttempt.Equal(epoch) || !it.Timestamp.Equal(epoch.Add(3*time.Second)) {
		t.Errorf("after Requeue: Timestamp %v, InitialAttempt %v", it.Timestamp, it.InitialAttempt)
	}
	r.Activate(r.ctx, it)
	r.Pop()
	r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
	if it.Unschedulable != 2 || it.Errors != 0 {
		t.Errorf("after another rejection: %d rejections, %d errors, want 2, 0", it.Unschedulable, it.Errors)
	}
	r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}}) // it is back already
	if it.Unschedulable != 2 {
		t.Errorf("a second Requeue counted: %d rejections", it.Unschedulable)
	}
}

// TestPopFromBackoff: without active pods, the pod whose backoff ends next is ready
// at once, unless its attempt failed with an error.
func TestPopFromBackoff(t *testing.T) {
	for _, full := range []bool{false, true} {
		r := newRig(t, queue.Config{FullBackoff: full, Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{silent("A")}})})
		r.fail("rejected", []string{"A"}, nil)
		r.fail("broken", nil, nil)
		r.depth(queue.Length{Backoff: 1, Unschedulable: 1})
		r.happen(queueing.ResourceNode, queueing.ActionAdd)
		r.depth(queue.Length{Backoff: 2})
		want := []string{"rejected"}
		if full {
			want = nil
		}
		if diff := cmp.Diff(want, r.popAll()); diff != "" {
			t.Errorf("FullBackoff %t: ready (-want +got):\n%s", full, diff)
		}
	}
}

// TestBackoffOrder: within one second, the queue's order counts, not the moment at
// which a backoff ends.
func TestBackoffOrder(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{silent("A")}})})
	pods := []*queue.Item{r.add("low", 0), r.add("high", 5)}
	r.Pop()
	r.Pop()
	r.Requeue(r.ctx, pods[0], nil, queue.Rejectors{Plugins: []string{"A"}})
	r.now = r.now.Add(300 * time.Millisecond)
	r.Requeue(r.ctx, pods[1], nil, queue.Rejectors{Plugins: []string{"A"}})
	r.happen(queueing.ResourceNode, queueing.ActionAdd)
	if diff := cmp.Diff([]string{"high", "low"}, r.popAll()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestUnschedulableForTooLong(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{plugin{name: "A"}}})})
	r.now = epoch.Add(10 * time.Second)
	first := r.fail("first", []string{"A"}, nil)
	r.now = epoch.Add(30 * time.Second)
	r.fail("second", []string{"A"}, nil)
	// The first pod has waited longer than 5 minutes at 310 s, and the next sweep is
	// at 330 s; by then the second pod has waited exactly 5 minutes.
	at, ok := r.NextFlush()
	if want := epoch.Add(330 * time.Second); !ok || !at.Equal(want) {
		t.Fatalf("NextFlush() = %v, %t, want %v", at, ok, want)
	}
	r.now = at.Add(-time.Second)
	r.Flush(r.ctx)
	r.depth(queue.Length{Unschedulable: 2})
	r.now = at
	r.Flush(r.ctx)
	r.depth(queue.Length{Active: 1, Unschedulable: 1})
	if !first.Flushed || r.pop() != "first" {
		t.Error("the first pod was not flushed")
	}
	at, _ = r.NextFlush()
	if want := epoch.Add(360 * time.Second); !at.Equal(want) {
		t.Errorf("NextFlush() = %v, want %v", at, want)
	}
	r.now = epoch.Add(time.Hour)
	r.Flush(r.ctx)
	if got := r.pop(); got != "second" {
		t.Errorf("after an hour Pop() = %q, want second", got)
	}
	if _, ok := r.NextFlush(); ok {
		t.Error("NextFlush() although nothing waits")
	}
}

func TestFlushOfGatedPods(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{PreEnqueue: []framework.Plugin{gate{name: "g"}}})})
	r.Add(r.ctx, r.info(api.MakePod("p").Labels("g", "")))
	for k := range 3 {
		at, ok := r.NextFlush()
		if want := epoch.Add(time.Duration(330*(k+1)) * time.Second); !ok || !at.Equal(want) {
			t.Fatalf("flush %d: NextFlush() = %v, want %v", k, at, want)
		}
		r.now = at
		r.Flush(r.ctx)
		r.depth(queue.Length{Gated: 1})
	}
}

func TestUpdate(t *testing.T) {
	events := []queueing.EventHint{on(queueing.ResourceTargetPod, queueing.ActionUpdatePodLabel, nil)}
	options := queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{plugin{"A", events}}})}
	t.Run("active", func(t *testing.T) {
		r := newRig(t, options)
		r.add("a", 0)
		b := r.add("b", 0)
		r.Update(r.ctx, b, r.info(api.MakePod("b").Priority(3)))
		if diff := cmp.Diff([]string{"b", "a"}, r.popAll()); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
	t.Run("unschedulable", func(t *testing.T) {
		r := newRig(t, options)
		it := r.fail("p", []string{"A"}, nil)
		r.Update(r.ctx, it, r.info(api.MakePod("p").Annotations("k", "v")))
		r.depth(queue.Length{Unschedulable: 1})
		r.Update(r.ctx, it, r.info(api.MakePod("p").Labels("k", "v")))
		r.depth(queue.Length{Backoff: 1})
		if it.Pod.Pod.Labels["k"] != "v" {
			t.Error("the item holds the old pod")
		}
		r.Update(r.ctx, it, r.info(api.MakePod("p").Priority(1)))
		r.depth(queue.Length{Backoff: 1})
	})
	t.Run("in flight", func(t *testing.T) {
		r := newRig(t, options)
		it := r.add("p", 0)
		other := r.add("other", 0)
		r.Pop()
		r.Pop()
		r.Update(r.ctx, it, r.info(api.MakePod("p").Labels("k", "v")))
		if it.Pod.Pod.Labels["k"] != "" {
			t.Error("the pod changed while in flight")
		}
		r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
		r.Requeue(r.ctx, other, nil, queue.Rejectors{Plugins: []string{"A"}}) // not a change of this pod
		r.depth(queue.Length{Backoff: 1, Unschedulable: 1})
		if it.Pod.Pod.Labels["k"] != "v" {
			t.Error("the item holds the old pod")
		}
	})
}

func TestActivate(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{
		PreEnqueue: []framework.Plugin{gate{name: "g"}}, Filter: []framework.Plugin{plugin{name: "A"}},
	})})
	waits := r.fail("waits", []string{"A"}, nil)
	broken := r.fail("broken", nil, nil)
	gated := r.Add(r.ctx, r.info(api.MakePod("gated").Labels("g", "")))
	r.depth(queue.Length{Backoff: 1, Unschedulable: 1, Gated: 1})
	for _, it := range []*queue.Item{waits, broken, gated} {
		r.Activate(r.ctx, it)
	}
	r.depth(queue.Length{Active: 2, Gated: 1})
	r.popAll()

	it := r.add("flying", 0)
	r.Pop()
	r.Activate(r.ctx, it)
	r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
	r.depth(queue.Length{Backoff: 1, Gated: 1})
	r.Delete(it)
	r.Activate(r.ctx, it) // gone
	r.depth(queue.Length{Gated: 1})
}

func TestDelete(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{
		PreEnqueue: []framework.Plugin{gate{name: "g"}}, Filter: []framework.Plugin{plugin{name: "A"}},
	})})
	all := []*queue.Item{
		r.fail("waits", []string{"A"}, nil), r.fail("broken", nil, nil),
		r.Add(r.ctx, r.info(api.MakePod("gated").Labels("g", ""))), r.add("active", 0),
	}
	r.depth(queue.Length{Active: 1, Backoff: 1, Unschedulable: 1, Gated: 1})
	if got := len(r.Items()); got != 4 {
		t.Errorf("Items() lists %d pods, want 4", got)
	}
	for _, it := range all {
		r.Delete(it)
		r.Delete(it)
	}
	r.depth(queue.Length{})

	it := r.add("flying", 0)
	r.Pop()
	r.Delete(it)
	r.depth(queue.Length{InFlight: 1})
	r.Done(it)
	r.Done(it)
	r.depth(queue.Length{})
}

func TestNewRefusesNilScheduler(t *testing.T) {
	_, err := queue.New(queue.Config{Now: time.Now, Profiles: map[string]*scheduling.Scheduler{"a": nil}})
	if want := "queue: Config.Profiles[a]: is nil"; err == nil || err.Error() != want {
		t.Errorf("New: %v, want %s", err, want)
	}
}

// TestRequeueOfAnotherVersion: what is known of a class of pods is not so of a pod that has
// changed while it was tried.
func TestRequeueOfAnotherVersion(t *testing.T) {
	r := newRig(t, queue.Config{})
	by := queue.Rejectors{Plugins: []string{"x"}, Class: unique.Make("class")}
	for _, name := range []string{"stays", "changes", "is given"} {
		it := r.add(name, 0)
		if got := r.Pop(); got != it {
			t.Fatalf("Pop returned another pod than %s", name)
		}
		var version *framework.PodInfo
		switch name {
		case "changes":
			r.Update(r.ctx, it, r.info(api.MakePod(name).Labels("app", "x")))
		case "is given":
			version = r.info(api.MakePod(name).Labels("app", "x"))
		}
		r.Requeue(r.ctx, it, version, by)
		if has := it.Class == by.Class; has != (name == "stays") {
			t.Errorf("%s: it has the class: %t", name, has)
		}
	}
}
