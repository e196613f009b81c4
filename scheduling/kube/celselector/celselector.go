// Package celselector compiles the selectors of devices in the whole Common Expression
// Language, with Kubernetes' own compiler:
//
//	kube.New(kube.Config{DeviceSelectors: celselector.Compiler{}, ...})
//
// The built-in compiler of the library takes what drivers usually write and refuses the
// rest. This one needs cel-go and several more modules, so it is a package of its own.
//
// # Trust
//
// Use it only where you trust everyone who may create claims. Kubernetes' compiler bounds what
// an evaluation costs by estimates, and some expressions cost far more: 53 bytes that compare
// quantities of a large exponent, or lists that are doubled a few times, keep an evaluation
// busy for hours, and it cannot be stopped; others take all memory. The same expressions stop
// kube-scheduler. The built-in compiler has bounds that hold.
//
// # Determinism, concurrency and cost
//
// Programs depend on their text alone. Any number of goroutines may use them. Compiling one
// takes some milliseconds, evaluating it some microseconds, up to 0.1 s at Kubernetes' limit of
// the cost; the plugins ask once for each device of a slice, keep the answers, and count the
// cost as steps of their search.
//
// Source: k8s.io/dynamic-resource-allocation 0.37, cel, with the features of Kubernetes
// 1.37's defaults.
package celselector

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/berth-sched/berth/framework/api"
)

// Compiler compiles selectors of devices. It implements
// [api.DeviceSelectorCompiler].
type Compiler struct{}

// CompileDeviceSelector compiles an expression. Like an API server it refuses one whose
// estimated cost is above the limit of an evaluation.
func (Compiler) CompileDeviceSelector(expression string) (api.CompiledDeviceSelector, error) {
	compiled := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true}).CompileCELExpression(expression, cel.Options{})
	if compiled.Error != nil {
		return nil, compiled.Error
	}
	if most := uint64(resourcev1.CELSelectorExpressionMaxCost); compiled.MaxCost > most {
		return nil, fmt.Errorf("too complex: the estimated cost %d exceeds the limit of %d", compiled.MaxCost, most)
	}
	return selector{compiled}, nil
}

type selector struct{ compiled cel.CompilationResult }

// MatchesDevice evaluates the expression for a device.
func (s selector) MatchesDevice(driver string, d *api.Device) (bool, error) {
	matches, _, err := s.MeterDevice(driver, d)
	return matches, err
}

// MeterDevice evaluates the expression for a device and returns what that has cost, in
// Kubernetes' units, which take about 0.1 us each.
func (s selector) MeterDevice(driver string, d *api.Device) (matches bool, steps int, err error) {
	input := cel.Device{
		Driver: driver, AllowMultipleAllocations: d.AllowMultipleAllocations,
		Attributes: make(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, len(d.Attributes)),
		Capacity:   make(map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, len(d.Capacity)),
	}
	for name, a := range d.Attributes {
		input.Attributes[resourcev1.QualifiedName(name)] = resourcev1.DeviceAttribute(a)
	}
	for name, c := range d.Capacity {
		q, err := quantity.ParseQuantity(c.Value.String())
		if err != nil {
			return false, 0, fmt.Errorf("device %s: capacity %s: %w", d.Name, name, err)
		}
		input.Capacity[resourcev1.QualifiedName(name)] = resourcev1.DeviceCapacity{Value: q}
	}
	matches, details, err := s.compiled.DeviceMatches(context.Background(), input)
	if cost := details.ActualCost(); cost != nil {
		steps = int(min(*cost, resourcev1.CELSelectorExpressionMaxCost))
	}
	return matches, steps, err
}
