package capacity_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// withSummary returns a cluster that reports these resources.
func withSummary(allocatable, allocated resource.List) *api.Cluster {
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	c.Status.ResourceSummary = &api.ResourceSummary{Allocatable: allocatable, Allocated: allocated}
	return c
}

// withGrades returns a cluster of default models with plenty of everything, and
// these numbers of nodes by grade.
func withGrades(nodes map[uint]int) *api.Cluster {
	c := withSummary(list("cpu", "1000", "memory", "4Ti", "pods", "1000"), nil)
	c.Spec.ResourceModels = capacity.DefaultModels()
	for _, m := range c.Spec.ResourceModels {
		c.Status.ResourceSummary.AllocatableModelings = append(c.Status.ResourceSummary.AllocatableModelings,
			api.AllocatableModeling{Grade: m.Grade, Count: nodes[m.Grade]})
	}
	return c
}

// The tables of Karmada's documentation for 1.5, and the answers of later versions.
func TestTablesOfTheDocumentation(t *testing.T) {
	whole := list("cpu", "4", "ephemeral-storage", "206291924Ki", "hugepages-1Gi", "0", "hugepages-2Mi", "0", "memory", "16265856Ki", "pods", "110")
	summaries := []*api.Cluster{
		withSummary(whole, list("cpu", "950m", "memory", "290Mi", "pods", "11")),
		withSummary(whole, list("cpu", "2", "memory", "290Mi", "pods", "11")),
		withSummary(whole, list("cpu", "2", "memory", "290Mi", "pods", "110")),
	}
	graded := []*api.Cluster{
		withGrades(map[uint]int{2: 1, 3: 6}), withGrades(map[uint]int{2: 4, 3: 4}), withGrades(map[uint]int{6: 1}),
	}
	for _, c := range []struct {
		table    string
		clusters []*api.Cluster
		request  resource.List
		rule     capacity.Rules
		want     [3]int64
	}{
		{"summary, 500m", summaries, list("cpu", "500m"), capacity.Karmada111, [3]int64{6, 4, 0}},
		{"summary, 500m", summaries, list("cpu", "500m"), capacity.Karmada113, [3]int64{6, 4, 0}},
		{"summary, 500m", summaries, list("cpu", "500m"), capacity.Karmada118, [3]int64{6, 4, 0}},
		{"models, 3 CPUs and 20Gi", graded, list("cpu", "3", "memory", "20Gi"), capacity.Karmada111, [3]int64{7, 8, 10}},
		{"models, 3 CPUs and 20Gi", graded, list("cpu", "3", "memory", "20Gi"), capacity.Karmada113, [3]int64{6, 4, 10}},
		{"models, 3 CPUs and 20Gi", graded, list("cpu", "3", "memory", "20Gi"), capacity.Karmada118, [3]int64{6, 4, 10}},
		{"models, 3 CPUs and 60Gi", graded, list("cpu", "3", "memory", "60Gi"), capacity.Karmada111, [3]int64{6, 4, 4}},
		{"models, 3 CPUs and 60Gi", graded, list("cpu", "3", "memory", "60Gi"), capacity.Karmada113, [3]int64{0, 0, 4}},
		{"models, 3 CPUs and 60Gi", graded, list("cpu", "3", "memory", "60Gi"), capacity.Karmada118, [3]int64{0, 0, 4}},
	} {
		t.Run(fmt.Sprint(c.table, " by ", c.rule), func(t *testing.T) {
			var got [3]int64
			for i, cluster := range c.clusters {
				e, err := capacity.General{Rules: c.rule}.Estimate(cluster, &capacity.Replica{Request: c.request})
				if err != nil {
					t.Fatal(err)
				}
				got[i] = e.Replicas
			}
			if got != c.want {
				t.Errorf("Estimate = %v, want %v", got, c.want)
			}
		})
	}
}

func TestEstimate(t *testing.T) {
	plenty := list("cpu", "1000", "memory", "4Ti", "pods", "1000")
	for _, c := range []struct {
		name    string
		general capacity.General
		cluster *api.Cluster
		request resource.List
		want    int64
	}{
		{"no summary", capacity.General{}, &api.Cluster{}, list("cpu", "1"), 0},
		{"no pods", capacity.General{}, withSummary(list("cpu", "8"), nil), list("cpu", "1"), 0},
		{"more pods than allowed", capacity.General{}, withSummary(plenty, list("pods", "1001")), list("cpu", "1"), 0},
		{"nothing requested", capacity.General{}, withSummary(plenty, nil), list("cpu", "0"), 1000},
		{"requested below 0", capacity.General{}, withSummary(plenty, nil), list("cpu", "-1"), 1000},
		{"a resource that is missing", capacity.General{}, withSummary(plenty, nil), list("nvidia.com/gpu", "1"), 0},
		{"none of a resource that is missing", capacity.General{}, withSummary(plenty, nil), list("nvidia.com/gpu", "0"), 1000},
		{"100u are one thousandth", capacity.General{}, withSummary(list("cpu", "3m", "pods", "10"), nil), list("cpu", "100u"), 3},
		{"more than 32 bits", capacity.General{}, withSummary(list("pods", "3000000000"), nil), nil, capacity.MaxReplicas},
		{"more than 64 bits", capacity.General{}, withSummary(list("pods", "1000E", "cpu", "1000E"), nil), list("cpu", "1"), capacity.MaxReplicas},
		{"nothing requested, by grades", capacity.General{Rules: capacity.Karmada113}, withGrades(map[uint]int{3: 2}), nil, 1000},
		{"nothing requested, first fit", capacity.General{}, withGrades(map[uint]int{3: 2}), nil, 220},
		{"more than 110 a node", capacity.General{Rules: capacity.Karmada113}, withGrades(map[uint]int{8: 1}), list("cpu", "500m"), 256},
		{"more than 110 a node, first fit", capacity.General{}, withGrades(map[uint]int{8: 1}), list("cpu", "500m"), 110},
		{"above all grades", capacity.General{Rules: capacity.Karmada111}, withGrades(map[uint]int{8: 5}), list("cpu", "129"), 5},
		{"above all grades", capacity.General{Rules: capacity.Karmada113}, withGrades(map[uint]int{8: 5}), list("cpu", "129"), 0},
		{"above all grades", capacity.General{}, withGrades(map[uint]int{8: 5}), list("cpu", "129"), 0},
		{"models ignored", capacity.General{IgnoreModels: true}, withGrades(map[uint]int{8: 5}), list("cpu", "129"), 7},
		{"no nodes", capacity.General{}, withGrades(nil), list("cpu", "1"), 0},
		{"storage does not count", capacity.General{}, withGrades(map[uint]int{3: 1}), list("cpu", "1", "storage", "1Gi"), 4},
		{"by the numbers of grades, not by place", capacity.General{}, swapped(withGrades(map[uint]int{3: 1})), list("cpu", "4"), 1},
	} {
		t.Run(fmt.Sprint(c.name, " ", c.general.Rules), func(t *testing.T) {
			got, err := c.general.Estimate(c.cluster, &capacity.Replica{Request: c.request})
			if err != nil {
				t.Fatal(err)
			}
			if got.Replicas != c.want {
				t.Errorf("Estimate = %d, want %d", got.Replicas, c.want)
			}
			r, err := c.general.Explain(c.cluster, &capacity.Replica{Request: c.request})
			if err != nil || r.Estimate != got {
				t.Errorf("Explain = %v, %v, want the estimate %v", r.Estimate, err, got)
			}
		})
	}
}

// swapped puts the first count last.
func swapped(c *api.Cluster) *api.Cluster {
	m := c.Status.ResourceSummary.AllocatableModelings
	c.Status.ResourceSummary.AllocatableModelings = append(m[1:], m[0])
	return c
}

// If no model has a resource, every rule estimates by the summary.
func TestEstimateFallsBack(t *testing.T) {
	c := withGrades(map[uint]int{6: 1})
	c.Status.ResourceSummary.Allocatable["nvidia.com/gpu"] = resource.MustParse("8")
	request := list("cpu", "1", "nvidia.com/gpu", "2")
	for _, rule := range []capacity.Rules{capacity.Karmada118, capacity.Karmada113, capacity.Karmada111} {
		r, err := capacity.General{Rules: rule}.Explain(c, &capacity.Replica{Request: request})
		if err != nil {
			t.Fatal(err)
		}
		if r.Replicas != 4 || r.From != capacity.FromSummary || r.Limit != "nvidia.com/gpu" ||
			r.Fallback != "resource model is inapplicable as missing resource: nvidia.com/gpu" {
			t.Errorf("%v: %+v", rule, r)
		}
	}
}

func TestEstimateErrors(t *testing.T) {
	short := withGrades(map[uint]int{1: 1})
	short.Status.ResourceSummary.AllocatableModelings = short.Status.ResourceSummary.AllocatableModelings[:2]
	twice := withGrades(nil)
	twice.Spec.ResourceModels[8].Grade = 3
	other := withGrades(nil)
	other.Spec.ResourceModels[4].Ranges[0].Name = "memory"
	unasked := withGrades(nil)
	unasked.Spec.ResourceModels[2].Ranges[1].Min = resource.MustParse("1Gi")
	empty := withGrades(nil)
	empty.Spec.ResourceModels[0].Ranges = nil
	for _, c := range []struct {
		name    string
		rule    capacity.Rules
		cluster *api.Cluster
		want    string
	}{
		{"negative", capacity.Karmada118, withSummary(list("cpu", "-4", "pods", "1"), nil), `cluster m: status.resourceSummary.allocatable[cpu]: "-4": must not be negative`},
		{"negative use", capacity.Karmada118, withSummary(list("pods", "1"), list("cpu", "-1", "a", "-1")), `cluster m: status.resourceSummary.allocated[a]: "-1": must not be negative`},
		{"negative count", capacity.Karmada118, withGrades(map[uint]int{4: -3}), `cluster m: status.resourceSummary.allocatableModelings[4].count: "-3": must not be negative`},
		{"fewer counts", capacity.Karmada113, short, `cluster m: status.resourceSummary.allocatableModelings: "2 counts for 9 models": fewer counts than resource models`},
		{"a grade twice", capacity.Karmada118, twice, `cluster m: spec.resourceModels[8].grade: "3": the grade is in the list twice`},
		{"a resource missing", capacity.Karmada111, other, `cluster m: spec.resourceModels[4].ranges: "cpu": the resource is missing in this model`},
		{"a resource that is not requested", capacity.Karmada118, unasked, `cluster m: spec.resourceModels[2].ranges[1].min: "1Gi": must not be below the min of the model before`},
		{"no resources", capacity.Karmada113, empty, `cluster m: spec.resourceModels[0].ranges: "0 resources": a model must name at least one resource`},
		{"no such rule", 9, withGrades(nil), `general-estimator: rules: "Rules(9)": no such rules; take Karmada118, Karmada113 or Karmada111`},
		{"no cluster", capacity.Karmada118, nil, `cluster: "null": is nil`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := capacity.General{Rules: c.rule}
			_, err := g.Estimate(c.cluster, &capacity.Replica{Request: list("cpu", "1")})
			if fmt.Sprint(err) != c.want {
				t.Errorf("Estimate: %v, want %s", err, c.want)
			}
			if _, explained := g.Explain(c.cluster, &capacity.Replica{Request: list("cpu", "1")}); fmt.Sprint(explained) != c.want {
				t.Errorf("Explain: %v, want %s", explained, c.want)
			}
		})
	}
}

func TestReport(t *testing.T) {
	for _, c := range []struct {
		name    string
		cluster *api.Cluster
		text    string
		data    string
	}{
		{
			"models", withGrades(map[uint]int{2: 1, 3: 6}),
			"m: 7 replicas by models: grade 2: 1 node x 1, grade 3: 6 nodes x 1",
			"",
		},
		{
			"summary", withSummary(list("cpu", "8", "memory", "1Ti", "pods", "11"), list("pods", "1", "memory", "1000Gi")),
			"m: 1 replica by summary, limited by memory",
			`{"cluster":"m","estimator":"general-estimator","replicas":1,"from":"summary","freePods":10,"limit":"memory",` +
				`"resources":[{"name":"cpu","free":"8","request":"3","replicas":2},{"name":"memory","free":"24Gi","request":"20Gi","replicas":1}]}`,
		},
		{
			"pods", withSummary(list("cpu", "80", "memory", "1Ti", "pods", "2"), nil),
			"m: 2 replicas by summary, limited by pods",
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := capacity.General{Rules: capacity.Karmada111}.Explain(c.cluster, &capacity.Replica{Request: list("cpu", "3", "memory", "20Gi")})
			if err != nil {
				t.Fatal(err)
			}
			if r.String() != c.text {
				t.Errorf("String() = %q, want %q", r.String(), c.text)
			}
			if c.data == "" {
				return
			}
			data, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.data, string(data)); diff != "" {
				t.Errorf("JSON differs (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzEstimate feeds clusters with any malformation. An estimate is within its
// bounds or an error; nothing panics.
func FuzzEstimate(f *testing.F) {
	for _, c := range []*api.Cluster{withGrades(map[uint]int{2: 3}), withSummary(list("cpu", "4", "pods", "110"), nil)} {
		data, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte(`{"cpu":"1","memory":"2Gi"}`))
	}
	f.Fuzz(func(t *testing.T, cluster, request []byte) {
		c, err := api.DecodeObject[api.Cluster](cluster)
		if err != nil {
			return
		}
		var l resource.List
		if json.Unmarshal(request, &l) != nil {
			return
		}
		for _, rule := range []capacity.Rules{capacity.Karmada118, capacity.Karmada113, capacity.Karmada111} {
			e, err := capacity.General{Rules: rule}.Estimate(c, &capacity.Replica{Request: l})
			checkRefusal(t, c, err)
			if err == nil && (e.Replicas < 0 || e.Replicas > capacity.MaxReplicas) {
				t.Fatalf("Estimate = %d", e.Replicas)
			}
			if err != nil && capacity.ValidateCluster(c) == nil {
				t.Fatalf("Estimate: %v, ValidateCluster: nothing is wrong", err)
			}
		}
		sets, err := capacity.General{}.EstimateSets(c, []capacity.Component{{Replicas: 2, Request: l}, {Replicas: 1}})
		checkRefusal(t, c, err)
		if err == nil && (sets.Replicas < 0 || sets.Replicas > capacity.MaxReplicas) {
			t.Fatalf("EstimateSets = %d", sets.Replicas)
		}
		if len(c.Spec.ResourceModels) > 0 {
			_, err := capacity.Summarize(c, framework.NewSnapshot(framework.Arrival), nil)
			checkRefusal(t, c, err)
			if err != nil && capacity.ValidateModelsStrictly(c.Spec.ResourceModels) == nil {
				t.Fatalf("Summarize: %v, ValidateModelsStrictly: nothing is wrong", err)
			}
		}
		if err := capacity.ValidateCluster(c); err != nil {
			for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
				checkRefusal(t, c, e)
			}
		}
	})
}

// checkRefusal fails unless an error names the cluster, the field and the value.
func checkRefusal(t *testing.T, c *api.Cluster, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var e *api.InvalidError
	if !errors.As(err, &e) || e.Object != "cluster "+c.Name || e.Field == "" || e.Value == "" && !strings.HasSuffix(e.Field, "name") {
		t.Fatalf("%v (%T) does not name the cluster, the field and the value", err, err)
	}
}

func BenchmarkEstimate(b *testing.B) {
	c := withGrades(map[uint]int{6: 500})
	c.Status.ResourceSummary.Allocatable[resource.Pods] = resource.MustParse("100k")
	r := &capacity.Replica{Request: list("cpu", "500m", "memory", "1Gi")}
	for _, rule := range []capacity.Rules{capacity.Karmada118, capacity.Karmada113, capacity.Karmada111} {
		b.Run("nodes=500/rule="+rule.String(), func(b *testing.B) {
			var e capacity.Estimate
			for b.Loop() {
				e, _ = capacity.General{Rules: rule}.Estimate(c, r)
			}
			b.ReportMetric(float64(e.Replicas), "replicas")
		})
	}
}
