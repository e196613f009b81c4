package api

import "time"

// PodDisruptionBudget bounds how many pods of a group may be disrupted at once.
type PodDisruptionBudget struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PodDisruptionBudgetSpec   `json:"spec,omitzero"`
	Status     PodDisruptionBudgetStatus `json:"status,omitzero"`
}

// PodDisruptionBudgetSpec says which pods a budget covers and how many of them must
// stay.
type PodDisruptionBudgetSpec struct {
	MinAvailable   *IntOrString   `json:"minAvailable,omitempty"`
	Selector       *LabelSelector `json:"selector,omitempty"`
	MaxUnavailable *IntOrString   `json:"maxUnavailable,omitempty"`
	// UnhealthyPodEvictionPolicy is nil for IfHealthyBudget.
	UnhealthyPodEvictionPolicy *UnhealthyPodEvictionPolicy `json:"unhealthyPodEvictionPolicy,omitempty"`
}

// UnhealthyPodEvictionPolicy says when a running pod that is not ready may be evicted.
type UnhealthyPodEvictionPolicy string

// The policies for pods that are not ready: if the budget has the healthy pods that it
// desires, or always.
const (
	IfHealthyBudget UnhealthyPodEvictionPolicy = "IfHealthyBudget"
	AlwaysAllow     UnhealthyPodEvictionPolicy = "AlwaysAllow"
)

// PodDisruptionBudgetStatus is what remains of a budget. Preemption reads it; of
// the specification it reads only the selector.
type PodDisruptionBudgetStatus struct {
	DisruptedPods      map[string]time.Time `json:"disruptedPods,omitempty"` // by name: evicted, not yet deleted
	DisruptionsAllowed int32                `json:"disruptionsAllowed"`
	CurrentHealthy     int32                `json:"currentHealthy"`
	DesiredHealthy     int32                `json:"desiredHealthy"`
	ExpectedPods       int32                `json:"expectedPods"`
}

// PriorityClass is a named priority.
type PriorityClass struct {
	TypeMeta         `json:",inline"`
	ObjectMeta       `json:"metadata"`
	Value            int32             `json:"value"`
	GlobalDefault    bool              `json:"globalDefault,omitempty"` // for pods without a class
	PreemptionPolicy *PreemptionPolicy `json:"preemptionPolicy,omitempty"`
}
