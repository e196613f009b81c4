package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// Workloads are read for two things: which pods belong together, and what a pod
// of theirs looks like. All of these select the pods of one label.
func ExamplePodTemplateSpec() {
	selector := &framework.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	template := framework.PodTemplateSpec{
		ObjectMeta: framework.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       framework.MakePod("web").Requests("500m", "1Gi").Obj().Spec,
	}
	meta := framework.ObjectMeta{Namespace: "shop", Name: "web"}
	deployment := framework.Deployment{ObjectMeta: meta, Spec: framework.DeploymentSpec{Replicas: new(int32(3)), Selector: selector, Template: template}}
	replicaSet := framework.ReplicaSet{ObjectMeta: meta, Spec: framework.ReplicaSetSpec{Replicas: new(int32(3)), Selector: selector, Template: template}}
	statefulSet := framework.StatefulSet{ObjectMeta: meta, Spec: framework.StatefulSetSpec{Selector: selector, Template: template, ServiceName: "web"}}
	daemonSet := framework.DaemonSet{ObjectMeta: meta, Spec: framework.DaemonSetSpec{Selector: selector, Template: template}}
	job := framework.Job{ObjectMeta: meta, Spec: framework.JobSpec{Parallelism: new(int32(2)), Template: template}}
	controller := framework.ReplicationController{ObjectMeta: meta, Spec: framework.ReplicationControllerSpec{Selector: selector.MatchLabels, Template: &template}}
	service := framework.Service{ObjectMeta: meta, Spec: framework.ServiceSpec{Selector: selector.MatchLabels}}

	pod := &framework.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	pod.Namespace, pod.Name = "shop", "web-1"
	requested(pod)
	fmt.Println(replicaSet.Key(), statefulSet.Spec.ServiceName, *job.Spec.Parallelism)
	fmt.Println(daemonSet.Spec.Selector.MatchLabels, controller.Spec.Selector, service.Spec.Selector)
	// Output:
	// asks for: 500 mCPU and 1024 MiB
	// shop/web web 2
	// map[app:web] map[app:web] map[app:web]
}

// A budget protects pods from preemption as long as there is another choice.
func ExamplePodDisruptionBudgetSpec() {
	half := framework.IntOrString{Type: framework.String, StrVal: "50%"}
	b := framework.PodDisruptionBudget{
		ObjectMeta: framework.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: framework.PodDisruptionBudgetSpec{
			MinAvailable: &half,
			Selector:     &framework.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
		Status: framework.PodDisruptionBudgetStatus{CurrentHealthy: 5, DesiredHealthy: 3, ExpectedPods: 5, DisruptionsAllowed: 2},
	}
	fmt.Println(b.Spec.MinAvailable, "must stay, so", b.Status.DisruptionsAllowed, "may go")
	// Output: 50% must stay, so 2 may go
}

// Ports and percentages share a field in the Kubernetes API.
func ExampleIntOrString() {
	printJSON([]framework.IntOrString{{Type: framework.Int, IntVal: 3}, {Type: framework.String, StrVal: "25%"}})
	// Output: [3,"25%"]
}

// A class of devices that pods may ask for like an extended resource.
func ExampleDeviceClassSpec() {
	c := framework.DeviceClass{
		ObjectMeta: framework.ObjectMeta{Name: "gpu"},
		Spec:       framework.DeviceClassSpec{ExtendedResourceName: new("example.com/gpu")},
	}
	fmt.Println(c.Name, "serves", *c.Spec.ExtendedResourceName)
	// Output: gpu serves example.com/gpu
}

// A quota of CPUs for the pods of one priority class.
func ExampleResourceQuotaSpec() {
	q := framework.ResourceQuota{
		ObjectMeta: framework.ObjectMeta{Namespace: "shop", Name: "important"},
		Spec: framework.ResourceQuotaSpec{
			Hard: resource.List{"requests.cpu": resource.MustParse("20")},
			ScopeSelector: &framework.ScopeSelector{MatchExpressions: []framework.ScopedResourceSelectorRequirement{{
				ScopeName: framework.ResourceQuotaScopePriorityClass, Operator: framework.ScopeSelectorOpIn, Values: []string{"high"},
			}}},
		},
		Status: framework.ResourceQuotaStatus{Used: resource.List{"requests.cpu": resource.MustParse("5500m")}},
	}
	fmt.Println(q.Key(), "uses", q.Status.Used["requests.cpu"], "of", q.Spec.Hard["requests.cpu"])
	// Output: shop/important uses 5500m of 20
}
