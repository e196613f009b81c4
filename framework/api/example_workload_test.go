package api_test

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Scheduling reads two things from workloads: which pods belong together, and what
// their pods look like. All of these select the pods of one label.
func ExamplePodTemplateSpec() {
	selector := &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	template := api.PodTemplateSpec{
		ObjectMeta: api.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       api.MakePod("web").Requests("500m", "1Gi").Obj().Spec,
	}
	meta := api.ObjectMeta{Namespace: "shop", Name: "web"}
	deployment := api.Deployment{ObjectMeta: meta, Spec: api.DeploymentSpec{Replicas: new(int32(3)), Selector: selector, Template: template}}
	replicaSet := api.ReplicaSet{ObjectMeta: meta, Spec: api.ReplicaSetSpec{Replicas: new(int32(3)), Selector: selector, Template: template}}
	statefulSet := api.StatefulSet{ObjectMeta: meta, Spec: api.StatefulSetSpec{Selector: selector, Template: template, ServiceName: "web"}}
	daemonSet := api.DaemonSet{ObjectMeta: meta, Spec: api.DaemonSetSpec{Selector: selector, Template: template}}
	job := api.Job{ObjectMeta: meta, Spec: api.JobSpec{Parallelism: new(int32(2)), Template: template}}
	controller := api.ReplicationController{ObjectMeta: meta, Spec: api.ReplicationControllerSpec{Selector: selector.MatchLabels, Template: &template}}
	service := api.Service{ObjectMeta: meta, Spec: api.ServiceSpec{Selector: selector.MatchLabels}}

	pod := &api.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	pod.Namespace, pod.Name = "shop", "web-1"
	requested(pod)
	fmt.Println(replicaSet.Key(), statefulSet.Spec.ServiceName, *job.Spec.Parallelism)
	fmt.Println(daemonSet.Spec.Selector.MatchLabels, controller.Spec.Selector, service.Spec.Selector)
	// Output:
	// asks for: 500 mCPU and 1024 MiB
	// shop/web web 2
	// map[app:web] map[app:web] map[app:web]
}

// The pods of an indexed Job are told apart.
func ExampleCompletionMode() {
	printJSON(api.JobSpec{CompletionMode: new(api.IndexedCompletion)}.CompletionMode)
	// Output: "Indexed"
}

// A budget protects pods from preemption if there is another choice.
func ExamplePodDisruptionBudgetSpec() {
	half := api.IntOrString{Type: api.String, StrVal: "50%"}
	b := api.PodDisruptionBudget{
		ObjectMeta: api.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: api.PodDisruptionBudgetSpec{
			MinAvailable: &half,
			Selector:     &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
		Status: api.PodDisruptionBudgetStatus{CurrentHealthy: 5, DesiredHealthy: 3, ExpectedPods: 5, DisruptionsAllowed: 2},
	}
	fmt.Println(b.Spec.MinAvailable, "must stay, so", b.Status.DisruptionsAllowed, "may go")
	// Output: 50% must stay, so 2 may go
}

// Ports and percentages share a field in the Kubernetes API.
func ExampleIntOrString() {
	printJSON([]api.IntOrString{{Type: api.Int, IntVal: 3}, {Type: api.String, StrVal: "25%"}})
	// Output: [3,"25%"]
}

// Pods may request devices of this class like an extended resource.
func ExampleDeviceClassSpec() {
	c := api.DeviceClass{
		ObjectMeta: api.ObjectMeta{Name: "gpu"},
		Spec:       api.DeviceClassSpec{ExtendedResourceName: new("example.com/gpu")},
	}
	fmt.Println(c.Name, "serves", *c.Spec.ExtendedResourceName)
	// Output: gpu serves example.com/gpu
}

// A quota of CPUs for the pods of one priority class.
func ExampleResourceQuotaSpec() {
	q := api.ResourceQuota{
		ObjectMeta: api.ObjectMeta{Namespace: "shop", Name: "important"},
		Spec: api.ResourceQuotaSpec{
			Hard: resource.List{"requests.cpu": resource.MustParse("20")},
			ScopeSelector: &api.ScopeSelector{MatchExpressions: []api.ScopedResourceSelectorRequirement{{
				ScopeName: api.ResourceQuotaScopePriorityClass, Operator: api.ScopeSelectorOpIn, Values: []string{"high"},
			}}},
		},
		Status: api.ResourceQuotaStatus{Used: resource.List{"requests.cpu": resource.MustParse("5500m")}},
	}
	fmt.Println(q.Key(), "uses", q.Status.Used["requests.cpu"], "of", q.Spec.Hard["requests.cpu"])
	// Output: shop/important uses 5500m of 20
}

// A dump says how far a Job has come, and whether it has finished.
func ExampleJobStatus() {
	status := api.JobStatus{Succeeded: 3, Conditions: []api.JobCondition{{Type: "Complete", Status: api.ConditionTrue}}}
	job := api.Job{ObjectMeta: api.ObjectMeta{Name: "backup"}, Spec: api.JobSpec{Completions: new(int32(3))}, Status: status}
	fmt.Println(job.Status.Succeeded, "of", *job.Spec.Completions, job.Status.Conditions[0].Type)
	// Output: 3 of 3 Complete
}

func ExamplePodManagementPolicyType() {
	var spec api.StatefulSetSpec
	if err := json.Unmarshal([]byte(`{"podManagementPolicy": "Parallel"}`), &spec); err != nil {
		fmt.Println(err)
	}
	fmt.Println("all pods at once:", spec.PodManagementPolicy == api.ParallelPodManagement)
	// Output: all pods at once: true
}

// The first pod may have another number than 0.
func ExampleStatefulSetOrdinals() {
	var spec api.StatefulSetSpec
	spec.Ordinals = &api.StatefulSetOrdinals{Start: 1}
	for i := range int32(2) {
		fmt.Printf("db-%d\n", spec.Ordinals.Start+i)
	}
	// Output:
	// db-1
	// db-2
}
