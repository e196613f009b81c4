package queue_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// What others give back wakes only pods that the plugin rejected on nodes.
func TestFreesWakesNobodyRejectedEarly(t *testing.T) {
	const given queueing.EventResource = "Given"
	freed := on(given, queueing.ActionDelete, nil)
	freed.Frees = true
	events := []queueing.EventHint{freed, on(given, queueing.ActionAdd, nil)}
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{
		PreEnqueue: []framework.Plugin{gate{name: "gate", events: events}},
		Filter:     []framework.Plugin{plugin{"A", events}, plugin{"B", nil}},
	})})
	wait := func(name string, by queue.Rejectors) {
		it := r.add(name, 0)
		if r.Pop() != it {
			t.Fatal("another pod is first")
		}
		r.Requeue(r.ctx, it, nil, by)
	}
	wait("on nodes", queue.Rejectors{Plugins: []string{"A"}})
	wait("early by another", queue.Rejectors{Plugins: []string{"A", "B"}, Early: "B"})
	wait("early", queue.Rejectors{Plugins: []string{"A"}, Early: "A"})
	r.Add(r.ctx, r.info(api.MakePod("gated").Labels("gate", "")))
	want := func(e queueing.ActionType, backoff int) {
		t.Helper()
		r.happen(given, e)
		r.depth(queue.Length{Backoff: backoff, Unschedulable: 3 - backoff, Gated: 1})
	}
	want(queueing.ActionDelete, 2)
	want(queueing.ActionAdd, 3)
}
