package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/google/go-cmp/cmp"
)

// slow is a plugin whose calls take time by a clock that only they move.
type slow struct {
	name  string
	clock *time.Time
	not   string // the node that Filter rejects, "" for none
}

func (p slow) Name() string { return p.name }

func (p slow) take(d time.Duration) { *p.clock = p.clock.Add(d) }

func (p slow) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	p.take(1 * time.Millisecond)
	return framework.PreFiltered{Filter: p}, framework.Status{}
}

func (p slow) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	p.take(10 * time.Millisecond)
	if p.not == n.Name() {
		return framework.UnschedulableStatus("not there")
	}
	return framework.Status{}
}

func (p slow) PreScore(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	p.take(2 * time.Millisecond)
	return p, framework.Status{}
}

func (p slow) Score(*framework.PodInfo, *framework.NodeInfo) int64 {
	p.take(20 * time.Millisecond)
	return 1
}

func (p slow) NormalizeScores([]*framework.NodeInfo, []int64) { p.take(3 * time.Millisecond) }

func (p slow) PreEnqueue(context.Context, *framework.PodInfo) framework.Status {
	p.take(4 * time.Millisecond)
	return framework.Status{}
}

func (p slow) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	p.take(5 * time.Millisecond)
	return framework.Status{}
}

func (p slow) Unreserve(*framework.Cycle, *framework.NodeInfo) { p.take(6 * time.Millisecond) }

func (p slow) PostFilter(context.Context, *framework.Cycle, framework.Verdicts) (framework.PostFiltered, framework.Status) {
	p.take(7 * time.Millisecond)
	return framework.PostFiltered{}, framework.UnschedulableStatus("no room")
}

func (p slow) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	p.take(8 * time.Millisecond)
	return framework.Status{}, 0
}

func (p slow) PreBindPreFlight(context.Context, *framework.Cycle, string) (bool, framework.Status) {
	p.take(9 * time.Millisecond)
	return false, framework.Status{}
}

func (p slow) PreBind(context.Context, *framework.Cycle, string) framework.Status {
	p.take(11 * time.Millisecond)
	return framework.Status{}
}

func (p slow) Bind(context.Context, *framework.Cycle, string) framework.Status {
	p.take(12 * time.Millisecond)
	return framework.Status{}
}

func (p slow) PostBind(context.Context, *framework.Cycle, string) {
	p.take(13 * time.Millisecond)
	panic("after all")
}

// TestPluginTimes: every call of a plugin takes its own time; filters and scorers
// take the time of all nodes that reach them.
func TestPluginTimes(t *testing.T) {
	clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	a, b := slow{"a", &clock, "n1"}, slow{"b", &clock, ""}
	both, last := []framework.Plugin{a, b}, []framework.Plugin{b}
	s, err := scheduling.New(scheduling.Profile{
		Filter: both, Score: []scheduling.Weighted{{Plugin: b, Weight: 1}}, PreEnqueue: last, Reserve: last,
		Permit: last, PreBind: last, Bind: last, PostBind: last,
	})
	if err != nil {
		t.Fatal(err)
	}
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range 3 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	pod, err := snap.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	note := func(p scheduling.PluginTime) {
		got = append(got, fmt.Sprintf("%s %s %d %v", p.Point, p.Plugin, p.Nodes, p.Duration))
	}
	s.ObservePlugins(now, func(p *framework.PodInfo, pt scheduling.PluginTime) {
		if p != pod {
			t.Errorf("%s is told of another pod", pt.Point)
		}
		note(pt)
	})
	ctx := context.Background()
	s.PreEnqueue(ctx, pod, "")
	d, err := s.Schedule(snap, pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Measure(snap, pod, d, now) {
		note(p)
	}
	if err := s.Assume(snap, pod, d); err != nil {
		t.Fatal(err)
	}
	binding := s.Binding(pod, d)
	if _, err := binding.Permit(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := binding.PreFlight(ctx); err != nil {
		t.Fatal(err)
	}
	if err := binding.PreBind(ctx, false); err != nil {
		t.Fatal(err)
	}
	if _, err := binding.Bind(ctx); err != nil {
		t.Fatal(err)
	}
	if err := binding.PostBind(ctx); err == nil {
		t.Error("PostBind panicked, and no error tells it")
	}
	if err := binding.Unreserve(snap); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"PreEnqueue b 0 4ms",
		"PreFilter a 0 1ms", "PreFilter b 0 1ms", "Filter a 3 30ms", "Filter b 2 20ms",
		"PreScore b 0 2ms", "Score b 2 40ms", "NormalizeScore b 0 3ms",
		"Reserve b 0 5ms", "Permit b 0 8ms", "PreBindPreFlight b 0 9ms", "PreBind b 0 11ms", "Bind b 0 12ms", "PostBind b 0 13ms",
		"Unreserve b 0 6ms",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
}

// TestObserveForks: a scheduler that is observed tells nothing of the one that it was forked
// from, nor of its forks.
func TestObserveForks(t *testing.T) {
	for _, which := range []string{"fork", "parent"} {
		clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		all := []framework.Plugin{slow{"a", &clock, "n0"}}
		s, err := scheduling.New(scheduling.Profile{
			Filter: all, PreEnqueue: all, Reserve: all, PostFilter: all, Permit: all, PreBind: all, Bind: all, PostBind: all,
		})
		if err != nil {
			t.Fatal(err)
		}
		observed, other := s.Fork(), s
		if which == "parent" {
			observed, other = other, observed
		}
		var got []string
		observed.ObservePlugins(func() time.Time { return clock }, func(_ *framework.PodInfo, p scheduling.PluginTime) { got = append(got, p.Point) })
		passPoints(t, other)
		if len(got) > 0 {
			t.Errorf("the %s is observed, and is told of %q of the other", which, got)
		}
		passPoints(t, observed)
		want := []string{"PreEnqueue", "PostFilter", "Reserve", "Permit", "PreBindPreFlight", "PreBind", "Bind", "PostBind", "Unreserve"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: points that are observed (-want +got):\n%s", which, diff)
		}
	}
}

// passPoints runs each point around a decision, with plugins that reject node n0.
func passPoints(t *testing.T, s *scheduling.Scheduler) {
	t.Helper()
	ctx := context.Background()
	snap := framework.NewSnapshot(framework.Arrival)
	pod, err := snap.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	s.PreEnqueue(ctx, pod, "")
	for i := range 2 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		d, err := s.Schedule(snap, pod)
		if i == 0 {
			if _, _, _, failed := s.PostFilter(ctx, snap, pod, d); err == nil || failed != nil {
				t.Fatalf("a node that is rejected: %v; PostFilter: %v", err, failed)
			}
			continue
		}
		if err == nil {
			err = s.Assume(snap, pod, d)
		}
		if err != nil {
			t.Fatal(err)
		}
		b := s.Binding(pod, d)
		_, permit := b.Permit(ctx)
		_, flight := b.PreFlight(ctx)
		preBind := b.PreBind(ctx, false)
		_, bind := b.Bind(ctx)
		if err := errors.Join(permit, flight, preBind, bind); err != nil {
			t.Fatal(err)
		}
		_ = b.PostBind(ctx) // the plugin panics
		if err := b.Unreserve(snap); err != nil {
			t.Fatal(err)
		}
	}
}

// TestObserveForksAtOnce: a fork is observed while its parent decides. The race detector
// sees what the two share.
func TestObserveForksAtOnce(t *testing.T) {
	s, err := scheduling.New(scheduling.Profile{Reserve: []framework.Plugin{plainReserve{}}})
	if err != nil {
		t.Fatal(err)
	}
	snap, pods, err := framework.SnapshotOf(&api.Objects{
		Nodes: []*api.Node{api.MakeNode("n", "4", "8Gi").Obj()}, Pods: []*api.Pod{api.MakePod("p").Obj()},
	}, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	fork, done := s.Fork(), make(chan struct{})
	go func() {
		defer close(done)
		fork.ObservePlugins(time.Now, func(*framework.PodInfo, scheduling.PluginTime) {})
	}()
	_, err = s.Place(snap, pods[0])
	<-done
	if err != nil {
		t.Fatal(err)
	}
}

// TestPluginTimesInVain: a pod that fits nowhere is measured up to the point where
// it failed.
func TestPluginTimesInVain(t *testing.T) {
	clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	picky := []framework.Plugin{slow{"a", &clock, "n0"}, slow{"b", &clock, "n1"}}
	s, err := scheduling.New(scheduling.Profile{Filter: picky, Score: []scheduling.Weighted{{Plugin: picky[1], Weight: 1}}, PostFilter: picky[1:]})
	if err != nil {
		t.Fatal(err)
	}
	snap, pods, err := framework.SnapshotOf(&api.Objects{
		Nodes: []*api.Node{api.MakeNode("n0", "4", "8Gi").Obj(), api.MakeNode("n1", "4", "8Gi").Obj()},
		Pods:  []*api.Pod{api.MakePod("p").Obj()},
	}, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	s.ObservePlugins(now, func(_ *framework.PodInfo, p scheduling.PluginTime) { got = append(got, fmt.Sprint(p)) })
	d, err := s.Schedule(snap, pods[0])
	if err == nil {
		t.Fatal("the pod fits")
	}
	for _, p := range s.Measure(snap, pods[0], d, now) {
		got = append(got, fmt.Sprint(p))
	}
	if _, _, _, err := s.PostFilter(context.Background(), snap, pods[0], d); err != nil {
		t.Fatal(err)
	}
	want := []string{"{a PreFilter 0 1ms}", "{b PreFilter 0 1ms}", "{a Filter 2 20ms}", "{b Filter 1 10ms}", "{b PostFilter 0 7ms}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
}

// TestMeasureOfNothing: an impossible decision has no times.
func TestMeasureOfNothing(t *testing.T) {
	s, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	snap := framework.NewSnapshot(framework.Arrival)
	pod, err := snap.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]scheduling.PluginTime{
		"no nodes":    s.Measure(snap, pod, scheduling.Decision{}, time.Now),
		"no snapshot": s.Measure(nil, pod, scheduling.Decision{}, time.Now),
		"no pod":      s.Measure(snap, nil, scheduling.Decision{}, time.Now),
		"no clock":    s.Measure(snap, pod, scheduling.Decision{}, nil),
	} {
		if len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
