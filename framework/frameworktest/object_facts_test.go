package frameworktest_test

import (
	"reflect"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
)

// putters put one object of each kind that snapshots hold, besides pods and nodes.
var putters = []func(*framework.Snapshot){
	put[api.Namespace], put[api.PriorityClass], put[api.PodDisruptionBudget], put[api.PodGroup], put[api.CompositePodGroup], put[api.Workload], put[api.ResourceQuota],
	put[api.Service], put[api.ReplicationController], put[api.ReplicaSet], put[api.StatefulSet],
	put[api.Deployment], put[api.DaemonSet], put[api.Job],
	put[api.PersistentVolume], put[api.PersistentVolumeClaim], put[api.StorageClass],
	put[api.CSINode], put[api.CSIDriver], put[api.CSIStorageCapacity], put[api.VolumeAttachment],
	put[api.DeviceClass], put[api.ResourceSlice], put[api.ResourceClaim], put[api.ResourceClaimTemplate], put[api.DeviceTaintRule],
	put[api.NodeMetric], put[api.Cluster],
}

func put[T api.Object](s *framework.Snapshot) {
	object := new(T)
	reflect.ValueOf(object).Elem().FieldByName("ObjectMeta").Addr().Interface().(*api.ObjectMeta).Name = "put-by-a-plugin"
	if err := framework.Put(s, object); err != nil {
		panic(err)
	}
}

// putting is a filter that puts an object into the snapshot in PreFilter.
type putting struct{ put func(*framework.Snapshot) }

func (putting) Name() string { return "Putting" }

func (p putting) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	p.put(c.Snapshot)
	return framework.PreFiltered{Filter: p}, framework.Status{}
}

func (putting) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// Whatever kinds there are, the kit sees that a plugin puts an object of the kind.
func TestObjectKinds(t *testing.T) {
	kinds := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[api.Objects]()) {
		if f.Type.Kind() == reflect.Slice {
			kinds++
		}
	}
	if want := kinds - 2; len(putters) != want {
		t.Errorf("the test puts %d kinds of objects, want %d", len(putters), want)
	}
	for i, put := range putters {
		if f := checkOnly(t, "mutation", putting{put}, frameworktest.Config{Clusters: 1}); f == nil {
			t.Errorf("an object of kind %d is put, and the kit does not see it: add it to objectKinds", i)
		}
	}
}
