package api

import (
	"time"

	"github.com/berth-sched/berth/resource"
)

// The well-known node labels that scheduling reads.
const (
	LabelHostname            = "kubernetes.io/hostname"
	LabelTopologyZone        = "topology.kubernetes.io/zone"
	LabelTopologyRegion      = "topology.kubernetes.io/region"
	LabelFailureDomainZone   = "failure-domain.beta.kubernetes.io/zone"   // the former zone label
	LabelFailureDomainRegion = "failure-domain.beta.kubernetes.io/region" // the former region label
)

// Node is a machine that runs pods.
type Node struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       NodeSpec   `json:"spec,omitzero"`
	Status     NodeStatus `json:"status,omitzero"`
}

// NodeSpec is the part of a node that an administrator sets.
type NodeSpec struct {
	ProviderID          string                   `json:"providerID,omitempty"`
	Unschedulable       bool                     `json:"unschedulable,omitempty"` // cordoned
	Taints              []Taint                  `json:"taints,omitempty"`
	PodPreemptionPolicy *NodePodPreemptionPolicy `json:"podPreemptionPolicy,omitempty"`
}

// NodePodPreemptionPolicy restricts preemption on a node.
type NodePodPreemptionPolicy struct {
	DisableResizePreemption []string `json:"disableResizePreemption,omitempty"` // reasons why resizes may not preempt; empty allows them
}

// NodeStatus is the part of a node that it reports itself.
type NodeStatus struct {
	Capacity         resource.List      `json:"capacity,omitempty"`
	Allocatable      resource.List      `json:"allocatable,omitempty"` // what pods may request
	Conditions       []NodeCondition    `json:"conditions,omitempty"`
	Images           []ContainerImage   `json:"images,omitempty"`
	VolumesInUse     []UniqueVolumeName `json:"volumesInUse,omitempty"`
	VolumesAttached  []AttachedVolume   `json:"volumesAttached,omitempty"`
	DeclaredFeatures []string           `json:"declaredFeatures,omitempty"`
}

// NodeCondition is one observed condition of a node.
type NodeCondition struct {
	Type               NodeConditionType `json:"type"`
	Status             ConditionStatus   `json:"status"`
	LastHeartbeatTime  time.Time         `json:"lastHeartbeatTime,omitzero"`
	LastTransitionTime time.Time         `json:"lastTransitionTime,omitzero"`
	Reason             string            `json:"reason,omitempty"`
	Message            string            `json:"message,omitempty"`
}

// NodeConditionType names a condition of a node.
type NodeConditionType string

// The conditions that every node reports.
const (
	NodeReady              NodeConditionType = "Ready"
	NodeMemoryPressure     NodeConditionType = "MemoryPressure"
	NodeDiskPressure       NodeConditionType = "DiskPressure"
	NodePIDPressure        NodeConditionType = "PIDPressure"
	NodeNetworkUnavailable NodeConditionType = "NetworkUnavailable"
)

// ContainerImage is an image present on a node, under all of its names.
type ContainerImage struct {
	Names     []string `json:"names"`
	SizeBytes int64    `json:"sizeBytes,omitempty"`
}

// UniqueVolumeName identifies an attachable volume across nodes.
type UniqueVolumeName string

// AttachedVolume is a volume attached to a node.
type AttachedVolume struct {
	Name       UniqueVolumeName `json:"name"`
	DevicePath string           `json:"devicePath"`
}
