package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// ofDriver is a compiler that takes the name of a driver for an expression.
type ofDriver struct{}

type driverName string

func (ofDriver) CompileDeviceSelector(expression string) (framework.DeviceSelector, error) {
	return driverName(expression), nil
}

func (n driverName) MatchesDevice(driver string, _ *api.Device) (bool, error) {
	return driver == string(n), nil
}

func ExampleDeviceSelectorCompiler() {
	var compiler framework.DeviceSelectorCompiler = ofDriver{}
	var selector framework.DeviceSelector
	selector, err := compiler.CompileDeviceSelector("gpu.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(selector.MatchesDevice("gpu.example.com", &api.Device{Name: "gpu-0"}))
	// Output: true <nil>
}

// A PostFilter may propose to take the devices from a claim.
func ExampleClaimRelease() {
	p := framework.PostFiltered{Claims: []framework.ClaimRelease{{Claim: "default/gpu"}}}
	fmt.Println(p.Claims[0].Claim, p.Claims[0].Delete)
	// Output: default/gpu false
}
