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
