package kube

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/kube/convert"
)

// A cluster is a feed with the kinds whose objects this package looks up itself.
type cluster struct {
	feed
	nodes   *objects[api.Node, corev1.Node, *corev1.Node]
	pods    *objects[api.Pod, corev1.Pod, *corev1.Pod]
	volumes *objects[api.PersistentVolume, corev1.PersistentVolume, *corev1.PersistentVolume]
	claims  *objects[api.PersistentVolumeClaim, corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaim]
	devices *objects[api.ResourceClaim, resourcev1.ResourceClaim, *resourcev1.ResourceClaim]
}

// served says which resources of resource.k8s.io/v1 the API server has.
type served map[string]bool

// newCluster returns the feed of everything that the plugins of kube-scheduler read. The
// order of kinds is the order of the first events: nodes come before pods, and everything
// else before both.
//
// Templates of resource claims are left out, so that pods wait until their claims are made.
func newCluster(c kubernetes.Interface, has served, report func(error)) *cluster {
	x := &cluster{feed: feed{client: c, report: report, change: make(chan struct{})}}
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
	follow(f, "csinodes", "", storage.CSINodes(), convert.CSINode)
	follow(f, "csistoragecapacities", "", storage.CSIStorageCapacities(""), convert.CSIStorageCapacity)
	follow(f, "volumeattachments", "", storage.VolumeAttachments(), convert.VolumeAttachment)
	x.volumes = follow(f, "persistentvolumes", "", core.PersistentVolumes(), convert.PersistentVolume)
	x.claims = follow(f, "persistentvolumeclaims", "", core.PersistentVolumeClaims(""), convert.PersistentVolumeClaim)
	x.volumes.wakes, x.claims.wakes = true, true
	if has["deviceclasses"] {
		follow(f, "deviceclasses", "", dra.DeviceClasses(), convert.DeviceClass)
		follow(f, "resourceslices", "", dra.ResourceSlices(), convert.ResourceSlice)
		x.devices = follow(f, "resourceclaims", "", dra.ResourceClaims(""), convert.ResourceClaim)
		x.devices.wakes = true
	}
	if has["devicetaintrules"] {
		follow(f, "devicetaintrules", "", dra.DeviceTaintRules(), convert.DeviceTaintRule)
	}
	x.nodes = follow(f, "nodes", "", core.Nodes(), convert.Node)
	x.pods = follow(f, "pods", "status.phase!=Succeeded,status.phase!=Failed", core.Pods(""), convert.Pod)
	x.pods.ended = func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	}
	return x
}

// size counts the nodes and the pods that have not ended.
func (x *cluster) size() (nodes, pods int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.nodes.known), len(x.pods.known)
}
