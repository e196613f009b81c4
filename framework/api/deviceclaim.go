package api

import (
	"encoding/json"
	"time"

	"github.com/berth-sched/berth/resource"
)

// The names that claims and their writers share.
const (
	// FinalizerClaim keeps an allocated ResourceClaim from being deleted.
	FinalizerClaim = "resource.kubernetes.io/delete-protection"
	// AnnPodClaimName is on a claim made from a template: the name of the pod's entry.
	AnnPodClaimName = "resource.kubernetes.io/pod-claim-name"
	// AnnExtendedResourceClaim is "true" on the claim that a scheduler makes for the
	// extended resources of a pod.
	AnnExtendedResourceClaim = "resource.kubernetes.io/extended-resource-claim"
	// PrefixDeviceClass and the name of a device class are an extended resource that
	// requests devices of this class.
	PrefixDeviceClass = "deviceclass.resource.kubernetes.io/"
)

// DeviceClass is a class of devices that claims may request.
type DeviceClass struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       DeviceClassSpec `json:"spec"`
}

// DeviceClassSpec is the content of a DeviceClass.
type DeviceClassSpec struct {
	Selectors []DeviceSelector           `json:"selectors,omitempty"` // all must hold
	Config    []DeviceClassConfiguration `json:"config,omitempty"`
	// ExtendedResourceName lets pods request devices of the class as this extended
	// resource. Nil or empty means that the class has none.
	ExtendedResourceName *string `json:"extendedResourceName,omitempty"`
}

// DeviceClassConfiguration is a configuration that goes to the driver with every
// device of the class.
type DeviceClassConfiguration struct {
	DeviceConfiguration `json:",inline"`
}

// DeviceConfiguration holds parameters for a driver.
type DeviceConfiguration struct {
	Opaque *OpaqueDeviceConfiguration `json:"opaque,omitempty"`
}

// OpaqueDeviceConfiguration is what only the driver understands.
type OpaqueDeviceConfiguration struct {
	Driver     string          `json:"driver"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// DeviceSelector is a condition that a device must meet.
type DeviceSelector struct {
	CEL *CELDeviceSelector `json:"cel,omitempty"`
}

// CELDeviceSelector is a condition in the Common Expression Language. The variable
// "device" is the device.
type CELDeviceSelector struct {
	Expression string `json:"expression"`
}

// ResourceClaim asks for devices, and says which it got.
type ResourceClaim struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ResourceClaimSpec   `json:"spec"`
	Status     ResourceClaimStatus `json:"status,omitzero"`
}

// ResourceClaimSpec is what a claim asks for.
type ResourceClaimSpec struct {
	Devices DeviceClaim `json:"devices,omitzero"`
}

// DeviceClaim lists requests for devices, and what all their devices must meet.
type DeviceClaim struct {
	Requests    []DeviceRequest            `json:"requests,omitempty"`
	Constraints []DeviceConstraint         `json:"constraints,omitempty"`
	Config      []DeviceClaimConfiguration `json:"config,omitempty"`
}

// DeviceRequest asks for devices of one class, or for the first of several
// alternatives that can be had.
type DeviceRequest struct {
	Name           string              `json:"name"`
	Exactly        *ExactDeviceRequest `json:"exactly,omitempty"`
	FirstAvailable []DeviceSubRequest  `json:"firstAvailable,omitempty"`
}

// ExactDeviceRequest asks for devices of one class.
type ExactDeviceRequest struct {
	DeviceClassName   string                   `json:"deviceClassName"`
	Selectors         []DeviceSelector         `json:"selectors,omitempty"` // all must hold
	AllocationMode    DeviceAllocationMode     `json:"allocationMode,omitempty"`
	Count             int64                    `json:"count,omitempty"`
	AdminAccess       *bool                    `json:"adminAccess,omitempty"` // may have devices that are in use
	Tolerations       []DeviceToleration       `json:"tolerations,omitempty"`
	Capacity          *CapacityRequirements    `json:"capacity,omitempty"`
	DerivedAttributes []DeviceDerivedAttribute `json:"derivedAttributes,omitempty"` // alpha: an error if there are any
}

// DeviceSubRequest is one alternative of a request.
type DeviceSubRequest struct {
	Name              string                   `json:"name"`
	DeviceClassName   string                   `json:"deviceClassName"`
	Selectors         []DeviceSelector         `json:"selectors,omitempty"`
	AllocationMode    DeviceAllocationMode     `json:"allocationMode,omitempty"`
	Count             int64                    `json:"count,omitempty"`
	Tolerations       []DeviceToleration       `json:"tolerations,omitempty"`
	Capacity          *CapacityRequirements    `json:"capacity,omitempty"`
	DerivedAttributes []DeviceDerivedAttribute `json:"derivedAttributes,omitempty"`
}

// DeviceAllocationMode says how many devices a request is for.
type DeviceAllocationMode string

// The allocation modes.
const (
	DeviceAllocationModeExactCount DeviceAllocationMode = "ExactCount" // Count devices
	DeviceAllocationModeAll        DeviceAllocationMode = "All"        // all matching devices
)

// DeviceDerivedAttribute computes an attribute from others.
type DeviceDerivedAttribute struct {
	Name string `json:"name"`
}

// CapacityRequirements asks for amounts of a device's capacities, by name.
type CapacityRequirements struct {
	Requests map[string]resource.Quantity `json:"requests,omitempty"`
}

// DeviceConstraint relates the devices of several requests. It names exactly one
// attribute, in the form "domain/id".
type DeviceConstraint struct {
	Requests          []string `json:"requests,omitempty"`          // empty means all
	MatchAttribute    *string  `json:"matchAttribute,omitempty"`    // all devices have the same value
	DistinctAttribute *string  `json:"distinctAttribute,omitempty"` // no two devices have the same value
}

// DeviceClaimConfiguration holds parameters for the drivers of some requests.
type DeviceClaimConfiguration struct {
	Requests            []string `json:"requests,omitempty"` // empty means all
	DeviceConfiguration `json:",inline"`
}

// ResourceClaimStatus is what a claim got, and which pods may use it.
type ResourceClaimStatus struct {
	Allocation  *AllocationResult                `json:"allocation,omitempty"`
	ReservedFor []ResourceClaimConsumerReference `json:"reservedFor,omitempty"`
	Devices     []AllocatedDeviceStatus          `json:"devices,omitempty"`
}

// ResourceClaimConsumerReference names a user of a claim, in practice a pod.
type ResourceClaimConsumerReference struct {
	APIGroup string `json:"apiGroup,omitempty"`
	Resource string `json:"resource"`
	Name     string `json:"name"`
	UID      UID    `json:"uid"`
}

// AllocatedDeviceStatus is what a driver reports of an allocated device.
type AllocatedDeviceStatus struct {
	Driver     string      `json:"driver"`
	Pool       string      `json:"pool"`
	Device     string      `json:"device"`
	ShareID    *string     `json:"shareID,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// AllocationResult lists the devices that are allocated to a claim.
type AllocationResult struct {
	Devices             DeviceAllocationResult `json:"devices,omitzero"`
	NodeSelector        *NodeSelector          `json:"nodeSelector,omitempty"` // where it can be used; nil means everywhere
	AllocationTimestamp *time.Time             `json:"allocationTimestamp,omitempty"`
}

// DeviceAllocationResult lists devices, and the parameters for their drivers.
type DeviceAllocationResult struct {
	Results []DeviceRequestAllocationResult `json:"results,omitempty"`
	Config  []DeviceAllocationConfiguration `json:"config,omitempty"`
}

// DeviceRequestAllocationResult is one device, or a share of one, for a request.
type DeviceRequestAllocationResult struct {
	Request                  string                       `json:"request"` // the name, or "request/subrequest"
	Driver                   string                       `json:"driver"`
	Pool                     string                       `json:"pool"`
	Device                   string                       `json:"device"`
	AdminAccess              *bool                        `json:"adminAccess,omitempty"`
	Tolerations              []DeviceToleration           `json:"tolerations,omitempty"`
	BindingConditions        []string                     `json:"bindingConditions,omitempty"`
	BindingFailureConditions []string                     `json:"bindingFailureConditions,omitempty"`
	ShareID                  *UID                         `json:"shareID,omitempty"`
	ConsumedCapacity         map[string]resource.Quantity `json:"consumedCapacity,omitempty"`
	SkipNodeOperations       []string                     `json:"skipNodeOperations,omitempty"` // alpha
}

// DeviceAllocationConfiguration holds parameters for the drivers of some requests.
type DeviceAllocationConfiguration struct {
	Source              AllocationConfigSource `json:"source"`
	Requests            []string               `json:"requests,omitempty"` // empty means all
	DeviceConfiguration `json:",inline"`
}

// AllocationConfigSource says where parameters come from.
type AllocationConfigSource string

// The sources of parameters.
const (
	AllocationConfigSourceClass AllocationConfigSource = "FromClass"
	AllocationConfigSourceClaim AllocationConfigSource = "FromClaim"
)

// ResourceClaimTemplate says how to make a claim for each pod that names it.
type ResourceClaimTemplate struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ResourceClaimTemplateSpec `json:"spec"`
}

// ResourceClaimTemplateSpec is the content of the claims.
type ResourceClaimTemplateSpec struct {
	ObjectMeta `json:"metadata,omitzero"` // only labels and annotations count
	Spec       ResourceClaimSpec          `json:"spec"`
}
