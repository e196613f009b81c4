//go:build full

package api_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// validSlice returns a slice that Validate accepts.
func validSlice(devices int) *api.ResourceSlice {
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "s"}}
	s.Spec = api.ResourceSliceSpec{Driver: "d", NodeName: new("n"), Pool: api.ResourcePool{Name: "p", ResourceSliceCount: 1}}
	for i := range devices {
		s.Spec.Devices = append(s.Spec.Devices, api.Device{Name: strings.Repeat("x", i+1)})
	}
	return s
}

func TestValidateSlice(t *testing.T) {
	for _, tt := range []struct {
		name    string
		devices int
		change  func(s *api.ResourceSliceSpec)
		want    string
	}{
		{"valid", 128, func(*api.ResourceSliceSpec) {}, ""},
		{"129 devices", 129, func(*api.ResourceSliceSpec) {}, `resourceslice s: spec.devices: "129": must have at most 128 items`},
		{"65 devices with a taint", 65, func(s *api.ResourceSliceSpec) { s.Devices[3].Taints = []api.DeviceTaint{{Key: "k"}} }, `resourceslice s: spec.devices: "65": must have at most 64 items`},
		{"64 devices with a taint", 64, func(s *api.ResourceSliceSpec) { s.Devices[3].Taints = []api.DeviceTaint{{Key: "k"}} }, ""},
		{"no driver", 1, func(s *api.ResourceSliceSpec) { s.Driver = "" }, `resourceslice s: spec.driver: must not be empty`},
		{"no pool", 1, func(s *api.ResourceSliceSpec) { s.Pool.Name = "" }, `resourceslice s: spec.pool.name: must not be empty`},
		{"negative generation", 1, func(s *api.ResourceSliceSpec) { s.Pool.Generation = -1 }, `resourceslice s: spec.pool.generation: "-1": must not be negative`},
		{"no slices", 1, func(s *api.ResourceSliceSpec) { s.Pool.ResourceSliceCount = 0 }, `resourceslice s: spec.pool.resourceSliceCount: "0": must be greater than zero`},
		{"no node selection", 1, func(s *api.ResourceSliceSpec) { s.NodeName = nil }, `resourceslice s: spec.nodeName: "0": exactly one of`},
		{"two node selections", 1, func(s *api.ResourceSliceSpec) { s.AllNodes = new(true) }, `resourceslice s: spec.nodeName: "2": exactly one of`},
		{"counters beside devices", 1, func(s *api.ResourceSliceSpec) { s.SharedCounters = []api.CounterSet{{Name: "c"}} }, `resourceslice s: spec.sharedCounters: "1": must not be set beside devices`},
		{"a device twice", 2, func(s *api.ResourceSliceSpec) { s.Devices[1].Name = "x" }, `resourceslice s: spec.devices[1].name: "x": must not be there twice`},
		{"negative capacity", 1, func(s *api.ResourceSliceSpec) {
			s.Devices[0].Capacity = map[string]api.DeviceCapacity{"m": {Value: resource.MustParse("-1Gi")}}
		}, `resourceslice s: spec.devices[0].capacity[m].value: "-1Gi": must not be negative`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := validSlice(tt.devices)
			tt.change(&s.Spec)
			checkInvalid(t, s.Validate(), tt.want)
		})
	}
}

// checkInvalid compares an error with the beginning of its text, "" for none.
func checkInvalid(t *testing.T, err error, want string) {
	t.Helper()
	var invalid *api.InvalidError
	switch {
	case want == "" && err == nil:
	case want == "" || !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), want):
		t.Errorf("Validate = %v, want %q", err, want)
	}
}

func TestValidateClaim(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(c *api.DeviceClaim)
		want   string
	}{
		{"valid", func(*api.DeviceClaim) {}, ""},
		{"all", func(c *api.DeviceClaim) {
			c.Requests[0].Exactly.AllocationMode, c.Requests[0].Exactly.Count = api.DeviceAllocationModeAll, 0
		}, ""},
		{"negative count", func(c *api.DeviceClaim) { c.Requests[0].Exactly.Count = -3 }, `requests[0].exactly.count: "-3": must be greater than zero`},
		{"a count for all", func(c *api.DeviceClaim) { c.Requests[0].Exactly.AllocationMode = api.DeviceAllocationModeAll }, `requests[0].exactly.count: "1": must not be set for allocationMode All`},
		{"unknown mode", func(c *api.DeviceClaim) { c.Requests[0].Exactly.AllocationMode = "Some" }, `requests[0].exactly.allocationMode: "Some": must be ExactCount or All`},
		{"no class", func(c *api.DeviceClaim) { c.Requests[0].Exactly.DeviceClassName = "" }, `requests[0].exactly.deviceClassName: must not be empty`},
		{"neither", func(c *api.DeviceClaim) { c.Requests[0].Exactly = nil }, `requests[0]: "r": exactly one of exactly and firstAvailable must be set`},
		{"both", func(c *api.DeviceClaim) { c.Requests[0].FirstAvailable = make([]api.DeviceSubRequest, 1) }, `requests[0]: "r": exactly one of`},
		{"many alternatives", func(c *api.DeviceClaim) {
			c.Requests[0].Exactly, c.Requests[0].FirstAvailable = nil, make([]api.DeviceSubRequest, 9)
		}, `requests[0].firstAvailable: "9": must have at most 8 items`},
		{"an alternative without a class", func(c *api.DeviceClaim) {
			c.Requests[0].Exactly, c.Requests[0].FirstAvailable = nil, make([]api.DeviceSubRequest, 1)
		}, `requests[0].firstAvailable[0].deviceClassName: must not be empty`},
		{"many requests", func(c *api.DeviceClaim) { c.Requests = make([]api.DeviceRequest, 33) }, `requests: "33": must have at most 32 items`},
		{"many selectors", func(c *api.DeviceClaim) { c.Requests[0].Exactly.Selectors = make([]api.DeviceSelector, 33) }, `requests[0].exactly.selectors: "33": must have at most 32 items`},
		{"a selector without text", func(c *api.DeviceClaim) { c.Requests[0].Exactly.Selectors = make([]api.DeviceSelector, 1) }, `requests[0].exactly.selectors[0].cel: must be set`},
		{"a huge selector", func(c *api.DeviceClaim) {
			c.Requests[0].Exactly.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: strings.Repeat("x", 10<<10+1)}}}
		}, `requests[0].exactly.selectors[0].cel.expression: "10241": must have at most 10240 bytes`},
		{"an empty constraint", func(c *api.DeviceClaim) { c.Constraints = make([]api.DeviceConstraint, 1) }, `constraints[0]: "0": exactly one of matchAttribute and distinctAttribute must be set`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			devices := api.DeviceClaim{Requests: []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{
				DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
			}}}}
			tt.change(&devices)
			meta := api.ObjectMeta{Name: "c", Namespace: "default"}
			claim, template := api.ResourceClaim{ObjectMeta: meta}, api.ResourceClaimTemplate{ObjectMeta: meta}
			claim.Spec.Devices, template.Spec.Spec.Devices = devices, devices
			of := func(prefix string) string {
				if tt.want == "" {
					return ""
				}
				return prefix + tt.want
			}
			checkInvalid(t, claim.Validate(), of("resourceclaim default/c: spec.devices."))
			checkInvalid(t, template.Validate(), of("resourceclaimtemplate default/c: spec.spec.devices."))
		})
	}
}
