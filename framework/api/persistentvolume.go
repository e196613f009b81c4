package api

import "github.com/berth-sched/berth/resource"

// The annotations of claims that scheduling reads.
const (
	AnnBindCompleted = "pv.kubernetes.io/bind-completed"    // the binding of a claim is final
	AnnSelectedNode  = "volume.kubernetes.io/selected-node" // the node to provision a volume for
	AnnMigratedTo    = "pv.kubernetes.io/migrated-to"       // the CSI driver that replaces an in-tree plugin
)

// PersistentVolume is a piece of storage for claims.
type PersistentVolume struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PersistentVolumeSpec   `json:"spec,omitzero"`
	Status     PersistentVolumeStatus `json:"status,omitzero"`
}

// PersistentVolumeSpec describes a persistent volume.
type PersistentVolumeSpec struct {
	Capacity                  resource.List `json:"capacity,omitempty"`
	PersistentVolumeSource    `json:",inline"`
	AccessModes               []PersistentVolumeAccessMode `json:"accessModes,omitempty"`
	ClaimRef                  *ObjectReference             `json:"claimRef,omitempty"` // the claim it is bound to or reserved for
	StorageClassName          string                       `json:"storageClassName,omitempty"`
	VolumeMode                *PersistentVolumeMode        `json:"volumeMode,omitempty"` // nil means Filesystem
	NodeAffinity              *VolumeNodeAffinity          `json:"nodeAffinity,omitempty"`
	VolumeAttributesClassName *string                      `json:"volumeAttributesClassName,omitempty"`
}

// PersistentVolumeSource is the storage behind a persistent volume: at most one
// field is set.
type PersistentVolumeSource struct {
	GCEPersistentDisk    *GCEPersistentDiskVolumeSource    `json:"gcePersistentDisk,omitempty"`
	AWSElasticBlockStore *AWSElasticBlockStoreVolumeSource `json:"awsElasticBlockStore,omitempty"`
	HostPath             *HostPathVolumeSource             `json:"hostPath,omitempty"`
	NFS                  *NFSVolumeSource                  `json:"nfs,omitempty"`
	RBD                  *RBDPersistentVolumeSource        `json:"rbd,omitempty"`
	ISCSI                *ISCSIPersistentVolumeSource      `json:"iscsi,omitempty"`
	Cinder               *CinderPersistentVolumeSource     `json:"cinder,omitempty"`
	AzureFile            *AzureFilePersistentVolumeSource  `json:"azureFile,omitempty"`
	VsphereVolume        *VsphereVirtualDiskVolumeSource   `json:"vsphereVolume,omitempty"`
	AzureDisk            *AzureDiskVolumeSource            `json:"azureDisk,omitempty"`
	PortworxVolume       *PortworxVolumeSource             `json:"portworxVolume,omitempty"`
	Local                *LocalVolumeSource                `json:"local,omitempty"`
	CSI                  *CSIPersistentVolumeSource        `json:"csi,omitempty"`
}

// PersistentVolumeAccessMode is a way in which a volume may be mounted.
type PersistentVolumeAccessMode string

// The access modes.
const (
	ReadWriteOnce    PersistentVolumeAccessMode = "ReadWriteOnce"    // by one node
	ReadOnlyMany     PersistentVolumeAccessMode = "ReadOnlyMany"     // by many nodes, to read
	ReadWriteMany    PersistentVolumeAccessMode = "ReadWriteMany"    // by many nodes
	ReadWriteOncePod PersistentVolumeAccessMode = "ReadWriteOncePod" // by one pod
)

// PersistentVolumeMode says whether a volume is a file system or a device.
type PersistentVolumeMode string

// The volume modes.
const (
	PersistentVolumeBlock      PersistentVolumeMode = "Block"
	PersistentVolumeFilesystem PersistentVolumeMode = "Filesystem"
)

// VolumeNodeAffinity restricts the nodes that can use a volume.
type VolumeNodeAffinity struct {
	Required *NodeSelector `json:"required,omitempty"`
}

// PersistentVolumeStatus is the state of a persistent volume.
type PersistentVolumeStatus struct {
	Phase PersistentVolumePhase `json:"phase,omitempty"`
}

// PersistentVolumePhase is the stage of a volume's life.
type PersistentVolumePhase string

// The phases of a persistent volume.
const (
	VolumePending   PersistentVolumePhase = "Pending"
	VolumeAvailable PersistentVolumePhase = "Available"
	VolumeBound     PersistentVolumePhase = "Bound"
	VolumeReleased  PersistentVolumePhase = "Released"
	VolumeFailed    PersistentVolumePhase = "Failed"
)

// PersistentVolumeClaim is a request for storage.
type PersistentVolumeClaim struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PersistentVolumeClaimSpec   `json:"spec,omitzero"`
	Status     PersistentVolumeClaimStatus `json:"status,omitzero"`
}

// PersistentVolumeClaimSpec is the request of a claim, and the name of its volume.
type PersistentVolumeClaimSpec struct {
	AccessModes               []PersistentVolumeAccessMode `json:"accessModes,omitempty"`
	Selector                  *LabelSelector               `json:"selector,omitempty"` // nil selects every volume
	Resources                 VolumeResourceRequirements   `json:"resources,omitzero"`
	VolumeName                string                       `json:"volumeName,omitempty"`
	StorageClassName          *string                      `json:"storageClassName,omitempty"`
	VolumeMode                *PersistentVolumeMode        `json:"volumeMode,omitempty"` // nil means Filesystem
	VolumeAttributesClassName *string                      `json:"volumeAttributesClassName,omitempty"`
}

// VolumeResourceRequirements is the storage that a claim requests.
type VolumeResourceRequirements struct {
	Limits   resource.List `json:"limits,omitempty"`
	Requests resource.List `json:"requests,omitempty"`
}

// PersistentVolumeClaimStatus is the state of a claim.
type PersistentVolumeClaimStatus struct {
	Phase       PersistentVolumeClaimPhase   `json:"phase,omitempty"`
	AccessModes []PersistentVolumeAccessMode `json:"accessModes,omitempty"`
	Capacity    resource.List                `json:"capacity,omitempty"`
}

// PersistentVolumeClaimPhase is the stage of a claim's life.
type PersistentVolumeClaimPhase string

// The phases of a claim.
const (
	ClaimPending PersistentVolumeClaimPhase = "Pending"
	ClaimBound   PersistentVolumeClaimPhase = "Bound"
	ClaimLost    PersistentVolumeClaimPhase = "Lost" // its volume no longer exists
)
