package simulate_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// The pod of a group has the priority of the group above it, so a pod of a priority between
// the two evicts nobody.
func TestCompositeGroupKeepsPriority(t *testing.T) {
	c := config(decode(`{"kind": "List", "apiVersion": "v1", "items": [
		{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}}},
		{"kind": "CompositePodGroup", "apiVersion": "scheduling.k8s.io/v1alpha3", "metadata": {"name": "top", "namespace": "default"},
			"spec": {"priority": 1000, "schedulingPolicy": {"basic": {}}}},
		{"kind": "PodGroup", "apiVersion": "scheduling.k8s.io/v1alpha3", "metadata": {"name": "g", "namespace": "default"},
			"spec": {"parentCompositePodGroupName": "top", "schedulingPolicy": {"basic": {}}}},
		{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "low", "namespace": "default"},
			"spec": {"nodeName": "n", "priority": 1, "schedulingGroup": {"podGroupName": "g"}, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
			"status": {"phase": "Running"}},
		{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "mid", "namespace": "default"},
			"spec": {"priority": 100, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}]}`))
	c.Profiles[0].PostFilter = []framework.Plugin{preemption.DefaultPreemption{PodGroups: true}}
	r := run(c)
	if r.Evictions != 0 || r.Waiting != 1 {
		t.Errorf("%d evictions, %d pods wait; want 0 and 1", r.Evictions, r.Waiting)
	}
}
