package lifecycle_test

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// start is the time at which the examples begin.
var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// A simulator applies events and makes attempts itself.
func ExampleDriver() {
	driver, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()},
		Clock:    virtualclock.New(start),
		Binder: lifecycle.BinderFunc(func(_ context.Context, pod *api.Pod, node string) error {
			fmt.Println("bind", pod.Name, "to", node)
			return nil
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	driver.Apply(
		lifecycle.Update(api.MakeNode("small", "2", "4Gi").Obj()),
		lifecycle.Update(api.MakePod("web").Requests("1", "1Gi").Obj()),
		lifecycle.Update(api.MakePod("huge").Requests("16", "1Gi").Obj()),
	)
	attempts := func() {
		for a, ok := driver.ScheduleOne(context.Background()); ok; a, ok = driver.ScheduleOne(context.Background()) {
			fmt.Println("attempt", a.Number, "for", a.Pod.Pod.Name+":", a.State, a.Err)
		}
	}
	attempts()
	driver.Apply(lifecycle.Update(api.MakeNode("large", "32", "64Gi").Obj())) // the event that the pod has waited for
	attempts()
	// Output:
	// bind web to small
	// attempt 1 for web: Bound <nil>
	// attempt 1 for huge: Failed 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.
	// bind huge to large
	// attempt 2 for huge: Bound <nil>
}

// watch is a source of a few events.
type watch struct{ events []lifecycle.Event }

func (w *watch) Next(context.Context) (lifecycle.Event, error) {
	if len(w.events) == 0 {
		return lifecycle.Event{}, io.EOF
	}
	e := w.events[0]
	w.events = w.events[1:]
	return e, nil
}

// A scheduler follows its source until it is stopped.
func ExampleSource() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	driver, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()},
		Clock:    framework.ClockOf(time.Now, time.AfterFunc),
		Bindings: 4,
		Binder: lifecycle.BinderFunc(func(_ context.Context, pod *api.Pod, node string) error {
			fmt.Println("bind", pod.Name, "to", node)
			stop()
			return nil
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var source lifecycle.Source = &watch{[]lifecycle.Event{
		lifecycle.Update(api.MakeNode("n", "2", "4Gi").Obj()),
		lifecycle.Update(api.MakePod("web").Obj()),
	}}
	fmt.Println(driver.Run(ctx, source))
	// Output:
	// bind web to n
	// context canceled
}

// outside is an outside world that evicts pods and receives reports.
type outside struct{}

func (outside) Bind(context.Context, *api.Pod, string) error { return nil }

func (outside) Evict(_ context.Context, victim, preemptor *api.Pod) error {
	fmt.Println("evict", victim.Name, "for", preemptor.Name)
	return nil
}

func (outside) Report(_ context.Context, pod *api.Pod, r lifecycle.Report) {
	fmt.Println(pod.Name, "is", r.Reason+", nominated to", r.Nominated)
}

func ExampleBinder() {
	var binder lifecycle.Binder = outside{}
	_, evicts := binder.(lifecycle.Evicter)
	_, reports := binder.(lifecycle.Reporter)
	fmt.Println("evicts:", evicts, "reports:", reports)

	driver, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: virtualclock.New(start), Binder: binder,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	driver.Apply(
		lifecycle.Update(api.MakeNode("n", "2", "4Gi").Obj()),
		lifecycle.Update(api.MakePod("batch").Requests("2", "1Gi").Node("n").Obj()),
		lifecycle.Update(api.MakePod("urgent").Requests("2", "1Gi").Priority(10).Obj()),
	)
	driver.ScheduleOne(context.Background())
	// Output:
	// evicts: true reports: true
	// evict batch for urgent
	// urgent is Unschedulable, nominated to n
}

// meter implements every observer interface.
type meter struct{ plugins, steps int }

func (m *meter) Attempt(a *lifecycle.Attempt) {
	fmt.Println(a.Pod.Pod.Name, a.State, "on", a.Decision.Node)
}
func (m *meter) Point(lifecycle.PointTiming) { m.steps++ }
func (m *meter) Queue(d queue.Length)        { fmt.Println(d.InFlight, "in flight") }

func (m *meter) Plugin(t lifecycle.PluginTiming) {
	if m.plugins++; t.Point == "Filter" {
		fmt.Println(t.Plugin, "looked at", t.Nodes, "nodes in", t.Duration)
	}
}

func (m *meter) Scores(e *scheduling.Explanation) {
	for _, n := range e.Nodes {
		fmt.Println("total of", n.Node, "is", n.Total)
	}
}

func ExampleObserver() {
	m := &meter{}
	var observer lifecycle.Observer = m
	_, points := observer.(lifecycle.PointObserver)
	_, plugins := observer.(lifecycle.PluginObserver)
	_, scores := observer.(lifecycle.ScoreObserver)
	_, depths := observer.(lifecycle.QueueObserver)
	fmt.Println("points:", points, "plugins:", plugins, "scores:", scores, "queue:", depths)

	p := scheduling.Kubernetes137()
	p.Filter = p.Filter[5:6] // NodeResourcesFit
	driver, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Clock: virtualclock.New(start), Binder: outside{}, Observer: observer,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	driver.Apply(
		lifecycle.Update(api.MakeNode("a", "2", "4Gi").Obj()),
		lifecycle.Update(api.MakeNode("b", "4", "4Gi").Obj()),
		lifecycle.Update(api.MakePod("web").Requests("1", "1Gi").Obj()),
	)
	driver.ScheduleOne(context.Background())
	fmt.Println("steps:", m.steps > 0, "plugins:", m.plugins > 0)
	// Output:
	// points: true plugins: true scores: true queue: true
	// NodeResourcesFit looked at 2 nodes in 0s
	// total of a is 430
	// total of b is 450
	// web Bound on b
	// 0 in flight
	// steps: true plugins: true
}

// A plugin made with a handle can bind through it.
func ExampleHandle() {
	handle := lifecycle.NewHandle()
	p := scheduling.Kubernetes137()
	p.Bind = []framework.Plugin{lifecycle.DefaultBinder{Handle: handle}}
	driver, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Clock: virtualclock.New(start), Binder: outside{}, Handle: handle, Seed: 7,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	driver.Apply(lifecycle.Update(api.MakeNode("n", "2", "4Gi").Obj()), lifecycle.Update(api.MakePod("web").Obj()))
	a, _ := driver.ScheduleOne(context.Background())
	fmt.Println(a.State == lifecycle.Bound, "seed", handle.Seed(), "waiting", len(handle.WaitingPods()))
	// Output:
	// true seed 7 waiting 0
}

// A simulation moves its clock from one event to the next.
func ExampleSteppingClock() {
	clock := virtualclock.New(start)
	var steps lifecycle.SteppingClock = clock
	driver, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: clock,
		Binder: lifecycle.BinderFunc(func(_ context.Context, pod *api.Pod, node string) error {
			fmt.Println(pod.Name, "begins after", clock.Now().Sub(start))
			return nil
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	first := api.MakePod("first").Requests("2", "1Gi").Obj()
	driver.Apply(lifecycle.Update(api.MakeNode("n", "2", "4Gi").Obj()), lifecycle.Update(first))
	clock.AfterFunc(time.Hour, func() { driver.Apply(lifecycle.Update(api.MakePod("second").Requests("2", "1Gi").Obj())) })
	clock.AfterFunc(3*time.Hour, func() { driver.Apply(lifecycle.Delete(first)) })
	if err := driver.Simulate(context.Background(), steps, start.Add(24*time.Hour)); err != nil {
		fmt.Println(err)
	}
	fmt.Println("the day is over:", clock.Now().Sub(start))
	// Output:
	// first begins after 0s
	// second begins after 3h0m0s
	// the day is over: 24h0m0s
}

// Counts shows the pods that wait for something outside of the driver.
func ExampleCounts() {
	driver, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()},
		Clock:    virtualclock.New(start),
		Binder:   lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	driver.Apply(
		lifecycle.Add(api.MakeNode("n1", "2", "4Gi").Obj()),
		lifecycle.Add(api.MakePod("here").Node("n1").Obj()),
		lifecycle.Add(api.MakePod("elsewhere").Node("n2").Obj()),
		lifecycle.Add(api.MakePod("foreign").Scheduler("volcano").Obj()),
		lifecycle.Add(api.MakePod("waits").Obj()),
	)
	driver.Flush(context.Background())
	c := driver.Counts()
	fmt.Println(c.Pods, "pods:", c.Assigned, "assigned,", c.UnknownNode, "on unknown nodes,",
		c.OtherSchedulers, "of other schedulers,", c.Pending, "pending")
	// Output: 4 pods: 1 assigned, 1 on unknown nodes, 1 of other schedulers, 1 pending
}
