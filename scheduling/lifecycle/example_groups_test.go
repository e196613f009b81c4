package lifecycle_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// printer binds pods and reports groups by printing both.
type printer struct{}

var _ lifecycle.GroupReporter = printer{}

func (printer) Bind(_ context.Context, pod *api.Pod, node string) error {
	fmt.Println(pod.Name, "on", node)
	return nil
}

func (printer) ReportGroup(_ context.Context, group *api.PodGroup, c api.Condition) {
	fmt.Println(group.Name, c.Type, c.Status, c.Reason)
}

// Two pods of a group are bound together once both are known.
func ExampleGroupReporter() {
	clock := virtualclock.New(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &groups.Rules{}, Binder: printer{}, Clock: clock,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d.Apply(lifecycle.Update(api.MakeNode("a", "1", "4Gi").Obj()), lifecycle.Update(api.MakeNode("b", "1", "4Gi").Obj()))
	d.Apply(lifecycle.Update(podGroup("train", 2, 0)), lifecycle.Update(groupPod("train-0", "train", "1", 0)))
	_, ok := d.ScheduleOne(context.Background())
	fmt.Println("one pod of two:", ok)
	d.Apply(lifecycle.Update(groupPod("train-1", "train", "1", 0)))
	d.ScheduleOne(context.Background())
	// Output:
	// one pod of two: false
	// train-0 on a
	// train-1 on b
	// train PodGroupInitiallyScheduled True Scheduled
}
