package scenarios

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestRetriedByEvents has pods wait for a label that no node has. They are not tried in a
// loop, which the scheduler's attempts show; they are tried when the node comes, long before
// the five minutes after which they are tried without an event.
func TestRetriedByEvents(t *testing.T) {
	s := begin(t)
	const waiting = 100
	s.nodes(100)
	attempts := func() string { return "kube-scheduler asks who may read its metrics" }
	if *stock {
		s.start()
	} else {
		_, get := s.serving()
		attempts = func() string {
			_, metrics := get("/metrics")
			return shorten(metrics, "scheduler_schedule_attempts_total")
		}
	}
	s.pods(waiting, func(i int) *v1.Pod {
		pod := objects.Pod(fmt.Sprintf("waiting-%03d", i), "100m", "100Mi")
		pod.Spec.NodeSelector = map[string]string{"e2e/awaited": "true"}
		return pod
	})
	const text = "0/100 nodes are available: 10 node(s) had untolerated taint(s), 90 node(s) didn't match Pod's node affinity/selector. " +
		"preemption: 0/100 nodes are available: 100 Preemption is not helpful for scheduling."
	last := fmt.Sprintf("waiting-%03d", waiting-1)
	s.eventually("a condition of the last pod", func() bool {
		return condition(s.get(last), v1.PodScheduled).Reason == v1.PodReasonUnschedulable
	})
	s.eventually("conditions of all pods", func() bool {
		for name := range s.guard.Placements() {
			if condition(s.get(name), v1.PodScheduled).Reason != v1.PodReasonUnschedulable {
				return false
			}
		}
		return true
	})
	got := condition(s.get(last), v1.PodScheduled)
	if got.Status != v1.ConditionFalse || got.Message != text {
		t.Errorf("the condition of %s is %+v, want the message %q", last, got, text)
	}

	before := attempts()
	if before == "" {
		t.Error("the metrics have no attempts")
	}
	time.Sleep(3 * time.Second)
	if after := attempts(); after != before {
		t.Errorf("in 3 s in which nothing happens, attempts became\n%sfrom\n%s", after, before)
	}

	node := objects.Node(1001)
	node.Labels["e2e/awaited"] = "true"
	begin := time.Now()
	s.ok(objects.CreateNode(s.ctx, s.client, node))
	s.bound(waiting)
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("the pods were bound %s after their node came", took)
	}
	t.Logf("bound %s after the node came", time.Since(begin).Round(time.Millisecond))
}
