package workload_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

func ExampleBelongsToNode() {
	fmt.Println(workload.BelongsToNode(api.MakePod("agent-x").Owner("DaemonSet", "agent").Obj()))
	fmt.Println(workload.BelongsToNode(api.MakePod("web-x").Owner("ReplicaSet", "web").Obj()))
	// Output:
	// true
	// false
}

func ExampleDeploymentOf() {
	pod := api.MakePod("web-5d9f-x").Owner("ReplicaSet", "web-5d9f").Labels("pod-template-hash", "5d9f").Obj()
	fmt.Println(workload.DeploymentOf(pod))
	// Output: web
}

// TestTargetNode checks the node of pods of DaemonSets that run, wait, or name none.
func TestTargetNode(t *testing.T) {
	field := func(key, operator string, values ...string) *api.Pod {
		p := api.MakePod("agent-x").Obj()
		term := api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{{Key: key, Operator: api.NodeSelectorOperator(operator), Values: values}}}
		p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{}, term}}}}
		return p
	}
	running := field("metadata.name", "In", "a")
	running.Spec.NodeName = "b"
	for want, pods := range map[string][]*api.Pod{
		"a": {field("metadata.name", "In", "a")},
		"b": {running},
		"": {
			api.MakePod("p").Obj(), field("metadata.name", "NotIn", "a"), field("metadata.name", "In", "a", "b"), field("metadata.name", "In"), field("x", "In", "a"),
			{Spec: api.PodSpec{Affinity: &api.Affinity{}}},
			{Spec: api.PodSpec{Affinity: &api.Affinity{NodeAffinity: &api.NodeAffinity{}}}},
		},
	} {
		for _, p := range pods {
			if got := workload.TargetNode(p); got != want {
				t.Errorf("%+v: %q, want %q", p.Spec, got, want)
			}
		}
	}
}

// TestSucceededPods checks how many pods of a Job remain for any number that have succeeded.
func TestSucceededPods(t *testing.T) {
	for _, test := range []struct {
		succeeded int32
		want      int
	}{{0, 2}, {3, 2}, {4, 1}, {5, 0}, {6, 0}, {math.MaxInt32, 0}, {math.MinInt32, 2}} {
		j := &api.Job{Status: api.JobStatus{Succeeded: test.succeeded}}
		j.Spec.Completions, j.Spec.Parallelism = new(int32(5)), new(int32(2))
		w := workload.Of(&api.Objects{Jobs: []*api.Job{j}})[0]
		if n, err := w.Replicas(); err != nil || n != test.want {
			t.Errorf("%d have succeeded: %d pods, %v, want %d", test.succeeded, n, err, test.want)
		}
	}
}

// TestNegativeCompletions: a number of completions below 0 is an error, whatever has succeeded.
func TestNegativeCompletions(t *testing.T) {
	for _, succeeded := range []int32{0, 1, math.MaxInt32} {
		j := &api.Job{Status: api.JobStatus{Succeeded: succeeded}}
		j.Spec.Completions = new(int32(math.MinInt32))
		if n, err := workload.Of(&api.Objects{Jobs: []*api.Job{j}})[0].Replicas(); err == nil {
			t.Errorf("%d have succeeded: %d pods", succeeded, n)
		}
	}
}

// A Go value need not say its kind.
func TestKindOfGoValues(t *testing.T) {
	o := &api.Objects{
		Deployments: []*api.Deployment{{}}, ReplicaSets: []*api.ReplicaSet{{}}, StatefulSets: []*api.StatefulSet{{}},
		DaemonSets: []*api.DaemonSet{{}}, Jobs: []*api.Job{{}},
		ReplicationControllers: []*api.ReplicationController{{Spec: api.ReplicationControllerSpec{Template: new(api.PodTemplateSpec{})}}},
	}
	want := []api.TypeMeta{
		{Kind: "Deployment", APIVersion: "apps/v1"},
		{Kind: "ReplicaSet", APIVersion: "apps/v1"},
		{Kind: "ReplicationController", APIVersion: "v1"},
		{Kind: "StatefulSet", APIVersion: "apps/v1"},
		{Kind: "DaemonSet", APIVersion: "apps/v1"},
		{Kind: "Job", APIVersion: "batch/v1"},
	}
	var got []api.TypeMeta
	for _, w := range workload.Of(o) {
		got = append(got, w.TypeMeta)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
