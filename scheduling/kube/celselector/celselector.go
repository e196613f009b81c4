// Package celselector compiles the selectors of devices in the whole Common Expression
// Language, with Kubernetes' own compiler:
//
//	kube.New(kube.Config{DeviceSelectors: celselector.Compiler{}, ...})
//
// The built-in compiler of the library takes what drivers usually write and refuses the
// rest. This one needs cel-go and several more modules, so it is a package of its own.
//
// # Determinism, concurrency and cost
//
// Programs depend on their text alone. Any number of goroutines may use them. Evaluating
// one takes some microseconds; the plugins ask once for each device of a slice and keep the
// answers.
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

// CompileDeviceSelector compiles an expression.
func (Compiler) CompileDeviceSelector(expression string) (api.CompiledDeviceSelector, error) {
	compiled := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true}).CompileCELExpression(expression, cel.Options{DisableCostEstimation: true})
	if compiled.Error != nil {
		return nil, compiled.Error
	}
	return selector{compiled}, nil
}

type selector struct{ compiled cel.CompilationResult }

// MatchesDevice evaluates the expression for a device.
func (s selector) MatchesDevice(driver string, d *api.Device) (bool, error) {
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
			return false, fmt.Errorf("device %s: capacity %s: %w", d.Name, name, err)
		}
		input.Capacity[resourcev1.QualifiedName(name)] = resourcev1.DeviceCapacity{Value: q}
	}
	matches, _, err := s.compiled.DeviceMatches(context.Background(), input)
	return matches, err
}
