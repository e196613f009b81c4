package api_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// ofDriver is a compiler that takes the name of a driver for an expression.
type ofDriver struct{}

type driverName string

func (ofDriver) CompileDeviceSelector(expression string) (api.CompiledDeviceSelector, error) {
	return driverName(expression), nil
}

func (n driverName) MatchesDevice(driver string, _ *api.Device) (bool, error) {
	return driver == string(n), nil
}

func ExampleDeviceSelectorCompiler() {
	var compiler api.DeviceSelectorCompiler = ofDriver{}
	var selector api.CompiledDeviceSelector
	selector, err := compiler.CompileDeviceSelector("gpu.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(selector.MatchesDevice("gpu.example.com", &api.Device{Name: "gpu-0"}))
	// Output: true <nil>
}

// MeterDevice says that a comparison takes one step.
func (n driverName) MeterDevice(driver string, d *api.Device) (matches bool, steps int, err error) {
	matches, err = n.MatchesDevice(driver, d)
	return matches, 1, err
}

func ExampleMeteredDeviceSelector() {
	var selector api.MeteredDeviceSelector = driverName("gpu.example.com")
	fmt.Println(selector.MeterDevice("gpu.example.com", &api.Device{Name: "gpu-0"}))
	// Output: true 1 <nil>
}
