package lifecycle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// A sleepy is a driver with a group that cannot stand, and sleeps until something happens.
type sleepy struct {
	*lifecycle.Driver
	clock    *virtualclock.Clock
	bound    map[string]string
	attempts int
	serial   int
}

func (w *sleepy) Bind(_ context.Context, p *api.Pod, node string) error {
	w.bound[p.Name] = node
	return nil
}

func newSleepy(t *testing.T) *sleepy {
	t.Helper()
	w := &sleepy{clock: virtualclock.New(epoch), bound: map[string]string{}}
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &groups.Rules{}, Clock: w.clock, Binder: w,
		ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Driver = d
	return w
}

func (w *sleepy) try() {
	for {
		if _, ok := w.ScheduleOne(context.Background()); !ok {
			return
		}
		w.attempts++
	}
}

// put applies objects, each in a newer version than all before.
func (w *sleepy) put(objects ...any) {
	for _, o := range objects {
		w.serial++
		version := fmt.Sprint(w.serial)
		switch x := o.(type) {
		case api.NodeBuilder:
			n := x.Obj()
			n.UID, n.ResourceVersion = api.UID(n.Name), version
			w.Apply(lifecycle.Update(n))
		case *api.Pod:
			p := api.Clone(x)
			p.UID, p.ResourceVersion = api.UID(p.Name), version
			w.Apply(lifecycle.Update(p))
		case *api.PodGroup:
			g := api.Clone(x)
			g.ResourceVersion = version
			w.Apply(lifecycle.Update(g))
		case *api.CompositePodGroup:
			g := api.Clone(x)
			g.ResourceVersion = version
			w.Apply(lifecycle.Update(g))
		case lifecycle.Event:
			w.Apply(x)
		default:
			panic(fmt.Sprintf("%T", o))
		}
	}
}

// zoned is a group of gang pods that must be in one zone.
func zoned(name string, least, priority int32) *api.PodGroup {
	g := podGroup(name, least, priority)
	g.Spec.SchedulingConstraints = &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: "zone"}}}
	return g
}

// TestGroupIsWoken: an event that can help a group, and for which no plugin of its pods registers,
// has it tried again at once if its backoff has ended.
func TestGroupIsWoken(t *testing.T) {
	small := func(name, zone string) api.NodeBuilder {
		b := api.MakeNode(name, "1", "8Gi")
		if zone != "" {
			b = b.Labels("zone", zone)
		}
		return b
	}
	p1, p2, p3 := groupPod("p1", "g", "1", 0), groupPod("p2", "g", "1", 0), groupPod("p3", "g", "1", 0)
	light, high := groupPod("light", "g", "0", 0), groupPod("high", "g", "1", 5)
	vip := func(name string) *api.Pod { return groupPod(name, "v", "1", 5) }
	basic := podGroup("g", 2, 0)
	basic.Spec.SchedulingPolicy = api.PodGroupSchedulingPolicy{Basic: &api.BasicSchedulingPolicy{}}
	strict := podGroup("v", 1, 5)
	child := podGroup("v", 1, 0)
	child.Spec.ParentCompositePodGroupName = new("c")
	composite := func(priority int32) *api.CompositePodGroup {
		return &api.CompositePodGroup{
			ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c"},
			Spec:       api.CompositePodGroupSpec{Priority: &priority, SchedulingPolicy: api.CompositePodGroupSchedulingPolicy{Basic: &api.BasicSchedulingPolicy{}}},
		}
	}
	for _, tt := range []struct {
		name   string
		before []any
		event  any
	}{
		{"its minimum is lowered", []any{small("n1", "a"), podGroup("g", 2, 0), p1, p2}, podGroup("g", 1, 0)},
		{"its policy changes", []any{small("n1", "a"), podGroup("g", 2, 0), p1, p2}, basic},
		{"its constraint goes", []any{small("n1", "a"), small("n2", "b"), zoned("g", 2, 0), p1, p2}, podGroup("g", 2, 0)},
		{"a node gets a domain", []any{small("n1", "a"), small("n2", ""), zoned("g", 2, 0), p1, p2}, small("n2", "a")},
		{"a node changes its domain", []any{small("n1", "a"), small("n2", "b"), zoned("g", 2, 0), p1, p2}, small("n2", "a")},
		{"the node of a member changes its domain", []any{small("n1", "a"), small("n2", "b"), zoned("g", 1, 0), onNode(p1, "n1"), p2}, small("n1", "b")},
		{"a member comes to a node", []any{small("n1", "a"), small("n2", "a"), onNode(vip("v"), "n2"), podGroup("v", 1, 5), podGroup("g", 3, 0), p1, p2, p3}, []any{onNode(p2, "n2"), onNode(p3, "n2")}},
		{"a new member is on a node", []any{small("n1", "a"), podGroup("g", 2, 0), p1, p2}, onNode(light, "n1")},
		{"the node of a member comes", []any{small("n1", "a"), podGroup("g", 2, 0), onNode(light, "m"), p1, p2}, api.MakeNode("m", "100m", "1Gi")},
		{"the member leaves", []any{api.MakeNode("n1", "100m", "8Gi").Labels("zone", "a"), small("n2", "b"), zoned("g", 1, 0), onNode(light, "n1"), p2}, lifecycle.Delete(light)},
		{"the node of the member goes", []any{api.MakeNode("n1", "100m", "8Gi").Labels("zone", "a"), small("n2", "b"), zoned("g", 1, 0), onNode(light, "n1"), p2}, lifecycle.Delete(api.MakeNode("n1", "", "").Obj())},
		{"the priority of another group is lowered", []any{small("n1", "a"), onNode(vip("v"), "n1"), strict, podGroup("g", 1, 5), high}, podGroup("v", 1, 0)},
		{"the object of another group comes", []any{small("n1", "a"), onNode(vip("v"), "n1"), podGroup("g", 1, 5), high}, podGroup("v", 1, 0)},
		{"the object of another group goes", []any{small("n1", "a"), onNode(groupPod("v", "v", "1", 0), "n1"), strict, podGroup("g", 1, 5), high}, lifecycle.Delete(strict)},
		{"the priority of a composite group is lowered", []any{small("n1", "a"), onNode(vip("v"), "n1"), child, composite(5), podGroup("g", 1, 5), high}, composite(0)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newSleepy(t)
			w.put(tt.before...)
			w.try()
			w.clock.Advance(30 * time.Second)
			w.try()
			if w.attempts != 1 || len(w.bound) > 0 {
				t.Fatalf("%d attempts, bound %v: want one, of a group that sleeps", w.attempts, w.bound)
			}
			if list, ok := tt.event.([]any); ok {
				w.put(list...)
			} else {
				w.put(tt.event)
			}
			w.try()
			if w.attempts < 2 {
				t.Error("the group sleeps")
			}
		})
	}
}

// TestGroupSleepsOn: what cannot help a group does not have it tried.
func TestGroupSleepsOn(t *testing.T) {
	node := func(kv ...string) api.NodeBuilder {
		return api.MakeNode("n2", "1", "8Gi").Labels("zone", "b").Labels(kv...)
	}
	told := zoned("g", 2, 0)
	told.Annotations = map[string]string{"k": "v"}
	told.Status.Conditions = []api.Condition{{Type: api.PodGroupInitiallyScheduled, Status: api.ConditionFalse}}
	w := newSleepy(t)
	w.put(api.MakeNode("n1", "1", "8Gi").Labels("zone", "a"), node(), zoned("g", 2, 0), groupPod("p1", "g", "1", 0), groupPod("p2", "g", "1", 0))
	w.put(podGroup("whole", 2, 0), groupPod("w1", "whole", "2", 0), groupPod("w2", "whole", "2", 0))
	w.try()
	w.clock.Advance(30 * time.Second)
	if w.try(); w.attempts != 2 {
		t.Fatalf("%d attempts, want one for each group", w.attempts)
	}
	for _, e := range []struct {
		name  string
		event any
	}{
		{"another label comes", node("rack", "1")},
		{"another label changes", node("rack", "2")},
		{"another label goes", node()},
		{"its status changes", told},
		{"another group comes", podGroup("h", 1, 7)},
		{"a pod of another group comes", groupPod("h1", "i", "1", 0)},
		{"another group goes", lifecycle.Delete(podGroup("h", 1, 7))},
	} {
		w.put(e.event)
		if w.try(); w.attempts != 2 {
			t.Errorf("%s: the groups are tried again", e.name)
			w.attempts = 2
		}
	}
	w.put(node("zone", "c")) // of the two, only one has a constraint with this key
	if w.try(); w.attempts != 3 {
		t.Errorf("%d attempts after the label of one group, want 1", w.attempts-2)
	}
}

// TestWokenGroupWaitsForItsBackoff: however often something happens that may help a group, it is
// tried once after each backoff.
func TestWokenGroupWaitsForItsBackoff(t *testing.T) {
	for name, event := range map[string]func(i int) any{
		"its object": func(i int) any {
			g := podGroup("g", 2, 0)
			if i%2 == 0 {
				g.Spec.DisruptionMode = &api.DisruptionMode{All: &api.AllDisruptionMode{}}
			}
			return g
		},
		"a label": func(i int) any {
			return api.MakeNode("n1", "1", "8Gi").Labels("zone", fmt.Sprint(i))
		},
		"a member": func(i int) any {
			light := groupPod("light", "g", "2", 0)
			if light.UID = "light"; i%2 == 0 {
				return lifecycle.Delete(light)
			}
			return onNode(light, "elsewhere")
		},
	} {
		w := newSleepy(t)
		g := podGroup("g", 2, 0)
		if name == "a label" {
			g = zoned("g", 2, 0)
		}
		w.put(api.MakeNode("n1", "1", "8Gi").Labels("zone", "a"), g, groupPod("p1", "g", "2", 0), groupPod("p2", "g", "2", 0))
		w.try()
		for i := range 7 * 10 { // of 100 ms
			w.clock.Advance(100 * time.Millisecond)
			w.put(event(i))
			w.try()
		}
		if w.attempts != 3 { // at 0, after 1 s, and after 2 s more; the next after 4 s
			t.Errorf("%s: %d attempts in 7 s, want 3", name, w.attempts)
		}
	}
}

// TestGroupChangesWhileItEvicts: what happens while the victims of a group are asked to leave has
// it tried again after its backoff, too.
func TestGroupChangesWhileItEvicts(t *testing.T) {
	node := func(zone string) *api.Node {
		n := api.MakeNode("m", "2", "8Gi").Labels("zone", zone).Obj()
		n.UID, n.ResourceVersion = "m", zone
		return n
	}
	free := zoned("g", 1, 10)
	free.Spec.SchedulingConstraints, free.ResourceVersion = nil, "2"
	for name, event := range map[string]lifecycle.Event{"a label": lifecycle.Update(node("2")), "its object": lifecycle.Update(free)} {
		clock, e := virtualclock.New(epoch), hangingEvicter{make(chan struct{})}
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &groups.Rules{}, Clock: clock, Binder: e, Bindings: 2,
			ErrorHandler: func(err error) { t.Error(err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		w := &backoffWorld{T: t, d: d, clock: clock}
		g := zoned("g", 1, 10)
		g.ResourceVersion = "1"
		bare := node("1")
		bare.Labels = nil
		d.Apply(
			lifecycle.Update(api.MakeNode("n", "2", "16Gi").Labels("zone", "2").Obj()), lifecycle.Update(bare), lifecycle.Update(g),
			lifecycle.Update(api.MakePod("low").Requests("2", "1Gi").Node("n").Obj()), lifecycle.Update(groupPod("high", "g", "2", 10)),
		)
		if n := w.attempts(); n != 1 {
			t.Fatalf("%d attempts, want one that preempts", n)
		}
		d.Apply(event)
		d.Flush(context.Background())
		e.evict <- struct{}{}
		for d.Counts().Queue.InFlight > 0 {
			d.Flush(context.Background())
		}
		clock.Advance(2 * time.Second)
		if n := w.attempts(); n != 1 || d.Counts().Pending != 0 {
			t.Errorf("%s: %d attempts after the backoff, counts %+v: want one, which succeeds", name, n, d.Counts())
		}
	}
}
