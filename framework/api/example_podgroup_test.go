package api_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// A workload holds templates; a controller makes groups from them, and pods name their
// group.
func ExampleWorkload_PodGroup() {
	gang := api.PodGroupSchedulingPolicy{Gang: &api.GangSchedulingPolicy{MinCount: 8}}
	one := api.PodGroupSchedulingPolicy{Basic: &api.BasicSchedulingPolicy{}}
	w := &api.Workload{
		ObjectMeta: api.ObjectMeta{Namespace: "ai", Name: "train"},
		Spec: api.WorkloadSpec{PodGroupTemplates: []api.PodGroupTemplate{
			{Name: "leader", SchedulingPolicy: one, DisruptionMode: &api.DisruptionMode{Single: &api.SingleDisruptionMode{}}},
			{
				Name: "workers", SchedulingPolicy: gang,
				SchedulingConstraints: &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: "example.com/rack"}}},
				DisruptionMode:        &api.DisruptionMode{All: &api.AllDisruptionMode{}},
			},
		}},
	}
	var g *api.PodGroup
	g, err := w.PodGroup("workers", "train-workers")
	var spec api.PodGroupSpec = g.Spec
	var from *api.WorkloadReference = spec.WorkloadRef
	fmt.Println(g.MinCount(), g.TopologyKey(), g.DisruptAll(), from.TemplateName, err, g.Validate())

	pod := api.MakePod("w-0").Namespace("ai").Obj()
	pod.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &g.Name}
	fmt.Println(pod.SchedulingGroupName())

	g.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{}
	g.Status = api.PodGroupStatus{Conditions: []api.Condition{{Type: api.PodGroupInitiallyScheduled, Status: api.ConditionTrue}}}
	fmt.Println(g.Validate())
	// Output:
	// 8 example.com/rack true workers <nil> <nil>
	// train-workers
	// podgroup ai/train-workers: spec.schedulingPolicy.gang.minCount: "0": must be greater than zero
}

// Groups name the composite that they belong to.
func ExampleCompositePodGroup() {
	gang := &api.CompositeGangSchedulingPolicy{MinGroupCount: 2}
	var policy api.CompositePodGroupSchedulingPolicy
	policy.Gang = gang
	c := &api.CompositePodGroup{
		ObjectMeta: api.ObjectMeta{Namespace: "ai", Name: "replica"},
		Spec: api.CompositePodGroupSpec{
			SchedulingPolicy:      policy,
			SchedulingConstraints: &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: "example.com/block"}}},
			DisruptionMode:        &api.DisruptionMode{All: &api.AllDisruptionMode{}},
		},
	}
	leader := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "ai", Name: "leader"}}
	leader.Spec.ParentCompositePodGroupName = &c.Name
	fmt.Println(c.MinGroupCount(), c.TopologyKey(), c.Priority(), c.DisruptAll(), c.Validate(), api.CompositePodGroupDepth)
	gang.MinGroupCount = 0
	fmt.Println(c.Validate())
	// Output:
	// 2 example.com/block 0 true <nil> 4
	// compositepodgroup ai/replica: spec.schedulingPolicy.gang.minGroupCount: "0": must be greater than zero
}
