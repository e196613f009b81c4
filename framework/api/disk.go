package api

// GCEPersistentDiskVolumeSource is a disk of Google Compute Engine.
type GCEPersistentDiskVolumeSource struct {
	PDName    string `json:"pdName"`
	Partition int32  `json:"partition,omitempty"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

// AWSElasticBlockStoreVolumeSource is a disk of Amazon EBS.
type AWSElasticBlockStoreVolumeSource struct {
	VolumeID  string `json:"volumeID"`
	Partition int32  `json:"partition,omitempty"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

// AzureDiskVolumeSource is a disk of Azure.
type AzureDiskVolumeSource struct {
	DiskName    string  `json:"diskName"`
	DataDiskURI string  `json:"diskURI"`
	FSType      *string `json:"fsType,omitempty"`
	ReadOnly    *bool   `json:"readOnly,omitempty"`
}

// AzureFileVolumeSource is a file share of Azure, mounted by a pod.
type AzureFileVolumeSource struct {
	SecretName string `json:"secretName"`
	ShareName  string `json:"shareName"`
	ReadOnly   bool   `json:"readOnly,omitempty"`
}

// AzureFilePersistentVolumeSource is a file share of Azure, as a volume.
type AzureFilePersistentVolumeSource struct {
	SecretName      string  `json:"secretName"`
	ShareName       string  `json:"shareName"`
	ReadOnly        bool    `json:"readOnly,omitempty"`
	SecretNamespace *string `json:"secretNamespace"`
}

// CinderVolumeSource is a disk of OpenStack, mounted by a pod.
type CinderVolumeSource struct {
	VolumeID string `json:"volumeID"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// CinderPersistentVolumeSource is a disk of OpenStack, as a volume.
type CinderPersistentVolumeSource struct {
	VolumeID string `json:"volumeID"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// VsphereVirtualDiskVolumeSource is a disk of vSphere.
type VsphereVirtualDiskVolumeSource struct {
	VolumePath string `json:"volumePath"`
}

// PortworxVolumeSource is a volume of Portworx.
type PortworxVolumeSource struct {
	VolumeID string `json:"volumeID"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// RBDVolumeSource is a Ceph block device, mounted by a pod.
type RBDVolumeSource struct {
	CephMonitors []string `json:"monitors"`
	RBDImage     string   `json:"image"`
	RBDPool      string   `json:"pool,omitempty"` // empty means rbd
	ReadOnly     bool     `json:"readOnly,omitempty"`
}

// RBDPersistentVolumeSource is a Ceph block device, as a volume.
type RBDPersistentVolumeSource struct {
	CephMonitors []string `json:"monitors"`
	RBDImage     string   `json:"image"`
	RBDPool      string   `json:"pool,omitempty"` // empty means rbd
	ReadOnly     bool     `json:"readOnly,omitempty"`
}

// ISCSIVolumeSource is an iSCSI disk, mounted by a pod.
type ISCSIVolumeSource struct {
	TargetPortal string `json:"targetPortal"`
	IQN          string `json:"iqn"`
	Lun          int32  `json:"lun"`
	ReadOnly     bool   `json:"readOnly,omitempty"`
}

// ISCSIPersistentVolumeSource is an iSCSI disk, as a volume.
type ISCSIPersistentVolumeSource struct {
	TargetPortal string `json:"targetPortal"`
	IQN          string `json:"iqn"`
	Lun          int32  `json:"lun"`
	ReadOnly     bool   `json:"readOnly,omitempty"`
}

// NFSVolumeSource is a directory on an NFS server.
type NFSVolumeSource struct {
	Server   string `json:"server"`
	Path     string `json:"path"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// LocalVolumeSource is a disk or directory of one node.
type LocalVolumeSource struct {
	Path string `json:"path"`
}

// CSIVolumeSource is an ephemeral volume that a CSI driver makes for a pod.
type CSIVolumeSource struct {
	Driver   string `json:"driver"`
	ReadOnly *bool  `json:"readOnly,omitempty"`
}

// CSIPersistentVolumeSource is a volume managed by a CSI driver.
type CSIPersistentVolumeSource struct {
	Driver           string            `json:"driver"`
	VolumeHandle     string            `json:"volumeHandle"`
	ReadOnly         bool              `json:"readOnly,omitempty"`
	VolumeAttributes map[string]string `json:"volumeAttributes,omitempty"`
}
