//go:build full

package lifecycle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// waiters are the ways in which a pod can wait for ever.
var waiters = map[string]func(p api.PodBuilder) api.PodBuilder{
	"gated":    func(p api.PodBuilder) api.PodBuilder { return p.Gates("wait") },
	"selector": func(p api.PodBuilder) api.PodBuilder { return p.NodeSelector("no", "where") },
	"large":    func(p api.PodBuilder) api.PodBuilder { return p.Requests("1k", "1Gi") },
	"full":     func(p api.PodBuilder) api.PodBuilder { return p.Requests("31", "1Gi") },
	"affinity": func(p api.PodBuilder) api.PodBuilder { return p.PodAffinity("kubernetes.io/hostname", "app=none") },
}

// A stream places one innocent pod after the other beside pods that wait. Each is
// added, placed, confirmed, and deleted when 50 more have come.
type stream struct {
	tb    testing.TB
	d     *lifecycle.Driver
	clock *virtualclock.Clock
	pace  time.Duration // between two pods; 0: the clock stands
	live  []*api.Pod
	bound *api.Pod
	count int
}

func newStream(tb testing.TB, kind string, waiting int, pace time.Duration) *stream {
	s := &stream{tb: tb, clock: virtualclock.New(epoch), pace: pace}
	var err error
	s.d, err = lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: s.clock,
		Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, node string) error {
			s.bound = onNode(p, node)
			return nil
		}),
	})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range 20 {
		s.d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "32", "128Gi").Zone(fmt.Sprint(i % 3)).Obj()))
		s.d.Apply(lifecycle.Update(onNode(api.MakePod(fmt.Sprint("system", i)).Requests("2", "1Gi").Obj(), fmt.Sprint("n", i))))
	}
	for i := range waiting {
		s.d.Apply(lifecycle.Update(waiters[kind](api.MakePod(fmt.Sprint("waits", i))).Obj()))
	}
	for {
		if _, ok := s.d.ScheduleOne(context.Background()); !ok {
			break
		}
	}
	s.clock.Advance(time.Second)
	for range 60 {
		s.one()
	}
	return s
}

// one takes one innocent pod from its creation to its node.
func (s *stream) one() {
	s.count++
	p := api.MakePod(fmt.Sprint("p", s.count)).Requests("100m", "10Mi").Obj()
	s.clock.Advance(s.pace)
	s.d.Apply(lifecycle.Update(p))
	s.bound = nil
	for s.bound == nil || s.bound.Name != p.Name {
		if _, ok := s.d.ScheduleOne(context.Background()); !ok {
			s.tb.Fatal("an innocent pod was not placed")
		}
	}
	s.d.Apply(lifecycle.Update(s.bound))
	s.live = append(s.live, s.bound)
	if len(s.live) > 50 {
		s.d.Apply(lifecycle.Delete(s.live[0]))
		s.live = s.live[1:]
	}
	for range 1000000 {
		if _, ok := s.d.ScheduleOne(context.Background()); !ok {
			return
		}
	}
}

// BenchmarkWaiting measures innocent pods beside pods that wait: the metrics of the
// same kind with 0 and 20,000 of them should be close.
func BenchmarkWaiting(b *testing.B) {
	for _, kind := range []string{"gated", "selector", "large", "full", "affinity"} {
		for _, waiting := range []int{0, 5000} {
			for _, pace := range []time.Duration{0, time.Millisecond} {
				b.Run(fmt.Sprintf("kind=%s/waiting=%d/pace=%v", kind, waiting, pace), func(b *testing.B) {
					s := newStream(b, kind, waiting, pace)
					for b.Loop() {
						s.one()
					}
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
				})
			}
		}
	}
}

// TestTooLarge checks that pods that are too large for every node are not tried again
// when others leave, and that pods that are only too large for what is free are.
func TestTooLarge(t *testing.T) {
	for kind, retried := range map[string]bool{"large": false, "full": true} {
		s := newStream(t, kind, 20, time.Second)
		before := 0
		for _, it := range s.d.Pending() {
			before += it.Attempts
		}
		for range 10 {
			s.one()
		}
		after := 0
		for _, it := range s.d.Pending() {
			after += it.Attempts
		}
		if (after > before) != retried {
			t.Errorf("kind %s: %d attempts, %d before pods left", kind, after, before)
		}
	}
}
