//go:build full

package lifecycle_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// doorkeeper is a PreEnqueue plugin that counts how often it is asked. Services change what
// it says.
type doorkeeper struct {
	asked *int
	shut  func(pod *api.Pod) bool
}

func (doorkeeper) Name() string { return "doorkeeper" }

func (k doorkeeper) PreEnqueue(_ context.Context, pod *framework.PodInfo) framework.Status {
	*k.asked++
	if k.shut(pod.Pod) {
		return framework.UnschedulableStatus("shut")
	}
	return framework.Status{}
}

func (doorkeeper) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{
		{Event: queueing.ClusterEvent{Resource: "Service", Action: queueing.ActionAll}},
		{Event: queueing.ClusterEvent{Resource: "StorageClass", Action: queueing.ActionAll}, Hint: func(pod *framework.PodInfo, _, after any) (queueing.QueueingHint, error) {
			if c, ok := after.(*api.StorageClass); ok && c.Name != pod.Pod.Name {
				return queueing.QueueSkip, nil
			}
			return queueing.Queue, nil
		}},
		{Event: queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: queueing.ActionAdd}},
		{Event: queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionDelete}},
	}
}

// TestGroupEventsOfNodesAndPods: a plugin that keeps a group out is asked again after each event for
// which it registered, also one about a node or a pod.
func TestGroupEventsOfNodesAndPods(t *testing.T) {
	other := api.MakePod("other").UID("other").Node("n").Obj()
	for name, e := range map[string]lifecycle.Event{
		"a node comes": lifecycle.Update(api.MakeNode("m", "4", "8Gi").Obj()),
		"a pod leaves": lifecycle.Delete(other),
	} {
		w := newGroupDoor(t)
		w.apply(lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()), lifecycle.Update(other))
		w.shut = func(*api.Pod) bool { return true }
		w.apply(lifecycle.Update(doorPod(0)))
		w.expect("before "+name, false, 2)
		w.shut = func(*api.Pod) bool { return false }
		w.apply(e)
		w.expect("after "+name, true, 2)
	}
}

// A groupDoor is a driver whose groups a doorkeeper looks at.
type groupDoor struct {
	t     *testing.T
	d     *lifecycle.Driver
	asked int
	shut  func(pod *api.Pod) bool
}

func newGroupDoor(t *testing.T) *groupDoor {
	t.Helper()
	w := &groupDoor{t: t, shut: func(*api.Pod) bool { return false }}
	p := scheduling.Kubernetes137()
	p.PreEnqueue = append(slices.Clone(p.PreEnqueue), doorkeeper{&w.asked, func(p *api.Pod) bool { return w.shut(p) }})
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Groups: &groups.Rules{}, Clock: virtualclock.New(epoch),
		Binder:       lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
		ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.d = d
	w.apply(lifecycle.Update(podGroup("g", 1, 0)))
	return w
}

func (w *groupDoor) apply(events ...lifecycle.Event) {
	w.d.Apply(events...)
	w.d.Flush(context.Background())
}

// expect checks whether the group may be tried, and how often the plugin was asked since
// the last call.
func (w *groupDoor) expect(when string, ready bool, most int) {
	w.t.Helper()
	want := 0
	if ready {
		want = 1
	}
	if got := w.d.QueueLength().Active; got != want {
		w.t.Errorf("%s: %d groups are ready, want %d", when, got, want)
	}
	if w.asked > most {
		w.t.Errorf("%s: the plugin was asked %d times, want at most %d", when, w.asked, most)
	}
	w.asked = 0
}

func doorPod(i int, gates ...string) *api.Pod {
	p := groupPod(fmt.Sprint("p", i), "g", "1", 0)
	for _, g := range gates {
		p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, api.PodSchedulingGate{Name: g})
	}
	return p
}

// class is an event that can help only the pod of its name.
func class(name string) lifecycle.Event {
	return lifecycle.Update(&api.StorageClass{ObjectMeta: api.ObjectMeta{Name: name}})
}

func service(name string) lifecycle.Event {
	return lifecycle.Update(&api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}})
}

// An event about one pod costs no more in a large group than in a small one: plugins are
// asked about that pod, and about another one if it was the last to be kept out.
func TestGroupEventsCost(t *testing.T) {
	const n = 500
	claim := func(i int) lifecycle.Event {
		return lifecycle.Update(&api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("c", i)}})
	}
	t.Run("an open group", func(t *testing.T) {
		w := newGroupDoor(t)
		for i := range n {
			w.apply(lifecycle.Update(doorPod(i)))
		}
		w.expect("after the pods came", true, 2*n)
		for i := range n {
			w.apply(claim(i), service(fmt.Sprint("s", i)))
		}
		w.expect("after events about others", true, 0)
		for i := range n {
			w.apply(lifecycle.Delete(doorPod(i)))
		}
		w.expect("after the pods went", false, n)
	})
	for name, at := range map[string]func(i int) int{
		"in order": func(i int) int { return i }, "from the last": func(i int) int { return n - 1 - i }, "mixed": func(i int) int { return i * 7 % n },
	} {
		t.Run("gates open "+name, func(t *testing.T) {
			w := newGroupDoor(t)
			for i := range n {
				w.apply(lifecycle.Update(doorPod(i, "example.com/hold")))
			}
			for i := range n {
				w.apply(claim(i), service(fmt.Sprint("s", i)))
			}
			w.expect("while all are gated", false, 0) // the gate is asked first
			for i := range n {
				w.expect("before the last gate opens", false, 2)
				w.apply(lifecycle.Update(doorPod(at(i))))
			}
			w.expect("when all gates are open", true, 3)
		})
	}
	t.Run("a plugin keeps pods out", func(t *testing.T) {
		w := newGroupDoor(t)
		w.shut = func(*api.Pod) bool { return true }
		for i := range n {
			w.apply(lifecycle.Update(doorPod(i)))
		}
		w.expect("when the pods came", false, 2*n)
		for i := range n {
			w.apply(claim(i))
		}
		w.expect("after events that cannot help", false, 0)
		for range n {
			w.apply(class("another"))
		}
		w.expect("after events that the plugin says cannot help", false, 0)
		w.apply(class("p0"))
		w.expect("after one that it says may", false, 1)
		w.apply(lifecycle.Delete(&api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "another"}}))
		w.expect("after a deletion, which it cannot tell", false, 1)
		for i := range n {
			w.apply(service(fmt.Sprint("s", i)))
		}
		w.expect("after events that might", false, n)
		w.shut = func(p *api.Pod) bool { return p.Name == "p400" }
		w.apply(service("s"))
		w.expect("while one is kept out", false, n)
		w.shut = func(*api.Pod) bool { return false }
		w.apply(service("s"))
		w.expect("when none is kept out", true, n)
	})
	t.Run("a gate and a plugin", func(t *testing.T) {
		w := newGroupDoor(t)
		w.shut = func(*api.Pod) bool { return true }
		for i := range n {
			if i == 0 {
				w.apply(lifecycle.Update(doorPod(0, "example.com/hold")))
			} else {
				w.apply(lifecycle.Update(doorPod(i)))
			}
		}
		w.shut = func(*api.Pod) bool { return false }
		w.apply(service("s")) // nobody needs to look: the gate is shut
		w.expect("while the gate is shut", false, 2*n)
		w.apply(lifecycle.Update(doorPod(0)))
		w.expect("when the gate opens", true, n+1)
	})
	t.Run("a gate, and then a plugin", func(t *testing.T) {
		w := newGroupDoor(t)
		w.shut = func(*api.Pod) bool { return true }
		w.apply(lifecycle.Update(doorPod(0, "example.com/hold")))
		w.expect("while the gate is shut", false, 1)
		w.apply(lifecycle.Update(doorPod(0)))
		w.expect("when the gate opens", false, 2)
		w.apply(claim(0))
		w.expect("after an event that cannot help", false, 0)
		w.shut = func(*api.Pod) bool { return false }
		w.apply(service("s"))
		w.expect("after one that might", true, 2)
	})
	t.Run("a group that a gate keeps out, and one that a plugin does", func(t *testing.T) {
		w := newGroupDoor(t)
		gated := groupPod("gated", "h", "1", 0)
		gated.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "example.com/hold"}}
		w.shut = func(*api.Pod) bool { return true }
		w.apply(lifecycle.Update(podGroup("h", 1, 0)), lifecycle.Update(gated), lifecycle.Update(doorPod(0)))
		w.expect("while both are shut", false, 2)
		w.shut = func(*api.Pod) bool { return false }
		w.apply(service("s"))
		w.expect("after an event that might help one", true, 2)
	})
	t.Run("a gate that goes and a plugin", func(t *testing.T) {
		w := newGroupDoor(t)
		w.apply(lifecycle.Update(doorPod(0, "example.com/hold")))
		w.shut = func(*api.Pod) bool { return true }
		w.apply(lifecycle.Update(doorPod(1)))
		w.shut = func(*api.Pod) bool { return false }
		w.apply(service("s"))
		w.expect("while the gate is shut", false, 3)
		w.apply(lifecycle.Delete(doorPod(0)))
		w.expect("when the gated pod is gone", true, 3)
	})
	t.Run("the pod that keeps a group out goes", func(t *testing.T) {
		w := newGroupDoor(t)
		for i := range n {
			w.apply(lifecycle.Update(doorPod(i, []string{"example.com/hold"}[:min(1, i%2)]...)))
		}
		for i := 1; i < n; i += 2 {
			w.expect("before the last one goes", false, 2*n)
			w.apply(lifecycle.Delete(doorPod(i)))
		}
		w.expect("when the last one is gone", true, 2)
		other := doorPod(2)
		other.Spec.SchedulerName = "another"
		w.apply(lifecycle.Update(other))
		w.expect("when one goes to another scheduler", true, 0)
	})
	t.Run("pods of another scheduler", func(t *testing.T) {
		w := newGroupDoor(t)
		w.apply(lifecycle.Update(doorPod(0)))
		w.expect("with a pod", true, 2)
		other := doorPod(0)
		other.Spec.SchedulerName = "another"
		w.apply(lifecycle.Update(other))
		w.expect("without a pod of ours", false, 0)
	})
}

// What the driver knows of a group's pods stays true when attempts have changed it.
func TestGroupAfterAttempts(t *testing.T) {
	ctx := context.Background()
	held := func(w *groupDoor) (names []string) {
		for _, it := range w.d.Pending() {
			names = append(names, it.Pod.Pod.Name)
		}
		return names
	}
	t.Run("the first pod goes", func(t *testing.T) {
		w := newGroupDoor(t)
		w.apply(lifecycle.Update(doorPod(0)), lifecycle.Update(doorPod(1)), lifecycle.Update(doorPod(2)))
		for i := range 3 {
			if got, want := held(w), fmt.Sprint("p", i); len(got) != 1 || got[0] != want {
				t.Errorf("the queue has %q, want %s", got, want)
			}
			w.apply(lifecycle.Delete(doorPod(i)))
		}
		if got := held(w); len(got) > 0 {
			t.Errorf("the queue has %q although all pods are gone", got)
		}
	})
	t.Run("all pods stand", func(t *testing.T) {
		w := newGroupDoor(t)
		w.apply(lifecycle.Update(api.MakeNode("n", "4", "16Gi").Obj()), lifecycle.Update(doorPod(0)), lifecycle.Update(doorPod(1)))
		if a, ok := w.d.ScheduleOne(ctx); !ok || a.State != lifecycle.Binding {
			t.Fatalf("the attempt: %v, %v, %v", ok, a.State, a.Err)
		}
		if a, ok := w.d.ScheduleOne(ctx); ok {
			t.Errorf("another attempt for %s although no pod waits", a.Pod.Pod.Name)
		}
	})
	t.Run("a plugin keeps pods out after an attempt", func(t *testing.T) {
		w := newGroupDoor(t)
		w.apply(lifecycle.Update(api.MakeNode("n", "500m", "16Gi").Obj()), lifecycle.Update(doorPod(0)), lifecycle.Update(doorPod(1)))
		w.shut = func(*api.Pod) bool { return true }
		if a, ok := w.d.ScheduleOne(ctx); !ok || a.State != lifecycle.Failed {
			t.Fatalf("the attempt: %v, %v", ok, a.State)
		}
		if got := held(w); len(got) > 0 {
			t.Errorf("the queue has %q although a plugin keeps the pods out", got)
		}
		w.shut = func(*api.Pod) bool { return false }
		w.apply(service("s"))
		if got := held(w); len(got) != 1 {
			t.Errorf("the queue has %q although the pods may enter", got)
		}
	})
}
