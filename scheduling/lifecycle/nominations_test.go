//go:build full

package lifecycle_test

import (
	"context"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// doorman is a Permit plugin that rejects pods of a name.
type doorman struct{ rejects string }

func (doorman) Name() string { return "doorman" }

func (doorman) EventsToRegister() []queueing.EventHint { return nil }

func (d doorman) Permit(_ context.Context, c *framework.Cycle, _ string) (framework.Status, time.Duration) {
	if c.Pod.Pod.Name == d.rejects {
		return framework.UnschedulableStatus(framework.Text("not today")), 0
	}
	return framework.Status{}, 0
}

// reservedFor is a world of two zones with a node each. Pod high is nominated to that of zone
// a and gated; pod low, which can run only there, has been refused for it.
func reservedFor(t *testing.T, profile scheduling.Profile, high api.PodBuilder) *world {
	t.Helper()
	w := newWorld(t, profile)
	w.confirm = true
	w.nodes(api.MakeNode("a", "2", "8Gi").Zone("a"), api.MakeNode("b", "2", "8Gi").Zone("b"))
	w.pods(high.Gates("later"), api.MakePod("low").Requests("2", "1Gi").NodeSelector(api.LabelTopologyZone, "a"))
	if a := w.one(); a.State != lifecycle.Failed {
		t.Fatalf("low: %v, want Failed: the room is another's", a.State)
	}
	return w
}

// TestNominatedPodGoesElsewhere: the room that was kept for a pod is free for others once
// the pod has another node.
func TestNominatedPodGoesElsewhere(t *testing.T) {
	high := api.MakePod("high").Requests("2", "1Gi").Priority(10).Nominated("a").NodeSelector(api.LabelTopologyZone, "b")
	w := reservedFor(t, scheduling.Kubernetes137(), high)
	w.pods(high)
	w.all()
	w.pass(time.Minute)
	w.all()
	if w.bound["high"] != "b" || w.bound["low"] != "a" {
		t.Errorf("bound %v, want high to b and low to a", w.bound)
	}
	w.noProblems()
}

// TestNominatedPodIsNotPermitted: the room that was kept for a pod is free for others if
// Permit rejects the pod there.
func TestNominatedPodIsNotPermitted(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Permit = append(profile.Permit, doorman{"high"})
	high := api.MakePod("high").Requests("2", "1Gi").Priority(10).Nominated("a").NodeSelector(api.LabelTopologyZone, "a")
	w := reservedFor(t, profile, high)
	w.pods(high)
	w.all()
	if got := w.d.Snapshot().Nominations(); got != 0 {
		t.Errorf("%d nominations, want 0", got)
	}
	w.pass(time.Minute)
	w.all()
	if w.bound["low"] != "a" || len(w.bound) != 1 {
		t.Errorf("bound %v, want low to a alone", w.bound)
	}
	w.noProblems()
}

// TestNominatedPodOfGroup is the two tests above for a pod of a group.
func TestNominatedPodOfGroup(t *testing.T) {
	for _, tt := range []struct{ zone, high string }{{"a", ""}, {"b", "b"}} {
		profile := scheduling.Kubernetes137()
		if tt.high == "" {
			profile.Permit = append(profile.Permit, doorman{"high"})
		}
		w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}}, lifecycle.NewHandle())
		w.confirm = true
		w.nodes(api.MakeNode("a", "2", "8Gi").Zone("a"), api.MakeNode("b", "2", "8Gi").Zone("b"))
		high := groupPod("high", "g", "2", 10)
		high.Status.NominatedNodeName, high.Spec.NodeSelector = "a", map[string]string{api.LabelTopologyZone: tt.zone}
		w.d.Apply(lifecycle.Update(high)) // its group does not exist
		w.pods(api.MakePod("low").Requests("2", "1Gi").NodeSelector(api.LabelTopologyZone, "a"))
		w.all()
		if len(w.bound) > 0 {
			t.Fatalf("bound %v, want none: the room is another's", w.bound)
		}
		w.d.Apply(lifecycle.Update(podGroup("g", 1, 10)))
		w.all()
		w.pass(time.Minute)
		w.all()
		if w.bound["high"] != tt.high || w.bound["low"] != "a" {
			t.Errorf("zone %s: bound %v, want high to %q and low to a", tt.zone, w.bound, tt.high)
		}
		w.noProblems()
	}
}

// TestOwnNominationStays: while the status of a pod names no node, what the driver has
// nominated it to stays.
func TestOwnNominationStays(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(api.MakeNode("n", "2", "8Gi"))
	w.pods(api.MakePod("old").Requests("2", "1Gi").Node("n"))
	high := api.MakePod("high").Requests("2", "1Gi").Priority(10)
	w.pods(high)
	if a := w.one(); a.Nominated != "n" {
		t.Fatalf("nominated to %q, want n", a.Nominated)
	}
	w.pods(high.Labels("a", "b"))
	w.d.Flush(w.ctx)
	if got := w.d.Snapshot().Nominations(); got != 1 {
		t.Errorf("%d nominations after another version came, want 1", got)
	}
	w.noProblems()
}

// TestDeletedWhileItIsBound: a pod that is deleted while it is bound frees its room at the
// end, and pods that wait for the room learn of it.
func TestDeletedWhileItIsBound(t *testing.T) {
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Bindings: 1}, lifecycle.NewHandle())
	begun, end := make(chan struct{}), make(chan struct{})
	w.refuse = func(pod *api.Pod, _ string) error {
		if pod.Name == "first" {
			close(begun)
			<-end
		}
		return nil
	}
	first := api.MakePod("first").Requests("2", "1Gi").Priority(1)
	w.nodes(api.MakeNode("n", "2", "8Gi"))
	w.pods(first, api.MakePod("second").Requests("2", "1Gi"))
	if list := w.all(); len(list) != 2 || list[0].State != lifecycle.Binding || list[1].State != lifecycle.Failed {
		t.Fatalf("attempts %+v, want one that binds and one that fails", list)
	}
	<-begun
	w.d.Apply(lifecycle.Delete(first.Obj()))
	w.d.Flush(w.ctx)
	w.wantOn("n", "first")
	close(end)
	flushUntil(t, w, func() bool { return len(w.on("n")) == 0 })
	w.clock.Advance(time.Minute)
	if a := w.one(); a.Pod.Pod.Name != "second" || a.State != lifecycle.Binding {
		t.Errorf("pod %s: %v, want second to be bound", a.Pod.Pod.Name, a.State)
	}
	flushUntil(t, w, func() bool { return w.d.Counts().Binding == 0 })
	w.noProblems()
}

// flushUntil applies what happens until the driver has come to where it is wanted.
func flushUntil(t *testing.T, w *world, there func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		w.d.Flush(w.ctx)
		if there() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("counts %+v", w.d.Counts())
		}
	}
}

// TestNominationIsGivenUpInTime: while the victim of a pod leaves, another pod takes the host port that it needs on its node. When
// the victim has gone, the pod gives its node up, and one that it has kept off gets the room.
func TestNominationIsGivenUpInTime(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.confirm = true
	w.nodes(api.MakeNode("n1", "4", "64Gi"), api.MakeNode("n2", "1", "64Gi"))
	victim := onNode(api.MakePod("victim").UID("victim").Requests("3", "1Gi").Obj(), "n1")
	w.d.Apply(
		lifecycle.Update(onNode(api.MakePod("fill").UID("fill").Requests("1", "1Gi").Priority(20).Obj(), "n2")), lifecycle.Update(victim),
	)
	w.all()
	w.pods(api.MakePod("nominated").UID("nominated").Requests("2", "1Gi").Priority(5).HostPort(80))
	w.all()
	leaving := api.Clone(victim)
	leaving.DeletionTimestamp = new(w.clock.Now())
	w.d.Apply(lifecycle.Update(leaving))
	w.pods(api.MakePod("port").UID("port").Requests("300m", "1Gi").Priority(10).HostPort(80))
	w.all()
	w.pass(20 * time.Second)
	w.pods(api.MakePod("late").UID("late").Requests("2", "1Gi"))
	w.nodes(api.MakeNode("n1", "4", "65Gi")) // an attempt of the nominated pod, which waits for the victim
	w.all()
	w.pass(20 * time.Second)
	w.all()
	w.d.Apply(lifecycle.Delete(leaving))
	for range 3 {
		w.all()
		w.pass(15 * time.Second) // beyond their backoff
	}
	if w.bound["late"] != "n1" {
		t.Errorf("late is on %q, want n1; n1 has %v", w.bound["late"], w.on("n1"))
	}
}
