package api

import (
	"time"

	"github.com/berth-sched/berth/resource"
)

// PodStatus is the observed state of a pod.
type PodStatus struct {
	Phase                 PodPhase              `json:"phase,omitempty"`
	Conditions            []PodCondition        `json:"conditions,omitempty"`
	Message               string                `json:"message,omitempty"`
	Reason                string                `json:"reason,omitempty"`
	NominatedNodeName     string                `json:"nominatedNodeName,omitempty"` // the node that preemption frees for it
	StartTime             *time.Time            `json:"startTime,omitempty"`
	InitContainerStatuses []ContainerStatus     `json:"initContainerStatuses,omitempty"`
	ContainerStatuses     []ContainerStatus     `json:"containerStatuses,omitempty"`
	QOSClass              PodQOSClass           `json:"qosClass,omitempty"`
	Resize                PodResizeStatus       `json:"resize,omitempty"`
	AllocatedResources    resource.List         `json:"allocatedResources,omitempty"` // of the pod as a whole
	Resources             *ResourceRequirements `json:"resources,omitempty"`          // of the pod as a whole, in force
	// ResourceClaimStatuses names the claims that were made from templates.
	ResourceClaimStatuses []PodResourceClaimStatus `json:"resourceClaimStatuses,omitempty"`
}

// PodResourceClaimStatus names the claim that was made for an entry of
// spec.resourceClaims.
type PodResourceClaimStatus struct {
	Name              string  `json:"name"`
	ResourceClaimName *string `json:"resourceClaimName,omitempty"` // nil: no claim is needed
}

// PodPhase is the stage of a pod's life.
type PodPhase string

// The phases of a pod.
const (
	PodPending   PodPhase = "Pending"
	PodRunning   PodPhase = "Running"
	PodSucceeded PodPhase = "Succeeded"
	PodFailed    PodPhase = "Failed"
	PodUnknown   PodPhase = "Unknown"
)

// HasEnded reports whether a pod of the phase has run to its end, and no longer uses its node.
func (p PodPhase) HasEnded() bool { return p == PodSucceeded || p == PodFailed }

// PodQOSClass is the quality-of-service class of a pod.
type PodQOSClass string

// The quality-of-service classes.
const (
	PodQOSGuaranteed PodQOSClass = "Guaranteed"
	PodQOSBurstable  PodQOSClass = "Burstable"
	PodQOSBestEffort PodQOSClass = "BestEffort"
)

// PodResizeStatus is the progress of an in-place resize as reported by old
// versions; newer versions use conditions.
type PodResizeStatus string

// The stages of an in-place resize.
const (
	PodResizeStatusInProgress PodResizeStatus = "InProgress"
	PodResizeStatusDeferred   PodResizeStatus = "Deferred"
	PodResizeStatusInfeasible PodResizeStatus = "Infeasible"
)

// PodCondition is one observed condition of a pod.
type PodCondition struct {
	Type               PodConditionType `json:"type"`
	ObservedGeneration int64            `json:"observedGeneration,omitempty"`
	Status             ConditionStatus  `json:"status"`
	LastProbeTime      time.Time        `json:"lastProbeTime,omitzero"`
	LastTransitionTime time.Time        `json:"lastTransitionTime,omitzero"`
	Reason             string           `json:"reason,omitempty"`
	Message            string           `json:"message,omitempty"`
}

// PodConditionType names a condition of a pod.
type PodConditionType string

// The conditions that scheduling reads or writes.
const (
	PodScheduled        PodConditionType = "PodScheduled"
	PodReady            PodConditionType = "Ready"
	PodInitialized      PodConditionType = "Initialized"
	ContainersReady     PodConditionType = "ContainersReady"
	DisruptionTarget    PodConditionType = "DisruptionTarget"
	PodResizePending    PodConditionType = "PodResizePending"
	PodResizeInProgress PodConditionType = "PodResizeInProgress"
)

// The reasons of pod conditions that scheduling reads or writes.
const (
	PodReasonUnschedulable         = "Unschedulable"
	PodReasonSchedulingGated       = "SchedulingGated"
	PodReasonSchedulerError        = "SchedulerError"
	PodReasonPreemptionByScheduler = "PreemptionByScheduler"
	PodReasonDeferred              = "Deferred"   // of PodResizePending
	PodReasonInfeasible            = "Infeasible" // of PodResizePending
)

// ContainerStatus is the observed state of a container. Here it holds the resources
// granted in an in-place resize.
type ContainerStatus struct {
	Name               string                `json:"name"`
	AllocatedResources resource.List         `json:"allocatedResources,omitempty"` // admitted by the node
	Resources          *ResourceRequirements `json:"resources,omitempty"`          // in force
}
