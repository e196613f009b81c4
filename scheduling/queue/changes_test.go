//go:build full

package queue_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

func TestPodChanges(t *testing.T) {
	base := api.MakePod("p").Labels("a", "1").Requests("1", "1Gi").Tolerates("k=v:NoSchedule")
	for _, tt := range []struct {
		name          string
		before, after *api.Pod
		resource      queueing.EventResource
		want          []queueing.ActionType
	}{
		{"nothing", base.Obj(), base.Obj(), queueing.ResourceTargetPod, []queueing.ActionType{queueing.ActionUpdate}},
		{"on a node", base.Obj(), base.Node("n").Obj(), queueing.ResourceAssignedPod, []queueing.ActionType{queueing.ActionUpdate}},
		{"a label", base.Obj(), base.Labels("a", "2").Obj(), queueing.ResourceTargetPod, []queueing.ActionType{queueing.ActionUpdatePodLabel}},
		{"less", base.Obj(), base.Requests("500m", "1Gi").Obj(), queueing.ResourceTargetPod, []queueing.ActionType{queueing.ActionUpdatePodScaleDown}},
		{"more", base.Obj(), base.Requests("1", "2Gi").Obj(), queueing.ResourceTargetPod, []queueing.ActionType{queueing.ActionUpdatePodScaleUp}},
		{
			"less of one, more of another", base.Obj(), base.Requests("2", "1Mi").Obj(), queueing.ResourceTargetPod,
			[]queueing.ActionType{queueing.ActionUpdatePodScaleDown, queueing.ActionUpdatePodScaleUp},
		},
		{"one gate less", base.Gates("a", "b").Obj(), base.Gates("b").Obj(), queueing.ResourceTargetPod, []queueing.ActionType{queueing.ActionUpdate}},
		{"no gate left", base.Gates("a", "b").Obj(), base.Obj(), queueing.ResourceTargetPod, []queueing.ActionType{queueing.ActionUpdatePodSchedulingGatesEliminated}},
		{
			"another toleration", base.Obj(), base.Tolerates("x:NoExecute").Obj(), queueing.ResourceTargetPod,
			[]queueing.ActionType{queueing.ActionUpdatePodToleration},
		},
		{
			"label and gates", base.Gates("a").Obj(), base.Labels("b", "1").Obj(), queueing.ResourceTargetPod,
			[]queueing.ActionType{queueing.ActionUpdatePodLabel, queueing.ActionUpdatePodSchedulingGatesEliminated},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schema := resource.NewSchema()
			before, err := framework.NewPodInfo(tt.before, schema)
			if err != nil {
				t.Fatal(err)
			}
			after, err := framework.NewPodInfo(tt.after, schema)
			if err != nil {
				t.Fatal(err)
			}
			var want []queueing.ClusterEvent
			for _, a := range tt.want {
				want = append(want, queueing.ClusterEvent{Resource: tt.resource, Action: a})
			}
			if diff := cmp.Diff(want, queue.PodChanges(before, after)); diff != "" {
				t.Errorf("PodChanges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodeChanges(t *testing.T) {
	base := api.MakeNode("n", "4", "8Gi").Labels("a", "1").Annotations("k", "v").Taint("t=v:NoSchedule")
	with := func(change func(*api.Node)) *api.Node {
		n := base.Obj()
		change(n)
		return n
	}
	ready := func(s api.ConditionStatus) *api.Node {
		return with(func(n *api.Node) {
			n.Status.Conditions = []api.NodeCondition{{Type: api.NodeReady, Status: s}}
		})
	}
	for _, tt := range []struct {
		name          string
		before, after *api.Node
		want          []queueing.ActionType
	}{
		{"nothing", base.Obj(), base.Obj(), nil},
		{"the same amount otherwise written", base.Resource("x", "1k").Obj(), base.Resource("x", "1000").Obj(), nil},
		{"allocatable", base.Obj(), base.Resource("cpu", "8").Obj(), []queueing.ActionType{queueing.ActionUpdateNodeAllocatable}},
		{"another resource", base.Obj(), base.Resource("x", "1").Obj(), []queueing.ActionType{queueing.ActionUpdateNodeAllocatable}},
		{"label", base.Obj(), base.Labels("a", "2").Obj(), []queueing.ActionType{queueing.ActionUpdateNodeLabel}},
		{"taint", base.Obj(), base.Taint("u:NoExecute").Obj(), []queueing.ActionType{queueing.ActionUpdateNodeTaint}},
		{"schedulable again", base.Unschedulable().Obj(), base.Obj(), []queueing.ActionType{queueing.ActionUpdateNodeTaint}},
		{"no longer schedulable", base.Obj(), base.Unschedulable().Obj(), nil},
		{"condition", ready("True"), ready("False"), []queueing.ActionType{queueing.ActionUpdateNodeCondition}},
		{"annotation", base.Obj(), base.Annotations("k", "w").Obj(), []queueing.ActionType{queueing.ActionUpdateNodeAnnotation}},
		{
			"feature", base.Obj(), with(func(n *api.Node) { n.Status.DeclaredFeatures = []string{"f"} }),
			[]queueing.ActionType{queueing.ActionUpdateNodeDeclaredFeature},
		},
		{
			"preemption policy", base.Obj(), with(func(n *api.Node) {
				n.Spec.PodPreemptionPolicy = &api.NodePodPreemptionPolicy{DisableResizePreemption: []string{"x"}}
			}),
			[]queueing.ActionType{queueing.ActionUpdateNodePreemptionPolicy},
		},
		{
			"two things", base.Obj(), base.Labels("b", "1").Taint("u:NoExecute").Obj(),
			[]queueing.ActionType{queueing.ActionUpdateNodeLabel, queueing.ActionUpdateNodeTaint},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []queueing.ClusterEvent
			for _, a := range tt.want {
				want = append(want, queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: a})
			}
			if diff := cmp.Diff(want, queue.NodeChanges(tt.before, tt.after)); diff != "" {
				t.Errorf("NodeChanges (-want +got):\n%s", diff)
			}
		})
	}
}
