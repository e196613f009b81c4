package celselector_test

import (
	"fmt"
	"strings"
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

// TestBounds: an expression that an API server would refuse does not compile, and an evaluation
// says what it took.
func TestBounds(t *testing.T) {
	const costly = `lists.range(200).all(a, lists.range(200).all(b, a + b >= 0))`
	if _, err := (celselector.Compiler{}).CompileDeviceSelector("lists.range(90000).distinct().size() > 3"); err == nil || !strings.Contains(err.Error(), "too complex") {
		t.Errorf("an expression of too large a cost: %v", err)
	}
	var steps [2]int
	for i, expression := range []string{`device.driver == "gpu.example.com"`, costly} {
		s, err := celselector.Compiler{}.CompileDeviceSelector(expression)
		if err != nil {
			t.Fatal(err)
		}
		ok, n, err := s.(api.MeteredDeviceSelector).MeterDevice("gpu.example.com", &api.Device{})
		if !ok || err != nil {
			t.Errorf("%s: %v, %v", expression, ok, err)
		}
		steps[i] = n
	}
	if steps[0] < 1 || steps[0] > 100 || steps[1] < 100_000 || steps[1] > 1_000_000 {
		t.Errorf("the evaluations took %d steps, want a few and some 100,000", steps)
	}
}
