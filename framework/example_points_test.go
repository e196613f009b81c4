package framework_test

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func ExampleClusterEvent() {
	registered := framework.ClusterEvent{Resource: framework.ResourcePod, Action: framework.ActionDelete}
	happened := framework.ClusterEvent{Resource: framework.ResourceAssignedPod, Action: framework.ActionDelete}
	fmt.Println(registered.Matches(happened), happened.Matches(registered))
	// Output: true false
}

// A registration for a resource "Pod" stands for pods of all three kinds.
func ExampleEventResource() {
	for _, r := range []framework.EventResource{framework.ResourceTargetPod, framework.ResourceNode} {
		event := framework.ClusterEvent{Resource: framework.ResourcePod, Action: framework.ActionAll}
		fmt.Println(r, event.Matches(framework.ClusterEvent{Resource: r, Action: framework.ActionUpdatePodLabel}))
	}
	// Output:
	// TargetPod true
	// Node false
}

// Actions are bits.
func ExampleActionType() {
	event := framework.ClusterEvent{Resource: framework.ResourceNode, Action: framework.ActionAdd | framework.ActionUpdateNodeLabel}
	for _, action := range []framework.ActionType{framework.ActionAdd, framework.ActionUpdateNodeTaint} {
		fmt.Println(event.Matches(framework.ClusterEvent{Resource: framework.ResourceNode, Action: action}))
	}
	// Output:
	// true
	// false
}

// Zoned rejects pods outside their zone, and wants to hear of labels only.
type Zoned struct{}

func (Zoned) Name() string { return "Zoned" }

func (Zoned) EventsToRegister() []framework.EventHint {
	return []framework.EventHint{{
		Event: framework.ClusterEvent{Resource: framework.ResourceNode, Action: framework.ActionAdd | framework.ActionUpdateNodeLabel},
		Hint: func(pod *framework.PodInfo, _, after any) (framework.QueueingHint, error) {
			if n, ok := after.(*api.Node); ok && n.Labels["zone"] == pod.Pod.Labels["zone"] {
				return framework.Queue, nil
			}
			return framework.QueueSkip, nil
		},
	}}
}

func ExampleEnqueueExtensions() {
	var plugin framework.EnqueueExtensions = Zoned{}
	for _, e := range plugin.EventsToRegister() {
		fmt.Println(plugin.Name(), "wakes pods on", e.Event.Resource)
	}
	// Output: Zoned wakes pods on Node
}

// A hint looks at the object and says whether the pod may fit now.
func ExampleEventHint() {
	snapshot := framework.NewSnapshot(framework.Arrival)
	pod, err := snapshot.NewPodInfo(api.MakePod("web").Labels("zone", "a").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	hint := Zoned{}.EventsToRegister()[0].Hint
	for _, zone := range []string{"a", "b"} {
		says, err := hint(pod, nil, api.MakeNode("n", "1", "1Gi").Labels("zone", zone).Obj())
		fmt.Println(zone, says == framework.Queue, err)
	}
	// Output:
	// a true <nil>
	// b false <nil>
}

// A clock is made of two functions; here, one that stands still.
func ExampleClock() {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := framework.ClockOf(func() time.Time { return at }, func(time.Duration, func()) *time.Timer { return time.NewTimer(time.Hour) })
	stop := clock.AfterFunc(time.Minute, func() {})
	fmt.Println(clock.Now(), stop())
	// Output: 2026-01-02 03:04:05 +0000 UTC true
}
