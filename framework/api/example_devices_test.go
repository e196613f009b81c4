package api_test

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A driver publishes the devices of a node: a card of 40Gi that can be shared, and a
// part of another card.
func ExampleResourceSlice() {
	s := api.ResourceSlice{
		ObjectMeta: api.ObjectMeta{Name: "n1-gpu"},
		Spec: api.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: new("n1"),
			Pool: api.ResourcePool{Name: "n1", Generation: 1, ResourceSliceCount: 2},
			Devices: []api.Device{{
				Name:       "gpu-0",
				Attributes: map[string]api.DeviceAttribute{"model": {StringValue: new("a100")}},
				Capacity: map[string]api.DeviceCapacity{"memory": {
					Value: resource.MustParse("40Gi"),
					RequestPolicy: &api.CapacityRequestPolicy{
						ValidRange: &api.CapacityRequestPolicyRange{Min: new(resource.MustParse("1Gi")), Step: new(resource.MustParse("1Gi"))},
					},
				}},
				AllowMultipleAllocations: new(true),
				Taints:                   []api.DeviceTaint{{Key: "example.com/hot", Effect: api.DeviceTaintEffectNoSchedule}},
			}, {
				Name: "gpu-1-half",
				ConsumesCounters: []api.DeviceCounterConsumption{
					{CounterSet: "gpu-1", Counters: map[string]api.Counter{"memory": {Value: resource.MustParse("20Gi")}}},
				},
			}},
		},
	}
	for _, d := range s.Spec.Devices {
		fmt.Println(s.Spec.Pool.Name, d.Name, len(d.Taints))
	}
	// Output:
	// n1 gpu-0 1
	// n1 gpu-1-half 0
}

func ExampleCounterSet() {
	c := api.CounterSet{Name: "gpu-1", Counters: map[string]api.Counter{"memory": {Value: resource.MustParse("40Gi")}}}
	printJSON(c)
	// Output: {"name":"gpu-1","counters":{"memory":{"value":"40Gi"}}}
}

// A claim asks for two devices in the same root complex, the second of a big or of a
// small class.
func ExampleResourceClaim() {
	c := api.ResourceClaim{
		ObjectMeta: api.ObjectMeta{Name: "pair", Namespace: "default"},
		Spec: api.ResourceClaimSpec{Devices: api.DeviceClaim{
			Requests: []api.DeviceRequest{
				{Name: "gpu", Exactly: &api.ExactDeviceRequest{
					DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
					Selectors:   []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}},
					Tolerations: []api.DeviceToleration{{Operator: api.DeviceTolerationOpExists}},
					Capacity:    &api.CapacityRequirements{Requests: map[string]resource.Quantity{"memory": resource.MustParse("4Gi")}},
				}},
				{Name: "nic", FirstAvailable: []api.DeviceSubRequest{{Name: "big", DeviceClassName: "nic400"}, {Name: "small", DeviceClassName: "nic200"}}},
			},
			Constraints: []api.DeviceConstraint{{MatchAttribute: new("resource.kubernetes.io/pcieRoot")}},
			Config: []api.DeviceClaimConfiguration{{Requests: []string{"gpu"}, DeviceConfiguration: api.DeviceConfiguration{
				Opaque: &api.OpaqueDeviceConfiguration{Driver: "gpu.example.com", Parameters: json.RawMessage(`{"sharing":"timeSlicing"}`)},
			}}},
		}},
	}
	for _, r := range c.Spec.Devices.Requests {
		fmt.Println(r.Name, r.Exactly != nil, len(r.FirstAvailable))
	}
	// Output:
	// gpu true 0
	// nic false 2
}

// An allocated claim says which devices it got, for whom, and what the driver reports.
func ExampleAllocationResult() {
	s := api.ResourceClaimStatus{
		Allocation: &api.AllocationResult{Devices: api.DeviceAllocationResult{
			Results: []api.DeviceRequestAllocationResult{{Request: "nic/small", Driver: "nic.example.com", Pool: "n1", Device: "nic-3"}},
			Config:  []api.DeviceAllocationConfiguration{{Source: api.AllocationConfigSourceClass, Requests: []string{"nic/small"}}},
		}},
		ReservedFor: []api.ResourceClaimConsumerReference{{Resource: "pods", Name: "web-0", UID: "1"}},
		Devices:     []api.AllocatedDeviceStatus{{Driver: "nic.example.com", Pool: "n1", Device: "nic-3"}},
	}
	printJSON(s.Allocation.Devices.Results)
	// Output: [{"request":"nic/small","driver":"nic.example.com","pool":"n1","device":"nic-3"}]
}

// Pods that name a template get a claim each; the status says which.
func ExampleResourceClaimTemplate() {
	t := read[api.ResourceClaimTemplate](`{"metadata":{"name":"one-gpu"},"spec":{"metadata":{"labels":{"team":"red"}},
		"spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu"}}]}}}}`)
	content := api.ResourceClaimTemplateSpec{Spec: t.Spec.Spec}
	fmt.Println(t.Key(), t.Spec.Labels["team"], content.Spec.Devices.Requests[0].Name)
	status := api.PodStatus{ResourceClaimStatuses: []api.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("web-0-gpu-x7k2p")}}}
	fmt.Println(*status.ResourceClaimStatuses[0].ResourceClaimName)
	// Output:
	// default/one-gpu red gpu
	// web-0-gpu-x7k2p
}

func ExampleDeviceTaintRule() {
	r := api.DeviceTaintRule{
		ObjectMeta: api.ObjectMeta{Name: "broken"},
		Spec: api.DeviceTaintRuleSpec{
			DeviceSelector: &api.DeviceTaintSelector{Driver: new("gpu.example.com"), Pool: new("n1")},
			Taint:          api.DeviceTaint{Key: "example.com/broken", Effect: api.DeviceTaintEffectNoExecute},
		},
	}
	printJSON(r.Spec)
	// Output: {"deviceSelector":{"driver":"gpu.example.com","pool":"n1"},"taint":{"key":"example.com/broken","effect":"NoExecute"}}
}

// The class configuration goes to the driver with every device of the class.
func ExampleDeviceClassConfiguration() {
	c := api.DeviceClassConfiguration{DeviceConfiguration: api.DeviceConfiguration{Opaque: &api.OpaqueDeviceConfiguration{Driver: "gpu.example.com"}}}
	printJSON(c)
	// Output: {"opaque":{"driver":"gpu.example.com"}}
}

// A request with derived attributes, an alpha feature, can be read, but not granted.
func ExampleDeviceDerivedAttribute() {
	r := api.ExactDeviceRequest{DerivedAttributes: []api.DeviceDerivedAttribute{{Name: "size"}}}
	fmt.Println(r.DerivedAttributes[0].Name)
	// Output: size
}
