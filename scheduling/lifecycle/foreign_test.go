package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// nilError is an error whose methods all panic for the nil pointer.
type nilError struct{ cause error }

func (e *nilError) Error() string { return e.cause.Error() }
func (e *nilError) Unwrap() error { return e.cause }

// abroad is a binder, and a plugin, that acts as answer says wherever it is called.
type abroad struct {
	at     string
	calls  *atomic.Int64
	answer func() error
}

func (a abroad) hit(at string) error {
	if a.at != at {
		return nil
	}
	a.calls.Add(1)
	return a.answer()
}

func (a abroad) Bind(context.Context, *api.Pod, string) error { return a.hit("Bind") }

func (a abroad) Evict(context.Context, *api.Pod, *api.Pod) error { return a.hit("Evict") }

func (a abroad) Report(context.Context, *api.Pod, lifecycle.Report) { _ = a.hit("Report") }

func (a abroad) ReleaseClaim(context.Context, framework.ClaimRelease, *api.Pod) error {
	return a.hit("ReleaseClaim")
}

// abroadPlugin is a plugin at PreBind and PostFilter. It rejects the nominator and asks for
// a claim, or for a victim, in its place.
type abroadPlugin struct {
	abroad
	name string
}

func (p abroadPlugin) Name() string { return p.name }

func (p abroadPlugin) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if c.Pod.Pod.Name == "late" {
		return framework.PreFiltered{}, framework.UnschedulableStatus("not now")
	}
	return framework.PreFiltered{}, framework.SkipStatus()
}

func (abroadPlugin) EventsToRegister() []queueing.EventHint { return nil }

func (p abroadPlugin) PostFilter(_ context.Context, c *framework.Cycle, _ framework.Verdicts) (framework.PostFiltered, framework.Status) {
	if p.at == "ReleaseClaim" {
		return framework.PostFiltered{Claims: []framework.ClaimRelease{{Claim: "default/c"}}}, framework.Status{}
	}
	var r framework.PostFiltered
	for _, v := range c.Snapshot.Node("n").Pods {
		r.Nominated, r.Victims = "n", append(r.Victims, framework.Victim{Pod: v})
	}
	return r, framework.Status{}
}

func (p abroadPlugin) PreBindPreFlight(context.Context, *framework.Cycle, string) (parallel bool, s framework.Status) {
	return true, framework.AsStatus(p.hit("PreBindPreFlight"))
}

func (p abroadPlugin) PreBind(context.Context, *framework.Cycle, string) framework.Status {
	return framework.AsStatus(p.hit("PreBind"))
}

func (p abroadPlugin) PostBind(context.Context, *framework.Cycle, string) { _ = p.hit("PostBind") }

func (p abroadPlugin) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	if p.at != "Permit" {
		return framework.Status{}, 0
	}
	return framework.AsStatus(p.hit("Permit")), 0
}

// goAbroad runs a driver for five seconds. Two victims are on node n; pod early is bound
// there, and pod late is rejected and asks for room.
func goAbroad(t *testing.T, at string, bindings int, answer func() error) (problems []string, c lifecycle.Counts) {
	t.Helper()
	out := abroad{at, new(atomic.Int64), answer}
	one, two := abroadPlugin{out, "one"}, abroadPlugin{out, "two"}
	synctest.Test(t, func(t *testing.T) {
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{{
				PreFilter: []framework.Plugin{one}, PostFilter: []framework.Plugin{one}, Permit: []framework.Plugin{one},
				PreBind: []framework.Plugin{one, two}, PostBind: []framework.Plugin{one},
			}},
			Binder: out, Clock: framework.ClockOf(time.Now, time.AfterFunc), Bindings: bindings, Grace: time.Second,
			ErrorHandler: func(err error) { problems = append(problems, err.Error()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		d.Apply(lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()))
		for i := range 3 {
			d.Apply(lifecycle.Update(onNode(api.MakePod(fmt.Sprint("victim", i)).Namespace("default").Obj(), "n")))
		}
		d.Apply(lifecycle.Update(api.MakePod("early").Namespace("default").Obj()), lifecycle.Update(api.MakePod("late").Namespace("default").Obj()))
		if err := d.Run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run: %v, want the context's error", err)
		}
		c = d.Counts()
	})
	if out.calls.Load() == 0 {
		t.Errorf("%s was never called", at)
	}
	return problems, c
}

// TestNilPointersAsErrors: wherever code outside the module returns an error, it may be a
// nil pointer whose methods panic.
func TestNilPointersAsErrors(t *testing.T) {
	for _, bindings := range []int{0, 4} {
		for _, at := range []string{"Bind", "Evict", "ReleaseClaim", "PreBindPreFlight", "PreBind", "Permit"} {
			t.Run(fmt.Sprintf("%s/bindings=%d", at, bindings), func(t *testing.T) {
				problems, c := goAbroad(t, at, bindings, func() error { var e *nilError; return e })
				if c.Binding > 0 || c.Queue.InFlight > 0 {
					t.Errorf("not at rest: %+v", c)
				}
				if told := strings.Contains(strings.Join(problems, "\n"), "*lifecycle_test.nilError"); told != (at == "Evict" || at == "ReleaseClaim") {
					t.Errorf("problems: %q", problems)
				}
			})
		}
	}
}

// nilSource ends with an error that is a nil pointer.
type nilSource struct{}

func (nilSource) Next(context.Context) (lifecycle.Event, error) {
	var e *nilError
	return lifecycle.Event{}, e
}

func TestSourceEndsWithNilPointer(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	if err := w.d.Run(w.ctx, nilSource{}); err == nil || !strings.Contains(err.Error(), "nilError") {
		t.Errorf("Run: %v, want an error that names the type", err)
	}
}

// TestGoexit: code outside the module ends the goroutine that it was called in. That is an
// error; nothing stays reserved, no place among the tasks stays taken, and Run ends.
func TestGoexit(t *testing.T) {
	for _, at := range []string{"Bind", "Evict", "ReleaseClaim", "Report", "PreBindPreFlight", "PreBind", "PostBind"} {
		t.Run(at, func(t *testing.T) {
			problems, c := goAbroad(t, at, 1, func() error { runtime.Goexit(); return nil })
			failed := at == "Bind" || at == "PreBind" || at == "PreBindPreFlight"
			if c.Binding > 0 || c.Queue.InFlight > 0 || (c.Assumed == 0) != failed {
				t.Errorf("not at rest: %+v", c)
			}
			if told := strings.Contains(strings.Join(problems, "\n"), "ended its goroutine"); told == failed {
				t.Errorf("problems: %q", problems)
			}
		})
	}
}

// once is an extension whose method of one name panics once.
type once struct{ method string }

func (o *once) Fork(*framework.Snapshot) framework.Extension { return o }

func (o *once) hit(method string) {
	if o.method == method {
		o.method = ""
		panic("once")
	}
}

func (o *once) NodeAdded(*framework.Snapshot, *framework.NodeInfo)   { o.hit("NodeAdded") }
func (o *once) NodeRemoved(*framework.Snapshot, *framework.NodeInfo) { o.hit("NodeRemoved") }

func (o *once) NodeUpdated(*framework.Snapshot, *framework.NodeInfo, *framework.NodeInfo) {
	o.hit("NodeUpdated")
}

func (o *once) ObjectChanged(*framework.Snapshot, string, any) { o.hit("ObjectChanged") }

// TestBrokenSnapshotEndsRun: an extension panics when a node or an object comes, changes or
// goes. Nothing can be scheduled any more, so Run and Simulate end with an error.
func TestBrokenSnapshotEndsRun(t *testing.T) {
	node, class := api.MakeNode("n", "4", "8Gi"), &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "s"}}
	for method, e := range map[string]lifecycle.Event{
		"NodeAdded":     lifecycle.Update(api.MakeNode("n2", "4", "8Gi").Obj()),
		"NodeUpdated":   lifecycle.Update(node.Unschedulable().Obj()),
		"NodeRemoved":   lifecycle.Delete(node.Obj()),
		"ObjectChanged": lifecycle.Update(class),
	} {
		for _, simulate := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/simulate=%v", method, simulate), func(t *testing.T) {
				o := &once{}
				w := newWorld(t, scheduling.Kubernetes137())
				framework.NewExtensionKey(func(*framework.Snapshot) *once { return o }).Of(w.d.Snapshot())
				w.nodes(node)
				w.d.Flush(w.ctx)
				o.method = method
				w.d.Apply(e)
				w.pods(api.MakePod("p").Requests("1", "1Gi"))
				ctx, cancel := context.WithTimeout(w.ctx, 10*time.Second)
				defer cancel()
				var err error
				if simulate {
					err = w.d.Simulate(ctx, w.clock, epoch.Add(time.Hour))
				} else {
					err = w.d.Run(ctx, nil)
				}
				if !errors.Is(err, framework.ErrBroken) || !strings.Contains(err.Error(), method) {
					t.Errorf("error %v, want ErrBroken and %s", err, method)
				}
			})
		}
	}
}
