package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A ResourceMap gives the same answers as the list it was made from, whichever way
// it was made.
func TestResourceMapIsAList(t *testing.T) {
	names := []resource.Name{resource.CPU, resource.Memory, resource.EphemeralStorage, "example.com/gpu", ""}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.MapOfN(rapid.SampledFrom(names), rapid.Custom(func(t *rapid.T) resource.Quantity {
			return resource.Milli(rapid.Int64().Draw(t, "milli"))
		}), 0, len(names)).Draw(t, "list")
		want := resource.List(maps.Clone(list))

		made := api.ResourceMapOf(list)
		var set api.ResourceMap
		for name, q := range list {
			set.Set(name, resource.Milli(1))
			before := set
			set.Set(name, q)
			if got := before.Quantity(name); !got.Equal(resource.Milli(1)) {
				t.Fatalf("a copy has %s of %q after the original was set, want 1m", got, name)
			}
		}
		clear(list) // a ResourceMap that kept the list would show it below
		var read api.ResourceMap
		text, err := json.Marshal(made)
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil {
			t.Fatal(err)
		}
		for how, m := range map[string]api.ResourceMap{"ResourceMapOf": made, "Set": set, "JSON": read} {
			if !m.Equal(made) || !made.Equal(m) {
				t.Errorf("by %s: %v is not equal to %v", how, m, made)
			}
			if got := m.List(); len(got) != len(want) || len(want) > 0 && !cmp.Equal(want, got) {
				t.Errorf("by %s: List (-want +got):\n%s", how, cmp.Diff(want, got))
			}
			if got := m.IsZero(); got != (len(want) == 0) {
				t.Errorf("by %s: IsZero = %t with %d resources", how, got, len(want))
			}
			for _, name := range names {
				q, ok := want[name]
				got, has := m.Lookup(name)
				if has != ok || !got.Equal(q) || !m.Quantity(name).Equal(q) {
					t.Errorf("by %s: Lookup(%q) = %s, %t, want %s, %t", how, name, got, has, q, ok)
				}
			}
		}
		name := rapid.SampledFrom(names).Draw(t, "changed")
		other := made
		other.Set(name, made.Quantity(name).Add(resource.Milli(1)))
		if other.Equal(made) {
			t.Errorf("%v and %v are equal, but for %q", other, made, name)
		}
	})
}

func TestResourceMapJSON(t *testing.T) {
	for _, test := range []struct{ before, read, want string }{
		{`{}`, `{"resources": {"cpu": "250m"}}`, `{"resources":{"cpu":"250m"}}`},
		{`{"resources": {"cpu": "1", "memory": "1Gi"}}`, `{"resources": {"cpu": "250m"}}`, `{"resources":{"cpu":"250m","memory":"1Gi"}}`},
		{`{"resources": {"cpu": "1"}}`, `{"resources": null}`, `{}`},
		{`{"resources": {"cpu": "1"}}`, `null`, `{"resources":{"cpu":"1"}}`},
		{`{}`, `{"resources": {"cpu": "0"}}`, `{"resources":{"cpu":"0"}}`},
		{`{}`, `{"resources": {}}`, `{}`},
	} {
		var m api.ResourceMap
		for _, text := range []string{test.before, test.read} {
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		got, err := json.Marshal(m)
		if err != nil || string(got) != test.want {
			t.Errorf("%s and then %s: %s, %v, want %s", test.before, test.read, got, err, test.want)
		}
	}
	var m api.ResourceMap
	if err := json.Unmarshal([]byte(`{"resources": {"cpu": "much"}}`), &m); err == nil || !m.IsZero() {
		t.Errorf("cpu of \"much\" is read as %v, %v, want an error", m, err)
	}
}

// Decoding a bad report names the resource at fault; encoding an empty ResourceMap
// omits the field.
func TestResourceMapDecoded(t *testing.T) {
	_, err := api.DecodeObject[api.NodeMetric]([]byte(`{"metadata": {"name": "n"}, "status": {"podsMetric": [{"podUsage": {"resources": {"cpu": "much"}}}]}}`))
	want := "status.podsMetric[0].podUsage.resources[cpu]"
	if e, ok := err.(*api.InvalidError); !ok || e.Field != want {
		t.Errorf("error %v, want one of field %s", err, want)
	}
	text, err := json.Marshal(api.PodMetricInfo{Name: "web"})
	if err != nil || string(text) != `{"name":"web"}` {
		t.Errorf("a report without usage is %s, %v", text, err)
	}
}

func ExampleResourceMap() {
	use := api.ResourceMapOf(resource.List{resource.CPU: resource.MustParse("250m")})
	before := use
	use.Set(resource.Memory, resource.MustParse("64Mi"))
	_, measured := before.Lookup(resource.Memory)
	fmt.Println("cpu:", use.Quantity(resource.CPU), "memory:", use.Quantity(resource.Memory), "measured before:", measured)
	// Output:
	// cpu: 250m memory: 64Mi measured before: false
}

// TestResourceMapPrints: it prints like the list, and errors name its own type.
func TestResourceMapPrints(t *testing.T) {
	m := api.ResourceMapOf(resource.List{"example.com/x": resource.MustParse("3"), resource.CPU: resource.Milli(250)})
	if got, want := fmt.Sprintf("%v", m), "map[cpu:250m example.com/x:3]"; got != want {
		t.Errorf("ResourceMap prints %s, want %s", got, want)
	}
	err := json.Unmarshal([]byte(`{"podUsage": 5}`), new(api.PodMetricInfo))
	if err == nil || !strings.Contains(err.Error(), "api.ResourceMap") || strings.Contains(err.Error(), "JSON") {
		t.Errorf("Unmarshal = %v, want an error that names api.ResourceMap", err)
	}
}
