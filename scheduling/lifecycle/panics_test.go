//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

func TestHandleIgnoresNilPods(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	w.pods(api.MakePod("p"))
	w.all()
	w.handle.Activate(nil, api.MakePod("p").Obj())
	w.handle.Nominate(nil, "n")
	w.d.Flush(w.ctx)
	w.noProblems()
	w.depth(queue.Length{Active: 1})
}

func TestVictimsMustBePods(t *testing.T) {
	p := proposal{framework.PostFiltered{Nominated: "n", Victims: []framework.Victim{{}}}}
	w := newWorld(t, scheduling.Profile{PreFilter: []framework.Plugin{bouncer{}}, PostFilter: []framework.Plugin{p}})
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("p").Labels("bounce", "now"))
	if a := w.one(); a.State != lifecycle.Failed || a.Nominated != "" || len(a.Victims) > 0 {
		t.Errorf("attempt: %+v, want one that failed without a nomination", a)
	}
	w.wantProblem("proposal", "Victims[0].Pod: is nil")
}

// wild panics instead of sorting pods.
type wild struct{}

func (wild) Name() string                       { return "wild" }
func (wild) Less(_, _ *queueing.QueuedPod) bool { panic("oh") }

func TestQueueSortPanics(t *testing.T) {
	w := newWorld(t, scheduling.Profile{QueueSort: wild{}})
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("a"), api.MakePod("b"), api.MakePod("c"))
	var order []string
	for _, a := range w.all() {
		order = append(order, a.Pod.Pod.Name)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	w.wantProblem("QueueSort plugin wild")
	if len(w.problems) != 1 {
		t.Errorf("problems: %q, want one", w.problems)
	}
}

// mute is a filter that panics when it is asked for its events.
type mute struct{}

func (mute) Name() string                           { return "mute" }
func (mute) EventsToRegister() []queueing.EventHint { panic("oh") }
func (mute) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func TestEventsToRegisterPanics(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	_, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{{Filter: []framework.Plugin{mute{}}}}, Binder: w, Clock: w.clock,
	})
	var plugin *scheduling.PluginError
	if !errors.As(err, &plugin) || plugin.Plugin != "mute" || plugin.Point != "EventsToRegister" {
		t.Errorf("New: %v, want an error of the plugin mute", err)
	}
}

// bomb is an observer and a reporter that panics in every method.
type bomb struct{}

func (bomb) Attempt(*lifecycle.Attempt)                         { panic("oh") }
func (bomb) Point(lifecycle.PointTiming)                        { panic("oh") }
func (bomb) Plugin(lifecycle.PluginTiming)                      { panic("oh") }
func (bomb) Scores(*scheduling.Explanation)                     { panic("oh") }
func (bomb) Queue(queue.Length)                                 { panic("oh") }
func (bomb) Bind(context.Context, *api.Pod, string) error       { return nil }
func (bomb) Report(context.Context, *api.Pod, lifecycle.Report) { panic("oh") }

func TestObserverPanics(t *testing.T) {
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Observer: bomb{}}, lifecycle.NewHandle())
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("a"))
	if a := w.one(); a.State != lifecycle.Bound {
		t.Errorf("attempt: %+v, want a pod that is bound", a)
	}
	w.wantProblem("observer: Attempt: ", "observer: Point: ", "observer: Plugin: ", "observer: Scores: ", "observer: Queue: ")
}

func TestReporterPanics(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{{}}, Binder: bomb{}, Clock: w.clock,
		ErrorHandler: func(err error) { w.problems = append(w.problems, err.Error()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Apply(lifecycle.Update(api.MakePod("p").Obj()))
	if a, ok := d.ScheduleOne(w.ctx); !ok || a.State != lifecycle.Failed {
		t.Errorf("attempt: %+v, want one that failed", a)
	}
	w.wantProblem("reporter: pod default/p: panic: oh")
}

// TestFloodDoesNotStarve: events that cause new events delay neither the ready pods
// nor the end of the driver.
func TestFloodDoesNotStarve(t *testing.T) {
	var w *world
	flood := true
	w = newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{{PreEnqueue: []framework.Plugin{gusher{func() {
		if flood {
			w.pods(api.MakePod("q"))
			w.d.Apply(lifecycle.Delete(api.MakePod("q").Obj()))
		}
	}}}}}}, lifecycle.NewHandle())
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("p"))
	if a := w.one(); a.Pod.Pod.Name != "p" {
		t.Errorf("attempt for %s, want p", a.Pod.Pod.Name)
	}
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	if _, ok := w.d.ScheduleOne(ctx); ok {
		t.Error("ScheduleOne made an attempt although its context is done")
	}
	flood = false
	w.all()
	w.wantOn("n", "p")
	w.noProblems()
}

// gusher calls a function for every pod that it sees.
type gusher struct{ f func() }

func (gusher) Name() string { return "gusher" }

func (g gusher) PreEnqueue(context.Context, *framework.PodInfo) framework.Status {
	g.f()
	return framework.Status{}
}

// TestExpiryOfARebornBinding: the leftover of a pod that was bound before does not
// delay the expiry of other pods.
func TestExpiryOfARebornBinding(t *testing.T) {
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{{}}, AssumeTTL: 30 * time.Second}, lifecycle.NewHandle())
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("a"))
	w.one() // expires at 30 s
	w.pass(5 * time.Second)
	w.pods(api.MakePod("b"))
	w.one() // expires at 35 s
	w.pass(5 * time.Second)
	w.d.Apply(lifecycle.Update(onNode(api.MakePod("a").Obj(), "n")))
	w.d.Flush(w.ctx)
	w.pods(api.MakePod("a")) // it has lost its node
	delete(w.bound, "a")
	w.one() // expires at 40 s
	w.wantOn("n", "a", "b")
	w.pass(26 * time.Second)
	w.wantOn("n", "a")
	w.pass(5 * time.Second)
	w.wantOn("n")
}
