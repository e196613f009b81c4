package celselector_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/kube/celselector"
)

var _ api.DeviceSelectorCompiler = celselector.Compiler{}

func ExampleCompiler() {
	gpu := &api.Device{
		Attributes: map[string]api.DeviceAttribute{"model": {StringValue: new("a100-80")}},
		Capacity:   map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
	}
	s, err := celselector.Compiler{}.CompileDeviceSelector(
		`device.attributes["gpu.example.com"].model.split("-")[0] == "a100" && device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("40Gi"))`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.MatchesDevice("gpu.example.com", gpu))
	// Output: true <nil>
}

func TestErrors(t *testing.T) {
	if _, err := (celselector.Compiler{}).CompileDeviceSelector(`device.driver ==`); err == nil {
		t.Error("a text that is no expression compiles")
	}
	s, err := celselector.Compiler{}.CompileDeviceSelector(`device.attributes["gpu.example.com"].none == 3`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.MatchesDevice("gpu.example.com", &api.Device{}); got || err == nil {
		t.Errorf("an attribute that is not there: %v, %v; want an error", got, err)
	}
}
