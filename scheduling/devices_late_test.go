package scheduling_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// The answers about a class are renewed by its first pod. If a device class comes for what that pod
// requests, it needs devices from then on; pods of its former class do not, and get answers of their own.
func TestClassWhosePodComesToNeedDevices(t *testing.T) {
	withoutRequests := scheduling.Kubernetes137()
	reads := func(name string) bool {
		return name == "NodeResourcesFit" || name == "NodeResourcesBalancedAllocation"
	}
	withoutRequests.Filter = slices.DeleteFunc(withoutRequests.Filter, func(p framework.Plugin) bool { return reads(p.Name()) })
	withoutRequests.Score = slices.DeleteFunc(withoutRequests.Score, func(w scheduling.Weighted) bool { return reads(w.Plugin.Name()) })
	for name, profile := range map[string]scheduling.Profile{
		"devices alone":    {Filter: []framework.Plugin{filter.DynamicResources{}}},
		"without requests": withoutRequests,
	} {
		t.Run(name, func(t *testing.T) {
			profile.Cache.Verify = true
			sched, err := scheduling.New(profile)
			if err != nil {
				t.Fatal(err)
			}
			const nodes = 60
			s := framework.NewSnapshot(framework.Arrival)
			object := func(node, zone int) *api.Node {
				return api.MakeNode(fmt.Sprint("n", node), "8", "32Gi").Labels("zone", fmt.Sprint(zone)).Obj()
			}
			for i := range nodes {
				if err := s.AddNode(object(i, 0)); err != nil {
					t.Fatal(err)
				}
			}
			ask := func(pod string, what resource.Name) error {
				_, err := sched.Schedule(s, info(t, s, api.MakePod(pod).Request(what, "1").Obj()))
				return err
			}
			if err := framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "other"}}); err != nil {
				t.Fatal(err)
			}
			for i := range 40 { // so that answers are kept
				if err := ask(fmt.Sprint("first-", i), "deviceclass.resource.kubernetes.io/big"); err != nil {
					t.Fatal(err)
				}
			}
			for i := range nodes {
				if err := s.UpdateNode(object(i, 1)); err != nil {
					t.Fatal(err)
				}
			}
			_, slice := gpuNode("n0")
			if err := framework.Put(s, slice); err != nil {
				t.Fatal(err)
			}
			if err := framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "big"}}); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if err := ask(fmt.Sprint("later-", i), "example.com/any"); err != nil {
					t.Errorf("a pod that needs no devices: %v", err)
				}
			}
		})
	}
}

// Whether a pool is complete and of the newest generation follows from all of its slices, also for nodes that
// the slice which changes has no devices for. Kept answers are those of the reference path after each change.
func TestPoolOfSeveralNodes(t *testing.T) {
	for _, wide := range []bool{false, true} {
		t.Run(fmt.Sprint("on the network ", wide), func(t *testing.T) {
			s := gpuCluster(t, 0)
			for i := range 200 {
				if err := s.AddNode(api.MakeNode(fmt.Sprint("other-", i), "4", "8Gi").Zone("other").Obj()); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"a", "b"} {
				if err := s.AddNode(api.MakeNode(name, "4", "8Gi").Zone(name).Obj()); err != nil {
					t.Fatal(err)
				}
			}
			profile := scheduling.Kubernetes137()
			kept, err := scheduling.New(profile)
			if err != nil {
				t.Fatal(err)
			}
			profile.Cache.Off = true
			reference, err := scheduling.New(profile)
			if err != nil {
				t.Fatal(err)
			}
			put := func(node string, generation int64, counters bool) {
				x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: node}}
				x.Spec = api.ResourceSliceSpec{Driver: "gpu.example.com", Pool: api.ResourcePool{Name: "rack", Generation: generation, ResourceSliceCount: 2}}
				if x.Spec.NodeName = &node; wide {
					x.Spec.NodeName, x.Spec.NodeSelector = nil, &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
						MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{node}}},
					}}}
				}
				if counters {
					x.Spec.SharedCounters = []api.CounterSet{{Name: "set", Counters: map[string]api.Counter{"c": {Value: resource.MustParse("1")}}}}
				} else {
					x.Spec.Devices = []api.Device{{Name: "gpu-" + node}}
				}
				if node == "a" {
					x.Spec.Devices[0].ConsumesCounters = []api.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]api.Counter{"c": {Value: resource.MustParse("1")}}}}
				}
				if err := framework.Put(s, x); err != nil {
					t.Fatal(err)
				}
			}
			pods, placed := 0, 0
			compare := func(after string) {
				t.Helper()
				for range 10 { // so that answers are kept
					pods++
					a, errA := kept.Schedule(s, info(t, s, claiming(fmt.Sprint("kept-", pods), "one")))
					b, errB := reference.Schedule(s, info(t, s, claiming(fmt.Sprint("reference-", pods), "one")))
					if a.Node != b.Node || fmt.Sprint(errA) != fmt.Sprint(errB) {
						t.Fatalf("after %s: %q %v, want %q %v", after, a.Node, errA, b.Node, errB)
					}
					if b.Node != "" {
						placed++
					}
				}
			}
			put("a", 1, false)
			compare("one of two slices")
			put("b", 1, true)
			compare("the slice of the counters")
			put("b", 2, true)
			compare("a newer generation of b")
			put("a", 2, false)
			compare("a follows")
			put("a", 3, false)
			compare("a newer generation of a")
			put("b", 3, true)
			compare("b follows")
			put("b", 3, false)
			compare("the counters go")
			framework.Delete[api.ResourceSlice](s, "b")
			compare("b goes")
			if placed == 0 || placed == pods {
				t.Errorf("%d of %d pods are placed", placed, pods)
			}
		})
	}
}
