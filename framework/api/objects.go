package api

import (
	"maps"
	"reflect"
	"slices"
)

// Objects are the objects of a cluster, or of a file, by kind. Each list is in the
// order of reading. The zero value is empty and ready to use.
type Objects struct {
	Pods                   []*Pod
	Nodes                  []*Node
	Namespaces             []*Namespace
	PriorityClasses        []*PriorityClass
	PodDisruptionBudgets   []*PodDisruptionBudget
	PodGroups              []*PodGroup
	CompositePodGroups     []*CompositePodGroup
	Workloads              []*Workload
	ResourceQuotas         []*ResourceQuota
	Services               []*Service
	ReplicationControllers []*ReplicationController
	ReplicaSets            []*ReplicaSet
	StatefulSets           []*StatefulSet
	Deployments            []*Deployment
	DaemonSets             []*DaemonSet
	Jobs                   []*Job
	PersistentVolumes      []*PersistentVolume
	PersistentVolumeClaims []*PersistentVolumeClaim
	StorageClasses         []*StorageClass
	CSINodes               []*CSINode
	CSIDrivers             []*CSIDriver
	CSIStorageCapacities   []*CSIStorageCapacity
	VolumeAttachments      []*VolumeAttachment
	DeviceClasses          []*DeviceClass
	ResourceSlices         []*ResourceSlice
	ResourceClaims         []*ResourceClaim
	ResourceClaimTemplates []*ResourceClaimTemplate
	DeviceTaintRules       []*DeviceTaintRule
	NodeMetrics            []*NodeMetric // Koordinator's
	Clusters               []*Cluster    // Karmada's

	// Skipped counts the objects of other kinds, by kind and group, such as
	// "ConfigMap" or "Certificate.cert-manager.io".
	Skipped map[string]int
	// SkippedFields counts fields that the types here do not have, by kind and
	// path, such as "Pod: spec.nodeselector". The path omits list indexes and map
	// keys. Most of these are Kubernetes fields that scheduling does not read, but
	// a misspelt field shows up here too, and nowhere else. The content of such a
	// field is not counted, nor is a null field. At most 500 paths are counted
	// separately; later paths, and paths longer than 250 bytes, count as
	// [OtherFields].
	SkippedFields map[string]int
}

// A kind describes one kind of object in Objects.
type kind struct {
	apiVersion string // default for objects that omit it; otherwise only the group matters
	name       string
	namespaced bool
	decode     func(*Objects, *decoder) (object, error) // returns an object and appends it to its list
}

// An object is a pointer to any Object: all of them embed TypeMeta and ObjectMeta.
type object interface {
	typeMeta() *TypeMeta
	objectMeta() *ObjectMeta
}

func (t *TypeMeta) typeMeta() *TypeMeta       { return t }
func (m *ObjectMeta) objectMeta() *ObjectMeta { return m }

// MetaOf returns the metadata of an object, which must not be nil.
func MetaOf[T Object](obj *T) *ObjectMeta { return any(obj).(object).objectMeta() }

// KeyOf returns the key of an object in a snapshot: "namespace/name", or only the
// name for kinds without namespaces, even if the object has a namespace. The key of
// nil is "".
func KeyOf[T Object](obj *T) string {
	if obj == nil {
		return ""
	}
	m := MetaOf(obj)
	if m.Namespace != "" && !kindOf(reflect.TypeFor[T]().Name(), "").namespaced {
		return m.Name
	}
	return m.Key()
}

// kindOf returns the kind of that name, or nil if there is none. A missing
// apiVersion matches.
func kindOf(name, apiVersion string) *kind {
	for i := range kinds {
		if k := &kinds[i]; k.name == name && (apiVersion == "" || groupOf(k.apiVersion) == groupOf(apiVersion)) {
			return k
		}
	}
	return nil
}

var kinds = []kind{
	{"v1", "Pod", true, into(func(o *Objects) *[]*Pod { return &o.Pods })},
	{"v1", "Node", false, into(func(o *Objects) *[]*Node { return &o.Nodes })},
	{"v1", "Namespace", false, into(func(o *Objects) *[]*Namespace { return &o.Namespaces })},
	{"v1", "ResourceQuota", true, into(func(o *Objects) *[]*ResourceQuota { return &o.ResourceQuotas })},
	{"v1", "Service", true, into(func(o *Objects) *[]*Service { return &o.Services })},
	{"v1", "ReplicationController", true, into(func(o *Objects) *[]*ReplicationController { return &o.ReplicationControllers })},
	{"v1", "PersistentVolume", false, into(func(o *Objects) *[]*PersistentVolume { return &o.PersistentVolumes })},
	{"v1", "PersistentVolumeClaim", true, into(func(o *Objects) *[]*PersistentVolumeClaim { return &o.PersistentVolumeClaims })},
	{"apps/v1", "ReplicaSet", true, into(func(o *Objects) *[]*ReplicaSet { return &o.ReplicaSets })},
	{"apps/v1", "StatefulSet", true, into(func(o *Objects) *[]*StatefulSet { return &o.StatefulSets })},
	{"apps/v1", "Deployment", true, into(func(o *Objects) *[]*Deployment { return &o.Deployments })},
	{"apps/v1", "DaemonSet", true, into(func(o *Objects) *[]*DaemonSet { return &o.DaemonSets })},
	{"batch/v1", "Job", true, into(func(o *Objects) *[]*Job { return &o.Jobs })},
	{"policy/v1", "PodDisruptionBudget", true, into(func(o *Objects) *[]*PodDisruptionBudget { return &o.PodDisruptionBudgets })},
	{"scheduling.k8s.io/v1", "PriorityClass", false, into(func(o *Objects) *[]*PriorityClass { return &o.PriorityClasses })},
	{"scheduling.k8s.io/v1beta1", "PodGroup", true, into(func(o *Objects) *[]*PodGroup { return &o.PodGroups })},
	{"scheduling.sigs.k8s.io/v1alpha1", "PodGroup", true, into(func(o *Objects) *[]*PodGroup { return &o.PodGroups })},
	{"scheduling.k8s.io/v1alpha3", "CompositePodGroup", true, into(func(o *Objects) *[]*CompositePodGroup { return &o.CompositePodGroups })},
	{"scheduling.k8s.io/v1beta1", "Workload", true, into(func(o *Objects) *[]*Workload { return &o.Workloads })},
	{"storage.k8s.io/v1", "StorageClass", false, into(func(o *Objects) *[]*StorageClass { return &o.StorageClasses })},
	{"storage.k8s.io/v1", "CSINode", false, into(func(o *Objects) *[]*CSINode { return &o.CSINodes })},
	{"storage.k8s.io/v1", "CSIDriver", false, into(func(o *Objects) *[]*CSIDriver { return &o.CSIDrivers })},
	{"storage.k8s.io/v1", "CSIStorageCapacity", true, into(func(o *Objects) *[]*CSIStorageCapacity { return &o.CSIStorageCapacities })},
	{"storage.k8s.io/v1", "VolumeAttachment", false, into(func(o *Objects) *[]*VolumeAttachment { return &o.VolumeAttachments })},
	{"resource.k8s.io/v1", "DeviceClass", false, into(func(o *Objects) *[]*DeviceClass { return &o.DeviceClasses })},
	{"resource.k8s.io/v1", "ResourceSlice", false, into(func(o *Objects) *[]*ResourceSlice { return &o.ResourceSlices })},
	{"resource.k8s.io/v1", "ResourceClaim", true, into(func(o *Objects) *[]*ResourceClaim { return &o.ResourceClaims })},
	{"resource.k8s.io/v1", "ResourceClaimTemplate", true, into(func(o *Objects) *[]*ResourceClaimTemplate { return &o.ResourceClaimTemplates })},
	{"resource.k8s.io/v1", "DeviceTaintRule", false, into(func(o *Objects) *[]*DeviceTaintRule { return &o.DeviceTaintRules })},
	{"slo.koordinator.sh/v1alpha1", "NodeMetric", false, into(func(o *Objects) *[]*NodeMetric { return &o.NodeMetrics })},
	{"cluster.karmada.io/v1alpha1", "Cluster", false, into(func(o *Objects) *[]*Cluster { return &o.Clusters })},
}

// into returns a function that decodes an object and appends it to a list of
// Objects.
func into[T any, P interface {
	*T
	object
}](list func(*Objects) *[]*T) func(*Objects, *decoder) (object, error) {
	return func(o *Objects, d *decoder) (object, error) {
		x := new(T)
		if err := d.Value(x); err != nil {
			return nil, err
		}
		l := list(o)
		*l = append(*l, x)
		return P(x), nil
	}
}

// extend appends everything in p to o.
func (o *Objects) extend(p *Objects) {
	o.Pods = append(o.Pods, p.Pods...)
	o.Nodes = append(o.Nodes, p.Nodes...)
	o.Namespaces = append(o.Namespaces, p.Namespaces...)
	o.PriorityClasses = append(o.PriorityClasses, p.PriorityClasses...)
	o.PodDisruptionBudgets = append(o.PodDisruptionBudgets, p.PodDisruptionBudgets...)
	o.PodGroups = append(o.PodGroups, p.PodGroups...)
	o.CompositePodGroups = append(o.CompositePodGroups, p.CompositePodGroups...)
	o.Workloads = append(o.Workloads, p.Workloads...)
	o.ResourceQuotas = append(o.ResourceQuotas, p.ResourceQuotas...)
	o.Services = append(o.Services, p.Services...)
	o.ReplicationControllers = append(o.ReplicationControllers, p.ReplicationControllers...)
	o.ReplicaSets = append(o.ReplicaSets, p.ReplicaSets...)
	o.StatefulSets = append(o.StatefulSets, p.StatefulSets...)
	o.Deployments = append(o.Deployments, p.Deployments...)
	o.DaemonSets = append(o.DaemonSets, p.DaemonSets...)
	o.Jobs = append(o.Jobs, p.Jobs...)
	o.PersistentVolumes = append(o.PersistentVolumes, p.PersistentVolumes...)
	o.PersistentVolumeClaims = append(o.PersistentVolumeClaims, p.PersistentVolumeClaims...)
	o.StorageClasses = append(o.StorageClasses, p.StorageClasses...)
	o.CSINodes = append(o.CSINodes, p.CSINodes...)
	o.CSIDrivers = append(o.CSIDrivers, p.CSIDrivers...)
	o.CSIStorageCapacities = append(o.CSIStorageCapacities, p.CSIStorageCapacities...)
	o.VolumeAttachments = append(o.VolumeAttachments, p.VolumeAttachments...)
	o.DeviceClasses = append(o.DeviceClasses, p.DeviceClasses...)
	o.ResourceSlices = append(o.ResourceSlices, p.ResourceSlices...)
	o.ResourceClaims = append(o.ResourceClaims, p.ResourceClaims...)
	o.ResourceClaimTemplates = append(o.ResourceClaimTemplates, p.ResourceClaimTemplates...)
	o.DeviceTaintRules = append(o.DeviceTaintRules, p.DeviceTaintRules...)
	o.NodeMetrics = append(o.NodeMetrics, p.NodeMetrics...)
	o.Clusters = append(o.Clusters, p.Clusters...)
	for name, n := range p.Skipped {
		o.skip(name, n)
	}
	for _, name := range slices.Sorted(maps.Keys(p.SkippedFields)) {
		o.skipFields(name, p.SkippedFields[name])
	}
}

// skip counts n objects of a kind that o has no list for.
func (o *Objects) skip(name string, n int) {
	if o.Skipped == nil {
		o.Skipped = map[string]int{}
	}
	o.Skipped[name] += n
}
