package queue_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

// TestWhereAnEventSendsAPod lets a rejected pod meet the event "a node was
// added" while it waits, and while it is in flight: the result is the same.
func TestWhereAnEventSendsAPod(t *testing.T) {
	nodeAdd := func(h queueing.QueueingHintFunc) []queueing.EventHint {
		return []queueing.EventHint{on(queueing.ResourceNode, queueing.ActionAdd, h)}
	}
	const stays, backs, ready = "unschedulable", "backoff", "active"
	for _, tt := range []struct {
		name             string
		filters          []framework.Plugin
		plugins, pending []string
		want             string
	}{
		{"nobody said which events", []framework.Plugin{silent("A")}, []string{"A"}, nil, backs},
		{"an empty list", []framework.Plugin{plugin{name: "A"}, silent("B")}, []string{"A"}, nil, stays},
		{"another event", []framework.Plugin{plugin{"A", []queueing.EventHint{on(queueing.ResourceNode, queueing.ActionUpdateNodeLabel, nil)}}}, []string{"A"}, nil, stays},
		{"no hint", []framework.Plugin{plugin{"A", nodeAdd(nil)}}, []string{"A"}, nil, backs},
		{"hint: queue", []framework.Plugin{plugin{"A", nodeAdd(always(queueing.Queue))}}, []string{"A"}, nil, backs},
		{"hint: skip", []framework.Plugin{plugin{"A", nodeAdd(always(queueing.QueueSkip))}}, []string{"A"}, nil, stays},
		{"hint: error", []framework.Plugin{plugin{"A", nodeAdd(failing)}}, []string{"A"}, nil, backs},
		{"hint: panic", []framework.Plugin{plugin{"A", nodeAdd(panicking)}}, []string{"A"}, nil, backs},
		{"hint of a plugin that did not reject", []framework.Plugin{plugin{"A", nodeAdd(nil)}, plugin{"B", nodeAdd(always(queueing.QueueSkip))}}, []string{"B"}, nil, stays},
		{
			"the second of two rejectors",
			[]framework.Plugin{plugin{"A", nodeAdd(always(queueing.QueueSkip))}, plugin{"B", nodeAdd(nil)}},
			[]string{"A", "B"},
			nil, backs,
		},
		{"pending", []framework.Plugin{plugin{"A", nodeAdd(nil)}}, []string{"A"}, []string{"A"}, ready},
		{"pending and skipped", []framework.Plugin{plugin{"A", nodeAdd(always(queueing.QueueSkip))}}, []string{"A"}, []string{"A"}, stays},
		{
			"another one is pending, and does not want it",
			[]framework.Plugin{plugin{"A", nodeAdd(nil)}, plugin{"B", nodeAdd(always(queueing.QueueSkip))}},
			[]string{"A", "B"},
			[]string{"B"},
			backs,
		},
		{
			"another one is pending, and wants it",
			[]framework.Plugin{plugin{"A", nodeAdd(nil)}, plugin{"B", nodeAdd(nil)}},
			[]string{"A", "B"},
			[]string{"B"},
			ready,
		},
		{"an unknown plugin", []framework.Plugin{plugin{"A", nodeAdd(nil)}}, []string{"Extender"}, nil, stays},
	} {
		where := func(r *rig) string {
			switch r.Len() {
			case queue.Length{Active: 1}:
				return ready
			case queue.Length{Backoff: 1}:
				return backs
			case queue.Length{Unschedulable: 1}:
				return stays
			}
			t.Fatalf("Len() = %+v", r.Len())
			return ""
		}
		options := queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: tt.filters})}
		t.Run(tt.name+"/waiting", func(t *testing.T) {
			r := newRig(t, options)
			r.fail("p", tt.plugins, tt.pending)
			r.happen(queueing.ResourceNode, queueing.ActionAdd)
			if got := where(r); got != tt.want {
				t.Errorf("the pod is %s, want %s", got, tt.want)
			}
		})
		t.Run(tt.name+"/in flight", func(t *testing.T) {
			r := newRig(t, options)
			it := r.add("p", 0)
			r.happen(queueing.ResourceNode, queueing.ActionAdd) // before the flight: does not count
			r.Pop()
			r.happen(queueing.ResourceNode, queueing.ActionAdd)
			r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: tt.plugins, Pending: tt.pending})
			if got := where(r); got != tt.want {
				t.Errorf("the pod is %s, want %s", got, tt.want)
			}
		})
		t.Run(tt.name+"/before the flight", func(t *testing.T) {
			r := newRig(t, options)
			other := r.add("other", 5)
			it := r.add("p", 0)
			if r.Pop() != other {
				t.Fatal("the other pod is not first")
			}
			r.happen(queueing.ResourceNode, queueing.ActionAdd)
			r.Pop()
			r.Done(other)
			r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: tt.plugins, Pending: tt.pending})
			if got := where(r); got != stays {
				t.Errorf("the pod is %s, want %s", got, stays)
			}
		})
	}
}

func TestNoBackoffWithoutFailures(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{PreEnqueue: []framework.Plugin{scheduling.SchedulingGates{}}})})
	it := r.Add(r.ctx, r.info(api.MakePod("p").Gates("a")))
	r.depth(queue.Length{Gated: 1})
	if it.Gate != "SchedulingGates" || !cmp.Equal(it.Plugins, []string{"SchedulingGates"}) {
		t.Errorf("Gate %q, Plugins %v", it.Gate, it.Plugins)
	}
	r.happen(queueing.ResourceNode, queueing.ActionAdd) // the gate does not wait for this
	r.depth(queue.Length{Gated: 1})
	r.Update(r.ctx, it, r.info(api.MakePod("p")))
	r.depth(queue.Length{Active: 1})
	if it.Gate != "" {
		t.Errorf("Gate %q after it opened", it.Gate)
	}
}

// TestGates: the gate that rejected the pod last is asked first, and another one may
// then reject it.
func TestGates(t *testing.T) {
	var calls []string
	updated := []queueing.EventHint{on(queueing.ResourceTargetPod, queueing.ActionUpdate, nil)}
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{PreEnqueue: []framework.Plugin{
		gate{"a", &calls, updated}, gate{"b", &calls, updated}, gate{"c", &calls, updated},
	}})})
	it := r.Add(r.ctx, r.info(api.MakePod("p").Labels("b", "", "c", "")))
	expect := func(gate string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, calls); diff != "" || it.Gate != gate {
			t.Errorf("gate %q, want %q; calls (-want +got):\n%s", it.Gate, gate, diff)
		}
		calls = nil
	}
	expect("b", "a", "b")
	r.Update(r.ctx, it, r.info(api.MakePod("p").Labels("c", "")))
	expect("c", "b", "a", "c")
	r.depth(queue.Length{Gated: 1})
	r.Update(r.ctx, it, r.info(api.MakePod("p").Labels("c", "", "x", "")))
	expect("c", "c")
	r.Update(r.ctx, it, r.info(api.MakePod("p")))
	expect("", "c", "a", "b")
	r.depth(queue.Length{Active: 1})
}

// TestGateAfterFailure: a pod that comes back meets the gates again, on its way into
// the backoff or, with FullBackoff, out of it.
func TestGateAfterFailure(t *testing.T) {
	for _, full := range []bool{false, true} {
		r := newRig(t, queue.Config{FullBackoff: full, Profiles: profiles(t, scheduling.Profile{PreEnqueue: []framework.Plugin{gate{name: "g"}}})})
		it := r.add("p", 0)
		r.Pop()
		r.Update(r.ctx, it, r.info(api.MakePod("p").Labels("g", "")))
		r.Requeue(r.ctx, it, nil, queue.Rejectors{})
		if full {
			r.depth(queue.Length{Backoff: 1})
			r.pass(time.Second)
		}
		r.depth(queue.Length{Gated: 1})
	}
}

func TestWildcardIsForOnePod(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{plugin{name: "A"}}})})
	a, b := r.add("a", 0), r.add("b", 0)
	r.Pop()
	r.Pop()
	r.Activate(r.ctx, b)
	r.Requeue(r.ctx, a, nil, queue.Rejectors{Plugins: []string{"A"}})
	r.Requeue(r.ctx, b, nil, queue.Rejectors{Plugins: []string{"A"}})
	r.depth(queue.Length{Backoff: 1, Unschedulable: 1})
}

func TestAfterDoneOnlyBackoff(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{plugin{name: "A"}}})})
	it := r.add("p", 0)
	r.Pop()
	r.Done(it)
	r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
	r.depth(queue.Length{Backoff: 1})
}

func TestExcept(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{silent("A")}})})
	a := r.fail("a", []string{"A"}, nil)
	r.fail("b", []string{"A"}, nil)
	r.Move(r.ctx, queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionDelete}, nil, nil, a)
	r.depth(queue.Length{Backoff: 1, Unschedulable: 1})
}

// TestUnknownProfile: any event wakes a pod of another scheduler, because its
// plugins are unknown.
func TestUnknownProfile(t *testing.T) {
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{silent("A")}})})
	it := r.Add(r.ctx, r.info(api.MakePod("p").Scheduler("another")))
	r.Pop()
	r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"B"}})
	r.happen(queueing.ResourceNode, queueing.ActionAdd)
	r.depth(queue.Length{Backoff: 1})
}

// TestUnresolvable checks which departures wake a pod that some plugins rejected on every
// node as unresolvable.
func TestUnresolvable(t *testing.T) {
	all := queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionAll}
	registered := []queueing.EventHint{{Event: all}, {Event: queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: queueing.ActionAll}}}
	filters := []framework.Plugin{plugin{"A", registered}, plugin{"B", registered}}
	for _, tt := range []struct {
		name     string
		by       queue.Rejectors
		resource queueing.EventResource
		action   queueing.ActionType
		wakes    bool
	}{
		{"a pod leaves", queue.Rejectors{Plugins: []string{"A"}, Unresolvable: []string{"A"}}, queueing.ResourceAssignedPod, queueing.ActionDelete, false},
		{"a pod asks for less", queue.Rejectors{Plugins: []string{"A"}, Unresolvable: []string{"A"}}, queueing.ResourceAssignedPod, queueing.ActionUpdatePodScaleDown, false},
		{"a pod comes", queue.Rejectors{Plugins: []string{"A"}, Unresolvable: []string{"A"}}, queueing.ResourceAssignedPod, queueing.ActionAdd, true},
		{"labels of a pod", queue.Rejectors{Plugins: []string{"A"}, Unresolvable: []string{"A"}}, queueing.ResourceAssignedPod, queueing.ActionUpdatePodLabel, true},
		{"a node leaves", queue.Rejectors{Plugins: []string{"A"}, Unresolvable: []string{"A"}}, queueing.ResourceNode, queueing.ActionDelete, true},
		{"resolvable", queue.Rejectors{Plugins: []string{"A"}}, queueing.ResourceAssignedPod, queueing.ActionDelete, true},
		{"one of two", queue.Rejectors{Plugins: []string{"A", "B"}, Unresolvable: []string{"A"}}, queueing.ResourceAssignedPod, queueing.ActionDelete, true},
		{"both", queue.Rejectors{Plugins: []string{"A", "B"}, Unresolvable: []string{"A", "B"}}, queueing.ResourceAssignedPod, queueing.ActionDelete, false},
		{"everything changed", queue.Rejectors{Plugins: []string{"A"}, Unresolvable: []string{"A"}}, queueing.ResourceAny, queueing.ActionAll, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: filters})})
			other := r.add("other", 1)
			it := r.add("p", 0)
			if r.Pop() != other || r.Pop() != it {
				t.Fatal("the pods come in another order")
			}
			r.Requeue(r.ctx, other, nil, tt.by) // waits when the event comes
			r.happen(tt.resource, tt.action)
			r.Requeue(r.ctx, it, nil, tt.by) // was in flight
			want := queue.Length{Unschedulable: 2}
			if tt.wakes {
				want = queue.Length{Backoff: 2}
			}
			r.depth(want)
		})
	}
}
