package lifecycle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// slowReporter takes 5 ms to say what became of a group.
type slowReporter struct{ clock *virtualclock.Clock }

func (slowReporter) Bind(context.Context, *api.Pod, string) error { return nil }

func (r slowReporter) ReportGroup(context.Context, *api.PodGroup, api.Condition) {
	r.clock.Advance(5 * time.Millisecond)
}

// TestGroupsTriedEarlyShareTheTime: groups that events may help are tried before their backoff ends while no
// other pod is ready; but they get no more than their part of the time, where all of an attempt counts.
func TestGroupsTriedEarlyShareTheTime(t *testing.T) {
	clock := virtualclock.New(epoch)
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &groups.Rules{}, Clock: clock, Binder: slowReporter{clock},
	})
	if err != nil {
		t.Fatal(err)
	}
	node := func(serial int) lifecycle.Event {
		cpu := []string{"2", "3"}[serial%2]
		return lifecycle.Update(api.MakeNode("n", cpu, "16Gi").Labels("serial", fmt.Sprint(serial)).Obj())
	}
	d.Apply(node(0))
	for i := range 100 {
		name := fmt.Sprint("large", i)
		p := groupPod(name, name, "3500m", 0)
		d.Apply(lifecycle.Update(podGroup(name, 1, 0)), lifecycle.Update(p))
	}
	attempts, took, begin := 0, time.Duration(0), clock.Now()
	for i := 1; clock.Now().Sub(begin) < 20*time.Second; i++ {
		if clock.Advance(10 * time.Millisecond); clock.Now().Sub(begin) < 5*time.Second { // each new group is tried at once
			attempts, took = 0, 0
		}
		d.Apply(node(i), lifecycle.Update(api.MakePod("small").UID("small").Requests("1", "1Gi").Node("n").Obj()), lifecycle.Delete(api.MakePod("small").UID("small").Obj()))
		for {
			before := clock.Now()
			if _, ok := d.ScheduleOne(context.Background()); !ok {
				break
			}
			attempts, took = attempts+1, took+clock.Now().Sub(before)
		}
	}
	if part := took.Seconds() / 15; part < 0.1 || part > 0.21 || attempts < 500 {
		t.Errorf("%d attempts took %.2f of the time, want many, and a fifth", attempts, part)
	}
}
