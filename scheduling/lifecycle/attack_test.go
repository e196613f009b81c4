package lifecycle_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// once is an extension whose method of one name panics once.
type once struct{ method string }

func (o *once) Fork(*framework.Snapshot) framework.Extension { return o }
func (o *once) boom(m string) {
	if o.method == m {
		o.method = ""
		panic("once")
	}
}
func (o *once) NodeAdded(*framework.Snapshot, *framework.NodeInfo)   { o.boom("NodeAdded") }
func (o *once) NodeRemoved(*framework.Snapshot, *framework.NodeInfo) { o.boom("NodeRemoved") }
func (o *once) NodeUpdated(*framework.Snapshot, *framework.NodeInfo, *framework.NodeInfo) {
	o.boom("NodeUpdated")
}
func (o *once) ObjectChanged(*framework.Snapshot, string, any) { o.boom("ObjectChanged") }

// TestAttackNodeWatcherPanics: an extension panics once when a node comes, changes or goes.
// No later event about the node comes, as an informer sends none.
func TestAttackNodeWatcherPanics(t *testing.T) {
	for _, method := range []string{"NodeAdded", "NodeUpdated", "NodeRemoved"} {
		t.Run(method, func(t *testing.T) {
			o := &once{}
			key := framework.NewExtensionKey(func(*framework.Snapshot) *once { return o })
			w := newWorld(t, scheduling.Kubernetes137())
			key.Of(w.d.Snapshot())
			if method != "NodeAdded" {
				w.nodes(api.MakeNode("n", "4", "8Gi"))
				w.d.Flush(w.ctx)
			}
			o.method = method
			want := 0
			switch method {
			case "NodeAdded":
				w.nodes(api.MakeNode("n", "4", "8Gi"))
				want = 1
			case "NodeUpdated":
				w.nodes(api.MakeNode("n", "4", "8Gi").Unschedulable())
			case "NodeRemoved":
				w.d.Apply(lifecycle.Delete(api.MakeNode("n", "4", "8Gi").Obj()))
			}
			w.pods(api.MakePod("p").Requests("1", "1Gi"))
			for range 20 {
				w.all()
				w.pass(time.Minute)
			}
			t.Log(w.problems, w.bound)
			if len(w.bound) != want {
				t.Errorf("%d pods are bound, want %d: %v", len(w.bound), want, w.bound)
			}
		})
	}
}

type typed struct{ s string }

func (e *typed) Error() string { return e.s }

func TestAttackTypedNilErrorOfBinder(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.refuse = func(*api.Pod, string) error { var e *typed; return e }
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("p").Requests("1", "1Gi"))
	w.all()
}

type perm struct{ err error }

func (perm) Name() string { return "perm" }
func (p perm) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	return framework.AsStatus(p.err), 0
}

func TestAttackTypedNilErrorOfPlugin(t *testing.T) {
	p := scheduling.Kubernetes137()
	var e *typed
	p.Permit = append(p.Permit, perm{e})
	w := newWorld(t, p)
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("p").Requests("1", "1Gi"))
	w.all()
}

// TestAttackGoexit: a binder ends its goroutine, as t.FailNow and http.ErrAbortHandler do.
func TestAttackGoexit(t *testing.T) {
	var d *lifecycle.Driver
	errs := make(chan error, 10)
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Bindings: 2, Grace: time.Second,
		Clock: framework.ClockOf(time.Now, time.AfterFunc),
		Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, _ string) error {
			runtime.Goexit()
			return nil
		}),
		ErrorHandler: func(err error) { errs <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	d.Apply(lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()), lifecycle.Update(api.MakePod("p").Requests("1", "1Gi").Obj()))
	done := make(chan error)
	go func() { done <- d.Run(ctx, nil) }()
	select {
	case <-done:
	case <-time.After(8 * time.Second):
		t.Error("Run hangs 6 s after its context was done, with a grace of 1 s")
	}
}
