//go:build full

package devices

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
)

// TestPruned compares the search with its plain twin, which leaves nothing out, on random
// devices and claims.
func TestPruned(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"solutions": 10, "failures": 10, "requests that want too much together": 3}, func(t *rapid.T) {
		s, node, count := framework.NewSnapshot(framework.Arrival), "a", api.Counter{Value: resource.MustParse("1")}
		x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "a"}}
		x.Spec = api.ResourceSliceSpec{Driver: "d", NodeName: &node, Pool: api.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 2}}
		counters := *x
		counters.Name = "counters"
		counters.Spec.SharedCounters = []api.CounterSet{{Name: "set", Counters: map[string]api.Counter{"c": {Value: resource.MustParse("2")}}}}
		draw := func(label string, list ...string) *string { return new(rapid.SampledFrom(list).Draw(t, label)) }
		used := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "used", Namespace: "default"}}
		used.Status.Allocation = &api.AllocationResult{}
		results := &used.Status.Allocation.Devices.Results
		for i := range rapid.IntRange(2, 6).Draw(t, "devices") {
			d := api.Device{Name: fmt.Sprint("d", i), Attributes: map[string]api.DeviceAttribute{
				"kind": {StringValue: draw("kind", "x", "y")}, "half": {StringValue: draw("half", "0", "1")},
			}}
			switch rapid.IntRange(0, 9).Draw(t, "way") {
			case 0:
				d.AllowMultipleAllocations = new(true)
			case 1, 2, 3:
				d.ConsumesCounters = []api.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]api.Counter{"c": count}}}
			case 4, 5:
				*results = append(*results, api.DeviceRequestAllocationResult{Driver: "d", Pool: node, Device: d.Name})
			}
			x.Spec.Devices = append(x.Spec.Devices, d)
		}
		err := errors.Join(s.AddNode(api.MakeNode(node, "4", "16Gi").Obj()), framework.Put(s, x), framework.Put(s, &counters), framework.Put(s, used),
			framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}))
		pod := api.MakePod("p").Obj()
		for i := range rapid.IntRange(1, 2).Draw(t, "claims") {
			claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("claim-", i), Namespace: "default"}}
			spec := &claim.Spec.Devices
			for r := range rapid.IntRange(1, 3).Draw(t, "requests") {
				e := api.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: rapid.Int64Range(1, 2).Draw(t, "count")}
				if kind := *draw("wanted", "", "x", "y"); kind != "" {
					e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: fmt.Sprintf(`device.attributes["d"].kind == %q`, kind)}}}
				}
				request := api.DeviceRequest{Name: fmt.Sprint("r", r), Exactly: &e}
				switch rapid.IntRange(0, 7).Draw(t, "mode") {
				case 0:
					e.AdminAccess = new(true)
				case 1:
					request.Exactly = nil
					request.FirstAvailable = []api.DeviceSubRequest{{Name: "s", DeviceClassName: "gpu", AllocationMode: e.AllocationMode, Count: e.Count, Selectors: e.Selectors}}
				}
				spec.Requests = append(spec.Requests, request)
			}
			switch rapid.IntRange(0, 3).Draw(t, "constraint") {
			case 0:
				spec.Constraints = []api.DeviceConstraint{{MatchAttribute: new("d/half")}}
			case 1:
				spec.Constraints = []api.DeviceConstraint{{DistinctAttribute: new("d/half")}}
			}
			err = errors.Join(err, framework.Put(s, claim))
			pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, api.PodResourceClaim{Name: claim.Name, ResourceClaimName: &claim.Name})
		}
		info, problem := s.NewPodInfo(pod)
		if err := errors.Join(err, problem); err != nil {
			t.Fatal(err)
		}
		var f Finder
		if status := f.Prepare(s, info, Options{}); !status.IsSuccess() {
			t.Fatal(status)
		}
		begun := func() *search {
			x := new(search)
			x.begin(f.catalog.poolsOf(s.Node(node)), f.plans, f.state, f.steps)
			return x
		}
		pruned, plain := begun(), begun()
		got, want := pruned.run(), outcome(0)
		if err := plain.validate(); err != nil {
			t.Fatal(err)
		}
		if want = plain.next(0, 0); got != want || fmt.Sprint(names(pruned)) != fmt.Sprint(names(plain)) {
			t.Fatalf("outcome %d with %v, want %d with %v", got, names(pruned), want, names(plain))
		}
		switch {
		case want == solved:
			seen["solutions"]++
		default:
			seen["failures"]++
			if pruned.clean && pruned.hopeless() && pruned.tooFewTogether(pruned.limit) {
				seen["requests that want too much together"]++
			}
		}
	})
}

func names(s *search) (list []string) {
	for i := range s.placed {
		list = append(list, fmt.Sprint(s.placed[i].claim, " ", s.placed[i].ask.name, " ", s.placed[i].device.Name))
	}
	return list
}
