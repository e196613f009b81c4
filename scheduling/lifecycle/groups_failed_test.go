//go:build full

package lifecycle_test

import (
	"errors"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// groupWorldOf is newGroupWorld with another profile and an observer.
func groupWorldOf(t *testing.T, profile scheduling.Profile, o lifecycle.Observer) *groupWorld {
	t.Helper()
	w := &groupWorld{world: newWorld(t, profile)}
	w.handle = lifecycle.NewHandle()
	c := lifecycle.Config{
		Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}, Binder: w, Clock: w.clock, Handle: w.handle, Observer: o,
		ErrorHandler: func(err error) { w.problems = append(w.problems, err.Error()) },
	}
	d, err := lifecycle.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w.d, w.confirm = d, true
	return w
}

// TestGroupIsUndone: whichever of the reservations for a group fails, no pod stays on its
// node.
func TestGroupIsUndone(t *testing.T) {
	for last := 1; ; last++ {
		profile, k := scheduling.Kubernetes137(), &keeper{last: last}
		profile.Reserve = append(profile.Reserve, k)
		w := groupWorldOf(t, profile, nil)
		w.nodes(api.MakeNode("n", "4", "16Gi"))
		w.d.Apply(lifecycle.Update(podGroup("g", 3, 0)))
		w.apply(groupPod("g-0", "g", "1", 0), groupPod("g-1", "g", "1", 0), groupPod("g-2", "g", "1", 0))
		a := w.one()
		if a.State == lifecycle.Binding {
			if last < 4 {
				t.Errorf("%d reservations for three pods, want more: the group was tried before", k.calls)
			}
			return
		}
		w.wantOn("n")
		if c := w.d.Counts(); a.Group != "default/g" || c.Assumed != 0 || c.Assigned != 0 || c.Pending != 3 {
			t.Errorf("reservation %d fails: counts %+v, want three pending pods", last, c)
		}
	}
}

// TestGroupPodIsTriedAgain: a pod of a group that Permit rejects later brings its group back
// into the queue, and the next attempt is its second.
func TestGroupPodIsTriedAgain(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Permit = append(profile.Permit, patient{"g-0"})
	numbers := attemptNumbers{}
	w := groupWorldOf(t, profile, numbers)
	w.nodes(api.MakeNode("n", "4", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)))
	w.apply(groupPod("g-0", "g", "1", 0))
	w.all()
	if n := len(w.handle.WaitingPods()); n != 1 {
		t.Fatalf("%d pods wait, want 1", n)
	}
	w.handle.WaitingPods()[0].Reject("patient", "no")
	w.d.Flush(w.ctx)
	w.wantOn("n")
	w.pass(time.Minute)
	w.all()
	if n := len(w.handle.WaitingPods()); n != 1 {
		t.Fatalf("%d pods wait after the group was tried again, want 1", n)
	}
	w.handle.WaitingPods()[0].Allow("patient")
	w.expect("when it is allowed", "g-0")
	if got := numbers["g-0"]; got != 3 { // a failure counts, too
		t.Errorf("the pod was bound by attempt %d, want 3", got)
	}
}

// TestGroupPodIsBoundElsewhere: a pod that another scheduler binds while it waits on Permit
// has lost nothing, so its group does not back off.
func TestGroupPodIsBoundElsewhere(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Permit = append(profile.Permit, patient{"g-0"})
	w := groupWorldOf(t, profile, nil)
	w.nodes(api.MakeNode("n", "4", "16Gi"), api.MakeNode("m", "4", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)))
	w.apply(groupPod("g-0", "g", "1", 0))
	w.all()
	if n := len(w.handle.WaitingPods()); n != 1 {
		t.Fatalf("%d pods wait, want 1", n)
	}
	w.apply(onNode(groupPod("g-0", "g", "1", 0), "m"))
	w.d.Flush(w.ctx)
	w.apply(groupPod("g-1", "g", "1", 0))
	w.expect("at once", "g-1")
}

// attemptNumbers are the numbers of the last attempts, by pod.
type attemptNumbers map[string]int

func (n attemptNumbers) Attempt(a *lifecycle.Attempt) { n[a.Pod.Pod.Name] = a.Number }

// TestGroupEndsBindings: a pod that waits on Permit makes room for a group without an
// eviction.
func TestGroupEndsBindings(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Permit = append(profile.Permit, patient{"low"})
	w := groupWorldOf(t, profile, nil)
	w.nodes(api.MakeNode("n", "2", "16Gi"))
	w.pods(api.MakePod("low").Requests("2", "1Gi"))
	w.all()
	w.wantOn("n", "low")
	w.d.Apply(lifecycle.Update(podGroup("g", 2, 10)))
	w.apply(groupPod("g-0", "g", "1", 10), groupPod("g-1", "g", "1", 10))
	w.all()
	if len(w.evicted) != 0 {
		t.Errorf("evicted %v, want none: the binding had not ended", w.evicted)
	}
	w.pass(time.Minute)
	w.expect("after the pod made room", "g-0", "g-1")
	w.wantOn("n", "g-0", "g-1")
}

// keeper is a Reserve plugin that fails one of its calls.
type keeper struct{ calls, last int }

func (*keeper) Name() string { return "keeper" }

func (k *keeper) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	if k.calls++; k.calls == k.last {
		return framework.AsStatus(errors.New("nothing is left"))
	}
	return framework.Status{}
}

func (*keeper) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// closed is a Reserve plugin that refuses every pod until it is opened.
type closed struct{ open *bool }

func (closed) Name() string { return "Closed" }
func (p closed) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	if *p.open {
		return framework.Status{}
	}
	return framework.UnschedulableStatus("closed")
}
func (closed) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// TestGroupOfRefusedReservations: a group whose pods a Reserve plugin of another module refused waits for its
// backoff alone, because nothing tells what helps it, also if a node is too small for them besides.
func TestGroupOfRefusedReservations(t *testing.T) {
	for _, nodes := range [][]api.NodeBuilder{
		{api.MakeNode("n", "4", "16Gi")},
		{api.MakeNode("n", "4", "16Gi"), api.MakeNode("small", "100m", "16Gi")},
	} {
		open, profile := false, scheduling.Kubernetes137()
		profile.Reserve = append(profile.Reserve, closed{&open})
		w := groupWorldOf(t, profile, nil)
		w.nodes(nodes...)
		w.d.Apply(lifecycle.Update(podGroup("g", 2, 0)))
		w.apply(groupPod("g-0", "g", "1", 0), groupPod("g-1", "g", "1", 0))
		w.all()
		w.depth(queue.Length{Backoff: 1})
		open = true
		w.pass(time.Minute)
		w.all()
		w.wantOn("n", "g-0", "g-1")
	}
}

// TestExpiredMember: a pod of a group whose binding is not confirmed in time is not bound again,
// whatever brings its group back, before there is news about it.
func TestExpiredMember(t *testing.T) {
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &groups.Rules{}, AssumeTTL: 30 * time.Second}, lifecycle.NewHandle())
	w.nodes(api.MakeNode("n", "4", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)), lifecycle.Update(groupPod("a", "g", "1", 0)))
	w.all()
	w.pass(30 * time.Second)
	w.d.Apply(lifecycle.Update(groupPod("b", "g", "1", 0)))
	w.all()
	w.wantOn("n", "b")
	if c := w.d.Counts(); c.Unconfirmed != 1 || c.Assumed != 1 || c.Pending != 0 {
		t.Errorf("%+v; want one pod unconfirmed, one assumed", c)
	}
	news := groupPod("a", "g", "1", 0)
	news.Labels = map[string]string{"news": "yes"}
	delete(w.bound, "a") // it may be bound once more
	w.d.Apply(lifecycle.Update(news))
	w.all()
	w.wantOn("n", "a", "b")
}

// shut is a filter that no event helps: what opens it calls Handle.Activate.
type shut struct{ open *bool }

func (shut) Name() string { return "Shut" }
func (p shut) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	if *p.open {
		return framework.Status{}
	}
	return framework.UnschedulableStatus("shut")
}

func (shut) EventsToRegister() []queueing.EventHint { return []queueing.EventHint{} }

// TestHandleOfMembers: a plugin activates and nominates a pod that waits in a group like one that waits
// alone.
func TestHandleOfMembers(t *testing.T) {
	for _, group := range []string{"", "g"} {
		open, profile := false, scheduling.Kubernetes137()
		profile.Cache.Off = true // the filter has no scope
		profile.Filter = append(profile.Filter, shut{&open})
		w := groupWorldOf(t, profile, nil)
		w.nodes(api.MakeNode("n", "4", "16Gi"), api.MakeNode("small", "100m", "16Gi"))
		w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)))
		a := api.MakePod("a").Requests("1", "1Gi").Obj()
		if group != "" {
			a = groupPod("a", group, "1", 0)
		}
		w.apply(a)
		w.all()
		for range 60 {
			w.pass(time.Second)
			w.all()
		}
		if n := w.d.QueueLength(); n.Active != 0 || n.Backoff+n.Unschedulable != 1 {
			t.Errorf("group %q: %+v, want a pod that waits", group, n)
		}
		w.handle.Nominate(a, "n")
		w.d.Flush(w.ctx)
		if n := w.d.Snapshot().Nominations(); n != 1 {
			t.Errorf("group %q: %d nominations, want 1", group, n)
		}
		open = true
		w.handle.Activate(a)
		w.all()
		w.wantOn("n", "a")
	}
}
