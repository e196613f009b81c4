package multicluster_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// A goldenCase is a recorded answer of Karmada, by version.
type goldenCase struct {
	ID      string                     `json:"id"`
	Kind    string                     `json:"kind"`
	Input   json.RawMessage            `json:"input"`
	Outputs map[string]json.RawMessage `json:"outputs"`
}

const (
	karmada1_13 = "v1.13.0"
	karmadaHead = "head-f8fdd02df"
)

var methods = map[string]multicluster.Method{karmada1_13: multicluster.Floor, karmadaHead: multicluster.Webster}

// golden runs check on every case of a kind, those in testdata and those in the
// folder that BERTH_VECTORS names, and prints how many failed. check returns
// what differs, "" if nothing, and the listed fault of the original by which it
// differs rightly.
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
		for _, c := range readCases(t, file, kind) {
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
		}
	}
	for fault, n := range faults {
		t.Logf("karmada/%s: %d cases differ by a fault of the original: %s", kind, n, fault)
	}
	fmt.Printf("golden karmada/%s: %d cases, %d mismatches\n", kind, cases, mismatches)
}

func readCases(t *testing.T, file, kind string) []goldenCase {
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
	var cases []goldenCase
	s := bufio.NewScanner(z)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var c goldenCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if c.Kind == kind {
			cases = append(cases, c)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return cases
}

func decode(t *testing.T, c goldenCase, data []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
}

// An answer is what the original returned; with random ties, everything it was
// seen to return.
type answer struct {
	Result   []multicluster.Target
	Error    string
	Panic    string
	Observed []answer
}

// differs compares the targets, or the error if it is not nil, with an answer.
func (a answer) differs(got []multicluster.Target, err error) string {
	if len(a.Observed) > 0 {
		for _, o := range a.Observed {
			if o.differs(got, err) == "" {
				return ""
			}
		}
		return fmt.Sprintf("%v is none of %d answers seen", got, len(a.Observed))
	}
	if err != nil || a.Error != "" {
		return cmp.Diff(a.Error, fmt.Sprint(err))
	}
	if len(got) == 0 && len(a.Result) == 0 {
		return ""
	}
	return cmp.Diff(a.Result, got)
}

func TestGoldenWeights(t *testing.T) {
	golden(t, "weights", func(t *testing.T, c goldenCase) (string, string) {
		var in struct {
			Replicas int64
			UID      framework.UID
			Init     []multicluster.Target
			Weights  []struct {
				Name         string
				Weight, Last int64
			}
		}
		decode(t, c, c.Input, &in)
		var weights []multicluster.Weight
		for _, w := range in.Weights {
			weights = append(weights, multicluster.Weight{Name: w.Name, Weight: w.Weight, Previous: w.Last})
		}
		for version, output := range c.Outputs {
			var want answer
			decode(t, c, output, &want)
			got, err := methods[version].Divide(in.Replicas, weights, in.Init, multicluster.NameOrderOf(in.UID))
			if diff := want.differs(got, err); diff != "" {
				return version + ": " + diff, ""
			}
		}
		return "", ""
	})
}

func TestGoldenDivide(t *testing.T) {
	strategies := map[string]multicluster.Strategy{
		"duplicated": multicluster.Duplicated, "static": multicluster.StaticWeight, "static-default": multicluster.StaticWeight,
		"dynamic": multicluster.DynamicWeight, "aggregated": multicluster.Aggregated,
	}
	golden(t, "divide", func(t *testing.T, c goldenCase) (diff, fault string) {
		var in struct {
			Replicas int64
			UID      framework.UID
			Strategy string
			Fresh    bool
			Previous []multicluster.Target
			Clusters []struct {
				Name      string
				Available int64
			}
			StaticWeights []struct {
				Names  []string
				Weight int64
			}
		}
		decode(t, c, c.Input, &in)
		var candidates []multicluster.Candidate
		for _, cluster := range in.Clusters {
			n := multicluster.Candidate{Name: cluster.Name, Available: cluster.Available}
			if in.Strategy == "static-default" { // no weights are stated
				n.Weight = 1
			}
			for _, rule := range in.StaticWeights {
				if slices.Contains(rule.Names, cluster.Name) {
					n.Weight = max(n.Weight, rule.Weight)
				}
			}
			candidates = append(candidates, n)
		}
		for version, output := range c.Outputs {
			var want answer
			decode(t, c, output, &want)
			d := multicluster.Demand{
				Replicas: in.Replicas, Strategy: strategies[in.Strategy], Method: methods[version],
				Ties: multicluster.NameOrderOf(in.UID), Previous: in.Previous, Fresh: in.Fresh,
			}
			got, err := multicluster.Divide(d, candidates)
			diff := want.differs(got.Targets, err)
			if diff == "" {
				continue
			}
			if version == karmada1_13 && got.Step == multicluster.StepScaleDown {
				// 1.13 scales down among all clusters that had replicas.
				all := candidates
				for _, p := range in.Previous {
					if !slices.ContainsFunc(all, func(c multicluster.Candidate) bool { return c.Name == p.Name }) {
						all = append(all, multicluster.Candidate{Name: p.Name})
					}
				}
				if again, err := multicluster.Divide(d, all); len(all) > len(candidates) && want.differs(again.Targets, err) == "" {
					fault = "scaling down gives replicas to removed clusters"
					continue
				}
			}
			return version + ": " + diff, ""
		}
		return "", fault
	})
}
