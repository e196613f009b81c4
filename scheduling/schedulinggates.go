package scheduling

import (
	"context"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/framework/queueing"
)

// SchedulingGates is the PreEnqueue plugin that keeps a pod out of the queue
// for as long as its spec names scheduling gates.
//
// Source: kube-scheduler 1.37, plugin SchedulingGates.
type SchedulingGates struct{}

var _ incremental.SelectiveGate = SchedulingGates{}

// Name returns "SchedulingGates".
func (SchedulingGates) Name() string { return "SchedulingGates" }

// PreEnqueue rejects a pod that has gates.
func (SchedulingGates) PreEnqueue(_ context.Context, pod *framework.PodInfo) framework.Status {
	names := pod.Gates()
	if len(names) == 0 {
		return framework.Status{}
	}
	return framework.UnresolvableStatus(framework.Text(fmt.Sprintf("waiting for scheduling gates: %v", names)))
}

// Gates implements [incremental.SelectiveGate]: pods with gates.
func (SchedulingGates) Gates() framework.PodParts { return framework.PartGates }

// EventsToRegister names the only event that matters: the pod lost its gates.
func (SchedulingGates) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{{Event: queueing.ClusterEvent{
		Resource: queueing.ResourceTargetPod, Action: queueing.ActionUpdatePodSchedulingGatesEliminated,
	}}}
}
