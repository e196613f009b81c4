package capacity_test

import (
	"fmt"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// exampleCluster has one node with 2 CPUs and 16Gi free, and six nodes with twice
// as much.
func exampleCluster() *api.Cluster {
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "member1"}}
	c.Spec.ResourceModels = capacity.DefaultModels()
	c.Status.ResourceSummary = &api.ResourceSummary{
		Allocatable:          resource.List{resource.Pods: resource.MustParse("770"), resource.CPU: resource.MustParse("28"), resource.Memory: resource.MustParse("224Gi")},
		AllocatableModelings: []api.AllocatableModeling{{Grade: 0}, {Grade: 1}, {Grade: 2, Count: 1}, {Grade: 3, Count: 6}, {Grade: 4}, {Grade: 5}, {Grade: 6}, {Grade: 7}, {Grade: 8}},
	}
	return c
}

// How many replicas of 3 CPUs and 20Gi a cluster takes depends on the version of
// the rules: the oldest counts one replica for a node with 2 CPUs.
func ExampleGeneral() {
	replica := &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("3"), resource.Memory: resource.MustParse("20Gi")}}
	for _, rule := range []capacity.Rules{capacity.Karmada111, capacity.Karmada113, capacity.Karmada118} {
		r, err := capacity.General{Rules: rule}.Explain(exampleCluster(), replica)
		fmt.Println(rule, &r, err)
	}
	// Output:
	// Karmada111 member1: 7 replicas by models: grade 2: 1 node x 1, grade 3: 6 nodes x 1 <nil>
	// Karmada113 member1: 6 replicas by models: grade 3: 6 nodes x 1 <nil>
	// Karmada118 member1: 6 replicas by models: grade 3: 6 nodes x 1 <nil>
}

func ExampleGeneral_EstimateSets() {
	sets, err := capacity.General{}.EstimateSets(exampleCluster(), []capacity.Component{
		{Name: "jobmanager", Replicas: 1, Request: resource.List{resource.CPU: resource.MustParse("1")}},
		{Name: "taskmanager", Replicas: 2, Request: resource.List{resource.CPU: resource.MustParse("3")}},
	})
	fmt.Println(sets.Replicas, err)
	// Output: 3 <nil>
}

func ExampleGrader() {
	g, err := capacity.NewGrader(capacity.DefaultModels())
	if err != nil {
		fmt.Println(err)
		return
	}
	grade, _ := g.Grade(resource.List{resource.CPU: resource.MustParse("1500m"), resource.Memory: resource.MustParse("10Gi")})
	fmt.Println(grade)
	// Output: 1
}

func ExampleValidateModelsStrictly() {
	models := capacity.DefaultModels()[:2]
	models[1].Grade = 0
	fmt.Println(capacity.ValidateModelsStrictly(models))
	// Output:
	// spec.resourceModels[1].grade: "0": The grade of each models should not be the same
	// spec.resourceModels[1].ranges[0].max: "2": The max value of each resource in the last model should be MaxInt64
	// spec.resourceModels[1].ranges[1].max: "16Gi": The max value of each resource in the last model should be MaxInt64
}

// Summarize describes known nodes as Karmada does.
func ExampleSummarize() {
	s := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"n1", "n2"} {
		if err := s.AddNode(api.MakeNode(name, "6", "48Gi").Obj()); err != nil {
			fmt.Println(err)
		}
	}
	c := &api.Cluster{Spec: api.ClusterSpec{ResourceModels: capacity.DefaultModels()}}
	described, err := capacity.Summarize(c, s, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	summary := described.Status.ResourceSummary
	fmt.Println(summary.Allocatable[resource.CPU], "CPUs,", summary.AllocatableModelings[3].Count, "nodes of grade 3")
	// Output: 12 CPUs, 2 nodes of grade 3
}

func ExampleCombine() {
	c := capacity.Combine([]capacity.ClusterEstimator{
		capacity.General{IgnoreModels: true}, capacity.General{Rules: capacity.Karmada113},
	}, exampleCluster(), &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("3")}})
	fmt.Println(c.Cluster, c.Replicas, c.Err)
	// Output: member1 6 <nil>
}
