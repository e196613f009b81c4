package lifecycle

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// rejectFilter rejects all nodes, and takes a bit of time.
type rejectFilter struct{ clock *virtualclock.Clock }

func (rejectFilter) Name() string { return "Reject" }

func (f rejectFilter) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	f.clock.Advance(slowAttempt / 2)
	return framework.UnschedulableStatus("no")
}

// Large pods that are rejected share the time, however short their attempts are, because more events wake them.
func TestLargePodsStandBack(t *testing.T) {
	clock := virtualclock.New(time.Unix(0, 0))
	profile := scheduling.Kubernetes137()
	profile.Filter = append(profile.Filter, rejectFilter{clock})
	d, err := New(Config{Profiles: []scheduling.Profile{profile}, Clock: clock, Binder: BinderFunc(func(context.Context, *api.Pod, string) error { return nil })})
	if err != nil {
		t.Fatal(err)
	}
	large := api.MakePod("large").Namespace("large").Obj()
	large.Spec.Tolerations = make([]api.Toleration, 1000)
	for i := range large.Spec.Tolerations {
		large.Spec.Tolerations[i].Operator = api.TolerationOpExists
	}
	d.Apply(Update(api.MakeNode("n", "4", "8Gi").Obj()), Update(large), Update(api.MakePod("small").Namespace("small").Obj()))
	for {
		if _, ok := d.ScheduleOne(context.Background()); !ok {
			break
		}
	}
	if d.slow["large"] != 1 || d.slow["small"] != 0 || d.QueueLength().Unschedulable != 2 {
		t.Errorf("slow %v, queue %+v, want the large pod alone to stand back", d.slow, d.QueueLength())
	}
}

// slowFilter takes a second for each pod and node.
type slowFilter struct{ clock *virtualclock.Clock }

func (slowFilter) Name() string { return "Slow" }

func (f slowFilter) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	f.clock.Advance(time.Second)
	return framework.Status{}
}

// A pod that is deleted, or bound by another scheduler, while its binding is under way counts no
// longer among those whose attempts take long, though the binding fails afterwards.
func TestPodsOutOfTheQueueAreCheap(t *testing.T) {
	for _, what := range []string{"deleted", "bound by another", "given to another", "waits"} {
		clock := virtualclock.New(time.Unix(0, 0))
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, slowFilter{clock})
		goOn := make(chan struct{})
		d, err := New(Config{
			Profiles: []scheduling.Profile{profile}, Clock: clock, Bindings: 1,
			Binder: BinderFunc(func(context.Context, *api.Pod, string) error {
				<-goOn
				return errors.New("refused")
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		d.Apply(Update(api.MakeNode("n", "4", "8Gi").Obj()), Update(api.MakePod("p").Obj()))
		if a, ok := d.ScheduleOne(ctx); !ok || a.State != Binding {
			t.Fatalf("%+v, %t", a, ok)
		}
		switch what {
		case "deleted":
			d.Apply(Delete(api.MakePod("p").Obj()))
		case "bound by another":
			d.Apply(Update(api.MakePod("p").Node("n").Obj()))
		case "given to another":
			d.Apply(Update(api.MakePod("p").Scheduler("other").Obj()))
		}
		d.Flush(ctx)
		goOn <- struct{}{}
		for d.open > 0 {
			d.Flush(ctx)
			time.Sleep(time.Millisecond)
		}
		want := 0
		if what == "waits" {
			want = 1
		}
		if n := d.slow["default"]; n != want {
			t.Errorf("%s: %d pods count as slow, want %d", what, n, want)
		}
	}
}
