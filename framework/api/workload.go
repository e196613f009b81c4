package api

// PodTemplateSpec is the template from which a workload makes pods.
type PodTemplateSpec struct {
	ObjectMeta `json:"metadata,omitzero"`
	Spec       PodSpec `json:"spec,omitzero"`
}

// Service groups pods by labels. By default, scheduling spreads the pods of a
// service.
type Service struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ServiceSpec `json:"spec,omitzero"`
}

// ServiceSpec is the part of a service that selects pods.
type ServiceSpec struct {
	Selector map[string]string `json:"selector,omitempty"` // nil selects nothing
}

// ReplicationController keeps a number of equal pods running; ReplicaSet supersedes
// it.
type ReplicationController struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ReplicationControllerSpec `json:"spec,omitzero"`
}

// ReplicationControllerSpec is the content of a ReplicationController.
type ReplicationControllerSpec struct {
	Replicas *int32            `json:"replicas,omitempty"` // nil means 1
	Selector map[string]string `json:"selector,omitempty"`
	Template *PodTemplateSpec  `json:"template,omitempty"`
}

// ReplicaSet keeps a number of equal pods running.
type ReplicaSet struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ReplicaSetSpec `json:"spec,omitzero"`
}

// ReplicaSetSpec is the content of a ReplicaSet.
type ReplicaSetSpec struct {
	Replicas *int32          `json:"replicas,omitempty"` // nil means 1
	Selector *LabelSelector  `json:"selector"`
	Template PodTemplateSpec `json:"template,omitzero"`
}

// StatefulSet keeps a sequence of numbered pods running.
type StatefulSet struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       StatefulSetSpec `json:"spec,omitzero"`
}

// StatefulSetSpec is the content of a StatefulSet.
type StatefulSetSpec struct {
	Replicas             *int32                  `json:"replicas,omitempty"` // nil means 1
	Selector             *LabelSelector          `json:"selector"`
	Template             PodTemplateSpec         `json:"template"`
	VolumeClaimTemplates []PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`
	ServiceName          string                  `json:"serviceName"`
	Ordinals             *StatefulSetOrdinals    `json:"ordinals,omitempty"`
	PodManagementPolicy  PodManagementPolicyType `json:"podManagementPolicy,omitempty"` // "" means OrderedReady
}

// PodManagementPolicyType says whether the pods of a StatefulSet come one after the other.
type PodManagementPolicyType string

// The policies for the pods of a StatefulSet.
const (
	OrderedReadyPodManagement PodManagementPolicyType = "OrderedReady" // each once those before it run
	ParallelPodManagement     PodManagementPolicyType = "Parallel"     // all at once
)

// StatefulSetOrdinals says how the pods of a StatefulSet are numbered.
type StatefulSetOrdinals struct {
	Start int32 `json:"start"` // the number of the first pod
}

// Deployment rolls out new versions of a ReplicaSet.
type Deployment struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       DeploymentSpec `json:"spec,omitzero"`
}

// DeploymentSpec is the content of a Deployment.
type DeploymentSpec struct {
	Replicas *int32          `json:"replicas,omitempty"` // nil means 1
	Selector *LabelSelector  `json:"selector"`
	Template PodTemplateSpec `json:"template"`
}

// DaemonSet keeps one pod on every node that accepts it.
type DaemonSet struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       DaemonSetSpec `json:"spec,omitzero"`
}

// DaemonSetSpec is the content of a DaemonSet.
type DaemonSetSpec struct {
	Selector *LabelSelector  `json:"selector"`
	Template PodTemplateSpec `json:"template"`
}

// Job runs pods until enough of them succeed.
type Job struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       JobSpec   `json:"spec,omitzero"`
	Status     JobStatus `json:"status,omitzero"`
}

// JobSpec is the content of a Job.
type JobSpec struct {
	Parallelism *int32          `json:"parallelism,omitempty"` // nil means 1
	Completions *int32          `json:"completions,omitempty"`
	Suspend     *bool           `json:"suspend,omitempty"` // true: it has no pods
	Selector    *LabelSelector  `json:"selector,omitempty"`
	Template    PodTemplateSpec `json:"template"`
	// ManualSelector says that Selector was written by hand, so pods get no labels of the Job.
	ManualSelector *bool           `json:"manualSelector,omitempty"`
	CompletionMode *CompletionMode `json:"completionMode,omitempty"` // nil means NonIndexed
}

// CompletionMode says whether the pods of a Job are told apart.
type CompletionMode string

// The completion modes of Jobs.
const (
	NonIndexedCompletion CompletionMode = "NonIndexed"
	IndexedCompletion    CompletionMode = "Indexed" // each pod has an index
)

// JobStatus is how far a Job has come.
type JobStatus struct {
	Succeeded  int32          `json:"succeeded,omitempty"`
	Conditions []JobCondition `json:"conditions,omitempty"`
}

// JobCondition is a fact about a Job, such as that it has finished.
type JobCondition struct {
	Type   string          `json:"type"`
	Status ConditionStatus `json:"status"`
}
