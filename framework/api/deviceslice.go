package api

import (
	"time"

	"github.com/berth-sched/berth/resource"
)

// ResourceSlice lists devices of one driver and one pool. The drivers of dynamic
// resource allocation publish them.
type ResourceSlice struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ResourceSliceSpec `json:"spec"`
}

// ResourceSliceSpec is the content of a ResourceSlice. Exactly one of NodeName,
// NodeSelector, AllNodes and PerDeviceNodeSelection says where the devices can be used.
type ResourceSliceSpec struct {
	Driver                 string        `json:"driver"`
	Pool                   ResourcePool  `json:"pool"`
	NodeName               *string       `json:"nodeName,omitempty"`
	NodeSelector           *NodeSelector `json:"nodeSelector,omitempty"`
	AllNodes               *bool         `json:"allNodes,omitempty"`
	Devices                []Device      `json:"devices,omitempty"`
	PerDeviceNodeSelection *bool         `json:"perDeviceNodeSelection,omitempty"` // each device says where it can be used
	SharedCounters         []CounterSet  `json:"sharedCounters,omitempty"`         // a slice has either these or devices
}

// ResourcePool says which pool a slice belongs to. Only the slices of the newest
// generation count, once all ResourceSliceCount of them are there.
type ResourcePool struct {
	Name               string `json:"name"`
	Generation         int64  `json:"generation"`
	ResourceSliceCount int64  `json:"resourceSliceCount"`
}

// CounterSet is something that several devices of a pool share, such as the memory of a
// card that can be partitioned.
type CounterSet struct {
	Name     string             `json:"name"`
	Counters map[string]Counter `json:"counters"`
}

// Counter is one amount of a CounterSet, or of what a device takes from it.
type Counter struct {
	Value resource.Quantity `json:"value"`
}

// Device is one device of a slice. Names of attributes and capacities are "id" or
// "domain/id"; without a domain they belong to the driver's.
type Device struct {
	Name                     string                     `json:"name"`
	Attributes               map[string]DeviceAttribute `json:"attributes,omitempty"`
	Capacity                 map[string]DeviceCapacity  `json:"capacity,omitempty"`
	ConsumesCounters         []DeviceCounterConsumption `json:"consumesCounters,omitempty"`
	NodeName                 *string                    `json:"nodeName,omitempty"` // this and the next two: with perDeviceNodeSelection
	NodeSelector             *NodeSelector              `json:"nodeSelector,omitempty"`
	AllNodes                 *bool                      `json:"allNodes,omitempty"`
	Taints                   []DeviceTaint              `json:"taints,omitempty"`
	BindsToNode              *bool                      `json:"bindsToNode,omitempty"`
	BindingConditions        []string                   `json:"bindingConditions,omitempty"`
	BindingFailureConditions []string                   `json:"bindingFailureConditions,omitempty"`
	AllowMultipleAllocations *bool                      `json:"allowMultipleAllocations,omitempty"` // shareable by capacity
}

// DeviceAttribute is one value, or a list of values of one type.
type DeviceAttribute struct {
	IntValue      *int64   `json:"int,omitempty"`
	BoolValue     *bool    `json:"bool,omitempty"`
	StringValue   *string  `json:"string,omitempty"`
	VersionValue  *string  `json:"version,omitempty"` // a semantic version
	IntValues     []int64  `json:"ints,omitempty"`
	BoolValues    []bool   `json:"bools,omitempty"`
	StringValues  []string `json:"strings,omitempty"`
	VersionValues []string `json:"versions,omitempty"`
}

// DeviceCapacity is an amount that a device has, and how requests consume it.
type DeviceCapacity struct {
	Value         resource.Quantity      `json:"value"`
	RequestPolicy *CapacityRequestPolicy `json:"requestPolicy,omitempty"`
}

// CapacityRequestPolicy says which amounts of a capacity may be consumed.
type CapacityRequestPolicy struct {
	Default     *resource.Quantity          `json:"default,omitempty"` // without a request; nil means all of the capacity
	ValidValues []resource.Quantity         `json:"validValues,omitempty"`
	ValidRange  *CapacityRequestPolicyRange `json:"validRange,omitempty"`
}

// CapacityRequestPolicyRange is a range of amounts from Min to Max, in steps.
type CapacityRequestPolicyRange struct {
	Min  *resource.Quantity `json:"min,omitempty"`
	Max  *resource.Quantity `json:"max,omitempty"`
	Step *resource.Quantity `json:"step,omitempty"`
}

// DeviceCounterConsumption is what a device takes from a CounterSet of its pool.
type DeviceCounterConsumption struct {
	CounterSet          string             `json:"counterSet"`
	Counters            map[string]Counter `json:"counters,omitempty"`
	CompatibilityGroups []string           `json:"compatibilityGroups,omitempty"` // alpha: a slice with any is ignored
}

// DeviceTaint keeps claims off a device unless they tolerate it.
type DeviceTaint struct {
	Key       string            `json:"key"`
	Value     string            `json:"value,omitempty"`
	Effect    DeviceTaintEffect `json:"effect"`
	TimeAdded *time.Time        `json:"timeAdded,omitempty"`
}

// DeviceTaintEffect is the effect of a taint on requests that do not tolerate it.
type DeviceTaintEffect string

// The effects of taints on devices. Other effects keep nobody off.
const (
	DeviceTaintEffectNone       DeviceTaintEffect = "None"
	DeviceTaintEffectNoSchedule DeviceTaintEffect = "NoSchedule"
	DeviceTaintEffectNoExecute  DeviceTaintEffect = "NoExecute"
)

// DeviceToleration lets a request have devices with matching taints.
type DeviceToleration struct {
	Key               string                   `json:"key,omitempty"`      // empty matches every key
	Operator          DeviceTolerationOperator `json:"operator,omitempty"` // empty means Equal
	Value             string                   `json:"value,omitempty"`
	Effect            DeviceTaintEffect        `json:"effect,omitempty"` // empty matches every effect
	TolerationSeconds *int64                   `json:"tolerationSeconds,omitempty"`
}

// DeviceTolerationOperator is how a toleration compares values.
type DeviceTolerationOperator string

// The operators of tolerations of devices.
const (
	DeviceTolerationOpExists DeviceTolerationOperator = "Exists"
	DeviceTolerationOpEqual  DeviceTolerationOperator = "Equal"
)

// DeviceTaintRule adds a taint to all devices that it selects.
type DeviceTaintRule struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       DeviceTaintRuleSpec `json:"spec"`
}

// DeviceTaintRuleSpec is the content of a DeviceTaintRule.
type DeviceTaintRuleSpec struct {
	DeviceSelector *DeviceTaintSelector `json:"deviceSelector,omitempty"` // nil selects no device
	Taint          DeviceTaint          `json:"taint"`
}

// DeviceTaintSelector selects the devices for which all given names are equal.
type DeviceTaintSelector struct {
	Driver *string `json:"driver,omitempty"`
	Pool   *string `json:"pool,omitempty"`
	Device *string `json:"device,omitempty"`
}
