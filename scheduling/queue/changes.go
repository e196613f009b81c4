package queue

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
)

// PodChanges lists the changes in a pod that matter for scheduling: labels,
// requests, the number of tolerations, removed gates. The events are about an
// assigned pod if the pod is on a node, otherwise about the pod itself. Any other
// change is one event with all update actions.
//
// Source: kube-scheduler 1.37, framework/events.go.
func PodChanges(before, after *framework.PodInfo) []queueing.ClusterEvent {
	e := queueing.ClusterEvent{Resource: queueing.ResourceTargetPod}
	if after.Pod.Spec.NodeName != "" {
		e.Resource = queueing.ResourceAssignedPod
	}
	a, b := before.Pod, after.Pod
	var events []queueing.ClusterEvent
	note := func(changed bool, action queueing.ActionType) {
		if changed {
			e.Action = action
			events = append(events, e)
		}
	}
	note(!maps.Equal(a.Labels, b.Labels), queueing.ActionUpdatePodLabel)
	note(usesMore(before, after), queueing.ActionUpdatePodScaleDown)
	note(usesMore(after, before), queueing.ActionUpdatePodScaleUp)
	note(len(a.Spec.SchedulingGates) > 0 && len(b.Spec.SchedulingGates) == 0, queueing.ActionUpdatePodSchedulingGatesEliminated)
	note(len(a.Spec.Tolerations) != len(b.Spec.Tolerations), queueing.ActionUpdatePodToleration)
	note(len(events) == 0, queueing.ActionUpdate)
	return events
}

// usesMore reports whether p uses more than q of any resource.
func usesMore(p, q *framework.PodInfo) bool {
	if anyAbove(p.UsedRequests, q.UsedRequests) {
		return true
	}
	return slices.ContainsFunc(p.Unknown, func(u framework.UnknownRequest) bool {
		return u.Used > q.UnknownRequest(u.Name).Used
	})
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
func NodeChanges(before, after *api.Node) []queueing.ClusterEvent {
	var events []queueing.ClusterEvent
	note := func(changed bool, action queueing.ActionType) {
		if changed {
			events = append(events, queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: action})
		}
	}
	schedulable := before.Spec.Unschedulable && !after.Spec.Unschedulable
	note(!equalLists(before.Status.Allocatable, after.Status.Allocatable), queueing.ActionUpdateNodeAllocatable)
	note(!maps.Equal(before.Labels, after.Labels), queueing.ActionUpdateNodeLabel)
	note(schedulable || !slices.EqualFunc(before.Spec.Taints, after.Spec.Taints, equalTaints), queueing.ActionUpdateNodeTaint)
	note(!maps.Equal(conditions(before), conditions(after)), queueing.ActionUpdateNodeCondition)
	note(!maps.Equal(before.Annotations, after.Annotations), queueing.ActionUpdateNodeAnnotation)
	note(!slices.Equal(before.Status.DeclaredFeatures, after.Status.DeclaredFeatures), queueing.ActionUpdateNodeDeclaredFeature)
	note(!slices.Equal(preemptionPolicy(before), preemptionPolicy(after)), queueing.ActionUpdateNodePreemptionPolicy)
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
