package api_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A member cluster and its resource models: grades of nodes by free resources.
// Package estimator/capacity computes from them how many replicas the cluster
// takes.
func ExampleClusterSpec() {
	upTo4 := api.ResourceModelRange{Name: resource.CPU, Min: resource.MustParse("0"), Max: resource.MustParse("4")}
	more := api.ResourceModelRange{Name: resource.CPU, Min: resource.MustParse("4"), Max: resource.MustParse("64")}
	c := api.Cluster{
		ObjectMeta: api.ObjectMeta{Name: "member1"},
		Spec: api.ClusterSpec{
			SyncMode: api.Push,
			Region:   "eu",
			Zones:    []string{"eu-1a", "eu-1b"},
			Taints:   []api.Taint{{Key: "maintenance", Effect: api.TaintEffectNoSchedule}},
			ResourceModels: []api.ResourceModel{
				{Grade: 0, Ranges: []api.ResourceModelRange{upTo4}},
				{Grade: 1, Ranges: []api.ResourceModelRange{more}},
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
	status := api.ClusterStatus{
		KubernetesVersion: "v1.34.1",
		APIEnablements: []api.APIEnablement{{
			GroupVersion: "apps/v1", Resources: []api.APIResource{{Name: "deployments", Kind: "Deployment"}},
		}},
		Conditions:  []api.Condition{{Type: api.ClusterConditionReady, Status: api.ConditionTrue}},
		NodeSummary: &api.NodeSummary{TotalNum: 12, ReadyNum: 11},
		ResourceSummary: &api.ResourceSummary{
			Allocatable:          resource.List{resource.CPU: resource.MustParse("88")},
			Allocated:            resource.List{resource.CPU: resource.MustParse("40")},
			AllocatableModelings: []api.AllocatableModeling{{Grade: 0, Count: 5}, {Grade: 1, Count: 6}},
		},
	}
	fmt.Println(status.NodeSummary.ReadyNum, "of", status.NodeSummary.TotalNum, "nodes ready")
	fmt.Println(status.ResourceSummary.Allocated[resource.CPU], "of", status.ResourceSummary.Allocatable[resource.CPU], "CPUs taken")
	// Output:
	// 11 of 12 nodes ready
	// 40 of 88 CPUs taken
}
