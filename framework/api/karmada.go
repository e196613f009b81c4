package api

import "github.com/berth-sched/berth/resource"

// Cluster is a member cluster in Karmada (cluster.karmada.io/v1alpha1).
//
// It has only the fields that schedulers read. Decoding loses all others, such as
// spec.apiEndpoint, spec.secretRef, spec.proxyURL, status.remedyActions,
// metadata.finalizers and metadata.managedFields. So do not write the whole object
// back: to write the results of capacity.Summarize, make a patch with
// capacity.SummaryPatch.
type Cluster struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ClusterSpec   `json:"spec,omitzero"`
	Status     ClusterStatus `json:"status,omitzero"`
}

// ClusterSpec is the part of a cluster that an administrator sets.
type ClusterSpec struct {
	ID             string          `json:"id,omitempty"`
	SyncMode       ClusterSyncMode `json:"syncMode,omitempty"`
	Provider       string          `json:"provider,omitempty"`
	Region         string          `json:"region,omitempty"`
	Zone           string          `json:"zone,omitempty"` // superseded by Zones
	Zones          []string        `json:"zones,omitempty"`
	Taints         []Taint         `json:"taints,omitempty"`
	ResourceModels []ResourceModel `json:"resourceModels,omitempty"`
}

// ClusterSyncMode is the way Karmada and a cluster communicate.
type ClusterSyncMode string

// The sync modes.
const (
	Push ClusterSyncMode = "Push"
	Pull ClusterSyncMode = "Pull"
)

// ResourceModel is a grade of node sizes.
type ResourceModel struct {
	Grade  uint                 `json:"grade"`
	Ranges []ResourceModelRange `json:"ranges"`
}

// ResourceModelRange is the half-open range [Min, Max) of a resource in a grade.
type ResourceModelRange struct {
	Name resource.Name     `json:"name"`
	Min  resource.Quantity `json:"min"`
	Max  resource.Quantity `json:"max"`
}

// ClusterStatus is the observed state of a cluster.
type ClusterStatus struct {
	KubernetesVersion string           `json:"kubernetesVersion,omitempty"`
	APIEnablements    []APIEnablement  `json:"apiEnablements,omitempty"`
	Conditions        []Condition      `json:"conditions,omitempty"`
	NodeSummary       *NodeSummary     `json:"nodeSummary,omitempty"`
	ResourceSummary   *ResourceSummary `json:"resourceSummary,omitempty"`
}

// The conditions of a cluster.
const (
	ClusterConditionReady                  = "Ready"
	ClusterConditionCompleteAPIEnablements = "CompleteAPIEnablements"
)

// APIEnablement lists the resources of an API group that a cluster serves.
type APIEnablement struct {
	GroupVersion string        `json:"groupVersion"`
	Resources    []APIResource `json:"resources,omitempty"`
}

// APIResource is a resource that a cluster serves.
type APIResource struct {
	Name string `json:"name"` // plural, such as "deployments"
	Kind string `json:"kind"`
}

// NodeSummary counts the nodes of a cluster.
type NodeSummary struct {
	TotalNum int32 `json:"totalNum,omitempty"`
	ReadyNum int32 `json:"readyNum,omitempty"`
}

// ResourceSummary is the sum of a cluster's resources.
type ResourceSummary struct {
	Allocatable          resource.List         `json:"allocatable,omitempty"`
	Allocating           resource.List         `json:"allocating,omitempty"` // requested by pods not yet placed
	Allocated            resource.List         `json:"allocated,omitempty"`  // requested by placed pods
	AllocatableModelings []AllocatableModeling `json:"allocatableModelings,omitempty"`
}

// AllocatableModeling is the number of nodes in a grade. The free resources of a
// node decide its grade.
type AllocatableModeling struct {
	Grade uint `json:"grade"`
	Count int  `json:"count"`
}
