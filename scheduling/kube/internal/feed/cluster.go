package feed

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/kube/convert"
)

// A Cluster follows the objects of a cluster. Until it is opened it only keeps them.
type Cluster struct {
	feed
	// The kinds whose objects are also looked up. Devices is nil if the API server has no
	// resource claims.
	Nodes   *Objects[api.Node, corev1.Node, *corev1.Node]
	Pods    *Objects[api.Pod, corev1.Pod, *corev1.Pod]
	Drivers *Objects[api.CSINode, storagev1.CSINode, *storagev1.CSINode]
	Volumes *Objects[api.PersistentVolume, corev1.PersistentVolume, *corev1.PersistentVolume]
	Claims  *Objects[api.PersistentVolumeClaim, corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaim]
	Devices *Objects[api.ResourceClaim, resourcev1.ResourceClaim, *resourcev1.ResourceClaim]
}

// Served says which resources of resource.k8s.io/v1 the API server has.
type Served map[string]bool

// New returns the feed of everything that the plugins of kube-scheduler read. The order of
// kinds is the order of the first events: nodes come before pods, and everything else
// before both. report gets the errors of objects that cannot be converted.
//
// Templates of resource claims are left out, so that pods wait until their claims are made.
func New(c kubernetes.Interface, has Served, report func(error)) *Cluster {
	x := &Cluster{feed: feed{client: c, report: report, change: make(chan struct{})}}
	f := &x.feed
	core, apps, storage, dra := c.CoreV1(), c.AppsV1(), c.StorageV1(), c.ResourceV1()
	follow(f, "namespaces", "", core.Namespaces(), convert.Namespace)
	follow(f, "services", "", core.Services(""), convert.Service)
	follow(f, "replicationcontrollers", "", core.ReplicationControllers(""), convert.ReplicationController)
	follow(f, "replicasets", "", apps.ReplicaSets(""), convert.ReplicaSet)
	follow(f, "statefulsets", "", apps.StatefulSets(""), convert.StatefulSet)
	follow(f, "poddisruptionbudgets", "", c.PolicyV1().PodDisruptionBudgets(""), convert.PodDisruptionBudget)
	follow(f, "storageclasses", "", storage.StorageClasses(), convert.StorageClass)
	follow(f, "csidrivers", "", storage.CSIDrivers(), convert.CSIDriver)
	x.Drivers = follow(f, "csinodes", "", storage.CSINodes(), convert.CSINode)
	follow(f, "csistoragecapacities", "", storage.CSIStorageCapacities(""), convert.CSIStorageCapacity)
	follow(f, "volumeattachments", "", storage.VolumeAttachments(), convert.VolumeAttachment)
	x.Volumes = follow(f, "persistentvolumes", "", core.PersistentVolumes(), convert.PersistentVolume)
	x.Claims = follow(f, "persistentvolumeclaims", "", core.PersistentVolumeClaims(""), convert.PersistentVolumeClaim)
	x.Volumes.wakes, x.Claims.wakes = true, true
	if has["deviceclasses"] {
		follow(f, "deviceclasses", "", dra.DeviceClasses(), convert.DeviceClass)
		follow(f, "resourceslices", "", dra.ResourceSlices(), convert.ResourceSlice)
		x.Devices = follow(f, "resourceclaims", "", dra.ResourceClaims(""), convert.ResourceClaim)
		x.Devices.wakes = true
	}
	if has["devicetaintrules"] {
		follow(f, "devicetaintrules", "", dra.DeviceTaintRules(), convert.DeviceTaintRule)
	}
	x.Nodes = follow(f, "nodes", "", core.Nodes(), convert.Node)
	x.Pods = follow(f, "pods", "status.phase!=Succeeded,status.phase!=Failed", core.Pods(""), convert.Pod)
	x.Pods.ended = func(p *corev1.Pod) bool {
		return api.PodPhase(p.Status.Phase).HasEnded()
	}
	return x
}
