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
