//go:build full

package preemption_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/runner"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// wrapper changes the cycle during an attempt.
type wrapper struct {
	preemption.DefaultPreemption
	change func(c *framework.Cycle)
}

func (w wrapper) PostFilter(ctx context.Context, c *framework.Cycle, v framework.Verdicts) (framework.PostFiltered, framework.Status) {
	before := *c
	w.change(c)
	defer func() { c.Pod, c.Filters = before.Pod, before.Filters }()
	return w.DefaultPreemption.PostFilter(ctx, c, v)
}

// refusing makes all filters reject.
type refusing struct{ framework.FilterUpdater }

func (r refusing) Fork() framework.FilterUpdater { return refusing{r.FilterUpdater.Fork()} }

func (refusing) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus("never")
}

// TestMemoryInOtherHands checks that results for one pod and its filters do not
// answer for others, and that callers cannot change cached results.
func TestMemoryInOtherHands(t *testing.T) {
	var other *framework.PodInfo
	refuse := false
	wrapped := wrapper{change: func(c *framework.Cycle) {
		if other != nil {
			c.Pod = other
		}
		if refuse {
			c.Filters = refusing{c.Filters}
		}
	}}
	reversing := preemption.DefaultPreemption{Criteria: []preemption.Criterion{func(c *preemption.Candidate) int64 {
		slices.Reverse(c.Victims)
		return 0
	}}}
	for name, plugin := range map[string]framework.Plugin{"wrapped": wrapped, "reversing": reversing} {
		t.Run(name, func(t *testing.T) {
			s := snapshotOf(t, []*api.Node{node("n", "4")}, objs(on("n", "a", "2", 3), on("n", "b", "2", 4)))
			p := scheduling.Kubernetes137()
			p.PostFilter = []framework.Plugin{plugin}
			sched, err := scheduling.New(p)
			if err != nil {
				t.Fatal(err)
			}
			pod := podInfo(t, s, preemptor("4", 5).Obj())
			ask := func(want string) {
				t.Helper()
				d, err := sched.Schedule(s, pod)
				var fit *scheduling.FitError
				if !errors.As(err, &fit) {
					t.Fatal(err)
				}
				f, _, status, err := sched.PostFilter(context.Background(), s, pod, d)
				if got := victims(f.Victims); err != nil || got != want {
					t.Errorf("victims %q, %v, %v; want %q", got, status, err, want)
				}
			}
			if name == "reversing" {
				for range 3 {
					ask("a, b")
				}
				return
			}
			for range 2 {
				other, refuse = nil, false
				ask("b, a")
				other = podInfo(t, s, preemptor("4", 3).Obj())
				ask("")
				other, refuse = nil, true
				ask("")
			}
		})
	}
}

// TestMemoryLetsSnapshotsGo checks that a scheduler that used a fork does not keep
// it from being collected.
func TestMemoryLetsSnapshotsGo(t *testing.T) {
	s := snapshotOf(t, []*api.Node{node("n", "4")}, objs(on("n", "a", "4", 1)))
	sched, err := scheduling.New(scheduling.Profile{Filter: filters(), PostFilter: []framework.Plugin{preemption.DefaultPreemption{}}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(s *framework.Snapshot, name string) {
		if got := attempt(t, s, sched, preemptor("4", 5).Labels("app", name).Obj()); got == "" {
			t.Fatal(got)
		}
	}
	forked := func() weak.Pointer[framework.Snapshot] {
		f := s.Fork()
		ask(f, "of the fork")
		return weak.Make(f)
	}()
	for range 8 { // the engine holds a few snapshots
		ask(s.Fork(), "of another")
	}
	for range 10 { // pools keep what they have for two collections
		runtime.GC()
	}
	if forked.Value() != nil {
		t.Error("the fork is still there")
	}
	runtime.KeepAlive(sched)
}

// TestZeroMemory: what nobody prepared for this pod is not used.
func TestZeroMemory(t *testing.T) {
	s := snapshotOf(t, []*api.Node{node("n", "1")}, nil)
	var c framework.Cycle
	c.Reset(podInfo(t, s, preemptor("1", 5).Obj()), s, 0, 0)
	c.Runner().DryRuns = new(runner.DryRuns)
	if _, status := (preemption.DefaultPreemption{}).PostFilter(context.Background(), &c, rejecting{}); status.IsSuccess() {
		t.Errorf("status %v, want a rejection", status)
	}
}

type rejecting struct{}

func (rejecting) Verdict(*framework.NodeInfo) (string, framework.Status) {
	return "test", framework.Status{}
}
