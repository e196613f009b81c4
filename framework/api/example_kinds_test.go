package api_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// read decodes a valid object.
func read[T api.Object](text string) *T {
	x, err := api.DecodeObject[T]([]byte(text))
	if err != nil {
		panic(err)
	}
	return x
}

func ExampleNamespace() {
	n := read[api.Namespace](`{"metadata":{"name":"shop","labels":{"team":"a"}}}`)
	fmt.Println(n.Kind, n.Name, n.Labels["team"])
	// Output: Namespace shop a
}

func ExamplePriorityClass() {
	c := read[api.PriorityClass](`{"metadata":{"name":"high"},"value":1000,"preemptionPolicy":"Never"}`)
	fmt.Println(c.Name, c.Value, *c.PreemptionPolicy)
	// Output: high 1000 Never
}

func ExamplePodDisruptionBudget() {
	b := read[api.PodDisruptionBudget](`{"metadata":{"name":"web"},"spec":{"minAvailable":"50%","unhealthyPodEvictionPolicy":"AlwaysAllow"},"status":{"disruptionsAllowed":2}}`)
	fmt.Println(b.Key(), b.Status.DisruptionsAllowed, *b.Spec.UnhealthyPodEvictionPolicy == api.AlwaysAllow)
	// Output: default/web 2 true
}

func ExampleResourceQuota() {
	q := read[api.ResourceQuota](`{"metadata":{"name":"team"},"status":{"hard":{"requests.cpu":"20"},"used":{"requests.cpu":"5500m"}}}`)
	fmt.Println(q.Key(), q.Status.Hard["requests.cpu"], q.Status.Used["requests.cpu"])
	// Output: default/team 20 5500m
}

func ExampleService() {
	s := read[api.Service](`{"metadata":{"name":"web","namespace":"shop"},"spec":{"selector":{"app":"web"}}}`)
	fmt.Println(s.Key(), s.Spec.Selector)
	// Output: shop/web map[app:web]
}

func ExampleReplicationController() {
	c := read[api.ReplicationController](`{"metadata":{"name":"web"},"spec":{"replicas":3,"selector":{"app":"web"}}}`)
	fmt.Println(c.Key(), c.Spec.Selector)
	// Output: default/web map[app:web]
}

func ExampleReplicaSet() {
	r := read[api.ReplicaSet](`{"metadata":{"name":"web-5d"},"spec":{"selector":{"matchLabels":{"app":"web"}}}}`)
	fmt.Println(r.APIVersion, r.Key(), r.Spec.Selector.MatchLabels)
	// Output: apps/v1 default/web-5d map[app:web]
}

func ExampleStatefulSet() {
	s := read[api.StatefulSet](`{"metadata":{"name":"db"},"spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"postgres"}]}}}}`)
	fmt.Println(s.Key(), *s.Spec.Replicas, s.Spec.Template.Spec.Containers[0].Image)
	// Output: default/db 3 postgres
}

func ExampleDeployment() {
	d := read[api.Deployment](`{"metadata":{"name":"web"},"spec":{"replicas":5,"template":{"metadata":{"labels":{"app":"web"}}}}}`)
	fmt.Println(d.Key(), *d.Spec.Replicas, d.Spec.Template.Labels)
	// Output: default/web 5 map[app:web]
}

func ExampleDaemonSet() {
	d := read[api.DaemonSet](`{"metadata":{"name":"agent"},"spec":{"template":{"spec":{"hostNetwork":true}}}}`)
	fmt.Println(d.Key(), d.Spec.Template.Spec.HostNetwork)
	// Output: default/agent true
}

func ExampleJob() {
	j := read[api.Job](`{"metadata":{"name":"report"},"spec":{"parallelism":4}}`)
	fmt.Println(j.APIVersion, j.Key(), *j.Spec.Parallelism)
	// Output: batch/v1 default/report 4
}

func ExamplePersistentVolume() {
	v := read[api.PersistentVolume](`{"metadata":{"name":"pv-1"},"spec":{"capacity":{"storage":"10Gi"},"accessModes":["ReadWriteOnce"],
		"csi":{"driver":"ebs.csi.aws.com","volumeHandle":"vol-1"}}}`)
	capacity := v.Spec.Capacity["storage"]
	fmt.Println(v.Name, capacity.String(), v.Spec.AccessModes, v.Spec.CSI.Driver)
	// Output: pv-1 10Gi [ReadWriteOnce] ebs.csi.aws.com
}

func ExamplePersistentVolumeClaim() {
	c := read[api.PersistentVolumeClaim](`{"metadata":{"name":"data"},"spec":{"storageClassName":"fast","volumeName":"pv-1"},"status":{"phase":"Bound"}}`)
	fmt.Println(c.Key(), *c.Spec.StorageClassName, c.Spec.VolumeName, c.Status.Phase)
	// Output: default/data fast pv-1 Bound
}

func ExampleStorageClass() {
	c := read[api.StorageClass](`{"metadata":{"name":"fast"},"provisioner":"ebs.csi.aws.com","volumeBindingMode":"WaitForFirstConsumer"}`)
	fmt.Println(c.Name, c.Provisioner, *c.VolumeBindingMode)
	// Output: fast ebs.csi.aws.com WaitForFirstConsumer
}

func ExampleCSINode() {
	n := read[api.CSINode](`{"metadata":{"name":"n1"},"spec":{"drivers":[{"name":"ebs.csi.aws.com","nodeID":"i-1","allocatable":{"count":25}}]}}`)
	fmt.Println(n.Name, n.Spec.Drivers[0].Name, *n.Spec.Drivers[0].Allocatable.Count)
	// Output: n1 ebs.csi.aws.com 25
}

func ExampleCSIDriver() {
	d := read[api.CSIDriver](`{"metadata":{"name":"ebs.csi.aws.com"},"spec":{"storageCapacity":true}}`)
	fmt.Println(d.Name, *d.Spec.StorageCapacity)
	// Output: ebs.csi.aws.com true
}

func ExampleCSIStorageCapacity() {
	c := read[api.CSIStorageCapacity](`{"metadata":{"name":"c-1"},"storageClassName":"fast","capacity":"100Gi"}`)
	fmt.Println(c.Key(), c.StorageClassName, c.Capacity)
	// Output: default/c-1 fast 100Gi
}

func ExampleVolumeAttachment() {
	a := read[api.VolumeAttachment](`{"metadata":{"name":"a-1"},"spec":{"attacher":"ebs.csi.aws.com","nodeName":"n1","source":{"persistentVolumeName":"pv-1"}}}`)
	fmt.Println(a.Spec.Attacher, a.Spec.NodeName, *a.Spec.Source.PersistentVolumeName)
	// Output: ebs.csi.aws.com n1 pv-1
}

func ExampleDeviceClass() {
	c := read[api.DeviceClass](`{"metadata":{"name":"gpu"},"spec":{"extendedResourceName":"example.com/gpu"}}`)
	fmt.Println(c.Name, *c.Spec.ExtendedResourceName)
	// Output: gpu example.com/gpu
}

func ExampleNodeMetric() {
	m := read[api.NodeMetric](`{"metadata":{"name":"n1"},"status":{"nodeMetric":{"nodeUsage":{"resources":{"cpu":"1500m"}}}}}`)
	cpu := m.Status.NodeMetric.NodeUsage.Quantity("cpu")
	fmt.Println(m.Kind, m.Name, cpu.String())
	// Output: NodeMetric n1 1500m
}

func ExampleCluster() {
	c := read[api.Cluster](`{"metadata":{"name":"member1"},"spec":{"region":"eu"},"status":{"resourceSummary":{"allocatable":{"cpu":"64"}}}}`)
	cpu := c.Status.ResourceSummary.Allocatable["cpu"]
	fmt.Println(c.Kind, c.Name, c.Spec.Region, cpu.String())
	// Output: Cluster member1 eu 64
}

// One function can read objects of every kind.
func ExampleObject() {
	namespace := read[api.Namespace](`{"metadata":{"name":"shop"}}`)
	class := read[api.PriorityClass](`{"metadata":{"name":"high"},"value":1000}`)
	fmt.Println(kindOf(namespace), kindOf(class))
	// Output: *api.Namespace *api.PriorityClass
}

// kindOf works for any kind of object.
func kindOf[T api.Object](x *T) string { return fmt.Sprintf("%T", x) }
