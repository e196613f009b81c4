package queue_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

func TestPodChanges(t *testing.T) {
	base := api.MakePod("p").Labels("a", "1").Requests("1", "1Gi").Tolerates("k=v:NoSchedule")
	for _, tt := range []struct {
		name          string
		before, after *api.Pod
		resource      framework.EventResource
		want          []framework.ActionType
	}{
		{"nothing", base.Obj(), base.Obj(), framework.ResourceTargetPod, []framework.ActionType{framework.ActionUpdate}},
		{"on a node", base.Obj(), base.Node("n").Obj(), framework.ResourceAssignedPod, []framework.ActionType{framework.ActionUpdate}},
		{"a label", base.Obj(), base.Labels("a", "2").Obj(), framework.ResourceTargetPod, []framework.ActionType{framework.ActionUpdatePodLabel}},
		{"less", base.Obj(), base.Requests("500m", "1Gi").Obj(), framework.ResourceTargetPod, []framework.ActionType{framework.ActionUpdatePodScaleDown}},
		{"more", base.Obj(), base.Requests("1", "2Gi").Obj(), framework.ResourceTargetPod, []framework.ActionType{framework.ActionUpdatePodScaleUp}},
		{
			"less of one, more of another", base.Obj(), base.Requests("2", "1Mi").Obj(), framework.ResourceTargetPod,
			[]framework.ActionType{framework.ActionUpdatePodScaleDown, framework.ActionUpdatePodScaleUp},
		},
		{"one gate less", base.Gates("a", "b").Obj(), base.Gates("b").Obj(), framework.ResourceTargetPod, []framework.ActionType{framework.ActionUpdate}},
		{"no gate left", base.Gates("a", "b").Obj(), base.Obj(), framework.ResourceTargetPod, []framework.ActionType{framework.ActionUpdatePodSchedulingGatesEliminated}},
		{
			"another toleration", base.Obj(), base.Tolerates("x:NoExecute").Obj(), framework.ResourceTargetPod,
			[]framework.ActionType{framework.ActionUpdatePodToleration},
		},
		{
			"label and gates", base.Gates("a").Obj(), base.Labels("b", "1").Obj(), framework.ResourceTargetPod,
			[]framework.ActionType{framework.ActionUpdatePodLabel, framework.ActionUpdatePodSchedulingGatesEliminated},
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
			var want []framework.ClusterEvent
			for _, a := range tt.want {
				want = append(want, framework.ClusterEvent{Resource: tt.resource, Action: a})
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
		want          []framework.ActionType
	}{
		{"nothing", base.Obj(), base.Obj(), nil},
		{"the same amount otherwise written", base.Resource("x", "1k").Obj(), base.Resource("x", "1000").Obj(), nil},
		{"allocatable", base.Obj(), base.Resource("cpu", "8").Obj(), []framework.ActionType{framework.ActionUpdateNodeAllocatable}},
		{"another resource", base.Obj(), base.Resource("x", "1").Obj(), []framework.ActionType{framework.ActionUpdateNodeAllocatable}},
		{"label", base.Obj(), base.Labels("a", "2").Obj(), []framework.ActionType{framework.ActionUpdateNodeLabel}},
		{"taint", base.Obj(), base.Taint("u:NoExecute").Obj(), []framework.ActionType{framework.ActionUpdateNodeTaint}},
		{"schedulable again", base.Unschedulable().Obj(), base.Obj(), []framework.ActionType{framework.ActionUpdateNodeTaint}},
		{"no longer schedulable", base.Obj(), base.Unschedulable().Obj(), nil},
		{"condition", ready("True"), ready("False"), []framework.ActionType{framework.ActionUpdateNodeCondition}},
		{"annotation", base.Obj(), base.Annotations("k", "w").Obj(), []framework.ActionType{framework.ActionUpdateNodeAnnotation}},
		{
			"feature", base.Obj(), with(func(n *api.Node) { n.Status.DeclaredFeatures = []string{"f"} }),
			[]framework.ActionType{framework.ActionUpdateNodeDeclaredFeature},
		},
		{
			"preemption policy", base.Obj(), with(func(n *api.Node) {
				n.Spec.PodPreemptionPolicy = &api.NodePodPreemptionPolicy{DisableResizePreemption: []string{"x"}}
			}),
			[]framework.ActionType{framework.ActionUpdateNodePreemptionPolicy},
		},
		{
			"two things", base.Obj(), base.Labels("b", "1").Taint("u:NoExecute").Obj(),
			[]framework.ActionType{framework.ActionUpdateNodeLabel, framework.ActionUpdateNodeTaint},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []framework.ClusterEvent
			for _, a := range tt.want {
				want = append(want, framework.ClusterEvent{Resource: framework.ResourceNode, Action: a})
			}
			if diff := cmp.Diff(want, queue.NodeChanges(tt.before, tt.after)); diff != "" {
				t.Errorf("NodeChanges (-want +got):\n%s", diff)
			}
		})
	}
}
