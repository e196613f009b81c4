package capacity_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func list(pairs ...string) resource.List {
	l := resource.List{}
	for i := 0; i < len(pairs); i += 2 {
		l[resource.Name(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func TestGrade(t *testing.T) {
	g, err := capacity.NewGrader(capacity.DefaultModels())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		free resource.List
		want int
	}{
		{list("cpu", "500m", "memory", "2Gi"), 0},
		{list("cpu", "1500m", "memory", "10Gi"), 1},
		{list("cpu", "1", "memory", "4Gi"), 1},       // a border belongs to the upper grade
		{list("cpu", "999999u", "memory", "4Gi"), 0}, // just below the border
		{list("cpu", "200", "memory", "1Gi"), 0},     // the scarcer resource decides
		{list("cpu", "200", "memory", "100Ti"), 8},   // no upper limit
		{list("cpu", "64"), 0},                       // a missing resource is 0
		{nil, 0},
		{list("cpu", "-1", "memory", "8Gi"), -1},
	} {
		got, ok := g.Grade(c.free)
		if got != c.want || ok != (c.want >= 0) {
			t.Errorf("Grade(%v) = %d, %v, want %d", c.free, got, ok, c.want)
		}
	}
}

func TestNewGraderRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		models []api.ResourceModel
		want   string
	}{
		{"no models", nil, `spec.resourceModels: "0 models": there are no models to grade nodes by`},
		{"no resources", []api.ResourceModel{model(0)}, `spec.resourceModels[0].ranges: "0 resources": a model must name at least one resource`},
		{
			"a resource twice",
			[]api.ResourceModel{model(0, "cpu", "0", "1", "cpu", "0", "1")},
			`spec.resourceModels[0].ranges[1].name: "cpu": a model must not name a resource twice`,
		},
		{
			"counts differ",
			[]api.ResourceModel{model(0, "cpu", "0", "1"), model(1, "cpu", "1", "2", "memory", "0", "1")},
			`spec.resourceModels[1].ranges: "2 resources": the number of resourceName is not equal the number of resourceList`,
		},
		{
			"names differ",
			[]api.ResourceModel{model(0, "cpu", "0", "1"), model(1, "memory", "1", "2")},
			`spec.resourceModels[1].ranges: "cpu": the resource is missing in this model`,
		},
		{
			"an empty name, which the next model lacks",
			[]api.ResourceModel{model(0, "cpu", "0", "1", "", "0", "1"), model(1, "cpu", "1", "2", "memory", "1", "2")},
			`spec.resourceModels[0].ranges[1].name: the name of a resource must not be empty`,
		},
		{
			"a name twice, which hides one that is missing",
			[]api.ResourceModel{model(0, "cpu", "0", "1", "memory", "0", "1"), model(1, "cpu", "1", "2", "cpu", "1", "2")},
			`spec.resourceModels[1].ranges: "memory": the resource is missing in this model`,
		},
		{
			"below 0",
			[]api.ResourceModel{model(0, "cpu", "-1", "1")},
			`spec.resourceModels[0].ranges[0].min: "-1": must not be negative`,
		},
		{
			"not sorted",
			[]api.ResourceModel{model(1, "cpu", "1", "2"), model(0, "cpu", "0", "1")},
			`spec.resourceModels[1].ranges[0].min: "0": must not be below the min of the model before`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := capacity.NewGrader(c.models); fmt.Sprint(err) != c.want {
				t.Errorf("NewGrader: %v, want %s", err, c.want)
			}
		})
	}
}

// A node's grade is the last model whose minima it meets; here it is searched for
// one by one.
func TestGradeIsTheLastModelMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		models := drawModels(t)
		g, err := capacity.NewGrader(models)
		if err != nil {
			t.Fatal(err)
		}
		free := resource.List{
			"cpu": resource.Milli(rapid.Int64Range(-1, 9000).Draw(t, "cpu")), "memory": resource.New(rapid.Int64Range(-1, 64).Draw(t, "memory"), resource.BinarySI),
		}
		want := -1
		for i, m := range models {
			met := true
			for _, r := range m.Ranges {
				q := free[r.Name]
				met = met && r.Min.Cmp(q) <= 0
			}
			if met {
				want = i
			}
		}
		if got, _ := g.Grade(free); got != want {
			t.Fatalf("Grade(%v) = %d, want %d", free, got, want)
		}
	})
}

// drawModels draws well-formed models of CPU and memory.
func drawModels(t *rapid.T) []api.ResourceModel {
	n := rapid.IntRange(1, 6).Draw(t, "models")
	models := make([]api.ResourceModel, n)
	var cpu, memory int64
	for i := range models {
		low := [2]int64{cpu, memory}
		cpu += rapid.Int64Range(1, 3000).Draw(t, "cpu width")
		memory += rapid.Int64Range(1, 20).Draw(t, "memory width")
		models[i] = api.ResourceModel{Grade: uint(i), Ranges: []api.ResourceModelRange{
			{Name: "cpu", Min: resource.Milli(low[0]), Max: resource.Milli(cpu)},
			{Name: "memory", Min: resource.New(low[1], resource.BinarySI), Max: resource.New(memory, resource.BinarySI)},
		}}
	}
	return capacity.StandardizeModels(models)
}
