package capacity_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func TestValidateCluster(t *testing.T) {
	if err := capacity.ValidateCluster(withGrades(map[uint]int{2: 4})); err != nil {
		t.Errorf("ValidateCluster: %v for a good cluster", err)
	}
	if err := capacity.ValidateCluster(&api.Cluster{}); err != nil {
		t.Errorf("ValidateCluster: %v for a cluster that says nothing", err)
	}
	nameless := withSummary(list("cpu", "4", "", "1Gi"), nil)
	nameless.Spec.ResourceModels = []api.ResourceModel{model(0, "", "0", endless)}
	const unnamed = `cluster m: spec.resourceModels[0].ranges[0].name: the name of a resource must not be empty
cluster m: status.resourceSummary.allocatable[]: "1Gi": the name of a resource must not be empty`
	if diff := cmp.Diff(unnamed, fmt.Sprint(capacity.ValidateCluster(nameless))); diff != "" {
		t.Errorf("ValidateCluster differs (-want +got):\n%s", diff)
	}
	if err := capacity.ValidateCluster(nil); fmt.Sprint(err) != `cluster: "null": is nil` {
		t.Errorf("ValidateCluster(nil) = %v", err)
	}
	c := withSummary(list("cpu", "-4", "memory", "1Gi"), list("cpu", "-1"))
	c.Spec.ResourceModels = []api.ResourceModel{
		model(0, "cpu", "0", "1"), model(1, "cpu", "1000m", "1"), model(2), model(1, "cpu", "3", endless),
	}
	c.Status.ResourceSummary.Allocating = resource.List{resource.Pods: resource.MustParse("-2")}
	c.Status.ResourceSummary.AllocatableModelings = []api.AllocatableModeling{{Grade: 7, Count: -1}, {Grade: 1}, {Grade: 1}}
	want := `cluster m: spec.resourceModels[1].ranges[0].max: "1": The max value of each resource must be greater than the min value
cluster m: spec.resourceModels[2].ranges: "0 resources": The number of resource types should be the same
cluster m: spec.resourceModels[3].ranges: "1 resources": The number of resource types should be the same
cluster m: spec.resourceModels[2].ranges: "0 resources": a model must name at least one resource
cluster m: spec.resourceModels[3].grade: "1": grades must ascend
cluster m: status.resourceSummary.allocatable[cpu]: "-4": must not be negative
cluster m: status.resourceSummary.allocating[pods]: "-2": must not be negative
cluster m: status.resourceSummary.allocated[cpu]: "-1": must not be negative
cluster m: status.resourceSummary.allocatableModelings[0].count: "-1": must not be negative
cluster m: status.resourceSummary.allocatableModelings: "3 counts for 4 models": fewer counts than resource models
cluster m: status.resourceSummary.allocatableModelings[0].grade: "7": no resource model has this grade
cluster m: status.resourceSummary.allocatableModelings[2].grade: "1": the grade is in the list twice`
	if diff := cmp.Diff(want, fmt.Sprint(capacity.ValidateCluster(c))); diff != "" {
		t.Errorf("ValidateCluster differs (-want +got):\n%s", diff)
	}
}
