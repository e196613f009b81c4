package api

import "time"

// PodDisruptionBudget bounds how many of a group of pods may be disrupted at
// once.
type PodDisruptionBudget struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PodDisruptionBudgetSpec   `json:"spec,omitzero"`
	Status     PodDisruptionBudgetStatus `json:"status,omitzero"`
}

// PodDisruptionBudgetSpec says which pods a budget covers and how many of them
// must stay.
type PodDisruptionBudgetSpec struct {
	MinAvailable   *IntOrString   `json:"minAvailable,omitempty"`
	Selector       *LabelSelector `json:"selector,omitempty"`
	MaxUnavailable *IntOrString   `json:"maxUnavailable,omitempty"`
}

// PodDisruptionBudgetStatus is what is left of a budget. Preemption reads it and
// nothing of the specification but the selector.
type PodDisruptionBudgetStatus struct {
	DisruptedPods      map[string]time.Time `json:"disruptedPods,omitempty"` // by name: evicted, not yet gone
	DisruptionsAllowed int32                `json:"disruptionsAllowed"`
	CurrentHealthy     int32                `json:"currentHealthy"`
	DesiredHealthy     int32                `json:"desiredHealthy"`
	ExpectedPods       int32                `json:"expectedPods"`
}

// PriorityClass gives a priority a name.
type PriorityClass struct {
	TypeMeta         `json:",inline"`
	ObjectMeta       `json:"metadata"`
	Value            int32             `json:"value"`
	GlobalDefault    bool              `json:"globalDefault,omitempty"` // for pods that name no class
	PreemptionPolicy *PreemptionPolicy `json:"preemptionPolicy,omitempty"`
}

// DeviceClass is a class of devices that claims may ask for.
type DeviceClass struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       DeviceClassSpec `json:"spec"`
}

// DeviceClassSpec is the part of a device class that the resource filter reads.
type DeviceClassSpec struct {
	// ExtendedResourceName lets pods ask for devices of the class as if they
	// were this extended resource. Nil or empty: the class has none.
	ExtendedResourceName *string `json:"extendedResourceName,omitempty"`
}
