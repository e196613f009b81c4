//go:build full

package devices

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// parameters returns what a claim of some requests and configurations gets as parameters, where its class
// has one of its own.
func parameters(t *testing.T, requests []api.DeviceRequest, config []api.DeviceClaimConfiguration) ([]api.DeviceAllocationConfiguration, error) {
	w := newSelectorWorld(t, Options{}, 1)
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	class.Spec.Config = []api.DeviceClassConfiguration{{}}
	pod := w.pod("default", "p", requests...)
	claim := *framework.Lookup[api.ResourceClaim](w.s, "default/p")
	claim.Spec.Devices.Config = config
	w.put(framework.Put(w.s, class), framework.Put(w.s, &claim))
	f, status := FinderOf(w.s, pod, w.o)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	var found Found
	if status := f.Find(w.s.Node("a"), &found); !status.IsSuccess() {
		return nil, status.Err()
	}
	return found.Allocations[0].Devices.Config, nil
}

// nothing is a request that every node satisfies without a device.
func nothing(name string) api.DeviceRequest {
	return api.DeviceRequest{Name: name, FirstAvailable: []api.DeviceSubRequest{{Name: "x", DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount}}}
}

// TestParameters compares which requests parameters are for with a plain comparison, for lists of names so
// short and so long that they are looked up in both ways.
func TestParameters(t *testing.T) {
	var requests []api.DeviceRequest
	var names []string
	for i := range 4 {
		requests = append(requests, nothing(fmt.Sprint("r", i)))
		names = append(names, fmt.Sprint("r", i), fmt.Sprint("r", i, "/x"), fmt.Sprint("r", i, "/y"))
	}
	rapid.Check(t, func(r *rapid.T) {
		var config []api.DeviceClaimConfiguration
		for _, list := range rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(names), 0, 2*fewNames), 0, 3).Draw(r, "names") {
			config = append(config, api.DeviceClaimConfiguration{Requests: list})
		}
		got, err := parameters(t, requests, config)
		if err != nil {
			r.Fatal(err)
		}
		want := []string{"FromClass []"}
		for _, c := range config {
			covered := 0
			for i := range requests {
				if slices.Contains(c.Requests, fmt.Sprint("r", i)) || slices.Contains(c.Requests, fmt.Sprint("r", i, "/x")) {
					covered++
				}
			}
			switch {
			case len(c.Requests) == 0, covered == len(requests):
				want = append(want, "FromClaim []")
			case covered > 0:
				want = append(want, fmt.Sprint("FromClaim ", c.Requests))
			}
		}
		var have []string
		for _, c := range got {
			have = append(have, fmt.Sprint(c.Source, " ", c.Requests))
		}
		if !slices.Equal(have, want) {
			r.Fatalf("parameters %v, want %v", have, want)
		}
	})
}

// Parameters times requests have a bound: an API server stores 32 times 32.
func TestParametersAreBounded(t *testing.T) {
	var requests []api.DeviceRequest
	for i := range 1025 {
		requests = append(requests, nothing(fmt.Sprint("r", i)))
	}
	for n, want := range map[int]string{1022: "", 1023: "claim default/p: too many parameters (1024) on 1025 requests"} {
		config := make([]api.DeviceClaimConfiguration, n)
		for i := range config {
			config[i].Requests = []string{"none"}
		}
		_, err := parameters(t, requests, config)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d parameters: %v, want %q", n, err, want)
		}
	}
}

// What drivers report is found, however many devices a claim has and conditions they have.
func TestReports(t *testing.T) {
	for _, many := range []int{1, fewNames, fewNames + 1, 3 * fewNames} {
		claim := &api.ResourceClaim{}
		claim.Status.Allocation = new(api.AllocationResult)
		for i := range many {
			name := fmt.Sprint("d", i)
			claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, api.DeviceRequestAllocationResult{
				Driver: "d", Pool: "p", Device: name, BindingConditions: []string{"first", "last"}, BindingFailureConditions: []string{"failed"},
			})
			report := api.AllocatedDeviceStatus{Driver: "d", Pool: "p", Device: name}
			for k := range many {
				report.Conditions = append(report.Conditions, api.Condition{Type: fmt.Sprint("other", k), Status: api.ConditionTrue})
			}
			report.Conditions = append(report.Conditions, api.Condition{Type: "first", Status: api.ConditionTrue}, api.Condition{Type: "failed", Status: "False"}, api.Condition{Type: "last", Status: api.ConditionTrue})
			second := report // of the same device: the first one counts
			second.Conditions = []api.Condition{{Type: "failed", Status: api.ConditionTrue}}
			claim.Status.Devices = append(claim.Status.Devices, report, second)
		}
		state := func(what string, ready, failed bool) {
			t.Helper()
			if r, f, _ := bindingState(claim); r != ready || f != failed {
				t.Errorf("%d devices, %s: ready %t and failed %t, want %t and %t", many, what, r, f, ready, failed)
			}
		}
		state("all reported", true, false)
		last := &claim.Status.Devices[2*many-2]
		conditions := slices.Clone(last.Conditions)
		last.Conditions = conditions[:len(conditions)-1]
		state("one condition missing", false, false)
		last.Conditions = slices.Clone(conditions)
		last.Conditions[len(conditions)-2].Status = api.ConditionTrue
		state("one failed", false, true)
		claim.Status.Devices = claim.Status.Devices[:2*many-2]
		state("one report missing", false, false)
	}
}
