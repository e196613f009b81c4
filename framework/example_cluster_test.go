package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A member cluster and its resource models: grades of nodes by what is free on
// them. Package estimator computes from it how many replicas it takes.
func ExampleClusterSpec() {
	upTo4 := framework.ResourceModelRange{Name: resource.CPU, Min: resource.MustParse("0"), Max: resource.MustParse("4")}
	more := framework.ResourceModelRange{Name: resource.CPU, Min: resource.MustParse("4"), Max: resource.MustParse("64")}
	c := framework.Cluster{
		ObjectMeta: framework.ObjectMeta{Name: "member1"},
		Spec: framework.ClusterSpec{
			SyncMode: framework.Push,
			Region:   "eu",
			Zones:    []string{"eu-1a", "eu-1b"},
			Taints:   []framework.Taint{{Key: "maintenance", Effect: framework.TaintEffectNoSchedule}},
			ResourceModels: []framework.ResourceModel{
				{Grade: 0, Ranges: []framework.ResourceModelRange{upTo4}},
				{Grade: 1, Ranges: []framework.ResourceModelRange{more}},
			},
		},
	}
	for _, m := range c.Spec.ResourceModels {
		fmt.Printf("grade %d: from %v up to %v free CPUs\n", m.Grade, m.Ranges[0].Min, m.Ranges[0].Max)
	}
	// Output:
	// grade 0: from 0 up to 4 free CPUs
	// grade 1: from 4 up to 64 free CPUs
}

func ExampleClusterStatus() {
	status := framework.ClusterStatus{
		KubernetesVersion: "v1.34.1",
		APIEnablements: []framework.APIEnablement{{
			GroupVersion: "apps/v1", Resources: []framework.APIResource{{Name: "deployments", Kind: "Deployment"}},
		}},
		Conditions:  []framework.Condition{{Type: framework.ClusterConditionReady, Status: framework.ConditionTrue}},
		NodeSummary: &framework.NodeSummary{TotalNum: 12, ReadyNum: 11},
		ResourceSummary: &framework.ResourceSummary{
			Allocatable:          resource.List{resource.CPU: resource.MustParse("88")},
			Allocated:            resource.List{resource.CPU: resource.MustParse("40")},
			AllocatableModelings: []framework.AllocatableModeling{{Grade: 0, Count: 5}, {Grade: 1, Count: 6}},
		},
	}
	fmt.Println(status.NodeSummary.ReadyNum, "of", status.NodeSummary.TotalNum, "nodes ready")
	fmt.Println(status.ResourceSummary.Allocated[resource.CPU], "of", status.ResourceSummary.Allocatable[resource.CPU], "CPUs taken")
	// Output:
	// 11 of 12 nodes ready
	// 40 of 88 CPUs taken
}
