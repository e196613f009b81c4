package api_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The output of "kubectl get pods,nodes -A -o json" decodes directly.
func ExampleDecode() {
	o, err := api.Decode([]byte(`{
		"apiVersion": "v1",
		"items": [
			{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "7910m", "memory": "31127824Ki"}}},
			{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"containers": [{"name": "main"}]}},
			{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token", "namespace": "shop"}}
		],
		"kind": "List"
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.Nodes[0].Name, o.Nodes[0].Status.Allocatable[resource.CPU])
	fmt.Println(o.Pods[0].Key())
	fmt.Println(o.Skipped)
	// Output:
	// n1 7910m
	// shop/web
	// map[Secret:1]
}

func ExampleDecodeObject() {
	node, err := api.DecodeObject[api.Node]([]byte(`{"metadata": {"name": "n1"}, "spec": {"unschedulable": true}}`))
	fmt.Println(node.Name, node.Spec.Unschedulable, err)
	// Output: n1 true <nil>
}

func ExampleInvalidError() {
	_, err := api.Decode([]byte(`{"kind": "Pod", "metadata": {"name": "web"}, "spec": {"priority": "high"}}`))
	fmt.Println(err)

	var invalid *api.InvalidError
	if errors.As(err, &invalid) {
		fmt.Println(invalid.Object)
		fmt.Println(invalid.Field)
		fmt.Println(invalid.Value)
		fmt.Println(invalid.Err)
	}
	// Output:
	// pod default/web: spec.priority: "high": want an integer, got a string
	// pod default/web
	// spec.priority
	// high
	// want an integer, got a string
}

func ExampleSyntaxError() {
	_, err := api.Decode([]byte("{\n  \"kind\": \"Pod\",\n  \"metadata\": {\"name\": \"we"))
	fmt.Println(err)
	// Output: not JSON: line 3, byte 45: unexpected end of input in a string
}

func ExampleObjects_Default() {
	o, err := api.Decode([]byte(`
		{"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
		{"kind": "Pod", "metadata": {"name": "web"}, "spec": {
			"priorityClassName": "high",
			"containers": [{"name": "main", "resources": {"limits": {"cpu": "2"}}}]
		}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := o.Default(); err != nil {
		fmt.Println(err)
		return
	}
	spec := o.Pods[0].Spec
	fmt.Println(*spec.Priority, spec.Containers[0].Resources.Requests[resource.CPU], spec.SchedulerName)
	// Output: 1000 2 default-scheduler
}

func ExampleMakePod() {
	pod := api.MakePod("web").
		Labels("app", "web").
		Requests("100m", "500Mi").
		Tolerates("dedicated=web:NoSchedule").
		PodAntiAffinity(api.LabelHostname, "app=web").
		Obj()
	fmt.Println(pod.Key(), pod.Spec.Containers[0].Resources.Requests[resource.Memory])
	fmt.Println(pod.Spec.Tolerations[0].Key, pod.Spec.Tolerations[0].Operator)
	// Output:
	// default/web 500Mi
	// dedicated Equal
}

// A builder can be the pattern of many objects.
func ExamplePodBuilder() {
	web := api.MakePod("web").Requests("100m", "500Mi")
	for i := range 3 {
		fmt.Println(web.Name(fmt.Sprintf("web-%d", i)).Obj().Key())
	}
	// Output:
	// default/web-0
	// default/web-1
	// default/web-2
}

func ExampleMakeNode() {
	node := api.MakeNode("n1", "4", "32Gi").Zone("eu-1a").Resource("nvidia.com/gpu", "2").Taint("gpu:NoSchedule").Obj()
	data, err := json.Marshal(node.Status.Allocatable)
	fmt.Println(string(data), err)
	fmt.Println(node.Labels[api.LabelTopologyZone], node.Spec.Taints[0].Effect)
	// Output:
	// {"cpu":"4","memory":"32Gi","nvidia.com/gpu":"2","pods":"110"} <nil>
	// eu-1a NoSchedule
}

func ExampleNodeBuilder() {
	small := api.MakeNode("", "4", "16Gi").Zone("a")
	large := small.Resource("cpu", "64").Resource("memory", "256Gi")
	for _, node := range []*api.Node{small.Name("s1").Obj(), large.Name("l1").Obj()} {
		fmt.Println(node.Name, node.Status.Allocatable[resource.CPU], node.Labels[api.LabelHostname])
	}
	// Output:
	// s1 4 s1
	// l1 64 l1
}

func ExampleParseLabelSelector() {
	s, err := api.ParseLabelSelector("app=web, tier in (front, back), !legacy")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.MatchLabels)
	fmt.Println(s.MatchExpressions)
	// Output:
	// map[app:web]
	// [{tier In [front back]} {legacy DoesNotExist []}]
}

func ExampleClone() {
	pod := api.MakePod("web").Labels("app", "web").Obj()
	other := api.Clone(pod)
	other.Labels["app"] = "db"
	fmt.Println(pod.Labels["app"], other.Labels["app"])
	// Output: web db
}

// A container without a memory request counts as 200 MiB in scores, not in filters.
func ExampleRequestOptions() {
	pod := api.MakePod("web").Requests("500m", "").Obj()
	plain := api.PodRequests(pod, api.RequestOptions{})
	scored := api.PodRequests(pod, api.RequestOptions{NonZero: true})
	fmt.Println(len(plain), scored.Names())
	memory := scored[resource.Memory]
	fmt.Println(memory.Value() == api.DefaultMemoryRequest)
	// Output:
	// 1 [cpu memory]
	// true
}
