package api

import (
	"github.com/berth-sched/berth/resource"
)

// Pod is a group of containers that is placed on one node.
type Pod struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PodSpec   `json:"spec,omitzero"`
	Status     PodStatus `json:"status,omitzero"`
}

// PodSpec is what a pod asks for, cut down to the fields that scheduling reads.
type PodSpec struct {
	Volumes                       []Volume                   `json:"volumes,omitempty"`
	InitContainers                []Container                `json:"initContainers,omitempty"`
	Containers                    []Container                `json:"containers"`
	RestartPolicy                 RestartPolicy              `json:"restartPolicy,omitempty"`
	TerminationGracePeriodSeconds *int64                     `json:"terminationGracePeriodSeconds,omitempty"`
	NodeSelector                  map[string]string          `json:"nodeSelector,omitempty"`
	NodeName                      string                     `json:"nodeName,omitempty"` // set: placed there, or must go there
	HostNetwork                   bool                       `json:"hostNetwork,omitempty"`
	Affinity                      *Affinity                  `json:"affinity,omitempty"`
	SchedulerName                 string                     `json:"schedulerName,omitempty"`
	Tolerations                   []Toleration               `json:"tolerations,omitempty"`
	PriorityClassName             string                     `json:"priorityClassName,omitempty"`
	Priority                      *int32                     `json:"priority,omitempty"`         // nil counts as 0
	PreemptionPolicy              *PreemptionPolicy          `json:"preemptionPolicy,omitempty"` // nil means PreemptLowerPriority
	Overhead                      resource.List              `json:"overhead,omitempty"`         // added to the sum of the containers
	TopologySpreadConstraints     []TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	OS                            *PodOS                     `json:"os,omitempty"`
	HostUsers                     *bool                      `json:"hostUsers,omitempty"`
	SchedulingGates               []PodSchedulingGate        `json:"schedulingGates,omitempty"`
	ResourceClaims                []PodResourceClaim         `json:"resourceClaims,omitempty"`
	Resources                     *ResourceRequirements      `json:"resources,omitempty"` // for the pod as a whole
}

// RestartPolicy says when the containers of a pod are started again.
type RestartPolicy string

// The restart policies of a pod.
const (
	RestartPolicyAlways    RestartPolicy = "Always"
	RestartPolicyOnFailure RestartPolicy = "OnFailure"
	RestartPolicyNever     RestartPolicy = "Never"
)

// PreemptionPolicy says whether a pod may displace pods of lower priority.
type PreemptionPolicy string

// The preemption policies.
const (
	PreemptLowerPriority PreemptionPolicy = "PreemptLowerPriority"
	PreemptNever         PreemptionPolicy = "Never"
)

// PodOS names the operating system a pod is for.
type PodOS struct {
	Name OSName `json:"name"`
}

// OSName is an operating system.
type OSName string

// The operating systems.
const (
	Linux   OSName = "linux"
	Windows OSName = "windows"
)

// PodSchedulingGate holds a pod back from scheduling while it is present.
type PodSchedulingGate struct {
	Name string `json:"name"`
}

// PodResourceClaim names a claim of devices. The claims themselves are not part
// of this package; a pod that has some is recognised as such.
type PodResourceClaim struct {
	Name                      string  `json:"name"`
	ResourceClaimName         *string `json:"resourceClaimName,omitempty"`
	ResourceClaimTemplateName *string `json:"resourceClaimTemplateName,omitempty"`
}

// ResourceRequirements is what a container, or a pod as a whole, asks for.
type ResourceRequirements struct {
	Limits   resource.List   `json:"limits,omitempty"`
	Requests resource.List   `json:"requests,omitempty"`
	Claims   []ResourceClaim `json:"claims,omitempty"`
}

// ResourceClaim refers to one of the pod's resource claims.
type ResourceClaim struct {
	Name    string `json:"name"`
	Request string `json:"request,omitempty"`
}
