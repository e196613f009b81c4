package whatif_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// gpuType is a machine with four devices of a driver.
func gpuType() whatif.NodeType {
	slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "gpus"}}
	slice.Spec.Driver = "gpu.example.com"
	slice.Spec.Pool = api.ResourcePool{Generation: 1, ResourceSliceCount: 1}
	for i := range 4 {
		slice.Spec.Devices = append(slice.Spec.Devices, api.Device{Name: fmt.Sprint("gpu-", i)})
	}
	return whatif.NodeType{Name: "gpu", Node: api.MakeNode("", "32", "256Gi").Obj(), Devices: []*api.ResourceSlice{slice}}
}

// claimsOfGPUs is a cluster without devices that has a class and a template for two.
func claimsOfGPUs() *framework.Snapshot {
	s := cluster([]api.NodeBuilder{api.MakeNode("plain", "64", "256Gi")})
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	class.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}}
	template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "two", Namespace: "default"}}
	template.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 2,
	}}}
	if err := framework.Put(s, class); err != nil {
		panic(err)
	}
	if err := framework.Put(s, template); err != nil {
		panic(err)
	}
	return s
}

// trainer is a pod that claims two devices.
func trainer(s *framework.Snapshot) *framework.PodInfo {
	p := api.MakePod("train").Requests("4", "8Gi").Obj()
	template := "two"
	p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpus", ResourceClaimTemplateName: &template}}
	return pod(s, p)
}

// A pod that names a claim template is placed on a node type that does not exist yet: its
// claim, its node and the node's devices are all made up.
func ExampleNodeType() {
	s := claimsOfGPUs()
	five, err := whatif.Replicas(trainer(s), 5)
	if err != nil {
		panic(err)
	}
	n, err := planner(s).NodesNeeded(five, gpuType())
	if err != nil {
		panic(err)
	}
	fmt.Println(n.Counts, len(n.Placement.Unplaced), "left over")
	for _, p := range n.Placement.Placed[:3] {
		fmt.Println(p.Pod, p.Node)
	}
	// Output:
	// [{gpu 3}] 0 left over
	// default/train-0 gpu-0
	// default/train-1 gpu-1
	// default/train-2 gpu-2
}

func TestNodeTypeAddNode(t *testing.T) {
	s := claimsOfGPUs()
	before := s.Len()
	gpu := gpuType()
	if err := gpu.AddNode(s, "x"); err != nil {
		t.Fatal(err)
	}
	slice := framework.Lookup[api.ResourceSlice](s, "gpus-x")
	if slice == nil || *slice.Spec.NodeName != "x" || slice.Spec.Pool.Name != "x" || s.Node("x").Node.Labels[api.LabelHostname] != "x" {
		t.Errorf("the slice is %+v", slice)
	}
	if gpu.Devices[0].Spec.NodeName != nil || gpu.Node.Name != "" {
		t.Error("the pattern changed")
	}
	yes := true
	for _, tt := range []struct {
		name   string
		change func(x *whatif.NodeType)
		want   string
	}{
		{"no node", func(x *whatif.NodeType) { x.Node = nil }, "type gpu: node: is nil"},
		{"nil pod", func(x *whatif.NodeType) { x.Pods = []*api.Pod{nil} }, "type gpu: pods: a pod is nil"},
		{"nil slice", func(x *whatif.NodeType) { x.Devices = append(x.Devices, nil) }, "type gpu: devices: a slice is nil"},
		{"devices of all nodes", func(x *whatif.NodeType) { x.Devices[0].Spec.AllNodes = &yes }, "type gpu: devices: \"gpus\": the slice is not of one node"},
	} {
		x := gpuType()
		tt.change(&x)
		err := x.AddNode(s, "y")
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if s.Len() != before+1 || framework.Lookup[api.ResourceSlice](s, "gpus-y") != nil {
			t.Errorf("%s: something of the node stays", tt.name)
		}
	}
}
