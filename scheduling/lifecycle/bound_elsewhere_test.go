package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// TestRoomOfPodsThatEventsMoved: while a pod is being bound, events give it another node, or none. Once its
// binding has ended, it has left the node that was chosen, and a pod that waits for the room gets it.
func TestRoomOfPodsThatEventsMoved(t *testing.T) {
	on := func(version, node string) lifecycle.Event {
		p := api.MakePod("a").UID("a").Requests("6", "1Gi").Obj()
		p.ResourceVersion, p.Spec.NodeName = version, node
		return lifecycle.Update(p)
	}
	for _, tt := range []struct {
		name   string
		events []lifecycle.Event
	}{
		{"another node", []lifecycle.Event{lifecycle.Update(api.MakeNode("m", "6", "32Gi").Obj()), on("2", "m")}},
		{"a node that is not known", []lifecycle.Event{on("2", "m")}},
		{"a node that comes later", []lifecycle.Event{on("2", "m"), lifecycle.Update(api.MakeNode("m", "6", "32Gi").Obj())}},
	} {
		for _, failure := range []error{nil, errors.New("not written")} {
			w := slowWriter{make(chan struct{}), make(chan error)}
			profile := scheduling.Kubernetes137()
			profile.PreBind = append(profile.PreBind, w)
			clock, bound := virtualclock.New(epoch), map[string]string{}
			d, err := lifecycle.New(lifecycle.Config{
				Profiles: []scheduling.Profile{profile}, Clock: clock, Bindings: 4,
				Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, node string) error { return nil }),
			})
			if err != nil {
				t.Fatal(err)
			}
			try := func(name string) bool {
				a, ok := d.ScheduleOne(t.Context())
				if ok && a.Err == nil {
					bound[a.Pod.Pod.Name] = a.Decision.Node
				}
				return ok && a.Pod.Pod.Name == name && a.Err == nil
			}
			d.Apply(lifecycle.Update(api.MakeNode("n", "8", "32Gi").Obj()), on("1", ""))
			if !try("a") {
				t.Fatalf("%s: a is not placed", tt.name)
			}
			for begun := false; !begun; d.Flush(t.Context()) {
				select {
				case <-w.began:
					begun = true
				case <-time.After(time.Millisecond):
				}
			}
			d.Apply(tt.events...)
			d.Apply(lifecycle.Update(api.MakePod("b").UID("b").Requests("7", "1Gi").Obj()))
			try("b")
			w.fail <- failure
			for end := time.Now().Add(10 * time.Second); bound["b"] == "" && time.Now().Before(end); d.Flush(t.Context()) {
				time.Sleep(time.Millisecond) // the binding ends in a goroutine of its own
				clock.Advance(100 * time.Millisecond)
				try("b")
			}
			if bound["b"] != "n" {
				t.Errorf("%s, the binding fails: %t: b is on %q, want n", tt.name, failure != nil, bound["b"])
			}
			if took := clock.Now().Sub(epoch); took > 2*time.Minute {
				t.Errorf("%s, the binding fails: %t: b waited for %v", tt.name, failure != nil, took)
			}
			if err := d.Snapshot().Check(); err != nil {
				t.Error(err)
			}
		}
	}
}
