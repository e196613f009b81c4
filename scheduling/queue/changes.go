package queue

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// PodChanges lists the changes in a pod that matter for scheduling: labels,
// requests, the number of tolerations, removed gates. The events are about an
// assigned pod if the pod is on a node, otherwise about the pod itself. Any other
// change is one event with all update actions.
//
// Source: kube-scheduler 1.37, framework/events.go.
func PodChanges(before, after *framework.PodInfo) []framework.ClusterEvent {
	e := framework.ClusterEvent{Resource: framework.ResourceTargetPod}
	if after.Pod.Spec.NodeName != "" {
		e.Resource = framework.ResourceAssignedPod
	}
	a, b := before.Pod, after.Pod
	var events []framework.ClusterEvent
	note := func(changed bool, action framework.ActionType) {
		if changed {
			e.Action = action
			events = append(events, e)
		}
	}
	note(!maps.Equal(a.Labels, b.Labels), framework.ActionUpdatePodLabel)
	note(anyAbove(before.UsedRequests, after.UsedRequests), framework.ActionUpdatePodScaleDown)
	note(anyAbove(after.UsedRequests, before.UsedRequests), framework.ActionUpdatePodScaleUp)
	note(len(a.Spec.SchedulingGates) > 0 && len(b.Spec.SchedulingGates) == 0, framework.ActionUpdatePodSchedulingGatesEliminated)
	note(len(a.Spec.Tolerations) != len(b.Spec.Tolerations), framework.ActionUpdatePodToleration)
	note(len(events) == 0, framework.ActionUpdate)
	return events
}

// anyAbove reports whether v is larger than w in any dimension.
func anyAbove(v, w resource.Vector) bool {
	for i, x := range v {
		if x > w.At(i) {
			return true
		}
	}
	return false
}

// NodeChanges lists the changes in a node that matter for scheduling. A node that
// becomes schedulable counts as a change of taints.
//
// Source: kube-scheduler 1.37, framework/events.go.
func NodeChanges(before, after *api.Node) []framework.ClusterEvent {
	var events []framework.ClusterEvent
	note := func(changed bool, action framework.ActionType) {
		if changed {
			events = append(events, framework.ClusterEvent{Resource: framework.ResourceNode, Action: action})
		}
	}
	schedulable := before.Spec.Unschedulable && !after.Spec.Unschedulable
	note(!equalLists(before.Status.Allocatable, after.Status.Allocatable), framework.ActionUpdateNodeAllocatable)
	note(!maps.Equal(before.Labels, after.Labels), framework.ActionUpdateNodeLabel)
	note(schedulable || !slices.EqualFunc(before.Spec.Taints, after.Spec.Taints, equalTaints), framework.ActionUpdateNodeTaint)
	note(!maps.Equal(conditions(before), conditions(after)), framework.ActionUpdateNodeCondition)
	note(!maps.Equal(before.Annotations, after.Annotations), framework.ActionUpdateNodeAnnotation)
	note(!slices.Equal(before.Status.DeclaredFeatures, after.Status.DeclaredFeatures), framework.ActionUpdateNodeDeclaredFeature)
	note(!slices.Equal(preemptionPolicy(before), preemptionPolicy(after)), framework.ActionUpdateNodePreemptionPolicy)
	return events
}

func equalLists(a, b resource.List) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

func equalTaints(a, b api.Taint) bool {
	if a.Key != b.Key || a.Value != b.Value || a.Effect != b.Effect || (a.TimeAdded == nil) != (b.TimeAdded == nil) {
		return false
	}
	return a.TimeAdded == nil || a.TimeAdded.Equal(*b.TimeAdded)
}

func conditions(n *api.Node) map[api.NodeConditionType]api.ConditionStatus {
	m := make(map[api.NodeConditionType]api.ConditionStatus, len(n.Status.Conditions))
	for _, c := range n.Status.Conditions {
		m[c.Type] = c.Status
	}
	return m
}

func preemptionPolicy(n *api.Node) []string {
	if p := n.Spec.PodPreemptionPolicy; p != nil {
		return p.DisableResizePreemption
	}
	return nil
}
