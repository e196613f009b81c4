package convert

import (
	"fmt"
	"reflect"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/berth-sched/berth/framework/api"
)

// A kind converts objects of one kind.
type kind[D api.Object, S any] struct {
	meta    api.TypeMeta
	copy    copier
	missing []string // fields of ours that the API does not have
}

func newKind[D api.Object, S any](apiVersion string) *kind[D, S] {
	c := new(compiler)
	name := reflect.TypeFor[D]().Name()
	copy := c.compile(reflect.TypeFor[D](), reflect.TypeFor[S](), name)
	return &kind[D, S]{api.TypeMeta{Kind: name, APIVersion: apiVersion}, copy, c.missing}
}

func (k *kind[D, S]) convert(obj *S) (*D, error) {
	if obj == nil {
		return nil, fmt.Errorf("%s: is nil", k.meta.Kind)
	}
	out := new(D)
	k.copy(unsafe.Pointer(out), unsafe.Pointer(obj))
	*typeMeta(out) = k.meta
	return out, nil
}

// typeMeta returns the first field of every object.
func typeMeta[D api.Object](obj *D) *api.TypeMeta { return (*api.TypeMeta)(unsafe.Pointer(obj)) }

var (
	pods         = newKind[api.Pod, corev1.Pod]("v1")
	nodes        = newKind[api.Node, corev1.Node]("v1")
	namespaces   = newKind[api.Namespace, corev1.Namespace]("v1")
	quotas       = newKind[api.ResourceQuota, corev1.ResourceQuota]("v1")
	services     = newKind[api.Service, corev1.Service]("v1")
	controllers  = newKind[api.ReplicationController, corev1.ReplicationController]("v1")
	volumes      = newKind[api.PersistentVolume, corev1.PersistentVolume]("v1")
	volumeClaims = newKind[api.PersistentVolumeClaim, corev1.PersistentVolumeClaim]("v1")
	replicaSets  = newKind[api.ReplicaSet, appsv1.ReplicaSet]("apps/v1")
	statefulSets = newKind[api.StatefulSet, appsv1.StatefulSet]("apps/v1")
	deployments  = newKind[api.Deployment, appsv1.Deployment]("apps/v1")
	daemonSets   = newKind[api.DaemonSet, appsv1.DaemonSet]("apps/v1")
	jobs         = newKind[api.Job, batchv1.Job]("batch/v1")
	budgets      = newKind[api.PodDisruptionBudget, policyv1.PodDisruptionBudget]("policy/v1")
	priorities   = newKind[api.PriorityClass, schedulingv1.PriorityClass]("scheduling.k8s.io/v1")
	classes      = newKind[api.StorageClass, storagev1.StorageClass]("storage.k8s.io/v1")
	csiNodes     = newKind[api.CSINode, storagev1.CSINode]("storage.k8s.io/v1")
	csiDrivers   = newKind[api.CSIDriver, storagev1.CSIDriver]("storage.k8s.io/v1")
	capacities   = newKind[api.CSIStorageCapacity, storagev1.CSIStorageCapacity]("storage.k8s.io/v1")
	attachments  = newKind[api.VolumeAttachment, storagev1.VolumeAttachment]("storage.k8s.io/v1")
	deviceClass  = newKind[api.DeviceClass, resourcev1.DeviceClass]("resource.k8s.io/v1")
	slicesOf     = newKind[api.ResourceSlice, resourcev1.ResourceSlice]("resource.k8s.io/v1")
	claims       = newKind[api.ResourceClaim, resourcev1.ResourceClaim]("resource.k8s.io/v1")
	templates    = newKind[api.ResourceClaimTemplate, resourcev1.ResourceClaimTemplate]("resource.k8s.io/v1")
	taintRules   = newKind[api.DeviceTaintRule, resourcev1.DeviceTaintRule]("resource.k8s.io/v1")
)

// Pod converts a pod.
func Pod(p *corev1.Pod) (*api.Pod, error) { return pods.convert(p) }

// Node converts a node.
func Node(n *corev1.Node) (*api.Node, error) { return nodes.convert(n) }

// Namespace converts a namespace.
func Namespace(n *corev1.Namespace) (*api.Namespace, error) { return namespaces.convert(n) }

// ResourceQuota converts a quota.
func ResourceQuota(q *corev1.ResourceQuota) (*api.ResourceQuota, error) { return quotas.convert(q) }

// Service converts a service.
func Service(s *corev1.Service) (*api.Service, error) { return services.convert(s) }

// ReplicationController converts a replication controller.
func ReplicationController(c *corev1.ReplicationController) (*api.ReplicationController, error) {
	return controllers.convert(c)
}

// PersistentVolume converts a volume.
func PersistentVolume(v *corev1.PersistentVolume) (*api.PersistentVolume, error) {
	return volumes.convert(v)
}

// PersistentVolumeClaim converts a claim.
func PersistentVolumeClaim(c *corev1.PersistentVolumeClaim) (*api.PersistentVolumeClaim, error) {
	return volumeClaims.convert(c)
}

// ReplicaSet converts a replica set.
func ReplicaSet(s *appsv1.ReplicaSet) (*api.ReplicaSet, error) { return replicaSets.convert(s) }

// StatefulSet converts a stateful set.
func StatefulSet(s *appsv1.StatefulSet) (*api.StatefulSet, error) { return statefulSets.convert(s) }

// Deployment converts a deployment.
func Deployment(d *appsv1.Deployment) (*api.Deployment, error) { return deployments.convert(d) }

// DaemonSet converts a daemon set.
func DaemonSet(s *appsv1.DaemonSet) (*api.DaemonSet, error) { return daemonSets.convert(s) }

// Job converts a job.
func Job(j *batchv1.Job) (*api.Job, error) { return jobs.convert(j) }

// PodDisruptionBudget converts a disruption budget.
func PodDisruptionBudget(b *policyv1.PodDisruptionBudget) (*api.PodDisruptionBudget, error) {
	return budgets.convert(b)
}

// PriorityClass converts a priority class.
func PriorityClass(c *schedulingv1.PriorityClass) (*api.PriorityClass, error) {
	return priorities.convert(c)
}

// StorageClass converts a storage class.
func StorageClass(c *storagev1.StorageClass) (*api.StorageClass, error) { return classes.convert(c) }

// CSINode converts a CSINode.
func CSINode(n *storagev1.CSINode) (*api.CSINode, error) { return csiNodes.convert(n) }

// CSIDriver converts a CSIDriver.
func CSIDriver(d *storagev1.CSIDriver) (*api.CSIDriver, error) { return csiDrivers.convert(d) }

// CSIStorageCapacity converts a CSIStorageCapacity.
func CSIStorageCapacity(c *storagev1.CSIStorageCapacity) (*api.CSIStorageCapacity, error) {
	return capacities.convert(c)
}

// VolumeAttachment converts a VolumeAttachment.
func VolumeAttachment(a *storagev1.VolumeAttachment) (*api.VolumeAttachment, error) {
	return attachments.convert(a)
}

// DeviceClass converts a device class.
func DeviceClass(c *resourcev1.DeviceClass) (*api.DeviceClass, error) { return deviceClass.convert(c) }

// ResourceSlice converts a ResourceSlice.
func ResourceSlice(s *resourcev1.ResourceSlice) (*api.ResourceSlice, error) {
	return slicesOf.convert(s)
}

// ResourceClaim converts a resource claim.
func ResourceClaim(c *resourcev1.ResourceClaim) (*api.ResourceClaim, error) { return claims.convert(c) }

// ResourceClaimTemplate converts the template of a resource claim.
func ResourceClaimTemplate(t *resourcev1.ResourceClaimTemplate) (*api.ResourceClaimTemplate, error) {
	return templates.convert(t)
}

// DeviceTaintRule converts a DeviceTaintRule.
func DeviceTaintRule(r *resourcev1.DeviceTaintRule) (*api.DeviceTaintRule, error) {
	return taintRules.convert(r)
}
