package capacity_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// model makes a model of ranges given as name, min, max.
func model(grade uint, ranges ...string) api.ResourceModel {
	m := api.ResourceModel{Grade: grade}
	for i := 0; i < len(ranges); i += 3 {
		m.Ranges = append(m.Ranges, api.ResourceModelRange{
			Name: resource.Name(ranges[i]), Min: resource.MustParse(ranges[i+1]), Max: resource.MustParse(ranges[i+2]),
		})
	}
	return m
}

const endless = "9223372036854775807"

func TestDefaultModels(t *testing.T) {
	want := []api.ResourceModel{
		model(0, "cpu", "0", "1", "memory", "0", "4Gi"),
		model(1, "cpu", "1", "2", "memory", "4Gi", "16Gi"),
		model(2, "cpu", "2", "4", "memory", "16Gi", "32Gi"),
		model(3, "cpu", "4", "8", "memory", "32Gi", "64Gi"),
		model(4, "cpu", "8", "16", "memory", "64Gi", "128Gi"),
		model(5, "cpu", "16", "32", "memory", "128Gi", "256Gi"),
		model(6, "cpu", "32", "64", "memory", "256Gi", "512Gi"),
		model(7, "cpu", "64", "128", "memory", "512Gi", "1Ti"),
		model(8, "cpu", "128", endless, "memory", "1Ti", endless),
	}
	got := capacity.DefaultModels()
	if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
		t.Errorf("DefaultModels() differs (-want +got):\n%s", diff)
	}
	if err := capacity.ValidateModelsStrictly(got); err != nil {
		t.Errorf("ValidateModelsStrictly(DefaultModels()) = %v", err)
	}
	got[0].Ranges[0].Name = "changed"
	if capacity.DefaultModels()[0].Ranges[0].Name != resource.CPU {
		t.Error("DefaultModels shares what it returns")
	}
}

func TestStandardizeModels(t *testing.T) {
	in := []api.ResourceModel{
		model(7, "cpu", "2", "3"),
		model(1, "cpu", "1", "2"),
	}
	want := []api.ResourceModel{
		model(1, "cpu", "0", "2"),
		model(7, "cpu", "2", endless),
	}
	if diff := cmp.Diff(texts(want), texts(capacity.StandardizeModels(in))); diff != "" {
		t.Errorf("StandardizeModels differs (-want +got):\n%s", diff)
	}
	if in[0].Grade != 7 || in[1].Ranges[0].Min.IsZero() {
		t.Error("StandardizeModels changed its argument")
	}
}

func TestValidateModels(t *testing.T) {
	for _, c := range []struct {
		name        string
		models      []api.ResourceModel
		first       string // error of ValidateModels
		strict      int    // number of errors of ValidateModelsStrictly
		field, text string // of the first error
	}{
		{name: "none"},
		{name: "one", models: []api.ResourceModel{model(0, "cpu", "0", endless)}},
		{
			name:   "meet in another notation",
			models: []api.ResourceModel{model(0, "cpu", "0", "1"), model(1, "cpu", "1000m", endless)},
		},
		{
			name: "same grade", strict: 1,
			models: []api.ResourceModel{model(3, "cpu", "0", "1"), model(3, "cpu", "1", endless)},
			first:  `spec.resourceModels[1].grade: "3": The grade of each models should not be the same`,
		},
		{
			name: "grades descend, which Karmada accepts", strict: 1,
			models: []api.ResourceModel{model(5, "cpu", "0", "1"), model(2, "cpu", "1", endless)},
		},
		{
			name: "a resource missing", strict: 1,
			models: []api.ResourceModel{model(0, "cpu", "0", "1", "memory", "0", "1"), model(1, "cpu", "1", endless)},
			first:  `spec.resourceModels[1].ranges: "1 resources": The number of resource types should be the same`,
		},
		{
			name: "gap and end", strict: 2,
			models: []api.ResourceModel{model(0, "cpu", "0", "1"), model(1, "cpu", "2", "3")},
			first:  `spec.resourceModels[1].ranges[0].min: "2": Model intervals for resources must be contiguous and non-overlapping`,
		},
		{
			name: "no resources, which Karmada accepts", strict: 1,
			models: []api.ResourceModel{model(0)},
		},
		{
			name: "a resource twice, which Karmada accepts", strict: 1,
			models: []api.ResourceModel{model(0, "cpu", "0", endless, "cpu", "0", endless)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fmt.Sprint(capacity.ValidateModels(c.models)); got != or(c.first, "<nil>") {
				t.Errorf("ValidateModels = %s, want %s", got, or(c.first, "<nil>"))
			}
			got := 0
			if err := capacity.ValidateModelsStrictly(c.models); err != nil {
				for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
					var invalid *api.InvalidError
					if !errors.As(e, &invalid) || invalid.Field == "" {
						t.Errorf("%v is no InvalidError with a field", e)
					}
					got++
				}
			}
			if got != c.strict {
				t.Errorf("ValidateModelsStrictly reports %d errors, want %d: %v", got, c.strict, capacity.ValidateModelsStrictly(c.models))
			}
		})
	}
}

func TestValidateModelsJSON(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"written alike", `[{"grade":0,"ranges":[{"name":"cpu","min":"0","max":"1"}]},{"grade":1,"ranges":[{"name":"cpu","min":"1","max":"9223372036854775807"}]}]`, "<nil>"},
		{
			"written differently", `[{"grade":0,"ranges":[{"name":"cpu","min":"0","max":"1"}]},{"grade":1,"ranges":[{"name":"cpu","min":"1000m","max":"9223372036854775807"}]}]`,
			`spec.resourceModels[1].ranges[0].min: "1": Model intervals for resources must be contiguous and non-overlapping`,
		},
		{"a number meets a string", `[{"grade":0,"ranges":[{"name":"cpu","min":"0","max":1}]},{"grade":1,"ranges":[{"name":"cpu","min":" 1 ","max":"9223372036854775807"}]}]`, "<nil>"},
		{
			"with and without a sign", `[{"grade":0,"ranges":[{"name":"cpu","min":"0","max":"+1"}]},{"grade":1,"ranges":[{"name":"cpu","min":"1","max":"9223372036854775807"}]}]`,
			`spec.resourceModels[1].ranges[0].min: "1": Model intervals for resources must be contiguous and non-overlapping`,
		},
		{"not a list", `{}`, "spec.resourceModels: not a list of resource models: a JSON object does not belong there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fmt.Sprint(capacity.ValidateModelsJSON([]byte(c.data))); got != c.want {
				t.Errorf("ValidateModelsJSON = %s, want %s", got, c.want)
			}
		})
	}
}

func FuzzValidateModelsJSON(f *testing.F) {
	f.Add([]byte(`[{"grade":0,"ranges":[{"name":"cpu","min":"0","max":"9223372036854775807"}]}]`))
	f.Add([]byte(`[{"grade":1},{"grade":1}]`))
	f.Add([]byte(`[{"ranges":[{"name":"cpu"}]},{"ranges":[]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if capacity.ValidateModelsJSON(data) != nil {
			return
		}
		// Models accepted as written are accepted by value, and can grade nodes
		// unless they break a strict rule.
		models := decodeModels(t, data)
		if err := capacity.ValidateModels(models); err != nil {
			t.Fatalf("ValidateModels = %v for what ValidateModelsJSON accepts", err)
		}
		if len(models) == 0 || capacity.ValidateModelsStrictly(models) != nil {
			return
		}
		g, err := capacity.NewGrader(models)
		if err != nil {
			t.Fatalf("NewGrader = %v for what ValidateModelsStrictly accepts", err)
		}
		if i, ok := g.Grade(nil); i != 0 || !ok {
			t.Fatalf("Grade(nil) = %d, %v, want 0, true", i, ok)
		}
	})
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func decodeModels(t *testing.T, data []byte) []api.ResourceModel {
	t.Helper()
	var models []api.ResourceModel
	if err := json.Unmarshal(data, &models); err != nil {
		t.Fatal(err)
	}
	return models
}
