package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Objects of v1beta1 and v1beta2 must read as those of v1.
func TestDecodeVersionsOfDevices(t *testing.T) {
	device := `"attributes":{"model":{"string":"a"},"n":{"int":-3}},"capacity":{"memory":{"value":"1Gi"}},"taints":[{"key":"k","effect":"NoExecute"}]`
	slice := func(version, device string) string {
		return `{"apiVersion":"resource.k8s.io/` + version + `","kind":"ResourceSlice","metadata":{"name":"s"},` +
			`"spec":{"driver":"d","pool":{"name":"p","generation":1,"resourceSliceCount":1},"nodeName":"n","devices":[{"name":"gpu-0",` + device + `}]}}`
	}
	exact := `"deviceClassName":"gpu","selectors":[{"cel":{"expression":"true"}}],"allocationMode":"All","adminAccess":true,` +
		`"tolerations":[{"operator":"Exists"}],"capacity":{"requests":{"memory":"1Gi"}}`
	claim := func(version, request string) string {
		return `{"apiVersion":"resource.k8s.io/` + version + `","kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[` +
			`{"name":"r",` + request + `},{"name":"s","firstAvailable":[{"name":"a","deviceClassName":"gpu","count":2}]}]}}}`
	}
	want := decode(t, slice("v1", device)+claim("v1", `"exactly":{`+exact+`}`))
	for _, tt := range []struct{ version, text string }{
		{"v1beta1", slice("v1beta1", `"basic":{`+device+`}`) + claim("v1beta1", exact)},
		{"v1beta2", slice("v1beta2", device) + claim("v1beta2", `"exactly":{`+exact+`}`)},
	} {
		got := decode(t, tt.text)
		got.ResourceSlices[0].APIVersion, got.ResourceClaims[0].APIVersion = "resource.k8s.io/v1", "resource.k8s.io/v1"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-v1 +%s):\n%s", tt.version, tt.version, diff)
		}
		if len(got.SkippedFields) > 0 {
			t.Errorf("%s: skipped fields %v", tt.version, got.SkippedFields)
		}
	}
	r := want.ResourceClaims[0].Spec.Devices.Requests
	if len(r) != 2 || r[0].Exactly == nil || r[0].Exactly.AllocationMode != api.DeviceAllocationModeAll || r[1].Exactly != nil {
		t.Errorf("requests = %+v, want an exact one with the mode All and one of alternatives", r)
	}
	if q := want.ResourceSlices[0].Spec.Devices[0].Capacity["memory"].Value; !q.Equal(resource.MustParse("1Gi")) {
		t.Errorf("capacity = %v, want 1Gi", q)
	}
}

// A value that has the fields of v1 and of v1beta1 keeps all. Those of v1 win.
func TestDecodeMixedVersionsOfDevices(t *testing.T) {
	slice := decode(t, `{"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"devices":[
		{"name":"x","attributes":{"a":{"int":1}},"basic":{"name":"y","attributes":{"b":{"int":2}},"capacity":{"m":{"value":"1Gi"}}}}]}}`)
	want := []api.Device{{
		Name: "x", Attributes: map[string]api.DeviceAttribute{"a": {IntValue: new(int64(1))}},
		Capacity: map[string]api.DeviceCapacity{"m": {Value: resource.MustParse("1Gi")}},
	}}
	if diff := cmp.Diff(want, slice.ResourceSlices[0].Spec.Devices); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		text string
		want *api.ExactDeviceRequest
	}{
		{`"exactly":{"deviceClassName":"v1","count":2},"deviceClassName":"beta","count":3,"adminAccess":true`, &api.ExactDeviceRequest{DeviceClassName: "v1", Count: 2, AdminAccess: new(true)}},
		{`"allocationMode":"All","adminAccess":true`, &api.ExactDeviceRequest{AllocationMode: api.DeviceAllocationModeAll, AdminAccess: new(true)}}, // no class
		{`"exactly":{}`, new(api.ExactDeviceRequest)},
		{`"count":null`, nil},
	} {
		claim := decode(t, `{"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r",`+tt.text+`}]}}}`)
		if diff := cmp.Diff(tt.want, claim.ResourceClaims[0].Spec.Devices.Requests[0].Exactly); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestDecodeBadDevices(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{
			`{"kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"devices":[{"name":"a"},{"name":"b","capacity":{"m":{"value":"1x"}}}]}}`,
			`resourceslice s: spec.devices[1].capacity[m].value: "1x"`,
		},
		{
			`{"kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"count":"two"}}]}}}`,
			`resourceclaim default/c: spec.devices.requests[0].exactly.count`,
		},
		{
			`{"kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","count":1.5}]}}}`,
			`resourceclaim default/c: spec.devices.requests[0].count`,
		},
		{
			`{"kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"pool":{"name":"p","generation":"new"}}}`,
			`resourceslice s: spec.pool.generation`,
		},
		{
			`{"kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"sharedCounters":[{"name":"c","counters":{"m":{"value":"1 Gi"}}}]}}`,
			`resourceslice s: spec.sharedCounters[0].counters[m].value: "1 Gi"`,
		},
		{
			`{"kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"devices":[{"name":"a","attributes":{"v":{"version":7}}}]}}`,
			`resourceslice s: spec.devices[0].attributes[v].version`,
		},
		{
			`{"kind":"ResourceClaim","metadata":{"name":"c"},"status":{"allocation":{"devices":{"results":[{"consumedCapacity":{"m":"x"}}]}}}}`,
			`resourceclaim default/c: status.allocation.devices.results[0].consumedCapacity[m]: "x"`,
		},
	} {
		_, err := api.Decode([]byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Decode(%s) = %v, want an error with %q", tt.text, err, tt.want)
		}
	}
}

func TestDefaultDevices(t *testing.T) {
	o := decode(t, `{"kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[
		{"name":"a","exactly":{"deviceClassName":"x","tolerations":[{"key":"k"}]}},
		{"name":"b","exactly":{"deviceClassName":"x","allocationMode":"All"}},
		{"name":"c","firstAvailable":[{"name":"d","deviceClassName":"x","count":3}]}]}}}
		{"kind":"ResourceClaimTemplate","metadata":{"name":"t"},"spec":{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"x"}}]}}}}`)
	must(t, o.Default())
	r := o.ResourceClaims[0].Spec.Devices.Requests
	if e := r[0].Exactly; e.Count != 1 || e.AllocationMode != "ExactCount" || e.Tolerations[0].Operator != "Equal" {
		t.Errorf("an exact request became %+v", e)
	}
	if e := r[1].Exactly; e.Count != 0 || e.AllocationMode != "All" {
		t.Errorf("a request for all became %+v", e)
	}
	if s := r[2].FirstAvailable[0]; s.Count != 3 || s.AllocationMode != "ExactCount" {
		t.Errorf("an alternative became %+v", s)
	}
	if e := o.ResourceClaimTemplates[0].Spec.Spec.Devices.Requests[0].Exactly; e.Count != 1 {
		t.Errorf("the request of a template became %+v", e)
	}
}
