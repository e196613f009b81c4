package api

import "github.com/berth-sched/berth/resource"

// AnnMigratedPlugins is an annotation of a CSINode: the in-tree volume plugins that
// CSI drivers replace on this node, separated by commas.
const AnnMigratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins"

// StorageClass says how volumes of a class are provisioned.
type StorageClass struct {
	TypeMeta          `json:",inline"`
	ObjectMeta        `json:"metadata"`
	Provisioner       string                 `json:"provisioner"`
	Parameters        map[string]string      `json:"parameters,omitempty"`
	VolumeBindingMode *VolumeBindingMode     `json:"volumeBindingMode,omitempty"`
	AllowedTopologies []TopologySelectorTerm `json:"allowedTopologies,omitempty"` // one must hold; empty allows all
}

// VolumeBindingMode says when a claim is bound.
type VolumeBindingMode string

// The volume binding modes.
const (
	VolumeBindingImmediate            VolumeBindingMode = "Immediate"
	VolumeBindingWaitForFirstConsumer VolumeBindingMode = "WaitForFirstConsumer" // when a pod that uses it is placed
)

// CSINode lists the CSI drivers on a node. It has the name of its node.
type CSINode struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       CSINodeSpec `json:"spec"`
}

// CSINodeSpec is the content of a CSINode.
type CSINodeSpec struct {
	Drivers []CSINodeDriver `json:"drivers"`
}

// CSINodeDriver is a CSI driver on a node.
type CSINodeDriver struct {
	Name         string               `json:"name"`
	NodeID       string               `json:"nodeID"`
	TopologyKeys []string             `json:"topologyKeys"`
	Allocatable  *VolumeNodeResources `json:"allocatable,omitempty"`
}

// VolumeNodeResources bounds the volumes of a driver on a node.
type VolumeNodeResources struct {
	Count *int32 `json:"count,omitempty"` // nil means unbounded
}

// CSIDriver describes a CSI driver to the cluster.
type CSIDriver struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       CSIDriverSpec `json:"spec"`
}

// CSIDriverSpec is the content of a CSIDriver.
type CSIDriverSpec struct {
	AttachRequired                *bool `json:"attachRequired,omitempty"`
	StorageCapacity               *bool `json:"storageCapacity,omitempty"` // the driver publishes free space as CSIStorageCapacity
	PreventPodSchedulingIfMissing *bool `json:"preventPodSchedulingIfMissing,omitempty"`
}

// CSIStorageCapacity is the free space for a storage class in a part of the
// cluster.
type CSIStorageCapacity struct {
	TypeMeta          `json:",inline"`
	ObjectMeta        `json:"metadata"`
	NodeTopology      *LabelSelector     `json:"nodeTopology,omitempty"` // nil selects no node
	StorageClassName  string             `json:"storageClassName"`
	Capacity          *resource.Quantity `json:"capacity,omitempty"`
	MaximumVolumeSize *resource.Quantity `json:"maximumVolumeSize,omitempty"`
}

// VolumeAttachment requests, and reports, that a volume is attached to a node.
type VolumeAttachment struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       VolumeAttachmentSpec   `json:"spec"`
	Status     VolumeAttachmentStatus `json:"status,omitzero"`
}

// VolumeAttachmentSpec says which volume is attached where.
type VolumeAttachmentSpec struct {
	Attacher string                 `json:"attacher"` // the CSI driver
	Source   VolumeAttachmentSource `json:"source"`
	NodeName string                 `json:"nodeName"`
}

// VolumeAttachmentSource names the volume, or describes a migrated inline one.
type VolumeAttachmentSource struct {
	PersistentVolumeName *string               `json:"persistentVolumeName,omitempty"`
	InlineVolumeSpec     *PersistentVolumeSpec `json:"inlineVolumeSpec,omitempty"`
}

// VolumeAttachmentStatus says whether the volume is attached.
type VolumeAttachmentStatus struct {
	Attached bool `json:"attached"`
}
