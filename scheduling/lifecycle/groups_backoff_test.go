package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// breaker fails at one point for the pod "bad", as long as it is on.
type breaker struct {
	point string
	on    bool
}

func (*breaker) Name() string { return "breaker" }

func (b *breaker) status(point string, pod *api.Pod) framework.Status {
	if b.on && b.point == point && pod.Name == "bad" {
		return framework.AsStatus(errors.New("broken"))
	}
	return framework.Status{}
}

func (b *breaker) Permit(_ context.Context, c *framework.Cycle, _ string) (framework.Status, time.Duration) {
	if b.on && b.point == "Permit rejects" && c.Pod.Pod.Name == "bad" {
		return framework.UnschedulableStatus("no"), 0
	}
	return b.status("Permit", c.Pod.Pod), 0
}

func (b *breaker) PreBind(_ context.Context, c *framework.Cycle, _ string) framework.Status {
	return b.status("PreBind", c.Pod.Pod)
}

// backoffWorld is a driver with a group of minimum 1 on a node with room for two pods.
type backoffWorld struct {
	*testing.T
	*breaker
	d     *lifecycle.Driver
	clock *virtualclock.Clock
	bound map[string]bool
}

func newBackoffWorld(t *testing.T, point string, backoff queue.Backoff) *backoffWorld {
	w := &backoffWorld{T: t, breaker: &breaker{point, true}, clock: virtualclock.New(epoch), bound: map[string]bool{}}
	profile := scheduling.Kubernetes137()
	profile.Permit = append(profile.Permit, w.breaker)
	profile.PreBind = append(profile.PreBind, w.breaker)
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}, Clock: w.clock, Backoff: backoff,
		Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, _ string) error {
			if s := w.status("Bind", p); !s.IsSuccess() {
				return errors.New("refused")
			}
			w.bound[p.Name] = true
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.d = d
	d.Apply(lifecycle.Update(api.MakeNode("n", "2", "16Gi").Obj()), lifecycle.Update(podGroup("g", 1, 0)))
	return w
}

// attempts makes all attempts that are due, up to 1,000, and counts them.
func (w *backoffWorld) attempts() (n int) {
	for n < 1000 {
		if _, ok := w.d.ScheduleOne(context.Background()); !ok {
			break
		}
		n++
	}
	return n
}

// hour counts the attempts of an hour.
func (w *backoffWorld) hour() (n int) {
	for range 3600 {
		w.clock.Advance(time.Second)
		n += w.attempts()
	}
	return n
}

// TestGroupThatLosesBindingsBacksOff: wherever the binding of a pod fails, its group is
// tried again after its backoff, also if other pods of the group wait for room. Once
// nothing fails, all pods that fit are bound.
func TestGroupThatLosesBindingsBacksOff(t *testing.T) {
	for _, point := range []string{"Permit", "Permit rejects", "PreBind", "Bind"} {
		for _, others := range []int{0, 1, 3} { // one fits beside the bad pod
			for name, backoff := range map[string]queue.Backoff{"backoff": {}, "none": {Max: queue.NoBackoff}} {
				t.Run(fmt.Sprintf("%s, %d others, %s", point, others, name), func(t *testing.T) {
					w := newBackoffWorld(t, point, backoff)
					w.d.Apply(lifecycle.Update(groupPod("bad", "g", "1", 0)))
					for i := range others {
						w.d.Apply(lifecycle.Update(groupPod(fmt.Sprint("good", i), "g", "1", 0)))
					}
					if n := w.attempts(); n < 1 || n > 3 {
						t.Errorf("%d attempts at one instant, want 1 to 3", n)
					}
					most, least := 2*360+20, 100 // at least 10 s apart, with one for the other pods each
					if backoff.Max == queue.NoBackoff {
						most = 2 * 3600
					}
					if n := w.hour(); n > most || n < least && others < 2 {
						t.Errorf("%d attempts in an hour, want %d to %d", n, least, most)
					}
					w.on = false
					w.d.Apply(lifecycle.Update(api.MakeNode("n", "9", "16Gi").Obj()))
					w.hour()
					if len(w.bound) != 1+others {
						t.Errorf("bound %v, want %d pods", w.bound, 1+others)
					}
					if c := w.d.Counts(); c.Pending != 0 || c.Queue != (queue.Length{}) {
						t.Errorf("counts %+v, want nothing pending", c)
					}
					// Nothing has failed since, so the next pod enters at once.
					w.d.Apply(lifecycle.Update(groupPod("late", "g", "1", 0)))
					if n := w.attempts(); n != 1 || !w.bound["late"] {
						t.Errorf("%d attempts for a pod after all were bound, want one", n)
					}
					// Neither does its backoff go on where it ended.
					w.on = true
					w.d.Apply(lifecycle.Delete(groupPod("bad", "g", "1", 0)), lifecycle.Update(groupPod("bad", "g", "1", 0)))
					w.attempts()
					w.clock.Advance(2 * time.Second)
					if n := w.attempts(); n != 1 {
						t.Errorf("%d attempts 2 s after the next binding has failed, want one", n)
					}
				})
			}
		}
	}
}

// TestGroupThatClosesBacksOff: a group that is kept out of the queue and let in again, by a
// gated pod or its object, is tried again after its backoff, and that grows.
func TestGroupThatClosesBacksOff(t *testing.T) {
	gated := api.MakePod("gated").Gates("x").Obj()
	group := "g"
	gated.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &group}
	for name, shut := range map[string][2]lifecycle.Event{
		"gated pod": {lifecycle.Update(gated), lifecycle.Delete(gated)},
		"object":    {lifecycle.Delete(podGroup("g", 1, 0)), lifecycle.Update(podGroup("g", 1, 0))},
	} {
		t.Run(name, func(t *testing.T) {
			w := newBackoffWorld(t, "", queue.Backoff{})
			w.d.Apply(lifecycle.Update(groupPod("large", "g", "3", 0)))
			if n := w.attempts(); n != 1 {
				t.Fatalf("%d attempts, want the first at once", n)
			}
			toggle := func() (n int) {
				w.d.Apply(shut[0])
				n = w.attempts()
				w.d.Apply(shut[1])
				return n + w.attempts()
			}
			for range 10 {
				if n := toggle(); n > 0 {
					t.Fatalf("%d attempts at the instant of the first", n)
				}
			}
			n := 0
			for range 600 {
				w.clock.Advance(time.Second)
				n += toggle()
			}
			if n < 50 || n > 65 {
				t.Errorf("%d attempts in 10 minutes, want one every 10 to 12 s", n)
			}
			w.d.Apply(lifecycle.Update(api.MakeNode("n", "9", "16Gi").Obj()))
			w.hour()
			if !w.bound["large"] {
				t.Error("the pod is not bound although there is room")
			}
		})
	}
}

// TestLargeGroupThatClosesBacksOffLonger: the longest backoff of a group that is kept out
// and let in again grows with its size.
func TestLargeGroupThatClosesBacksOffLonger(t *testing.T) {
	w := newBackoffWorld(t, "", queue.Backoff{})
	for i := range 4 {
		w.d.Apply(lifecycle.Update(groupPod(fmt.Sprint("large-", i), "g", "3", 0)))
	}
	n := w.attempts()
	for range 600 {
		w.clock.Advance(time.Second)
		w.d.Apply(lifecycle.Delete(podGroup("g", 1, 0)))
		n += w.attempts()
		w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)))
		n += w.attempts()
	}
	if n < 27 || n > 36 {
		t.Errorf("%d attempts in 10 minutes, want one every 20 to 22 s", n)
	}
}

// TestPodJoinsGroupThatWaits: pods that join a group which waits for an event are tried after
// its backoff, however many they are.
func TestPodJoinsGroupThatWaits(t *testing.T) {
	w := newBackoffWorld(t, "", queue.Backoff{})
	w.d.Apply(lifecycle.Update(groupPod("large-0", "g", "3", 0)), lifecycle.Update(groupPod("large-1", "g", "3", 0)))
	if n := w.attempts(); n != 1 || w.d.Counts().Queue.Unschedulable != 1 {
		t.Fatalf("%d attempts, counts %+v, want one and a group that waits", n, w.d.Counts())
	}
	late := func(i int) *api.Pod { return groupPod(fmt.Sprint("late-", i), "g", "1m", 0) }
	n := 0
	for i := range 10 {
		w.d.Apply(lifecycle.Update(late(i)))
		n += w.attempts()
	}
	if n > 0 {
		t.Errorf("%d attempts before the backoff has ended", n)
	}
	w.clock.Advance(2 * time.Second)
	n += w.attempts()
	if n != 2 || len(w.bound) != 10 {
		t.Errorf("%d attempts and %d bound pods after the backoff, want 2, with one for the pods that are left, and 10", n, len(w.bound))
	}
}

// TestNewGroupKeepsItsTurn: a pod that joins a group which has not been tried yet does not
// send it to the end of the queue.
func TestNewGroupKeepsItsTurn(t *testing.T) {
	w := newBackoffWorld(t, "", queue.Backoff{})
	for _, p := range []*api.Pod{groupPod("first", "g", "500m", 0), api.MakePod("alone").Requests("500m", "1Gi").Obj(), groupPod("second", "g", "500m", 0)} {
		w.d.Apply(lifecycle.Update(p))
		w.d.Flush(context.Background())
		w.clock.Advance(time.Second)
	}
	if a, ok := w.d.ScheduleOne(context.Background()); !ok || a.Group != "default/g" || !w.bound["second"] {
		t.Errorf("the first attempt is for %q, and bound are %v, want the group", a.Group, w.bound)
	}
}

// hangingEvicter binds every pod, and takes its time to evict.
type hangingEvicter struct{ evict chan struct{} }

func (hangingEvicter) Bind(context.Context, *api.Pod, string) error { return nil }

func (e hangingEvicter) Evict(context.Context, *api.Pod, *api.Pod) error {
	<-e.evict
	return nil
}

// TestGroupThatClosesWhileItEvicts: while the victims of a group are asked to leave, the
// group is in flight, whatever comes and goes. The attempt counts once it has ended.
func TestGroupThatClosesWhileItEvicts(t *testing.T) {
	clock, e := virtualclock.New(epoch), hangingEvicter{make(chan struct{})}
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &groups.Rules{}, Clock: clock, Binder: e, Bindings: 2,
		ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &backoffWorld{T: t, d: d, clock: clock}
	gated := groupPod("gated", "g", "1", 10)
	gated.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "example.com/hold"}}
	d.Apply(
		lifecycle.Update(api.MakeNode("n", "2", "16Gi").Obj()), lifecycle.Update(podGroup("g", 1, 10)),
		lifecycle.Update(api.MakePod("low").Requests("2", "1Gi").Node("n").Obj()), lifecycle.Update(groupPod("high", "g", "2", 10)),
	)
	if n := w.attempts(); n != 1 {
		t.Fatalf("%d attempts, want one that preempts", n)
	}
	toggle := func() (n int) {
		d.Apply(lifecycle.Update(gated))
		n = w.attempts()
		d.Apply(lifecycle.Delete(gated))
		return n + w.attempts()
	}
	for range 10 {
		if n := toggle(); n > 0 {
			t.Fatalf("%d attempts while the victims are asked to leave", n)
		}
		clock.Advance(time.Minute)
	}
	d.Apply(lifecycle.Update(gated)) // the attempt ends while it is there
	e.evict <- struct{}{}
	for d.Counts().Queue.InFlight > 0 {
		d.Flush(context.Background())
	}
	d.Apply(lifecycle.Delete(gated))
	if n := w.attempts() + toggle(); n > 0 {
		t.Errorf("%d attempts at the instant at which the first ended", n)
	}
	d.Apply(lifecycle.Delete(api.MakePod("low").Obj()))
	clock.Advance(2 * time.Second)
	if n := w.attempts(); n != 1 {
		t.Errorf("%d attempts after the backoff, want one", n)
	}
	if c := d.Counts(); c.Pending != 0 {
		t.Errorf("counts %+v, want nothing pending", c)
	}
}
