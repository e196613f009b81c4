//go:build full

package devices_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
)

func whole(n int64) resource.Quantity { return resource.New(n, resource.DecimalSI) }

// packable returns a slice with devices that differ in memory and bandwidth. Some can be
// shared, and some consume counters.
func packable(t *rapid.T) *api.ResourceSlice {
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "devices"}}
	s.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: new("n"), Pool: api.ResourcePool{Name: "p", Generation: 1, ResourceSliceCount: 2}}
	for i := range rapid.IntRange(1, 6).Draw(t, "devices") {
		d := api.Device{
			Name: fmt.Sprint(i), Attributes: map[string]api.DeviceAttribute{"side": {StringValue: new(rapid.SampledFrom([]string{"left", "right"}).Draw(t, "side"))}},
			Capacity: map[string]api.DeviceCapacity{"memory": {Value: whole(rapid.Int64Range(1, 8).Draw(t, "memory"))}},
		}
		if rapid.Bool().Draw(t, "wide") {
			d.Capacity["bandwidth"] = api.DeviceCapacity{Value: whole(rapid.Int64Range(1, 8).Draw(t, "bandwidth"))}
		}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			d.AllowMultipleAllocations = new(true)
		case 1:
			d.ConsumesCounters = []api.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]api.Counter{"slots": {Value: whole(rapid.Int64Range(1, 5).Draw(t, "slots"))}}}}
		}
		s.Spec.Devices = append(s.Spec.Devices, d)
	}
	return s
}

// leftover adds up what the results of one attempt leave: a plain transcription of the rule.
func leftover(s *api.ResourceSlice, asks map[string]*api.CapacityRequirements, before, results []api.DeviceRequestAllocationResult) (sum int64) {
	const million = 1_000_000
	largest := map[string]int64{}
	for _, d := range s.Spec.Devices {
		for name, c := range d.Capacity {
			largest[name] = max(largest[name], c.Value.Value())
		}
	}
	counted := map[string]bool{}
	for _, r := range results {
		i := slices.IndexFunc(s.Spec.Devices, func(d api.Device) bool { return d.Name == r.Device })
		d := &s.Spec.Devices[i]
		if counted[r.Device] {
			continue
		}
		counted[r.Device] = true
		for name, c := range d.Capacity {
			left := c.Value.Value()
			for _, x := range slices.Concat(before, results) {
				if x.Device == r.Device && x.ShareID != nil {
					q := x.ConsumedCapacity[name]
					left -= q.Value()
				}
			}
			if r.ShareID == nil && asks[r.Request] != nil {
				q := asks[r.Request].Requests[name]
				left -= q.Value()
			}
			sum += max(left, 0) * million / largest[name]
		}
		shared := slices.ContainsFunc(before, func(x api.DeviceRequestAllocationResult) bool { return x.Device == r.Device })
		for _, c := range d.ConsumesCounters {
			if x := c.Counters["slots"]; !shared {
				sum += min(x.Value.Value()*million/10, million)
			}
		}
	}
	return sum
}

// LeastLeftover gives a pod devices if and only if FirstFit does, never leaves more, and
// leaves less now and then. What it gives is free and within capacity, as the next pods
// show: the search refuses what does not fit, and counters are checked here.
func TestLeastLeftover(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"less is left": 1, "as much is left": 1}, func(t *rapid.T) {
		slice := packable(t)
		counters := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "counters"}, Spec: slice.Spec}
		counters.Spec.Devices = nil
		counters.Spec.SharedCounters = []api.CounterSet{{Name: "set", Counters: map[string]api.Counter{"slots": {Value: whole(10)}}}}
		o := &api.Objects{
			Nodes: []*api.Node{api.MakeNode("n", "8", "8Gi").Obj()}, DeviceClasses: []*api.DeviceClass{{ObjectMeta: api.ObjectMeta{Name: "any"}}},
			ResourceSlices: []*api.ResourceSlice{counters, slice},
		}
		s, _, err := framework.SnapshotOf(o, framework.Arrival)
		if err != nil {
			t.Fatal(err)
		}
		var before []api.DeviceRequestAllocationResult
		for step := range rapid.IntRange(1, 5).Draw(t, "pods") {
			name := fmt.Sprint("p", step)
			template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
			asks := map[string]*api.CapacityRequirements{}
			for i := range rapid.IntRange(1, 2).Draw(t, "requests") {
				e := &api.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: rapid.Int64Range(1, 2).Draw(t, "count")}
				if rapid.Bool().Draw(t, "capacity") {
					e.Capacity = &api.CapacityRequirements{Requests: map[string]resource.Quantity{"memory": whole(rapid.Int64Range(1, 6).Draw(t, "asked"))}}
				}
				r := api.DeviceRequest{Name: fmt.Sprint("r", i), Exactly: e}
				asks[r.Name] = e.Capacity
				template.Spec.Spec.Devices.Requests = append(template.Spec.Spec.Devices.Requests, r)
			}
			if rapid.Bool().Draw(t, "one side") {
				template.Spec.Spec.Devices.Constraints = []api.DeviceConstraint{{MatchAttribute: new("d.io/side")}}
			}
			if err := framework.Put(s, template); err != nil {
				t.Fatal(err)
			}
			p, err := s.NewPodInfo(podFor(name, name))
			if err != nil {
				t.Fatal(err)
			}
			find := func(choice devices.Choice) (*devices.Finder, *devices.Found, framework.Status) {
				f, status := devices.FinderOf(s, p, devices.Options{Choice: choice})
				if !status.IsSuccess() {
					t.Fatal(status)
				}
				found, status := devices.FoundOn(f, s.Node("n"))
				return f, found, status
			}
			_, first, verdict := find(devices.FirstFit)
			f, packed, same := find(devices.LeastLeftover)
			if same.String() != verdict.String() {
				t.Fatalf("LeastLeftover says %v, FirstFit %v", same, verdict)
			}
			if !verdict.IsSuccess() {
				continue
			}
			a, b := first.Allocations[0].Devices.Results, packed.Allocations[0].Devices.Results
			want, got := leftover(slice, asks, before, a), leftover(slice, asks, before, b)
			switch {
			case got > want:
				t.Fatalf("LeastLeftover leaves %d with %v, FirstFit %d with %v", got, b, want, a)
			case got < want:
				seen["less is left"]++
			default:
				seen["as much is left"]++
				if !reflect.DeepEqual(a, b) {
					t.Fatalf("LeastLeftover leaves as much with %v as FirstFit with %v", b, a)
				}
			}
			for _, r := range b {
				if r.ShareID == nil && slices.ContainsFunc(before, func(x api.DeviceRequestAllocationResult) bool { return x.Device == r.Device }) {
					t.Fatalf("device %s is given twice", r.Device)
				}
			}
			if _, status := f.Reserve(s.Node("n")); !status.IsSuccess() {
				t.Fatal(status)
			}
			before = append(before, b...)
			slots, seen := int64(0), map[string]bool{}
			for _, r := range before {
				i := slices.IndexFunc(slice.Spec.Devices, func(d api.Device) bool { return d.Name == r.Device })
				for _, c := range slice.Spec.Devices[i].ConsumesCounters {
					if x := c.Counters["slots"]; !seen[r.Device] {
						slots += x.Value.Value()
					}
				}
				seen[r.Device] = true
			}
			if slots > 10 {
				t.Fatalf("devices consume %d of 10 slots", slots)
			}
		}
	})
}
