package queueing_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
)

func ExampleClusterEvent() {
	registered := queueing.ClusterEvent{Resource: queueing.ResourcePod, Action: queueing.ActionDelete}
	happened := queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionDelete}
	fmt.Println(registered.Matches(happened), happened.Matches(registered))
	// Output: true false
}

// A registration for a resource "Pod" stands for pods of all three kinds.
func ExampleEventResource() {
	for _, r := range []queueing.EventResource{queueing.ResourceTargetPod, queueing.ResourceNode} {
		event := queueing.ClusterEvent{Resource: queueing.ResourcePod, Action: queueing.ActionAll}
		fmt.Println(r, event.Matches(queueing.ClusterEvent{Resource: r, Action: queueing.ActionUpdatePodLabel}))
	}
	// Output:
	// TargetPod true
	// Node false
}

// Actions are bits.
func ExampleActionType() {
	event := queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: queueing.ActionAdd | queueing.ActionUpdateNodeLabel}
	for _, action := range []queueing.ActionType{queueing.ActionAdd, queueing.ActionUpdateNodeTaint} {
		fmt.Println(event.Matches(queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: action}))
	}
	// Output:
	// true
	// false
}

// Zoned rejects pods outside their zone, and wants to hear of labels only.
type Zoned struct{}

func (Zoned) Name() string { return "Zoned" }

func (Zoned) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{{
		Event: queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: queueing.ActionAdd | queueing.ActionUpdateNodeLabel},
		Hint: func(pod *framework.PodInfo, _, after any) (queueing.QueueingHint, error) {
			if n, ok := after.(*api.Node); ok && n.Labels["zone"] == pod.Pod.Labels["zone"] {
				return queueing.Queue, nil
			}
			return queueing.QueueSkip, nil
		},
	}}
}

func ExampleEnqueueExtensions() {
	var plugin queueing.EnqueueExtensions = Zoned{}
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
		fmt.Println(zone, says == queueing.Queue, err)
	}
	// Output:
	// a true <nil>
	// b false <nil>
}

// Gate keeps pods out of the queue that carry a gate.
type Gate struct{}

func (Gate) Name() string { return "Gate" }

func (Gate) PreEnqueue(_ context.Context, pod *framework.PodInfo) framework.Status {
	if len(pod.Pod.Spec.SchedulingGates) > 0 {
		return framework.UnresolvableStatus("the pod is gated")
	}
	return framework.Status{}
}

func ExamplePreEnqueuePlugin() {
	s := framework.NewSnapshot(framework.Arrival)
	p, err := s.NewPodInfo(api.MakePod("ship").Gates("customs").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	var plugin queueing.PreEnqueuePlugin = Gate{}
	fmt.Println(plugin.PreEnqueue(context.Background(), p))
	// Output: UnschedulableAndUnresolvable: the pod is gated
}

// Oldest lets the pod go first that has waited longest since it came.
type Oldest struct{}

func (Oldest) Name() string { return "Oldest" }

func (Oldest) Less(a, b *queueing.QueuedPod) bool { return a.InitialAttempt.Before(b.InitialAttempt) }

func ExampleQueueSortPlugin() {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	first := &queueing.QueuedPod{InitialAttempt: noon, Timestamp: noon.Add(time.Hour), Attempts: 3}
	second := &queueing.QueuedPod{InitialAttempt: noon.Add(time.Minute)}
	var plugin queueing.QueueSortPlugin = Oldest{}
	fmt.Println(plugin.Less(first, second), plugin.Less(second, first))
	// Output: true false
}

// A hint says whether an event may have made room for a pod.
func ExampleQueueingHintFunc() {
	var roomier queueing.QueueingHintFunc = func(pod *framework.PodInfo, before, after any) (queueing.QueueingHint, error) {
		old, ok := before.(*api.Node)
		node, also := after.(*api.Node)
		if !ok || !also {
			return queueing.Queue, nil // cannot tell: try
		}
		was, is := old.Status.Allocatable["cpu"], node.Status.Allocatable["cpu"]
		if is.Cmp(was) <= 0 {
			return queueing.QueueSkip, nil
		}
		return queueing.Queue, nil
	}
	small, large := api.MakeNode("n1", "4", "8Gi").Obj(), api.MakeNode("n1", "8", "8Gi").Obj()
	grown, _ := roomier(nil, small, large)
	shrunk, _ := roomier(nil, large, small)
	fmt.Println(grown == queueing.Queue, shrunk == queueing.Queue)
	// Output: true false
}

// A pod that waits for pods of its application looks at no others.
func ExampleSubject() {
	subjects := func(pod *framework.PodInfo) []queueing.Subject {
		return []queueing.Subject{{Namespace: pod.Pod.Namespace, Key: "app", Value: pod.Pod.Labels["app"]}}
	}
	hint := queueing.EventHint{
		Event:    queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionAdd},
		Subjects: subjects,
	}
	pod, err := framework.NewPodInfo(api.MakePod("web-1").Namespace("shop").Labels("app", "web").Obj(), resource.NewSchema())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\n", hint.Subjects(pod))
	// Output: [{Namespace:shop Key:app Value:web AnyValue:false}]
}
