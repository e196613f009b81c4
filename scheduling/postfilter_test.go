package scheduling_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// full returns a cluster of n nodes, each filled by three pods of low priority, and
// a pod of high priority.
func full(t *testing.T, n int) (*framework.Snapshot, *framework.PodInfo) {
	t.Helper()
	snap, _ := small(t, n)
	for i := range 3 * n {
		name := fmt.Sprintf("low-%d", i)
		if err := snap.AddPodAt(podInfo(t, snap, api.MakePod(name).UID(api.UID(name)).Obj()), snap.At(i/3)); err != nil {
			t.Fatal(err)
		}
	}
	return snap, podInfo(t, snap, api.MakePod("high").UID("high").Priority(5).Obj())
}

// TestRoomWasMade: if the pod fits by now, PostFilter proposes no victims, whether
// or not its class is known.
func TestRoomWasMade(t *testing.T) {
	snap, pod := full(t, 2)
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{room{}}, PostFilter: []framework.Plugin{preemption.DefaultPreemption{}}})
	for attempt := range 4 {
		d, err := sched.Schedule(snap, pod)
		if err == nil {
			t.Fatalf("Schedule = %s, want no room", d.Node)
		}
		found, _, _, err := sched.PostFilter(context.Background(), snap, pod, d)
		if err != nil || len(found.Victims) != 1 {
			t.Fatalf("attempt %d: PostFilter = %d victims, %v; want 1", attempt, len(found.Victims), err)
		}
		mark := snap.Begin()
		if err := snap.RemovePodAt(snap.At(1).Pods[0], snap.At(1)); err != nil {
			t.Fatal(err)
		}
		found, _, status, err := sched.PostFilter(context.Background(), snap, pod, d)
		if err != nil || !status.IsSuccess() || found.Nominated != "" || len(found.Victims) > 0 {
			t.Errorf("attempt %d: PostFilter = %q, %d victims, %v, %v; want nothing, as there is room", attempt, found.Nominated, len(found.Victims), status, err)
		}
		snap.Rollback(mark)
	}
}

// census records in its PostFilter how many nodes its filter was asked about. It
// declares no scope.
type census struct{ counted *int }

var asked = framework.NewKey[*int]("nodes that census was asked about")

func (census) Name() string { return "census" }

func (census) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	n := new(int)
	asked.Set(c, n)
	return framework.PreFiltered{Filter: taker{n}}, framework.Status{}
}

func (p census) PostFilter(_ context.Context, c *framework.Cycle, _ framework.Verdicts) (framework.PostFiltered, framework.Status) {
	n, _ := asked.Get(c)
	*p.counted = *n
	return framework.PostFiltered{}, framework.UnschedulableStatus("counted")
}

type taker struct{ n *int }

func (t taker) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	*t.n++
	return framework.UnschedulableStatus("counted")
}

// TestFilterBeforePostFilter: a plugin without a scope finds in every PostFilter
// what its own filter recorded about all nodes.
func TestFilterBeforePostFilter(t *testing.T) {
	snap, pod := full(t, 3)
	var counted int
	plugin := census{&counted}
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{plugin}, PostFilter: []framework.Plugin{plugin}})
	for attempt := range 4 {
		d, _ := sched.Schedule(snap, pod)
		counted = 0
		if _, _, _, err := sched.PostFilter(context.Background(), snap, pod, d); err != nil {
			t.Fatal(err)
		}
		if counted != 3 {
			t.Errorf("attempt %d: PostFilter finds %d nodes, want 3", attempt, counted)
		}
	}
}

// barred is a PreFilter that rejects every pod until other pods have left.
type barred struct{}

func (barred) Name() string { return "barred" }

func (barred) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{}, framework.UnschedulableStatus("barred")
}

// lister records the candidates.
type lister struct {
	preemption.DefaultPreemption
	nodes *[]string
}

func (l lister) PostFilter(_ context.Context, c *framework.Cycle, v framework.Verdicts) (framework.PostFiltered, framework.Status) {
	candidates, _ := l.DryRun(c, v)
	for _, c := range candidates {
		*l.nodes = append(*l.nodes, c.Node)
	}
	return framework.PostFiltered{}, framework.UnschedulableStatus("listed")
}

// TestRejectedBeforeFiltering: if a PreFilter rejects the pod, a removal may help on
// every node, and each node is tried once.
func TestRejectedBeforeFiltering(t *testing.T) {
	snap, pod := full(t, 3)
	var nodes []string
	sched := build(t, scheduling.Profile{
		PreFilter: []framework.Plugin{barred{}}, Filter: []framework.Plugin{room{}}, PostFilter: []framework.Plugin{lister{nodes: &nodes}},
	})
	d, _ := sched.Schedule(snap, pod)
	if _, _, _, err := sched.PostFilter(context.Background(), snap, pod, d); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(nodes); got != "[n0 n1 n2]" {
		t.Errorf("candidates = %s, want all nodes, once", got)
	}
}
