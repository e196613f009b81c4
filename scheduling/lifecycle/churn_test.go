//go:build full

package lifecycle_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// passing are objects that come and go together; # stands for a number that is new each time.
var passing = map[string]string{
	"nodes with a pool of devices, and pods that use one": `
{"kind":"Node","metadata":{"name":"g#","labels":{"kubernetes.io/hostname":"g#","topology.kubernetes.io/zone":"z#"}},"spec":{"taints":[{"key":"t#","effect":"PreferNoSchedule"}]},
 "status":{"allocatable":{"cpu":"8","memory":"8Gi","pods":"10","example.com/r#":"1"},"images":[{"names":["i#"],"sizeBytes":1000}]}}
{"kind":"ResourceSlice","metadata":{"name":"s#"},"spec":{"driver":"gpu.example.com","nodeName":"g#","pool":{"name":"g#","generation":1,"resourceSliceCount":1},"devices":[{"name":"d#"}]}}
{"kind":"ResourceClaim","metadata":{"name":"c#","namespace":"x"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1}}]}}}
{"kind":"Pod","metadata":{"name":"p#","namespace":"x","uid":"p#"},"spec":{"nodeSelector":{"kubernetes.io/hostname":"g#"},"containers":[{"name":"c","image":"i#"}],"resourceClaims":[{"name":"x","resourceClaimName":"c#"}]}}`,
	"classes of devices": `
{"kind":"DeviceClass","metadata":{"name":"dc#"},"spec":{"extendedResourceName":"example.com/e#"}}
{"kind":"Pod","metadata":{"name":"q#","namespace":"x","uid":"q#"},"spec":{"containers":[{"name":"c","resources":{"requests":{"example.com/e#":"1"}}}]}}`,
	"classes of volumes": `
{"kind":"StorageClass","metadata":{"name":"sc#"},"provisioner":"p#","volumeBindingMode":"WaitForFirstConsumer"}
{"kind":"CSIDriver","metadata":{"name":"p#"},"spec":{"storageCapacity":true}}
{"kind":"CSIStorageCapacity","metadata":{"name":"cap#","namespace":"x"},"storageClassName":"sc#","capacity":"1Ti","nodeTopology":{}}
{"kind":"PersistentVolume","metadata":{"name":"pv#","labels":{"l#":"a"}},"spec":{"capacity":{"storage":"2Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"sc#","csi":{"driver":"p#","volumeHandle":"h#"}}}
{"kind":"PersistentVolumeClaim","metadata":{"name":"v#","namespace":"x"},"spec":{"storageClassName":"sc#","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}
{"kind":"Pod","metadata":{"name":"v#","namespace":"x","uid":"v#"},"spec":{"containers":[{"name":"c"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"v#"}}]}}`,
	"tenants": `
{"kind":"Namespace","metadata":{"name":"ns#","labels":{"team":"t#"}}}
{"kind":"PriorityClass","metadata":{"name":"pc#"},"value":1}
{"kind":"Service","metadata":{"name":"s#","namespace":"ns#"},"spec":{"selector":{"a#":"b#"}}}
{"kind":"ReplicaSet","metadata":{"name":"s#","namespace":"ns#"},"spec":{"selector":{"matchLabels":{"a#":"b#"}},"template":{"metadata":{"labels":{"a#":"b#"}},"spec":{"containers":[{"name":"c"}]}}}}
{"kind":"PodDisruptionBudget","metadata":{"name":"b#","namespace":"ns#"},"spec":{"selector":{"matchLabels":{"a#":"b#"}}},"status":{"disruptionsAllowed":1}}
{"kind":"Pod","metadata":{"name":"t#","namespace":"ns#","uid":"t#","labels":{"a#":"b#"}},"spec":{"containers":[{"name":"c"}],"affinity":{
 "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"k#","labelSelector":{"matchLabels":{"a#":"b#"}},"namespaceSelector":{"matchLabels":{"team":"t#"}}}]}},
 "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a#":"b#"}}}]}}`,
	"groups": `
{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"g#","namespace":"x"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}}
{"kind":"Pod","metadata":{"name":"m#","namespace":"x","uid":"m#"},"spec":{"schedulingGroup":{"podGroupName":"g#"},"containers":[{"name":"c"}]}}
{"kind":"Pod","metadata":{"name":"n#","namespace":"x","uid":"n#"},"spec":{"schedulingGroup":{"podGroupName":"g#"},"containers":[{"name":"c","resources":{"requests":{"cpu":"900"}}}]}}`,
	"pods that fit nowhere": `
{"kind":"Pod","metadata":{"name":"w#","namespace":"x","uid":"w#","labels":{"a#":"b#"}},"spec":{"nodeSelector":{"s#":"t#"},"tolerations":[{"key":"t#"}],"containers":[{"name":"c","ports":[{"hostPort":80,"containerPort":80}]}]}}
{"kind":"Pod","metadata":{"name":"y#","namespace":"x","uid":"y#"},"spec":{"nodeName":"gone#","containers":[{"name":"c"}]}}
{"kind":"Pod","metadata":{"name":"z#","namespace":"x","uid":"z#"},"spec":{"schedulingGates":[{"name":"g#"}],"containers":[{"name":"c"}]}}`,
}

// TestObjectsThatComeAndGo: a driver that has seen very many objects, which are all gone, keeps nothing of them but
// what has a bound.
func TestObjectsThatComeAndGo(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	for name, text := range passing {
		clock := virtualclock.New(epoch)
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: clock, Groups: &groups.Rules{},
			Binder: lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
		})
		if err != nil {
			t.Fatal(err)
		}
		d.Apply(lifecycle.Update(&api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}))
		for i := range 20 {
			d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "8", "8Gi").Labels(api.LabelHostname, fmt.Sprint("n", i)).Obj()))
		}
		// Bounds are of up to 4,096 entries. What comes in the second half takes the place of what came in the first.
		const half, most = 4500, 200
		serial := 0
		pass := func() {
			for range half {
				serial++
				o, err := api.Decode([]byte(strings.ReplaceAll(text, "#", strconv.Itoa(serial))))
				if err != nil {
					t.Fatal(err)
				}
				come, leave := comeAndGo(o)
				d.Apply(come...)
				drain(d)
				clock.Advance(time.Second)
				d.Apply(leave...)
				drain(d)
			}
		}
		pass()
		before := heap()
		pass()
		if each := (heap() - before) / half; each > most {
			t.Errorf("%s: %d bytes stay of each, want at most %d", name, each, most)
		}
		runtime.KeepAlive(d)
	}
}

func drain(d *lifecycle.Driver) {
	for {
		if _, ok := d.ScheduleOne(context.Background()); !ok {
			return
		}
	}
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// comeAndGo returns the events about objects that come, and that they go.
func comeAndGo(o *api.Objects) (come, leave []lifecycle.Event) {
	add(&come, &leave, o.Namespaces)
	add(&come, &leave, o.PriorityClasses)
	add(&come, &leave, o.DeviceClasses)
	add(&come, &leave, o.StorageClasses)
	add(&come, &leave, o.CSIDrivers)
	add(&come, &leave, o.CSIStorageCapacities)
	add(&come, &leave, o.Nodes)
	add(&come, &leave, o.ResourceSlices)
	add(&come, &leave, o.ResourceClaims)
	add(&come, &leave, o.PersistentVolumes)
	add(&come, &leave, o.PersistentVolumeClaims)
	add(&come, &leave, o.Services)
	add(&come, &leave, o.ReplicaSets)
	add(&come, &leave, o.PodDisruptionBudgets)
	add(&come, &leave, o.PodGroups)
	add(&come, &leave, o.Pods)
	return come, leave
}

func add[T api.Object](come, leave *[]lifecycle.Event, list []*T) {
	for _, x := range list {
		*come = append(*come, lifecycle.Update(x))
		*leave = append(*leave, lifecycle.Delete(x))
	}
}
