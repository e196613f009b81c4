package lifecycle_test

import (
	"context"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// slowBinder binds the first pod only when it is told to.
type slowBinder struct {
	bound   chan *api.Pod
	goOn    chan struct{}
	evicted chan api.UID
}

func (b *slowBinder) Bind(_ context.Context, pod *api.Pod, _ string) error {
	if pod.UID == "old" {
		b.bound <- pod
		<-b.goOn
	}
	return nil
}

func (b *slowBinder) Evict(_ context.Context, victim, _ *api.Pod) error {
	b.evicted <- victim.UID
	return nil
}

// TestVictimsName: a pod is deleted while it is being bound, and another of its name comes, as
// those of a StatefulSet do. A pod that preempts the old one does not have the new one evicted,
// which is on no node, and gets the room once the binding has ended.
func TestVictimsName(t *testing.T) {
	for _, uids := range [][2]api.UID{{"old", "new"}, {"old", ""}} {
		b := &slowBinder{make(chan *api.Pod, 1), make(chan struct{}), make(chan api.UID, 10)}
		clock := virtualclock.New(epoch)
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: clock, Binder: b, Bindings: 2,
			ErrorHandler: func(err error) { t.Error(err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		web := func(uid api.UID) *api.Pod { return api.MakePod("web-0").UID(uid).Requests("3", "1Gi").Obj() }
		one := func() lifecycle.Attempt {
			t.Helper()
			a, ok := d.ScheduleOne(context.Background())
			if !ok {
				t.Fatal("no pod is ready")
			}
			return a
		}
		d.Apply(lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()), lifecycle.Update(web(uids[0])))
		one()
		<-b.bound
		d.Apply(lifecycle.Delete(web(uids[0])), lifecycle.Update(web(uids[1])))
		if a := one(); a.State != lifecycle.Failed {
			t.Fatalf("the new pod is %v", a.State)
		}
		d.Apply(lifecycle.Update(api.MakePod("important").UID("i").Priority(1000).Requests("3", "1Gi").Obj()))
		if a := one(); a.Nominated != "n" || len(a.Victims) != 1 || a.Victims[0].Pod.Pod.UID != "old" {
			t.Errorf("nominated to %q, with %d victims", a.Nominated, len(a.Victims))
		}
		if c := d.Counts(); c.Queue.Unschedulable != 2 {
			t.Errorf("the queue has %+v", c.Queue)
		}
		close(b.goOn)
		for len(d.Snapshot().Node("n").Pods) > 0 { // until the binding has ended
			d.Flush(context.Background())
		}
		clock.Advance(time.Minute)
		if a := one(); a.Pod.Pod.Name != "important" || a.State == lifecycle.Failed {
			t.Errorf("pod %s is %v", a.Pod.Pod.Name, a.State)
		}
		select {
		case uid := <-b.evicted:
			t.Errorf("pod %q was evicted", uid)
		default:
		}
	}
}
