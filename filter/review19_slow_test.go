package filter_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// How long a decision takes after one slice of 5,000 has changed, and how long a search takes that
// is given up. It only logs.
func TestReview19Slow(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := errors.Join(framework.Put(s, gpuClass()), framework.Put(s, gpuTemplate(1))); err != nil {
		t.Fatal(err)
	}
	for i := range 5000 {
		name := fmt.Sprint("n", i)
		if err := errors.Join(s.AddNode(api.MakeNode(name, "8", "32Gi").Obj()), framework.Put(s, gpuSlice(name, 8))); err != nil {
			t.Fatal(err)
		}
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"nothing", "slice"} {
		var took time.Duration
		for i := range 24 {
			if change == "slice" {
				if err := framework.Put(s, gpuSlice(fmt.Sprint("n", i), 8)); err != nil {
					t.Fatal(err)
				}
			}
			p, err := s.NewPodInfo(gpuPod(fmt.Sprint(change, i), 1))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if _, err := sched.Place(s, p); err != nil {
				t.Fatal(err)
			}
			if i >= 4 {
				took += time.Since(start)
			}
		}
		t.Logf("a decision after a change of %s: %v", change, took/20)
	}

	for _, nodes := range []int{1, 4, 64} {
		s := framework.NewSnapshot(framework.Arrival)
		if err := framework.Put(s, gpuClass()); err != nil {
			t.Fatal(err)
		}
		for i := range nodes {
			name := fmt.Sprint("n", i)
			if err := errors.Join(s.AddNode(api.MakeNode(name, "8", "32Gi").Obj()), framework.Put(s, gpuSlice(name, 128))); err != nil {
				t.Fatal(err)
			}
		}
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "c", Namespace: "default", UID: "c"}}
		for i := range 8 {
			e := &api.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 4,
				Capacity: &api.CapacityRequirements{Requests: map[string]resource.Quantity{"memory": resource.MustParse("1Gi")}}}
			if i == 7 {
				e.Capacity.Requests["memory"] = resource.MustParse("100Gi")
			}
			c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, api.DeviceRequest{Name: fmt.Sprint("r", i), Exactly: e})
		}
		c.Spec.Devices.Constraints = []api.DeviceConstraint{{DistinctAttribute: new("gpu.example.com/index")}}
		if err := framework.Put(s, c); err != nil {
			t.Fatal(err)
		}
		o := api.MakePod("p").Obj()
		o.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: new("c")}}
		p, err := s.NewPodInfo(o)
		if err != nil {
			t.Fatal(err)
		}
		var cycle framework.Cycle
		cycle.Reset(p, s, 0, 0)
		bound, status := filter.DynamicResources{}.PreFilter(&cycle)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		start := time.Now()
		for _, n := range s.All() {
			status = bound.Filter.Filter(p, n)
		}
		t.Logf("%d nodes: %v: %v", nodes, time.Since(start), status)
	}
}
