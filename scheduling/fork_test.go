//go:build full

package scheduling_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestSchedulerFork: a fork decides like the scheduler that it was made of, from the
// first decision on and from kept answers.
func TestSchedulerFork(t *testing.T) {
	for _, percentage := range []int{scheduling.AllNodes, 10} {
		s, pods := runningCluster(t, 200, aService)
		profile := scheduling.Kubernetes137()
		profile.Percentage, profile.Cache.Verify = percentage, true
		sched := build(t, profile)
		for i := range 40 {
			if _, err := sched.Place(s, pods[i].pod.Pending()); err != nil {
				t.Fatal(err)
			}
		}
		fork, copied := sched.Fork(), s.Fork()
		for i := range 40 {
			want, err := sched.Place(s, pods[40+i].pod.Pending())
			if err != nil {
				t.Fatal(err)
			}
			got, err := fork.Place(copied, pods[40+i].pod.Pending())
			if err != nil {
				t.Fatal(err)
			}
			if got.Node != want.Node || got.Score != want.Score || got.Number != want.Number || got.Evaluated != want.Evaluated {
				t.Fatalf("percentage %d: decision %d of the fork is %+v, want %+v", percentage, i, got, want)
			}
		}
		if stats := fork.Stats(); stats.Hits != 40 || stats.Bypassed != 0 || stats.Misses != 0 {
			t.Errorf("percentage %d: %+v, want 40 hits and nothing else", percentage, stats)
		}
	}
}

// TestForksInGoroutines: forks of one scheduler and one snapshot, each in its own
// goroutine, with the same pods, answer like one after the other.
func TestForksInGoroutines(t *testing.T) {
	s, pods := runningCluster(t, 40, aService)
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	sched := build(t, profile)
	for i := range 10 {
		if _, err := sched.Schedule(s, pods[i].pod.Pending()); err != nil {
			t.Fatal(err)
		}
	}
	const questions = 12
	ask := func(sched *scheduling.Scheduler, s *framework.Snapshot, k int) (where []string, err error) {
		for i := range 8 {
			x := pods[(k*5+i)%len(pods)]
			if err := s.RemovePod(x.pod, x.node); err != nil {
				return nil, err
			}
			d, err := sched.Place(s, x.pod.Pending())
			if err != nil {
				return nil, err
			}
			where = append(where, d.Node)
		}
		return where, nil
	}
	var want [questions][]string
	for k := range want {
		var err error
		if want[k], err = ask(sched.Fork(), s.Fork(), k); err != nil {
			t.Fatal(err)
		}
	}
	var got [questions][]string
	var errs [questions]error
	var wait sync.WaitGroup
	for k := range got {
		sched, s := sched.Fork(), s.Fork()
		wait.Go(func() { got[k], errs[k] = ask(sched, s, k) })
	}
	x := pods[len(pods)-1] // the originals go on meanwhile
	for range 8 {
		d, err := sched.Place(s, x.pod.Pending())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RemovePod(x.pod.Pending(), d.Node); err != nil {
			t.Fatal(err)
		}
	}
	wait.Wait()
	for k := range got {
		if errs[k] != nil || fmt.Sprint(got[k]) != fmt.Sprint(want[k]) {
			t.Errorf("question %d: %v, %v, want %v", k, got[k], errs[k], want[k])
		}
	}
}

// TestForkOfNothing: a fork of a scheduler that New did not make returns its error.
func TestForkOfNothing(t *testing.T) {
	s, pods := runningCluster(t, 1, nothingCounts)
	for _, sched := range []*scheduling.Scheduler{nil, {}} {
		var invalid *api.InvalidError
		if _, err := sched.Fork().Schedule(s, pods[0].pod); !errors.As(err, &invalid) {
			t.Errorf("Fork().Schedule() = %v, want an *api.InvalidError", err)
		}
	}
}
