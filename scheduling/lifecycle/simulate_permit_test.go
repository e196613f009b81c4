//go:build full

package lifecycle_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// permitter lets pods wait for whole seconds, and nobody allows them, so they are rejected after that time.
type permitter struct{ r *rand.Rand }

func (permitter) Name() string { return "permitter" }
func (p permitter) Permit(_ context.Context, c *framework.Cycle, _ string) (framework.Status, time.Duration) {
	switch p.r.IntN(6) {
	case 0:
		return framework.Status{}, 0
	case 1:
		return framework.UnschedulableStatus("no"), 0
	}
	return framework.NewStatus(framework.Wait, nil), time.Duration(1+p.r.IntN(4)) * time.Second
}

// countedClock panics after many timers at one instant.
type countedClock struct {
	*virtualclock.Clock
	n  int
	at time.Time
}

func (s *countedClock) Step() bool {
	if now := s.Now(); now.Equal(s.at) {
		if s.n++; s.n > 20_000 {
			panic("20,000 timers at one instant: " + now.String())
		}
	} else {
		s.at, s.n = now, 0
	}
	return s.Clock.Step()
}

// TestSimulateEndsWithPermits: pods that Permit rejects, at whole seconds, do not make the time stand still.
func TestSimulateEndsWithPermits(t *testing.T) {
	for seed := range 60 {
		func() {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			profile := scheduling.Kubernetes137()
			profile.Permit = []framework.Plugin{permitter{r}}
			clock := &countedClock{Clock: virtualclock.New(epoch)}
			d, err := lifecycle.New(lifecycle.Config{
				Profiles: []scheduling.Profile{profile}, Clock: clock.Clock, Seed: 1,
				Binder: lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "2", "16Gi").Obj()))
			}
			for i := range 6 + r.IntN(6) {
				p := api.MakePod(fmt.Sprint("p", i)).UID(api.UID(fmt.Sprint(i))).Requests("1", "1Gi").Priority(int32(r.IntN(3))).Obj()
				clock.AfterFunc(time.Duration(r.IntN(8))*time.Second, func() { d.Apply(lifecycle.Update(p)) })
				clock.AfterFunc(time.Duration(20+r.IntN(20))*time.Second, func() { d.Apply(lifecycle.Delete(p)) })
			}
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("seed %d: %v; queue %+v", seed, v, d.QueueLength())
				}
			}()
			if err := d.Simulate(context.Background(), clock, epoch.Add(2*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}()
	}
}
