package lifecycle_test

import (
	"context"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// farewell prints who has to leave. It also carries out decisions, as a real cluster would.
type farewell struct{}

func (farewell) Attempt(*lifecycle.Attempt) {}

func (farewell) Evicting(e lifecycle.Eviction) {
	fmt.Println(e.Victim.Name, "has to leave", e.Node, "at", e.At.Format("15:04"))
}

func (farewell) Bind(context.Context, *api.Pod, string) error { return nil }

func (farewell) Evict(context.Context, *api.Pod, *api.Pod) error { return nil }

func ExampleEvictionObserver() {
	var observer lifecycle.EvictionObserver = farewell{}
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: virtualclock.New(epoch),
		Observer: observer.(farewell), Binder: farewell{},
	})
	if err != nil {
		panic(err)
	}
	d.Apply(
		lifecycle.Add(api.MakeNode("a", "2", "8Gi").Obj()),
		lifecycle.Add(api.MakePod("low").Requests("2", "1Gi").Node("a").Obj()),
		lifecycle.Add(api.MakePod("high").Requests("2", "1Gi").Priority(9).Obj()),
	)
	d.ScheduleOne(context.Background())
	// Output: low has to leave a at 00:00
}
