package api

import (
	"github.com/berth-sched/berth/resource"
)

// Pod is a group of containers, placed together on one node.
type Pod struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PodSpec   `json:"spec,omitzero"`
	Status     PodStatus `json:"status,omitzero"`
}

// PodSpec is the request of a pod, cut down to the fields that scheduling reads.
type PodSpec struct {
	Volumes                       []Volume                   `json:"volumes,omitempty"`
	InitContainers                []Container                `json:"initContainers,omitempty"`
	Containers                    []Container                `json:"containers"`
	RestartPolicy                 RestartPolicy              `json:"restartPolicy,omitempty"`
	TerminationGracePeriodSeconds *int64                     `json:"terminationGracePeriodSeconds,omitempty"`
	NodeSelector                  map[string]string          `json:"nodeSelector,omitempty"`
	NodeName                      string                     `json:"nodeName,omitempty"` // the pod's node, or the only node allowed
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
	SchedulingGroup               *PodSchedulingGroup        `json:"schedulingGroup,omitempty"`
}

// RestartPolicy says when Kubernetes restarts the containers of a pod.
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

// PodOS names the operating system of a pod.
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

// PodSchedulingGate keeps a pod from scheduling while it is present.
type PodSchedulingGate struct {
	Name string `json:"name"`
}

// PodResourceClaim names a [ResourceClaim] of the pod, or the template that one is made
// from for this pod alone.
type PodResourceClaim struct {
	Name                      string  `json:"name"`
	ResourceClaimName         *string `json:"resourceClaimName,omitempty"`
	ResourceClaimTemplateName *string `json:"resourceClaimTemplateName,omitempty"`
}

// ResourceRequirements holds the requests and limits of a container, or of a pod as
// a whole.
type ResourceRequirements struct {
	Limits   resource.List            `json:"limits,omitempty"`
	Requests resource.List            `json:"requests,omitempty"`
	Claims   []ContainerResourceClaim `json:"claims,omitempty"`
}

// ContainerResourceClaim refers to one of the pod's resource claims. Kubernetes calls it
// ResourceClaim, as it does the object.
type ContainerResourceClaim struct {
	Name    string `json:"name"`
	Request string `json:"request,omitempty"`
}

// SamePod reports whether two objects are the same pod: by UID, or by namespace and name
// if neither has one. Neither may be nil.
func SamePod(a, b *Pod) bool {
	if a.UID != "" || b.UID != "" {
		return a.UID == b.UID
	}
	return a.Name == b.Name && a.Namespace == b.Namespace
}
