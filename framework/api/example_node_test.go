package api_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A node as the API server shows it, built in Go.
func ExampleNodeStatus() {
	node := &api.Node{
		ObjectMeta: api.ObjectMeta{Name: "n1", Labels: map[string]string{api.LabelTopologyZone: "eu-1a"}},
		Spec:       api.NodeSpec{ProviderID: "example:///n1", Unschedulable: true},
		Status: api.NodeStatus{
			Capacity:    resource.List{resource.CPU: resource.MustParse("8"), resource.Pods: resource.MustParse("110")},
			Allocatable: resource.List{resource.CPU: resource.MustParse("7910m"), resource.Pods: resource.MustParse("110")},
			Conditions:  []api.NodeCondition{{Type: api.NodeReady, Status: api.ConditionTrue}},
			Images:      []api.ContainerImage{{Names: []string{"example.com/web:2"}, SizeBytes: 900 << 20}},
		},
	}
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(node); err != nil {
		fmt.Println(err)
		return
	}
	n := s.Node("n1")
	fmt.Println(n.Allocatable.At(resource.IndexCPU), n.Node.Spec.Unschedulable, n.Node.Status.Conditions[0].Status)
	// Output: 7910 true True
}

// Disks attached to a node, including disks of deleted pods.
func ExampleAttachedVolume() {
	node := api.MakeNode("n1", "4", "8Gi").Obj()
	disk := api.UniqueVolumeName("kubernetes.io/csi/ebs.csi.aws.com^vol-1")
	node.Status.VolumesAttached = []api.AttachedVolume{{Name: disk, DevicePath: "/dev/xvdf"}}
	node.Status.VolumesInUse = []api.UniqueVolumeName{disk}
	fmt.Println(node.Status.VolumesAttached[0].Name == node.Status.VolumesInUse[0])
	// Output: true
}

// A node may forbid preemption for pods that grow in place.
func ExampleNodePodPreemptionPolicy() {
	node := api.MakeNode("n1", "4", "8Gi").Obj()
	node.Spec.PodPreemptionPolicy = &api.NodePodPreemptionPolicy{DisableResizePreemption: []string{"example.com/maintenance"}}
	printJSON(node.Spec)
	// Output: {"podPreemptionPolicy":{"disableResizePreemption":["example.com/maintenance"]}}
}

// Every object has a kind, and metadata with a key that is unique within the kind.
func ExampleTypeMeta() {
	n := api.Namespace{
		TypeMeta:   api.TypeMeta{Kind: "Namespace", APIVersion: "v1"},
		ObjectMeta: api.ObjectMeta{Name: "shop"},
		Status:     api.NamespaceStatus{Phase: api.NamespaceActive},
	}
	fmt.Println(n.Kind, n.Key(), n.Status.Phase)
	// Output: Namespace shop Active
}
