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

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
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

// golden runs check on every case of a kind, from testdata and from the folder named
// by BERTH_VECTORS, and prints how many failed. check returns the difference, "" if
// none. If the difference is right because of a listed fault of the original, it
// returns that fault too.
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

// An answer is what the original returned; with random ties, it holds all results
// seen.
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
			UID      api.UID
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
			UID      api.UID
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
		for i, cluster := range in.Clusters {
			n := multicluster.Candidate{Name: cluster.Name, Available: cluster.Available, Rank: i}
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

// fixed scores and estimates clusters by a table.
type fixed map[string]struct{ score, available int64 }

func (f fixed) Name() string { return "fixed" }

func (f fixed) Score(_ *multicluster.Workload, c *api.Cluster) int64 { return f[c.Name].score }

func (f fixed) Estimate(c *api.Cluster, _ *capacity.Replica) (capacity.Estimate, error) {
	return capacity.Estimate{Replicas: f[c.Name].available}, nil
}

func TestGoldenSelect(t *testing.T) {
	schedulings := map[string]*multicluster.ReplicaScheduling{
		"duplicated": nil,
		"aggregated": {ReplicaDivisionPreference: multicluster.PreferAggregated},
		"static":     {ReplicaDivisionPreference: multicluster.PreferWeighted},
		"dynamic": {
			ReplicaDivisionPreference: multicluster.PreferWeighted,
			WeightPreference:          &multicluster.WeightPreference{DynamicWeight: multicluster.DynamicByAvailable},
		},
	}
	golden(t, "select", func(t *testing.T, c goldenCase) (string, string) {
		var in struct {
			Replicas int64
			Strategy string
			Previous []multicluster.Target
			Clusters []struct {
				Name, Region, Provider string
				Zones                  []string
				Score, Available       int64
			}
			Constraints []struct {
				By       multicluster.SpreadField
				Min, Max int
			}
		}
		decode(t, c, c.Input, &in)
		table := fixed{}
		var clusters []*api.Cluster
		for _, k := range in.Clusters {
			table[k.Name] = struct{ score, available int64 }{k.Score, k.Available}
			clusters = append(clusters, &api.Cluster{
				ObjectMeta: api.ObjectMeta{Name: k.Name},
				Spec:       api.ClusterSpec{Region: k.Region, Provider: k.Provider, Zones: k.Zones},
			})
		}
		w := &multicluster.Workload{Replicas: in.Replicas, Clusters: in.Previous}
		w.Placement.ReplicaScheduling = schedulings[in.Strategy]
		for _, k := range in.Constraints {
			w.Placement.SpreadConstraints = append(w.Placement.SpreadConstraints,
				multicluster.SpreadConstraint{SpreadByField: k.By, MinGroups: k.Min, MaxGroups: k.Max})
		}
		fault := ""
		for version, output := range c.Outputs {
			type result struct {
				Clusters []string
				Error    string
				Panic    string `json:"-"`
				Scores   struct{ Regions map[string]int64 }
			}
			var want result
			var panicked struct{ Panic string }
			decode(t, c, output, &want)
			decode(t, c, output, &panicked)
			if panicked.Panic != "" {
				// Later versions answer, and so does this package.
				fault = "dividing by the number of clusters with room, when there are none"
				want = result{}
				decode(t, c, c.Outputs[karmadaHead], &want)
			}
			s := multicluster.Scheduler{
				Scorers: []multicluster.Scorer{table}, Estimators: []capacity.ClusterEstimator{table},
				Spread: multicluster.AsKarmada, Method: methods[version],
			}
			x := s.Explain(clusters, w)
			got := result{Clusters: x.Selection.Clusters}
			if len(got.Clusters) == 0 {
				got.Clusters, got.Error = nil, x.Error
			}
			if regions, ok := x.Selection.Groups[multicluster.SpreadByRegion]; ok {
				got.Scores.Regions = map[string]int64{}
				for _, r := range regions {
					got.Scores.Regions[r.Name] = r.Score
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				return version + ": " + diff, ""
			}
		}
		return "", fault
	})
}

func TestGoldenNode(t *testing.T) {
	golden(t, "node", func(t *testing.T, c goldenCase) (string, string) {
		type list = resource.List
		var in struct {
			Nodes []struct {
				Name          string
				Labels        map[string]string
				Allocatable   list
				Taints        []api.Taint
				Unschedulable bool
				Pods          []list
			}
			Request      list
			NodeSelector map[string]string
			NodeAffinity *api.NodeSelector
			Tolerations  []api.Toleration
		}
		var want struct {
			PerNode  []int64
			Replicas int64
		}
		decode(t, c, c.Input, &in)
		decode(t, c, c.Outputs[karmada1_13], &want)
		s := framework.NewSnapshot(framework.ZoneInterleaved)
		for _, n := range in.Nodes {
			node := &api.Node{ObjectMeta: api.ObjectMeta{Name: n.Name, Labels: n.Labels}}
			node.Spec.Taints, node.Spec.Unschedulable, node.Status.Allocatable = n.Taints, n.Unschedulable, n.Allocatable
			if err := s.AddNode(node); err != nil {
				t.Fatalf("%s: %v", c.ID, err)
			}
			for i, request := range n.Pods {
				p, err := s.NewPodInfo(podWith(fmt.Sprint(n.Name, i), request))
				if err != nil {
					t.Fatalf("%s: %v", c.ID, err)
				}
				if err := s.AddPod(p, n.Name); err != nil {
					t.Fatalf("%s: %v", c.ID, err)
				}
			}
		}
		pod := podWith("replica", in.Request)
		pod.Spec.NodeSelector, pod.Spec.Tolerations = in.NodeSelector, in.Tolerations
		if in.NodeAffinity != nil {
			pod.Spec.Affinity = &api.Affinity{
				NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: in.NodeAffinity},
			}
		}
		nodes := multicluster.Nodes{
			Snapshots: map[string]*framework.Snapshot{"member": s},
			Filter:    []framework.Plugin{filter.NodeUnschedulable{}, filter.TaintToleration{}, filter.NodeAffinity{}},
		}
		r, err := nodes.Explain(&api.Cluster{ObjectMeta: api.ObjectMeta{Name: "member"}}, &capacity.Replica{Pod: pod})
		if err != nil {
			return err.Error(), ""
		}
		var got []int64
		for _, n := range r.Nodes {
			if n.Plugin != "" {
				got = append(got, -1)
			} else {
				got = append(got, n.Replicas)
			}
		}
		if r.Replicas != want.Replicas {
			return cmp.Diff(want.Replicas, r.Replicas), ""
		}
		return cmp.Diff(want.PerNode, got), ""
	})
}

func podWith(name string, request resource.List) *api.Pod {
	p := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name}}
	p.Spec.Containers = []api.Container{{Name: "main", Resources: api.ResourceRequirements{Requests: request}}}
	return p
}
