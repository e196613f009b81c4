package observe_test

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/observe"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// slowBinder takes a second for each pod, and refuses one.
type slowBinder struct{ clock *virtualclock.Clock }

func (b slowBinder) Bind(_ context.Context, p *api.Pod, _ string) error {
	b.clock.Advance(time.Second)
	if p.Name == "refused" {
		return errors.New("refused")
	}
	return nil
}

// Attempts for groups are told from those for their pods, which have the times of their group's.
func TestGroupsAreObserved(t *testing.T) {
	clock := virtualclock.New(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	vars, metrics := new(expvar.Map), observe.NewMetrics()
	var log strings.Builder
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &gang.Rules{}, Clock: clock, Binder: slowBinder{clock},
		Observer: observe.All(observe.NewVars(vars), metrics, observe.Log{Logger: logger(&log, slog.LevelInfo)}.Observer()),
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Apply(lifecycle.Update(api.MakeNode("n", "8", "16Gi").Obj()))
	for i, group := range []string{"a", "a", "large"} {
		name := group
		p := api.MakePod(fmt.Sprint(group, i)).Requests([]string{"1", "1", "64"}[i], "1Gi").Obj()
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
		if i == 1 {
			p.Name = "refused"
		}
		least := int32(1)
		g := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: group}}
		g.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{MinCount: least}
		d.Apply(lifecycle.Update(g), lifecycle.Update(p))
	}
	for range 2 {
		if _, ok := d.ScheduleOne(context.Background()); !ok {
			t.Fatal("no attempt")
		}
	}
	for name, want := range map[string]string{
		"attempts": `{"bound": 1, "error": 1}`, "group_attempts": `{"scheduled": 1, "unschedulable": 1}`, "attempt_seconds": "3",
	} {
		if got := vars.Get(name).String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	var text strings.Builder
	if _, err := metrics.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	if want := `scheduler_binding_duration_seconds_sum 1`; !strings.Contains(text.String(), want+"\n") {
		t.Errorf("no line says %s in\n%s", want, text.String())
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	for i, want := range []string{
		`level=INFO msg="pod was bound" pod=default/a0 profile=default-scheduler attempt=1 took=1s node=n `,
		`level=INFO msg="pod was not bound" pod=default/refused profile=default-scheduler attempt=1 took=2s error=`,
		`level=INFO msg="pod group was scheduled" pod=default/a0 profile=default-scheduler attempt=1 took=2s group=default/a`,
		`level=INFO msg="pod group was not scheduled" pod=default/large2 profile=default-scheduler attempt=1 took=0s group=default/large error=`,
	} {
		if len(lines) != 4 || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d does not begin with %s in\n%s", i, want, log.String())
		}
	}
}
