package api_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// requested prints the requests of a pod before placement, and the amount it counts
// for on its node.
func requested(pod *api.Pod) {
	s := framework.NewSnapshot(framework.Arrival)
	p, err := s.NewPodInfo(pod)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("asks for:", p.Requests.At(resource.IndexCPU), "mCPU and", p.Requests.At(resource.IndexMemory)>>20, "MiB")
	if p.UsedRequests.At(resource.IndexCPU) != p.Requests.At(resource.IndexCPU) {
		fmt.Println("counts as:", p.UsedRequests.At(resource.IndexCPU), "mCPU")
	}
}

// A pod requests the sum of its containers and sidecars, or the peak of its init
// containers if that is more.
func ExamplePodSpec() {
	always := api.ContainerRestartPolicyAlways
	cpu := func(q string) api.ResourceRequirements {
		return api.ResourceRequirements{Requests: resource.List{resource.CPU: resource.MustParse(q)}}
	}
	pod := &api.Pod{
		ObjectMeta: api.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: api.PodSpec{
			InitContainers: []api.Container{
				{Name: "migrate", Resources: cpu("2")},
				{Name: "proxy", Resources: cpu("100m"), RestartPolicy: &always}, // a sidecar
			},
			Containers: []api.Container{{Name: "main", Resources: cpu("500m")}},
			Overhead:   resource.List{resource.Memory: resource.MustParse("64Mi")},
		},
	}
	requested(pod)
	// Output: asks for: 2000 mCPU and 64 MiB
}

func ExampleContainer() {
	main := api.Container{
		Name:  "main",
		Image: "example.com/web:2",
		Ports: []api.ContainerPort{{HostPort: 443, ContainerPort: 8443, Protocol: api.ProtocolTCP}},
		Resources: api.ResourceRequirements{
			Requests: resource.List{resource.CPU: resource.MustParse("250m"), resource.Memory: resource.MustParse("1Gi")},
			Limits:   resource.List{resource.Memory: resource.MustParse("2Gi")},
		},
	}
	requested(&api.Pod{
		ObjectMeta: api.ObjectMeta{Name: "web"},
		Spec:       api.PodSpec{Containers: []api.Container{main, {Name: "log"}}},
	})
	// Output: asks for: 250 mCPU and 1024 MiB
}

// Decoding keeps settings that need a feature of the kubelet, so that
// filter.NodeDeclaredFeatures can check for it.
func ExampleContainerRestartRule() {
	c := api.Container{
		Name:               "main",
		RestartPolicyRules: []api.ContainerRestartRule{{Action: api.ContainerRestartRuleActionRestartAllContainers}},
		VolumeMounts:       []api.VolumeMount{{Name: "data", BindMountOptions: []string{"noexec"}}},
	}
	printJSON(c)
	// Output: {"name":"main","restartPolicyRules":[{"action":"RestartAllContainers"}],"volumeMounts":[{"name":"data","bindMountOptions":["noexec"]}]}
}

// A pod that requests less than before still counts with the resources its node
// holds for it.
func ExamplePodStatus() {
	pod := api.MakePod("web").Requests("500m", "1Gi").Node("n1").Obj()
	pod.Status = api.PodStatus{
		Phase:    api.PodRunning,
		QOSClass: api.PodQOSBurstable,
		Conditions: []api.PodCondition{
			{Type: api.PodResizeInProgress, Status: api.ConditionTrue},
		},
		ContainerStatuses: []api.ContainerStatus{{
			Name: "main",
			AllocatedResources: resource.List{
				resource.CPU: resource.MustParse("2"), resource.Memory: resource.MustParse("1Gi"),
			},
		}},
	}
	requested(pod)
	// Output:
	// asks for: 500 mCPU and 1024 MiB
	// counts as: 2000 mCPU
}

// A resize that the node can never grant does not count.
func ExamplePodResizeStatus() {
	pod := api.MakePod("web").Requests("64", "1Gi").Node("n1").Obj()
	pod.Status.Resize = api.PodResizeStatusInfeasible
	pod.Status.Conditions = []api.PodCondition{
		{Type: api.PodResizePending, Status: api.ConditionTrue, Reason: api.PodReasonInfeasible},
	}
	pod.Status.ContainerStatuses = []api.ContainerStatus{{Name: "main", AllocatedResources: resource.List{
		resource.CPU: resource.MustParse("1"), resource.Memory: resource.MustParse("1Gi"),
	}}}
	requested(pod)
	// Output:
	// asks for: 64000 mCPU and 1024 MiB
	// counts as: 1000 mCPU
}

// Among other things, the owner of a pod decides which pods spread together.
func ExampleOwnerReference() {
	pod := api.MakePod("web-5d-x").Obj()
	pod.OwnerReferences = []api.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d", UID: api.UID("0b1c"), Controller: new(true)},
	}
	fmt.Println(pod.ControllerRef().Kind, pod.ControllerRef().Name)
	// Output: ReplicaSet web-5d
}

// A pod with gates is not scheduled until all of them are removed.
func ExamplePodSchedulingGate() {
	pod := api.MakePod("train").Obj()
	pod.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "example.com/quota"}}
	printJSON(pod.Spec.SchedulingGates)
	// Output: [{"name":"example.com/quota"}]
}

// A pod of low priority that never preempts.
func ExamplePreemptionPolicy() {
	pod := api.MakePod("batch").Priority(-10).Preemption(api.PreemptNever).Obj()
	pod.Spec.RestartPolicy = api.RestartPolicyOnFailure
	pod.Spec.OS = &api.PodOS{Name: api.Linux}
	fmt.Println(*pod.Spec.Priority, *pod.Spec.PreemptionPolicy, pod.Spec.RestartPolicy, pod.Spec.OS.Name)
	// Output: -10 Never OnFailure linux
}

// A pod claims devices and hands them on to its containers.
func ExamplePodResourceClaim() {
	pod := api.MakePod("train").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("one-gpu")}}
	pod.Spec.Containers[0].Resources.Claims = []api.ContainerResourceClaim{{Name: "gpu"}}
	printJSON(pod.Spec.ResourceClaims)
	// Output: [{"name":"gpu","resourceClaimTemplateName":"one-gpu"}]
}

func ExampleHostPort() {
	web := api.HostPort{IP: "0.0.0.0", Protocol: api.ProtocolTCP, Port: 80}
	local := api.HostPort{IP: "127.0.0.1", Protocol: api.ProtocolTCP, Port: 80}
	dns := api.HostPort{IP: "0.0.0.0", Protocol: api.ProtocolUDP, Port: 80}
	fmt.Println(web.Conflicts(local), web.Conflicts(dns))
	// Output: true false
}
