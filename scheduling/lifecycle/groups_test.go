package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// groupWorld is a world whose driver schedules groups, and which gets their conditions.
type groupWorld struct {
	*world
	conditions []string
}

func (w *groupWorld) ReportGroup(_ context.Context, g *api.PodGroup, c api.Condition) {
	w.conditions = append(w.conditions, fmt.Sprintf("%s %s/%s %s", g.Name, c.Status, c.Reason, c.Message))
}

func newGroupWorld(t *testing.T, rules groups.Rules) *groupWorld {
	t.Helper()
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	w := &groupWorld{world: newWorld(t, profile)}
	c := lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &rules, Binder: w, Clock: w.clock}
	c.ErrorHandler = func(err error) { w.problems = append(w.problems, err.Error()) }
	d, err := lifecycle.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w.d, w.confirm = d, true
	return w
}

// group is a PodGroup with a minimum.
func podGroup(name string, least int32, priority int32) *api.PodGroup {
	return &api.PodGroup{
		ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name},
		Spec:       api.PodGroupSpec{SchedulingPolicy: api.PodGroupSchedulingPolicy{Gang: &api.GangSchedulingPolicy{MinCount: least}}, Priority: &priority},
	}
}

// member is a pod of a group.
func groupPod(name, group, cpu string, priority int32) *api.Pod {
	p := api.MakePod(name).Namespace("default").Requests(cpu, "1Gi").Priority(priority).Obj()
	p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &group}
	return p
}

func (w *groupWorld) apply(pods ...*api.Pod) {
	for _, p := range pods {
		w.d.Apply(lifecycle.Update(p))
	}
}

// expect compares which pods are bound.
func (w *groupWorld) expect(when string, pods ...string) {
	w.tb.Helper()
	w.all()
	if diff := cmp.Diff(slices.Sorted(slices.Values(pods)), slices.Sorted(maps.Keys(w.bound))); diff != "" && len(pods)+len(w.bound) > 0 {
		w.tb.Errorf("bound %s (-want +got):\n%s", when, diff)
	}
	w.noProblems()
}

// A group waits for its object, for its pods, and for the gates of each of them; then all
// are bound in one attempt.
func TestGroupGates(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "4", "16Gi"), api.MakeNode("b", "4", "16Gi"))
	w.apply(groupPod("g-0", "g", "1", 0), groupPod("g-1", "g", "1", 0))
	w.expect("without the object")
	w.d.Apply(lifecycle.Update(podGroup("g", 3, 0)))
	w.expect("with two of three pods")
	gated := groupPod("g-2", "g", "1", 0)
	gated.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "hold"}}
	w.apply(gated)
	w.expect("while one pod is gated")
	free := groupPod("g-2", "g", "1", 0)
	w.apply(free)
	w.expect("at last", "g-0", "g-1", "g-2")
	if diff := cmp.Diff([]string{"g True/Scheduled "}, w.conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if c := w.d.Counts(); c.Pending != 0 || c.Queue.InFlight != 0 {
		t.Errorf("counts %+v", c)
	}
}

// A minimum that is lowered lets the group in.
func TestGroupMinimumLowered(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "4", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 2, 0)))
	w.apply(groupPod("g-0", "g", "1", 0))
	w.expect("before")
	w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)))
	w.expect("after", "g-0")
}

// A group that does not fit takes nothing. It stands as soon as a node comes that helps;
// an event that helps nobody wakes it not.
func TestGroupWaitsForRoom(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "2", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 3, 0)))
	w.apply(groupPod("g-0", "g", "1", 0), groupPod("g-1", "g", "1", 0), groupPod("g-2", "g", "1", 0))
	w.expect("on one node")
	if len(w.conditions) != 1 || !strings.HasPrefix(w.conditions[0], "g False/Unschedulable pod group is unschedulable, 0/1 placements are available, first placement status: minCount (3) cannot be satisfied: 2 scheduled, 0 remaining") {
		t.Errorf("conditions %q", w.conditions)
	}
	if !strings.Contains(strings.Join(w.reports, "\n"), "g-2 Unschedulable 0/1 nodes are available: 1 Insufficient cpu.") {
		t.Errorf("reports %q", w.reports)
	}
	w.pass(2 * time.Minute)
	if n := len(w.all()); n != 0 {
		t.Errorf("%d attempts although nothing has happened", n)
	}
	w.nodes(api.MakeNode("small", "500m", "16Gi"))
	w.pass(time.Minute)
	if n := len(w.all()); n != 0 {
		t.Errorf("%d attempts after a node came that is too small", n)
	}
	w.nodes(api.MakeNode("b", "2", "16Gi"))
	w.pass(time.Minute)
	w.expect("after a node came", "g-0", "g-1", "g-2")
}

// Two gangs that would deadlock pod by pod: one stands, then the other.
func TestGroupsDoNotDeadlock(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "4", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("x", 3, 0)), lifecycle.Update(podGroup("y", 3, 0)))
	for i := range 3 { // their pods come in turn
		w.apply(groupPod(fmt.Sprint("x-", i), "x", "1", 0), groupPod(fmt.Sprint("y-", i), "y", "1", 0))
	}
	w.expect("at first", "x-0", "x-1", "x-2")
	for i := range 3 {
		w.d.Apply(lifecycle.Delete(onNode(groupPod(fmt.Sprint("x-", i), "x", "1", 0), "a")))
	}
	w.pass(time.Minute)
	w.expect("after x has gone", "x-0", "x-1", "x-2", "y-0", "y-1", "y-2")
}

// Pods beyond the minimum come when there is room; a gang whose minimum runs takes later
// pods one by one.
func TestGroupLeftovers(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "2", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 2, 0)))
	w.apply(groupPod("g-0", "g", "1", 0), groupPod("g-1", "g", "1", 0), groupPod("g-2", "g", "1", 0))
	w.expect("at first", "g-0", "g-1")
	w.nodes(api.MakeNode("b", "1", "16Gi"))
	w.pass(time.Minute)
	w.expect("with one more node", "g-0", "g-1", "g-2")
	last := w.conditions[len(w.conditions)-1]
	if !strings.HasPrefix(last, "g True") {
		t.Errorf("last condition %q", last)
	}
}

// Pods of a group are tried in the order of time, then of names, and those that have failed
// keep their order, before newcomers, also if the clock stands still.
func TestGroupOrder(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)))
	w.apply(groupPod("g-y", "g", "1", 0), groupPod("g-x", "g", "1", 0))
	w.nodes(api.MakeNode("a", "1", "16Gi"))
	w.expect("of two of one time", "g-x")
	w.pass(time.Second)
	w.apply(groupPod("g-b", "g", "1", 0))
	w.expect("with a full node", "g-x")
	w.pass(time.Minute)
	w.apply(groupPod("g-a", "g", "1", 0))
	for i, want := range []string{"g-y", "g-b", "g-a"} {
		w.expect("before a node came", append([]string{"g-x"}, []string{"g-y", "g-b", "g-a"}[:i]...)...)
		w.nodes(api.MakeNode(fmt.Sprint("b", i), "1", "16Gi"))
		w.pass(time.Minute)
		w.all()
		if _, ok := w.bound[want]; !ok {
			t.Errorf("after %d nodes came: bound %v, want %s", i+1, slices.Sorted(maps.Keys(w.bound)), want)
		}
	}
}

// Once a group has been scheduled, a failed attempt for its other pods changes no condition.
func TestGroupConditionStays(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "1", "16Gi"))
	g := podGroup("g", 1, 0)
	g.Status.Conditions = []api.Condition{{Type: api.PodGroupInitiallyScheduled, Status: api.ConditionTrue, Reason: api.PodGroupReasonScheduled}}
	w.d.Apply(lifecycle.Update(g))
	w.apply(groupPod("g-0", "g", "2", 0))
	w.expect("with too little room")
	if len(w.conditions) > 0 || len(w.reports) == 0 {
		t.Errorf("conditions %q, reports %q, want a report of the pod alone", w.conditions, w.reports)
	}
}

// A group whose pods differ is tried again after its backoff, as counts do not say which
// event would help.
func TestGroupOfDifferentPodsBacksOff(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "2", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 2, 0)))
	w.apply(groupPod("g-0", "g", "1", 0), groupPod("g-1", "g", "2", 0))
	w.expect("on one node")
	w.pass(time.Minute)
	if n := len(w.all()); n == 0 {
		t.Error("no attempt after the backoff")
	}
}

// A group preempts: the victims are asked to leave, its pods are nominated, and stand when
// the victims have left.
func TestGroupPreemption(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "2", "16Gi"), api.MakeNode("b", "2", "16Gi"))
	low := []*api.Pod{api.MakePod("low-0").Requests("2", "1Gi").Node("a").Obj(), api.MakePod("low-1").Requests("2", "1Gi").Node("b").Obj()}
	w.apply(low...)
	w.d.Apply(lifecycle.Update(podGroup("g", 2, 10)))
	w.apply(groupPod("g-0", "g", "2", 10), groupPod("g-1", "g", "2", 10))
	w.expect("at first")
	if diff := cmp.Diff([]string{"low-0 for g-0", "low-1 for g-0"}, slices.Sorted(slices.Values(w.evicted))); diff != "" {
		t.Errorf("evicted (-want +got):\n%s", diff)
	}
	if n := w.d.Snapshot().Nominations(); n != 2 {
		t.Errorf("%d nominations, want 2", n)
	}
	w.apply(api.MakePod("between").Requests("1", "1Gi").Obj())
	w.d.Apply(lifecycle.Delete(low[0]))
	w.pass(time.Minute)
	w.expect("after one victim has left")
	w.d.Apply(lifecycle.Delete(low[1]))
	w.pass(time.Minute)
	w.expect("after both have left", "g-0", "g-1")
	if n := w.d.Snapshot().Nominations(); n != 0 {
		t.Errorf("%d nominations are left", n)
	}
}

// A group of equal pods whose victims cannot be asked to leave is tried again after its
// backoff, as no event is due; without that, it would wait for one.
func TestGroupForbiddenEvictions(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.forbid = errors.New("forbidden")
	w.nodes(api.MakeNode("a", "2", "16Gi"), api.MakeNode("b", "2", "16Gi"))
	low := []*api.Pod{api.MakePod("low-0").Requests("2", "1Gi").Node("a").Obj(), api.MakePod("low-1").Requests("2", "1Gi").Node("b").Obj()}
	w.apply(low...)
	w.d.Apply(lifecycle.Update(podGroup("g", 2, 10)))
	w.apply(groupPod("g-0", "g", "2", 10), groupPod("g-1", "g", "2", 10))
	for want := 1; want <= 3; want++ { // after the first that is forbidden, no other is asked
		w.all()
		if len(w.evicted) != want || len(w.problems) != want {
			t.Fatalf("victims are asked %d times, want %d: %q", len(w.evicted), want, w.problems)
		}
		w.pass(time.Minute)
	}
}

// A single pod preempts a group that may only be disrupted as a whole: all of its pods are
// asked to leave, those on other nodes too.
func TestPodPreemptsGroup(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "2", "16Gi"), api.MakeNode("b", "2", "16Gi"))
	g := podGroup("g", 2, 0)
	g.Spec.DisruptionMode = &api.DisruptionMode{All: &api.AllDisruptionMode{}}
	w.d.Apply(lifecycle.Update(g))
	w.apply(groupPod("g-0", "g", "2", 0), groupPod("g-1", "g", "2", 0))
	w.expect("at first", "g-0", "g-1")
	w.apply(api.MakePod("high").Requests("2", "1Gi").Priority(10).Obj())
	w.expect("after a pod of high priority came", "g-0", "g-1")
	if diff := cmp.Diff([]string{"g-0 for high", "g-1 for high"}, slices.Sorted(slices.Values(w.evicted))); diff != "" {
		t.Errorf("evicted (-want +got):\n%s", diff)
	}
}

// A Reserve plugin that refuses one pod leaves the whole group unplaced; without groups,
// pods that name one are scheduled alone.
func TestGroupsOff(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(api.MakeNode("a", "2", "16Gi"))
	w.d.Apply(lifecycle.Update(groupPod("g-0", "g", "1", 0)))
	w.all()
	if w.bound["g-0"] != "a" {
		t.Errorf("bound %v, want g-0 on a", w.bound)
	}
}

// Deleting pods of a group in any state leaves nothing behind.
func TestGroupPodsDeleted(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("a", "1", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 2, 0)))
	pods := []*api.Pod{groupPod("g-0", "g", "1", 0), groupPod("g-1", "g", "1", 0), groupPod("g-2", "g", "1", 0)}
	w.apply(pods...)
	w.expect("at first")
	for _, p := range pods {
		w.d.Apply(lifecycle.Delete(p))
		w.pass(time.Minute)
		w.expect("after deletion")
	}
	if c := w.d.Counts(); c.Pods != 0 || c.Queue != (lifecycle.Counts{}).Queue {
		t.Errorf("counts %+v, want nothing", c)
	}
	if l := w.d.QueueLength(); l != (lifecycle.Counts{}).Queue {
		t.Errorf("depth %+v, want nothing", l)
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestManyGroupsThatLack: pods of a group without an object cost the same however many
// there are, and so do events about other objects, however many groups lack theirs. Work
// shows in what it allocates.
func TestManyGroupsThatLack(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{})
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	come := func(from, pods int, group func(i int) string) uint64 {
		var list []*api.Pod
		for i := range pods {
			list = append(list, groupPod(fmt.Sprint("p", from+i), group(i), "1m", 0))
		}
		return allocated(func() {
			for _, p := range list {
				w.d.Apply(lifecycle.Update(p))
				w.d.Flush(context.Background())
			}
		})
	}
	one := func(int) string { return "one" }
	come(0, 100, one)
	few := come(100, 100, one)
	come(200, 4000, one)
	if many := come(5000, 100, one); many > 2*few+1<<16 {
		t.Errorf("100 pods of a group cost %d bytes, and %d if it has 4,000 more", few, many)
	}
	change := func(i int) uint64 {
		return allocated(func() {
			w.d.Apply(lifecycle.Update(&api.StorageClass{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("c", i)}}))
			w.d.Flush(context.Background())
		})
	}
	change(0)
	few = change(1)
	come(10_000, 3000, func(i int) string { return fmt.Sprint("g", i) })
	if many := change(2); many > 2*few+1<<14 {
		t.Errorf("an object costs %d bytes, and %d beside 3,000 groups", few, many)
	}

	// They enter as soon as they have what they lack.
	w.d.Apply(lifecycle.Update(podGroup("g7", 1, 0)))
	w.expect("after the object of a group", "p10007")
}
