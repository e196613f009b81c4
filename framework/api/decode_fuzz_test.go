//go:build full

package api_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-sched/berth/framework/api"
)

// For any bytes, Decode must not panic, must accept only JSON, and must fail with
// one of its two errors. Accepted objects must survive encoding and decoding.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"testdata/nodes.json", "testdata/pods.json"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, seed := range []string{
		"", "{", "[]", "\x00", `{"kind":"List","items":[null]}`,
		`{"kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"resources":{"requests":{"cpu":"1x"}}}]}}`,
		`{"kind":"Pod","metadata":{"name":"\ud800\u0041"},"spec":{"overhead":{"cpu":1e-3}}} {"kind":"Secret"}`,
		`{"items":[{"metadata":{"name":"n","creationTimestamp":"2026-01-02T03:04:05.6+01:00"}}],"kind":"NodeList"}`,
		`{"kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"minAvailable":"25%","maxUnavailable":3}}`,
		`{"kind":"NodeMetric","metadata":{"name":"n"},"status":{"nodeMetric":{"aggregatedNodeUsages":[{"duration":"5m0s","usage":{"p95":{"resources":{"cpu":"1500u"}}}}]}}}`,
		`{"kind":"Cluster","apiVersion":"cluster.karmada.io/v1alpha1","metadata":{"name":"m"},"spec":{"resourceModels":[{"grade":0,"ranges":[{"name":"cpu","min":"0","max":"9223372036854775807"}]}]}}`,
		`{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"s"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":-1},"devices":[{"name":"x","attributes":{"a":{"version":"1.x"}},"capacity":{"m":{"value":"1Gi","requestPolicy":{"validRange":{"min":"1","step":"-1"}}}},"taints":[{"effect":"No"}]}],"sharedCounters":[{"name":"c","counters":{"m":{"value":"-1"}}}]}}`,
		`{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1beta1","metadata":{"name":"s"},"spec":{"devices":[{"name":"x","basic":{"attributes":{"a":{"int":1}},"capacity":{"m":{"value":"1x"}}}}]}}`,
		`{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1beta1","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","deviceClassName":"d","count":-1,"allocationMode":"Some"}],"constraints":[{}]}},"status":{"allocation":{"devices":{"results":[{"consumedCapacity":{"m":"1"}}]}}}}`,
		`{"kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"devices":[{"name":"x","capacity":{"m":{"value":"1"}},"basic":{"name":"y","capacity":{},"bindsToNode":false}}]}}`,
		`{"kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"count":0},"count":1,"firstAvailable":[{"name":"a"}]},{"name":"s","adminAccess":false,"selectors":[]}]}},"status":{"allocation":{"allocationTimestamp":"2026-01-02T03:04:05Z","devices":{"config":[{"opaque":{"parameters":{"a": [1]}}}]}}}}`,
		`{"kind":"ResourceClaim","metadata":{"name":"c"},"status":{"allocation":{"devices":{"config":[{"opaque":{"driver":"d"}}]}}}}`,
		`{"kind":"DeviceTaintRule","metadata":{"name":"t"},"spec":{"deviceSelector":{},"taint":{"key":"k"}}} {"kind":"DeviceClass","metadata":{"name":"c"},"spec":{"selectors":[{"cel":{"expression":"("}}]}} {"kind":"ResourceClaimTemplate","metadata":{"name":"t"},"spec":{"spec":{"devices":{}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := api.Decode(data)
		if err != nil {
			var syntax *api.SyntaxError
			var invalid *api.InvalidError
			switch {
			case errors.As(err, &syntax):
				if syntax.Offset < 0 || syntax.Offset > int64(len(data)) {
					t.Errorf("offset %d in %d bytes", syntax.Offset, len(data))
				}
				if json.Valid(data) && strings.TrimSpace(string(data))[0] == '{' && !strings.Contains(syntax.Problem, "nested") {
					t.Errorf("valid JSON is refused: %v", err)
				}
			case errors.As(err, &invalid):
			default:
				t.Errorf("error is a %T: %v", err, err)
			}
			return
		}
		for d := json.NewDecoder(strings.NewReader(string(data))); d.More(); {
			var x any
			if err := d.Decode(&x); err != nil {
				t.Fatalf("Decode accepts what is not JSON: %v", err)
			}
		}
		for _, p := range o.Pods {
			again(t, p)
		}
		for _, n := range o.Nodes {
			again(t, n)
		}
		for _, b := range o.PodDisruptionBudgets {
			again(t, b)
		}
		for _, m := range o.NodeMetrics {
			again(t, m)
		}
		for _, c := range o.Clusters {
			again(t, c)
		}
		for _, c := range o.DeviceClasses {
			again(t, c)
		}
		for _, s := range o.ResourceSlices {
			again(t, s)
		}
		for _, c := range o.ResourceClaims {
			again(t, c)
		}
		for _, c := range o.ResourceClaimTemplates {
			again(t, c)
		}
		for _, r := range o.DeviceTaintRules {
			again(t, r)
		}
	})
}

// again checks that x survives encoding and decoding. JSON with omitted fields does
// not distinguish empty from absent.
func again[T api.Object](t *testing.T, x *T) {
	t.Helper()
	data, err := json.Marshal(x)
	if err != nil {
		return // JSON has no form for this year
	}
	y, err := api.DecodeObject[T](data)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	compact := cmp.Transformer("compact", func(raw json.RawMessage) string { // as json.Marshal writes it
		data, err := json.Marshal(raw)
		if err != nil {
			return err.Error()
		}
		return string(data)
	})
	written := cmp.FilterValues(func(a, b json.RawMessage) bool { return len(a)+len(b) > 0 }, compact)
	if diff := cmp.Diff(x, y, cmpopts.EquateEmpty(), written); diff != "" {
		t.Errorf("decoded from %s (-want +got):\n%s", data, diff)
	}
}
