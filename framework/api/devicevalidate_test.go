package api_test

import (
	"errors"
	"fmt"
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
		{"65 devices with a taint", 65, func(s *api.ResourceSliceSpec) {
			s.Devices[3].Taints = []api.DeviceTaint{{Key: "k", Effect: "NoSchedule"}}
		}, `resourceslice s: spec.devices: "65": must have at most 64 items`},
		{"64 devices with a taint", 64, func(s *api.ResourceSliceSpec) {
			s.Devices[3].Taints = []api.DeviceTaint{{Key: "k", Effect: "NoSchedule"}}
		}, ""},
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
		{"negative counter", 0, func(s *api.ResourceSliceSpec) {
			s.SharedCounters = []api.CounterSet{{Name: "c", Counters: map[string]api.Counter{"a": {Value: resource.MustParse("1")}, "m": {Value: resource.MustParse("-1")}}}}
		}, `resourceslice s: spec.sharedCounters[0].counters[m].value: "-1": must not be negative`},
		{"negative consumption", 1, func(s *api.ResourceSliceSpec) {
			s.Devices[0].ConsumesCounters = []api.DeviceCounterConsumption{{CounterSet: "c", Counters: map[string]api.Counter{"m": {Value: resource.MustParse("-2")}}}}
		}, `resourceslice s: spec.devices[0].consumesCounters[0].counters[m].value: "-2": must not be negative`},
		{"attribute without a value", 1, func(s *api.ResourceSliceSpec) { s.Devices[0].Attributes = map[string]api.DeviceAttribute{"a": {}} }, `resourceslice s: spec.devices[0].attributes[a]: "0": must have exactly one value`},
		{"attribute with two values", 1, func(s *api.ResourceSliceSpec) {
			s.Devices[0].Attributes = map[string]api.DeviceAttribute{"a": {IntValue: new(int64(1)), BoolValues: []bool{true}}}
		}, `resourceslice s: spec.devices[0].attributes[a]: "2": must have exactly one value`},
		{"long attribute", 1, func(s *api.ResourceSliceSpec) {
			s.Devices[0].Attributes = map[string]api.DeviceAttribute{"a": {StringValues: []string{strings.Repeat("x", 64), strings.Repeat("x", 65)}}}
		}, `resourceslice s: spec.devices[0].attributes[a].strings[1]: "` + strings.Repeat("x", 64) + `"... (65 bytes): must have at most 64 bytes`},
		{"junk versions", 1, func(s *api.ResourceSliceSpec) {
			s.Devices[0].Attributes = map[string]api.DeviceAttribute{"b": {VersionValues: []string{"1.2.3", "v1.2.3"}}, "a": {VersionValue: new("1.2.3")}}
		}, `resourceslice s: spec.devices[0].attributes[b].versions[1]: "v1.2.3": must be a semantic version`},
		{"junk taint", 1, func(s *api.ResourceSliceSpec) { s.Devices[0].Taints = []api.DeviceTaint{{Key: "k", Effect: "No"}} }, `resourceslice s: spec.devices[0].taints[0].effect: "No": must be None, NoSchedule or NoExecute`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := validSlice(tt.devices)
			tt.change(&s.Spec)
			checkInvalid(t, s.Validate(), tt.want)
		})
	}
}

func TestValidateCapacityPolicy(t *testing.T) {
	q := func(text string) *resource.Quantity { return new(resource.MustParse(text)) }
	for _, tt := range []struct {
		name   string
		policy api.CapacityRequestPolicy
		want   string
	}{
		{"values", api.CapacityRequestPolicy{Default: q("0"), ValidValues: []resource.Quantity{*q("0"), *q("1")}}, ""},
		{"range", api.CapacityRequestPolicy{Default: q("1"), ValidRange: &api.CapacityRequestPolicyRange{Min: q("0"), Max: q("2"), Step: q("1m")}}, ""},
		{"negative default", api.CapacityRequestPolicy{Default: q("-1")}, `default: "-1": must not be negative`},
		{"negative value", api.CapacityRequestPolicy{ValidValues: []resource.Quantity{*q("0"), *q("-1")}}, `validValues[1]: "-1": must not be negative`},
		{"no min", api.CapacityRequestPolicy{ValidRange: &api.CapacityRequestPolicyRange{Step: q("1")}}, `validRange.min: must be set`},
		{"negative min", api.CapacityRequestPolicy{ValidRange: &api.CapacityRequestPolicyRange{Min: q("-1")}}, `validRange.min: "-1": must not be negative`},
		{"negative max", api.CapacityRequestPolicy{ValidRange: &api.CapacityRequestPolicyRange{Min: q("0"), Max: q("-1")}}, `validRange.max: "-1": must not be negative`},
		{"negative step", api.CapacityRequestPolicy{ValidRange: &api.CapacityRequestPolicyRange{Min: q("0"), Step: q("-1")}}, `validRange.step: "-1": must be greater than zero`},
		{"no step", api.CapacityRequestPolicy{ValidRange: &api.CapacityRequestPolicyRange{Min: q("0"), Step: q("0")}}, `validRange.step: "0": must be greater than zero`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := validSlice(1)
			s.Spec.Devices[0].Capacity = map[string]api.DeviceCapacity{"m": {Value: *q("4"), RequestPolicy: &tt.policy}}
			if tt.want != "" {
				tt.want = "resourceslice s: spec.devices[0].capacity[m].requestPolicy." + tt.want
			}
			checkInvalid(t, s.Validate(), tt.want)
		})
	}
}

func TestValidateVersions(t *testing.T) {
	for text, valid := range map[string]bool{
		"0.0.0": true, "1.20.300": true, "99999999999999999999.0.0": true, "1.2.3-alpha.1+build.01": true, "1.2.3-0a": true, "1.2.3--": true, "1.2.3+a-b": true, "1.2.3-00a": true,
		"": false, "1": false, "1.2": false, "1.2.3.4": false, "v1.2.3": false, "01.2.3": false, "1.2.-3": false, "1.2.3-": false, "1.2.3-01": false, "1.2.3-a..b": false,
		"1.2.3+": false, "1.2.3+a+b": false, "1.2.3-é": false, "1.2.x": false, " 1.2.3": false, "1..3": false,
	} {
		s := validSlice(1)
		s.Spec.Devices[0].Attributes = map[string]api.DeviceAttribute{"v": {VersionValue: &text}}
		if err := s.Validate(); (err == nil) != valid {
			t.Errorf("version %q: Validate = %v, want valid: %v", text, err, valid)
		}
	}
}

func TestValidateDeviceClass(t *testing.T) {
	cel := func(n int) (list []api.DeviceSelector) {
		for range n {
			list = append(list, api.DeviceSelector{CEL: &api.CELDeviceSelector{Expression: "true"}})
		}
		return list
	}
	for _, tt := range []struct {
		name string
		spec api.DeviceClassSpec
		want string
	}{
		{"empty", api.DeviceClassSpec{}, ""},
		{"32 selectors", api.DeviceClassSpec{Selectors: cel(32), ExtendedResourceName: new("example.com/gpu")}, ""},
		{"33 selectors", api.DeviceClassSpec{Selectors: cel(33)}, `selectors: "33": must have at most 32 items`},
		{"a selector without text", api.DeviceClassSpec{Selectors: append(cel(1), api.DeviceSelector{})}, `selectors[1].cel: must be set`},
		{"a huge selector", api.DeviceClassSpec{Selectors: []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: strings.Repeat("x", 10<<10+1)}}}}, `selectors[0].cel.expression: "10241": must have at most 10240 bytes`},
		{"no extended resource", api.DeviceClassSpec{ExtendedResourceName: new("cpu")}, `extendedResourceName: "cpu": must be the name of an extended resource`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "c"}, Spec: tt.spec}
			if tt.want != "" {
				tt.want = "deviceclass c: spec." + tt.want
			}
			checkInvalid(t, c.Validate(), tt.want)
		})
	}
}

func TestValidateDeviceTaintRule(t *testing.T) {
	taint := func(key, value string, effect api.DeviceTaintEffect) api.DeviceTaintRuleSpec {
		return api.DeviceTaintRuleSpec{Taint: api.DeviceTaint{Key: key, Value: value, Effect: effect}}
	}
	selects := func(s api.DeviceTaintSelector) api.DeviceTaintRuleSpec {
		x := taint("k", "", api.DeviceTaintEffectNoExecute)
		x.DeviceSelector = &s
		return x
	}
	const key, value = `taint.key: "%s": must be a label key`, `taint.value: "%s": must be a label value`
	for _, tt := range []struct {
		name string
		spec api.DeviceTaintRuleSpec
		want string
	}{
		{"plain", taint("k", "", api.DeviceTaintEffectNoSchedule), ""},
		{"domain", taint("a-b.example.com/K_9.x-y", "V.1", api.DeviceTaintEffectNone), ""},
		{"all devices", selects(api.DeviceTaintSelector{}), ""},
		{"a device", selects(api.DeviceTaintSelector{Driver: new("d"), Pool: new("p"), Device: new("x")}), ""},
		{"no key", taint("", "", api.DeviceTaintEffectNone), `taint.key: must not be empty`},
		{"no name", taint("example.com/", "", api.DeviceTaintEffectNone), fmt.Sprintf(key, "example.com/")},
		{"no domain", taint("/k", "", api.DeviceTaintEffectNone), fmt.Sprintf(key, "/k")},
		{"two slashes", taint("a/b/c", "", api.DeviceTaintEffectNone), fmt.Sprintf(key, "a/b/c")},
		{"a domain in upper case", taint("Example.com/k", "", api.DeviceTaintEffectNone), fmt.Sprintf(key, "Example.com/k")},
		{"a domain with two dots", taint("a..b/k", "", api.DeviceTaintEffectNone), fmt.Sprintf(key, "a..b/k")},
		{"a key with an edge", taint("-k", "", api.DeviceTaintEffectNone), fmt.Sprintf(key, "-k")},
		{"a key with a space", taint("a b", "", api.DeviceTaintEffectNone), fmt.Sprintf(key, "a b")},
		{"a long key", taint(strings.Repeat("k", 64), "", api.DeviceTaintEffectNone), fmt.Sprintf(key, strings.Repeat("k", 64))},
		{"value", taint("k", "v.", api.DeviceTaintEffectNone), fmt.Sprintf(value, "v.")},
		{"no effect", taint("k", "", ""), `taint.effect: must be None, NoSchedule or NoExecute`},
		{"an effect of nodes", taint("k", "", "PreferNoSchedule"), `taint.effect: "PreferNoSchedule": must be None, NoSchedule or NoExecute`},
		{"no driver", selects(api.DeviceTaintSelector{Driver: new("")}), `deviceSelector.driver: must not be empty`},
		{"no device", selects(api.DeviceTaintSelector{Pool: new("p"), Device: new("")}), `deviceSelector.device: must not be empty`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: "r"}, Spec: tt.spec}
			if tt.want != "" {
				tt.want = "devicetaintrule r: spec." + tt.want
			}
			checkInvalid(t, r.Validate(), tt.want)
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
