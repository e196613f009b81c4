package capacity_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A goldenCase is a recorded answer of Karmada, by version.
type goldenCase struct {
	ID      string                     `json:"id"`
	Kind    string                     `json:"kind"`
	Input   json.RawMessage            `json:"input"`
	Outputs map[string]json.RawMessage `json:"outputs"`
}

const (
	karmada1_11 = "v1.11.0"
	karmada1_13 = "v1.13.0"
	karmadaHead = "head-f8fdd02df"
)

// golden runs check on every case of a kind, from testdata and from the folder in
// BERTH_VECTORS, and prints how many failed. check returns the difference, or "",
// and the listed fault of the original that justifies it.
func golden(t *testing.T, kind string, check func(t *testing.T, c goldenCase) (diff, fault string)) {
	t.Helper()
	files := []string{filepath.Join("testdata", "karmada", kind+".jsonl.gz")}
	if dir := os.Getenv("BERTH_VECTORS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "karmada", "*.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	cases, mismatches := 0, 0
	faults := map[string]int{}
	for _, file := range files {
		eachLine(t, file, func(line []byte) {
			var c goldenCase
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if c.Kind != kind {
				return
			}
			cases++
			diff, fault := check(t, c)
			if diff != "" {
				mismatches++
				if mismatches <= 10 {
					t.Errorf("%s: %s", c.ID, diff)
				}
			}
			if fault != "" {
				faults[fault]++
			}
		})
	}
	for fault, n := range faults {
		t.Logf("karmada/%s: %d cases differ by a fault of the original: %s", kind, n, fault)
	}
	fmt.Printf("golden karmada/%s: %d cases, %d mismatches\n", kind, cases, mismatches)
}

func eachLine(t *testing.T, file string, f func([]byte)) {
	t.Helper()
	r, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	s := bufio.NewScanner(z)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		f(s.Bytes())
	}
	if err := s.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func decode(t *testing.T, c goldenCase, data []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
}

func TestGoldenValidate(t *testing.T) {
	golden(t, "validate", func(t *testing.T, c goldenCase) (string, string) {
		var in struct{ Models json.RawMessage }
		var want struct {
			OK     bool
			Detail string
		}
		decode(t, c, c.Input, &in)
		decode(t, c, c.Outputs[karmada1_13], &want)
		var models []api.ResourceModel
		decode(t, c, in.Models, &models)

		if got := reason(capacity.ValidateModelsJSON(in.Models)); got != want.Detail {
			return "ValidateModelsJSON: got " + got + ", want " + want.Detail, ""
		}
		// By value, models may be accepted, or refused for a later reason, only if
		// the original refused their spelling.
		if got := reason(capacity.ValidateModels(models)); got != want.Detail {
			if !strings.Contains(want.Detail, "contiguous") {
				return "ValidateModels: got " + got + ", want " + want.Detail, ""
			}
			return "", "places where models meet are compared as written"
		}
		return "", ""
	})
}

// reason returns the reason of err, or "" for nil.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.(*api.InvalidError).Err.Error()
}

func TestGoldenStandardize(t *testing.T) {
	golden(t, "standardize", func(t *testing.T, c goldenCase) (string, string) {
		var in, want struct{ Models []api.ResourceModel }
		decode(t, c, c.Input, &in)
		decode(t, c, c.Outputs[karmada1_13], &want)
		got := capacity.StandardizeModels(in.Models)
		return cmp.Diff(texts(want.Models), texts(got)), ""
	})
}

// texts returns models with their quantities as text.
func texts(models []api.ResourceModel) [][]string {
	var all [][]string
	for _, m := range models {
		var line []string
		for _, r := range m.Ranges {
			line = append(line, string(r.Name), r.Min.String(), r.Max.String())
		}
		all = append(all, line)
	}
	return all
}

func TestGoldenModeling(t *testing.T) {
	golden(t, "modeling", func(t *testing.T, c goldenCase) (string, string) {
		var in struct {
			Models []api.ResourceModel
			Nodes  []resource.List
		}
		var want struct {
			Counts       []int
			Error, Panic string
		}
		decode(t, c, c.Input, &in)
		decode(t, c, c.Outputs[karmada1_13], &want)
		g, err := capacity.NewGrader(in.Models)
		switch {
		case want.Error != "" || want.Panic != "":
			if err == nil {
				return "no error, the original: " + want.Error + want.Panic, ""
			}
			return "", ""
		case err != nil && len(in.Models) == 0 && len(in.Nodes) == 0:
			return "", "" // no nodes and no models
		case err != nil:
			if capacity.ValidateModelsStrictly(in.Models) != nil {
				return "", "nodes are counted by models that make no sense"
			}
			return err.Error(), ""
		}
		var got []int
		for _, n := range g.Count(in.Nodes) {
			got = append(got, n.Count)
		}
		return cmp.Diff(want.Counts, got), ""
	})
}

// A clusterInput describes the cluster of a case.
type clusterInput struct {
	Models  []api.ResourceModel
	Summary *struct {
		Allocatable, Allocated, Allocating resource.List
		Modelings                          []api.AllocatableModeling
	}
}

func (in *clusterInput) cluster() *api.Cluster {
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "member"}}
	c.Spec.ResourceModels = in.Models
	if s := in.Summary; s != nil {
		c.Status.ResourceSummary = &api.ResourceSummary{
			Allocatable: s.Allocatable, Allocated: s.Allocated, Allocating: s.Allocating, AllocatableModelings: s.Modelings,
		}
	}
	return c
}

func TestGoldenGeneral(t *testing.T) {
	rules := map[string]capacity.Rules{
		karmada1_11: capacity.Karmada111, karmada1_13: capacity.Karmada113, karmadaHead: capacity.Karmada118,
	}
	golden(t, "general", func(t *testing.T, c goldenCase) (diff, fault string) {
		var in struct {
			clusterInput
			Request resource.List
		}
		decode(t, c, c.Input, &in)
		var replica *capacity.Replica
		if in.Request != nil {
			replica = &capacity.Replica{Request: in.Request}
		}
		cluster := in.cluster()
		for version, output := range c.Outputs {
			var want struct {
				Replicas int64
				Panic    string
			}
			decode(t, c, output, &want)
			g := capacity.General{Rules: rules[version]}
			got, err := g.Estimate(cluster, replica)
			switch {
			case want.Panic != "":
				if err == nil {
					return version + ": no error, the original: " + want.Panic, ""
				}
				continue
			case err != nil:
				return version + ": " + err.Error(), ""
			}
			if got.Replicas == want.Replicas {
				continue
			}
			fault = generalFault(cluster, in.Request, g.Rules, want.Replicas, got.Replicas)
			if fault == "" {
				return version + ": " + cmp.Diff(want.Replicas, got.Replicas), ""
			}
		}
		return "", fault
	})
}

// generalFault names the listed fault if the original's answer is wrong and got is
// right, or returns "". It computes the right answer independently.
func generalFault(c *api.Cluster, request resource.List, rule capacity.Rules, want, got int64) string {
	s := c.Status.ResourceSummary
	pods := s.Allocatable[resource.Pods].Value() - s.Allocated[resource.Pods].Value() - s.Allocating[resource.Pods].Value()
	nodes := 0
	for _, m := range s.AllocatableModelings {
		nodes += m.Count
	}
	nothing := true
	for _, q := range request {
		nothing = nothing && q.Sign() <= 0
	}
	unmodelled := false
	for name, q := range request {
		known := false
		for _, m := range c.Spec.ResourceModels {
			for _, r := range m.Ranges {
				known = known || r.Name == name
			}
		}
		unmodelled = unmodelled || q.Sign() > 0 && !known
	}
	switch {
	case pods > capacity.MaxReplicas && int64(int32(pods)) == want && got == capacity.MaxReplicas:
		return "the number of pods wraps"
	case nothing && rule != capacity.Karmada118 && want == int64(-nodes) && got == pods:
		return "nothing requested times the number of nodes wraps"
	case nothing && len(c.Spec.ResourceModels) == 0 && want == 0 && got == pods:
		return "counts without models take nothing where nothing is requested"
	case rule == capacity.Karmada118 && unmodelled && want == 0:
		alone, err := capacity.General{IgnoreModels: true}.Estimate(c, &capacity.Replica{Request: request})
		if err == nil && alone.Replicas == got {
			return "no fall back to the summary for a resource in no model"
		}
	}
	return ""
}

func TestGoldenComponents(t *testing.T) {
	golden(t, "components", func(t *testing.T, c goldenCase) (string, string) {
		var in struct {
			clusterInput
			Components []capacity.Component
		}
		var want struct{ Sets int64 }
		decode(t, c, c.Input, &in)
		decode(t, c, c.Outputs[karmadaHead], &want)
		got, err := capacity.General{}.EstimateSets(in.cluster(), in.Components)
		if err != nil {
			return err.Error(), ""
		}
		if got.Replicas == want.Sets {
			return "", ""
		}
		if in.Summary.Modelings == nil && sameUnits(&in.clusterInput, in.Components) == want.Sets {
			return "", "the unit depends on how a quantity is written"
		}
		return cmp.Diff(want.Sets, got.Replicas), ""
	})
}

// sameUnits estimates with the original's numbers: thousandths for decimal
// notation, whole units for binary notation.
func sameUnits(in *clusterInput, components []capacity.Component) int64 {
	number := func(name resource.Name, q resource.Quantity) resource.Quantity {
		n := q.Value()
		if q.Format() != resource.BinarySI {
			n = q.MilliValue()
		}
		if name == resource.Pods {
			n = q.Value()
		}
		if name == resource.CPU {
			return resource.Milli(n)
		}
		return resource.New(n, resource.DecimalSI)
	}
	convert := func(l resource.List) resource.List {
		c := resource.List{}
		for name, q := range l {
			c[name] = number(name, q)
		}
		return c
	}
	s := *in.Summary
	s.Allocatable, s.Allocated, s.Allocating = convert(s.Allocatable), convert(s.Allocated), convert(s.Allocating)
	var converted []capacity.Component
	for _, c := range components {
		converted = append(converted, capacity.Component{Name: c.Name, Replicas: c.Replicas, Request: convert(c.Request)})
	}
	got, err := capacity.General{}.EstimateSets((&clusterInput{in.Models, &s}).cluster(), converted)
	if err != nil {
		return -1
	}
	return got.Replicas
}
