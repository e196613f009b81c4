package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

var epoch = time.Unix(1_700_000_000, 0).UTC()

// rig is a queue with its own clock.
type rig struct {
	*queue.Queue
	tb     testing.TB
	ctx    context.Context
	now    time.Time
	schema *resource.Schema
	items  map[string]*queue.Item
}

func newRig(tb testing.TB, o queue.Config) *rig {
	tb.Helper()
	r := &rig{tb: tb, ctx: context.Background(), now: epoch, schema: resource.NewSchema(), items: map[string]*queue.Item{}}
	o.Now = func() time.Time { return r.now }
	q, err := queue.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	r.Queue = q
	return r
}

func (r *rig) info(b api.PodBuilder) *framework.PodInfo {
	r.tb.Helper()
	info, err := framework.NewPodInfo(b.Obj(), r.schema)
	if err != nil {
		r.tb.Fatal(err)
	}
	return info
}

// add adds a pod with the given priority.
func (r *rig) add(name string, priority int32) *queue.Item {
	r.tb.Helper()
	it := r.Add(r.ctx, r.info(api.MakePod(name).Priority(priority)))
	r.items[name] = it
	return it
}

// pop returns the name of the next pod, "" for none.
func (r *rig) pop() string {
	if it := r.Pop(); it != nil {
		return it.Pod.Pod.Name
	}
	return ""
}

// popAll pops every ready pod and calls Done for it.
func (r *rig) popAll() []string {
	var names []string
	for it := r.Pop(); it != nil; it = r.Pop() {
		names = append(names, it.Pod.Pod.Name)
		r.Done(it)
	}
	return names
}

// fail adds a pod and lets its first attempt end with a rejection.
func (r *rig) fail(name string, plugins, pending []string) *queue.Item {
	r.tb.Helper()
	it := r.add(name, 0)
	if got := r.Pop(); got != it {
		r.tb.Fatalf("Pop returned another pod than %s", name)
	}
	r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: plugins, Pending: pending})
	return it
}

func (r *rig) happen(resource queueing.EventResource, action queueing.ActionType) {
	r.Move(r.ctx, queueing.ClusterEvent{Resource: resource, Action: action}, nil, nil, nil)
}

func (r *rig) pass(d time.Duration) {
	r.now = r.now.Add(d)
	r.Flush(r.ctx)
}

func (r *rig) depth(want queue.Length) {
	r.tb.Helper()
	if got := r.Len(); got != want {
		r.tb.Errorf("Len() = %+v, want %+v", got, want)
	}
}

// plugin filters (never) and registers for events.
type plugin struct {
	name   string
	events []queueing.EventHint
}

func (p plugin) Name() string { return p.name }
func (p plugin) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}
func (p plugin) EventsToRegister() []queueing.EventHint { return p.events }

// silent filters and does not register events.
type silent string

func (s silent) Name() string { return string(s) }
func (s silent) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func on(resource queueing.EventResource, action queueing.ActionType, hint queueing.QueueingHintFunc) queueing.EventHint {
	return queueing.EventHint{Event: queueing.ClusterEvent{Resource: resource, Action: action}, Hint: hint}
}

func always(h queueing.QueueingHint) queueing.QueueingHintFunc {
	return func(*framework.PodInfo, any, any) (queueing.QueueingHint, error) { return h, nil }
}

func failing(*framework.PodInfo, any, any) (queueing.QueueingHint, error) {
	return queueing.QueueSkip, errors.New("no idea")
}

func panicking(*framework.PodInfo, any, any) (queueing.QueueingHint, error) { panic("oh") }

// gate rejects pods that have the label with the gate's name.
type gate struct {
	name   string
	calls  *[]string
	events []queueing.EventHint
}

func (g gate) Name() string { return g.name }
func (g gate) PreEnqueue(_ context.Context, pod *framework.PodInfo) framework.Status {
	if g.calls != nil {
		*g.calls = append(*g.calls, g.name)
	}
	if _, ok := pod.Pod.Labels[g.name]; ok {
		return framework.UnschedulableStatus(framework.Text(g.name + " is shut"))
	}
	return framework.Status{}
}
func (g gate) EventsToRegister() []queueing.EventHint { return g.events }

func profiles(tb testing.TB, p scheduling.Profile) map[string]*scheduling.Scheduler {
	tb.Helper()
	s, err := scheduling.New(p)
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]*scheduling.Scheduler{scheduling.DefaultName: s}
}
