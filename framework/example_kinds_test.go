package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// read decodes an object that is known to be right.
func read[T framework.Object](text string) *T {
	x, err := framework.DecodeObject[T]([]byte(text))
	if err != nil {
		panic(err)
	}
	return x
}

func ExampleNamespace() {
	n := read[framework.Namespace](`{"metadata":{"name":"shop","labels":{"team":"a"}}}`)
	fmt.Println(n.Kind, n.Name, n.Labels["team"])
	// Output: Namespace shop a
}

func ExamplePriorityClass() {
	c := read[framework.PriorityClass](`{"metadata":{"name":"high"},"value":1000,"preemptionPolicy":"Never"}`)
	fmt.Println(c.Name, c.Value, *c.PreemptionPolicy)
	// Output: high 1000 Never
}

func ExamplePodDisruptionBudget() {
	b := read[framework.PodDisruptionBudget](`{"metadata":{"name":"web"},"spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":2}}`)
	fmt.Println(b.Key(), b.Status.DisruptionsAllowed)
	// Output: default/web 2
}

func ExampleResourceQuota() {
	q := read[framework.ResourceQuota](`{"metadata":{"name":"team"},"status":{"hard":{"requests.cpu":"20"},"used":{"requests.cpu":"5500m"}}}`)
	fmt.Println(q.Key(), q.Status.Hard["requests.cpu"], q.Status.Used["requests.cpu"])
	// Output: default/team 20 5500m
}

func ExampleService() {
	s := read[framework.Service](`{"metadata":{"name":"web","namespace":"shop"},"spec":{"selector":{"app":"web"}}}`)
	fmt.Println(s.Key(), s.Spec.Selector)
	// Output: shop/web map[app:web]
}

func ExampleReplicationController() {
	c := read[framework.ReplicationController](`{"metadata":{"name":"web"},"spec":{"replicas":3,"selector":{"app":"web"}}}`)
	fmt.Println(c.Key(), c.Spec.Selector)
	// Output: default/web map[app:web]
}

func ExampleReplicaSet() {
	r := read[framework.ReplicaSet](`{"metadata":{"name":"web-5d"},"spec":{"selector":{"matchLabels":{"app":"web"}}}}`)
	fmt.Println(r.APIVersion, r.Key(), r.Spec.Selector.MatchLabels)
	// Output: apps/v1 default/web-5d map[app:web]
}

func ExampleStatefulSet() {
	s := read[framework.StatefulSet](`{"metadata":{"name":"db"},"spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"postgres"}]}}}}`)
	fmt.Println(s.Key(), *s.Spec.Replicas, s.Spec.Template.Spec.Containers[0].Image)
	// Output: default/db 3 postgres
}

func ExampleDeployment() {
	d := read[framework.Deployment](`{"metadata":{"name":"web"},"spec":{"replicas":5,"template":{"metadata":{"labels":{"app":"web"}}}}}`)
	fmt.Println(d.Key(), *d.Spec.Replicas, d.Spec.Template.Labels)
	// Output: default/web 5 map[app:web]
}

func ExampleDaemonSet() {
	d := read[framework.DaemonSet](`{"metadata":{"name":"agent"},"spec":{"template":{"spec":{"hostNetwork":true}}}}`)
	fmt.Println(d.Key(), d.Spec.Template.Spec.HostNetwork)
	// Output: default/agent true
}

func ExampleJob() {
	j := read[framework.Job](`{"metadata":{"name":"report"},"spec":{"parallelism":4}}`)
	fmt.Println(j.APIVersion, j.Key(), *j.Spec.Parallelism)
	// Output: batch/v1 default/report 4
}

func ExamplePersistentVolume() {
	v := read[framework.PersistentVolume](`{"metadata":{"name":"pv-1"},"spec":{"capacity":{"storage":"10Gi"},"accessModes":["ReadWriteOnce"],
		"csi":{"driver":"ebs.csi.aws.com","volumeHandle":"vol-1"}}}`)
	capacity := v.Spec.Capacity["storage"]
	fmt.Println(v.Name, capacity.String(), v.Spec.AccessModes, v.Spec.CSI.Driver)
	// Output: pv-1 10Gi [ReadWriteOnce] ebs.csi.aws.com
}

func ExamplePersistentVolumeClaim() {
	c := read[framework.PersistentVolumeClaim](`{"metadata":{"name":"data"},"spec":{"storageClassName":"fast","volumeName":"pv-1"},"status":{"phase":"Bound"}}`)
	fmt.Println(c.Key(), *c.Spec.StorageClassName, c.Spec.VolumeName, c.Status.Phase)
	// Output: default/data fast pv-1 Bound
}

func ExampleStorageClass() {
	c := read[framework.StorageClass](`{"metadata":{"name":"fast"},"provisioner":"ebs.csi.aws.com","volumeBindingMode":"WaitForFirstConsumer"}`)
	fmt.Println(c.Name, c.Provisioner, *c.VolumeBindingMode)
	// Output: fast ebs.csi.aws.com WaitForFirstConsumer
}

func ExampleCSINode() {
	n := read[framework.CSINode](`{"metadata":{"name":"n1"},"spec":{"drivers":[{"name":"ebs.csi.aws.com","nodeID":"i-1","allocatable":{"count":25}}]}}`)
	fmt.Println(n.Name, n.Spec.Drivers[0].Name, *n.Spec.Drivers[0].Allocatable.Count)
	// Output: n1 ebs.csi.aws.com 25
}

func ExampleCSIDriver() {
	d := read[framework.CSIDriver](`{"metadata":{"name":"ebs.csi.aws.com"},"spec":{"storageCapacity":true}}`)
	fmt.Println(d.Name, *d.Spec.StorageCapacity)
	// Output: ebs.csi.aws.com true
}

func ExampleCSIStorageCapacity() {
	c := read[framework.CSIStorageCapacity](`{"metadata":{"name":"c-1"},"storageClassName":"fast","capacity":"100Gi"}`)
	fmt.Println(c.Key(), c.StorageClassName, c.Capacity)
	// Output: default/c-1 fast 100Gi
}

func ExampleVolumeAttachment() {
	a := read[framework.VolumeAttachment](`{"metadata":{"name":"a-1"},"spec":{"attacher":"ebs.csi.aws.com","nodeName":"n1","source":{"persistentVolumeName":"pv-1"}}}`)
	fmt.Println(a.Spec.Attacher, a.Spec.NodeName, *a.Spec.Source.PersistentVolumeName)
	// Output: ebs.csi.aws.com n1 pv-1
}

func ExampleDeviceClass() {
	c := read[framework.DeviceClass](`{"metadata":{"name":"gpu"},"spec":{"extendedResourceName":"example.com/gpu"}}`)
	fmt.Println(c.Name, *c.Spec.ExtendedResourceName)
	// Output: gpu example.com/gpu
}

func ExampleNodeMetric() {
	m := read[framework.NodeMetric](`{"metadata":{"name":"n1"},"status":{"nodeMetric":{"nodeUsage":{"resources":{"cpu":"1500m"}}}}}`)
	cpu := m.Status.NodeMetric.NodeUsage.Quantity("cpu")
	fmt.Println(m.Kind, m.Name, cpu.String())
	// Output: NodeMetric n1 1500m
}

func ExampleCluster() {
	c := read[framework.Cluster](`{"metadata":{"name":"member1"},"spec":{"region":"eu"},"status":{"resourceSummary":{"allocatable":{"cpu":"64"}}}}`)
	cpu := c.Status.ResourceSummary.Allocatable["cpu"]
	fmt.Println(c.Kind, c.Name, c.Spec.Region, cpu.String())
	// Output: Cluster member1 eu 64
}
