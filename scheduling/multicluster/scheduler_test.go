package multicluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// add returns a cluster, and puts its score and its availability into the table.
func (f fixed) add(name, region, provider string, score, available int64, zones ...string) *api.Cluster {
	f[name] = struct{ score, available int64 }{score, available}
	return clusterOf(name, func(c *api.Cluster) {
		c.Spec.Region, c.Spec.Provider, c.Spec.Zones = region, provider, zones
	})
}

func scheduler(table fixed) multicluster.Scheduler {
	return multicluster.Scheduler{Scorers: []multicluster.Scorer{table}, Estimators: []capacity.ClusterEstimator{table}}
}

func dynamic() *multicluster.ReplicaScheduling {
	return &multicluster.ReplicaScheduling{
		ReplicaDivisionPreference: multicluster.PreferWeighted,
		WeightPreference:          &multicluster.WeightPreference{DynamicWeight: multicluster.DynamicByAvailable},
	}
}

func constraint(f multicluster.SpreadField, least, most int) multicluster.SpreadConstraint {
	return multicluster.SpreadConstraint{SpreadByField: f, MinGroups: least, MaxGroups: most}
}

func TestSelection(t *testing.T) {
	table := fixed{}
	clusters := []*api.Cluster{
		table.add("a1", "r1", "p1", 100, 10, "z1"),
		table.add("a2", "r1", "p2", 0, 4, "z1", "z2"),
		table.add("b1", "r2", "p1", 0, 30, "z3"),
		table.add("b2", "r2", "p2", 0, 2, "z2"),
		table.add("c1", "r3", "p1", 0, 3, "z4"),
	}
	for _, c := range []struct {
		name        string
		rule        multicluster.SpreadRule
		replicas    int64
		constraints []multicluster.SpreadConstraint
		want        string // chosen clusters or the error
	}{
		{"none", multicluster.Thorough, 5, nil, "a1 b1 a2 c1 b2"},
		{"two clusters", multicluster.Thorough, 5, []multicluster.SpreadConstraint{constraint("cluster", 1, 2)}, "a1 b1"},
		{"one cluster with room", multicluster.Thorough, 20, []multicluster.SpreadConstraint{constraint("cluster", 1, 1)}, "b1"},
		{"two without room", multicluster.Thorough, 45, []multicluster.SpreadConstraint{constraint("cluster", 1, 2)}, "no enough resource when selecting 2 clusters"},
		{"any number", multicluster.Thorough, 45, []multicluster.SpreadConstraint{constraint("cluster", 1, 0)}, "a1 b1 a2 c1 b2"},
		{"no number is none in Karmada", multicluster.AsKarmada, 45, []multicluster.SpreadConstraint{constraint("cluster", 1, 0)}, "no enough resource when selecting 0 clusters"},
		{"too few clusters", multicluster.Thorough, 5, []multicluster.SpreadConstraint{constraint("cluster", 6, 8)}, "the number of feasible clusters is less than spreadConstraint.MinGroups"},
		{"two regions", multicluster.Thorough, 5, []multicluster.SpreadConstraint{constraint("cluster", 1, 3), constraint("region", 2, 2)}, "a1 b1 a2"},
		{"two regions", multicluster.AsKarmada, 5, []multicluster.SpreadConstraint{constraint("cluster", 1, 3), constraint("region", 2, 2)}, "a1 b1 a2"},
		{"more regions than clusters", multicluster.AsKarmada, 5, []multicluster.SpreadConstraint{constraint("cluster", 1, 1), constraint("region", 2, 2)}, "a1 b1"},
		{"more regions than clusters", multicluster.Thorough, 5, []multicluster.SpreadConstraint{constraint("cluster", 1, 1), constraint("region", 2, 2)}, "the number of clusters is less than the cluster spreadConstraint.MinGroups"},
		{"one region with room", multicluster.Thorough, 25, []multicluster.SpreadConstraint{constraint("cluster", 1, 2), constraint("region", 1, 1)}, "b1 b2"},
		{"four regions", multicluster.Thorough, 5, []multicluster.SpreadConstraint{constraint("cluster", 1, 5), constraint("region", 4, 5)}, "the number of feasible region is less than spreadConstraint.MinGroups"},
		{"two providers", multicluster.Thorough, 5, []multicluster.SpreadConstraint{constraint("cluster", 2, 2), constraint("provider", 2, 2)}, "a1 a2"},
		{"two providers", multicluster.AsKarmada, 5, []multicluster.SpreadConstraint{constraint("provider", 2, 2)}, "just support cluster and region spread constraint"},
		{"three zones", multicluster.Thorough, 5, []multicluster.SpreadConstraint{constraint("cluster", 1, 3), constraint("zone", 3, 3)}, "a1 a2 b1"},
		{"one region and two providers", multicluster.Thorough, 3, []multicluster.SpreadConstraint{constraint("cluster", 1, 2), constraint("region", 1, 1), constraint("provider", 2, 2)}, "a1 a2"},
		{"one provider and room", multicluster.Thorough, 40, []multicluster.SpreadConstraint{constraint("cluster", 1, 2), constraint("provider", 1, 1)}, "a1 b1"},
	} {
		t.Run(fmt.Sprint(c.name, " ", c.rule), func(t *testing.T) {
			s := scheduler(table)
			s.Spread = c.rule
			w := &multicluster.Workload{Replicas: c.replicas, Placement: multicluster.Placement{SpreadConstraints: c.constraints, ReplicaScheduling: dynamic()}}
			x := s.Explain(clusters, w)
			got := x.Error
			if x.Selection != nil && len(x.Selection.Clusters) > 0 {
				got = strings.Join(x.Selection.Clusters, " ")
			}
			if got != c.want {
				t.Errorf("chosen: %s, want %s", got, c.want)
			}
		})
	}
}

// A thorough selection meets every constraint or returns an error. If Karmada's
// selection has room and meets all constraints, one on clusters included, both are
// the same.
func TestSelectionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := fixed{}
		var clusters []*api.Cluster
		for i := range rapid.IntRange(1, 8).Draw(t, "clusters") {
			draw := func(prefix string, n int) string {
				return fmt.Sprint(prefix, rapid.IntRange(1, n).Draw(t, prefix))
			}
			zones := []string{draw("z", 3)}
			if rapid.Bool().Draw(t, "two zones") {
				zones = append(zones, "z9")
			}
			clusters = append(clusters, table.add(fmt.Sprint("m", i), draw("r", 3), draw("p", 2),
				rapid.SampledFrom([]int64{0, 100}).Draw(t, "score"), rapid.Int64Range(0, 30).Draw(t, "available"), zones...))
		}
		w := &multicluster.Workload{Replicas: rapid.Int64Range(1, 60).Draw(t, "replicas")}
		w.Placement.ReplicaScheduling = rapid.SampledFrom([]*multicluster.ReplicaScheduling{nil, dynamic()}).Draw(t, "scheduling")
		onlyKarmadas, clustersBounded := true, false
		for _, f := range []multicluster.SpreadField{"cluster", "region", "zone", "provider"} {
			if !rapid.Bool().Draw(t, "constrain "+string(f)) {
				continue
			}
			onlyKarmadas = onlyKarmadas && (f == "cluster" || f == "region")
			clustersBounded = clustersBounded || f == "cluster"
			least := rapid.IntRange(0, 3).Draw(t, "least")
			w.Placement.SpreadConstraints = append(w.Placement.SpreadConstraints, constraint(f, least, max(1, least)+rapid.IntRange(0, 2).Draw(t, "most")))
		}
		s := scheduler(table)
		x := s.Explain(clusters, w)
		meets := func(chosen []string) bool {
			room := int64(0)
			groups := map[multicluster.SpreadField]map[string]bool{"cluster": {}, "region": {}, "zone": {}, "provider": {}}
			for _, name := range chosen {
				room += table[name].available
				for _, c := range clusters {
					if c.Name != name {
						continue
					}
					groups["cluster"][name], groups["region"][c.Spec.Region], groups["provider"][c.Spec.Provider] = true, true, true
					for _, z := range c.Spec.Zones {
						groups["zone"][z] = true
					}
				}
			}
			for _, k := range w.Placement.SpreadConstraints {
				if n := len(groups[k.SpreadByField]); n < k.MinGroups || n > k.MaxGroups {
					return false
				}
			}
			return w.Placement.ReplicaScheduling == nil || len(w.Placement.SpreadConstraints) == 0 || room >= w.Replicas
		}
		chosen := x.Selection.Clusters
		if len(chosen) > 0 && !meets(chosen) {
			t.Fatalf("%v does not meet the constraints", chosen)
		}
		if len(chosen) == 0 && x.Error == "" {
			t.Fatal("no clusters and no error")
		}
		s.Spread = multicluster.AsKarmada
		theirs := s.Explain(clusters, w).Selection.Clusters
		if onlyKarmadas && clustersBounded && len(theirs) > 0 && meets(theirs) {
			if diff := cmp.Diff(theirs, chosen); diff != "" {
				t.Fatalf("Karmada's choice meets everything, and ours is another (-karmada +berth):\n%s", diff)
			}
		}
		// The order of the clusters has no effect.
		s.Spread = multicluster.Thorough
		shuffled := rapid.Permutation(clusters).Draw(t, "shuffled")
		if diff := cmp.Diff(x, s.Explain(shuffled, w)); diff != "" {
			t.Fatalf("the order of the clusters matters:\n%s", diff)
		}
	})
}

func TestScheduleErrors(t *testing.T) {
	table := fixed{}
	m := table.add("m", "", "", 0, 3)
	gone := clusterOf("gone", func(c *api.Cluster) { c.DeletionTimestamp = new(time.Time) })
	taint := clusterOf("t", func(c *api.Cluster) { c.Spec.Taints = []api.Taint{{Key: "k", Effect: "NoSchedule"}} })
	excluded := multicluster.Placement{ClusterAffinity: &multicluster.ClusterAffinity{ExcludeClusters: []string{"m"}}}
	for _, c := range []struct {
		name     string
		clusters []*api.Cluster
		workload multicluster.Workload
		want     string
	}{
		{"no cluster", nil, multicluster.Workload{}, "0/0 clusters are available: no cluster exists."},
		{"only deleted ones", []*api.Cluster{gone}, multicluster.Workload{}, "0/0 clusters are available: no cluster exists."},
		{
			"none fits",
			[]*api.Cluster{m, taint},
			multicluster.Workload{Placement: excluded},
			"0/2 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint, 1 cluster(s) had untolerated taint {k:NoSchedule}.",
		},
		{
			"too many replicas",
			[]*api.Cluster{m},
			multicluster.Workload{Replicas: 4, Placement: multicluster.Placement{ReplicaScheduling: dynamic()}},
			"failed to scale up: Clusters available replicas 3 are not enough to schedule.",
		},
		{"nil cluster", []*api.Cluster{nil}, multicluster.Workload{}, `cluster 0 of the list: "null": is nil`},
		{"no name", []*api.Cluster{{}}, multicluster.Workload{}, "cluster 0 of the list: metadata.name: must not be empty"},
		{"twice", []*api.Cluster{m, m}, multicluster.Workload{}, `cluster m: metadata.name: "m": the cluster is named twice`},
		{"replicas", []*api.Cluster{m}, multicluster.Workload{Name: "a/b", Replicas: -1}, `workload a/b: spec.replicas: "-1": must be 0 to 2147483647`},
		{
			"where it is",
			[]*api.Cluster{m},
			multicluster.Workload{Name: "a/b", Clusters: targets("m", 1, "m", 2)},
			`workload a/b: spec.clusters[1].name: "m": the cluster is named twice`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := scheduler(table).Schedule(c.clusters, &c.workload)
			if fmt.Sprint(err) != c.want || d.Targets != nil {
				t.Errorf("Schedule = %v, %v, want %s", d, err, c.want)
			}
		})
	}
}

func TestPlacementValidate(t *testing.T) {
	var p multicluster.Placement
	err := json.Unmarshal([]byte(`{
		"clusterAffinity": {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}},
		"clusterAffinities": [{"affinityName": "x", "fieldSelector": {"matchExpressions": [{"key": "planet", "operator": "Gt"}]}}],
		"spreadConstraints": [
			{"minGroups": -1, "maxGroups": -2}, {"spreadByField": "cluster", "minGroups": 3, "maxGroups": 2}, {"spreadByField": "galaxy"}, {"spreadByField": "region", "spreadByLabel": "net"}],
		"replicaScheduling": {"replicaDivisionPreference": "Fair", "weightPreference": {
			"dynamicWeight": "Moon", "staticWeightList": [{"targetCluster": {}, "weight": -1}]}}}`), &p)
	if err != nil {
		t.Fatal(err)
	}
	want := `spec.placement.clusterAffinities: "1 affinities": clusterAffinities can not co-exist with clusterAffinity
spec.placement.clusterAffinity.labelSelector: "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Near\"}]}": "Near" is not a valid label selector operator
spec.placement.clusterAffinities[0].fieldSelector.matchExpressions[0].key: "planet": is not a known value
spec.placement.clusterAffinities[0].fieldSelector.matchExpressions[0].operator: "Gt": is not a known value
spec.placement.spreadConstraints[0].minGroups: "-1": must not be negative
spec.placement.spreadConstraints[0].maxGroups: "-2": must not be negative
spec.placement.spreadConstraints[1].spreadByField: "cluster": multiple spread constraints of one field are not allowed
spec.placement.spreadConstraints[1].maxGroups: "2": maxGroups lower than minGroups is not allowed
spec.placement.spreadConstraints[2].spreadByField: "galaxy": is not a known value
spec.placement.spreadConstraints[3].spreadByLabel: "net": spreading by label is not supported
spec.placement.replicaScheduling.replicaDivisionPreference: "Fair": is not a known value
spec.placement.replicaScheduling.weightPreference.dynamicWeight: "Moon": is not a known value
spec.placement.replicaScheduling.weightPreference.staticWeightList[0].weight: "-1": must not be negative`
	if diff := cmp.Diff(want, fmt.Sprint(p.Validate())); diff != "" {
		t.Errorf("Validate differs (-want +got):\n%s", diff)
	}
	if err := (&multicluster.Placement{}).Validate(); err != nil {
		t.Errorf("Validate of the zero Placement: %v", err)
	}
}

// Several affinities are tried in order.
func TestClusterAffinities(t *testing.T) {
	table := fixed{}
	clusters := []*api.Cluster{table.add("small", "", "", 0, 3), table.add("large", "", "", 0, 30)}
	w := &multicluster.Workload{Replicas: 10, Placement: multicluster.Placement{
		ReplicaScheduling: dynamic(),
		ClusterAffinities: []multicluster.ClusterAffinityTerm{
			{AffinityName: "home", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"small"}}},
			{AffinityName: "away", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"large"}}},
		},
	}}
	d, err := scheduler(table).Schedule(clusters, w)
	if want := (multicluster.Decision{Targets: targets("large", 10), Affinity: "away"}); err != nil || !cmp.Equal(want, d) {
		t.Errorf("Schedule = %v, %v, want %v", d, err, want)
	}
	w.Replicas = 100
	if _, err = scheduler(table).Schedule(clusters, w); fmt.Sprint(err) != "failed to scale up: Clusters available replicas 3 are not enough to schedule." {
		t.Errorf("Schedule: %v, want the error of the first affinity", err)
	}
}

// odd is a plugin that breaks its contract.
type odd struct {
	status framework.Status
	score  int64
	panics bool
}

func (odd) Name() string { return "odd" }

func (o odd) Filter(*multicluster.Workload, *api.Cluster) framework.Status {
	if o.panics {
		panic("oh")
	}
	return o.status
}

func (o odd) Score(*multicluster.Workload, *api.Cluster) int64 { return o.score }

func (o odd) Estimate(*api.Cluster, *capacity.Replica) (capacity.Estimate, error) {
	panic("oh")
}

func TestPluginErrors(t *testing.T) {
	m := []*api.Cluster{clusterOf("m")}
	for _, c := range []struct {
		name      string
		scheduler multicluster.Scheduler
		want      string
	}{
		{"panic", multicluster.Scheduler{Filters: []multicluster.Filter{odd{panics: true}}}, "plugin odd: cluster m: panic: oh"},
		{"error", multicluster.Scheduler{Filters: []multicluster.Filter{odd{status: framework.AsStatus(errors.New("oh"))}}}, "plugin odd: cluster m: answered Error: oh"},
		{"score", multicluster.Scheduler{Scorers: []multicluster.Scorer{odd{score: 101}}}, "plugin odd: cluster m: score 101 is not within 0 to 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.scheduler.Schedule(m, &multicluster.Workload{})
			var plugin *multicluster.PluginError
			if fmt.Sprint(err) != c.want || !errors.As(err, &plugin) {
				t.Errorf("Schedule: %v, want %s", err, c.want)
			}
		})
	}
	// If an estimator fails, the others decide for the cluster.
	const want = "estimator odd: cluster m: plugin odd: cluster m: panic: oh"
	w := &multicluster.Workload{Replicas: 2, Placement: multicluster.Placement{ReplicaScheduling: dynamic()}}
	table := fixed{"m": {available: 5}}
	s := multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{odd{}, table}}
	x := s.Explain(m, w)
	if x.Clusters[0].EstimateError != want || x.Clusters[0].Available != 5 {
		t.Errorf("Explain: %+v, want the error %s and room for 5", x.Clusters[0], want)
	}
	d, err := s.Schedule(m, w)
	if err != nil || fmt.Sprint(d.EstimateErrors) != "["+want+"]" {
		t.Errorf("Schedule: %v, %v, want the error %s in the decision", d, err, want)
	}
	// If there are none, the cluster has room for nothing.
	s.Estimators = s.Estimators[:1]
	if x := s.Explain(m, w); x.Clusters[0].Available != 0 {
		t.Errorf("Explain: %+v, want room for none", x.Clusters[0])
	}
	if _, err := s.Schedule(m, w); fmt.Sprint(err) != "failed to scale up: Clusters available replicas 0 are not enough to schedule.\n"+want {
		t.Errorf("Schedule: %v", err)
	}
}

// A malformed cluster gets nothing, and the decision says why.
func TestMalformedClusters(t *testing.T) {
	of := func(name, cpu string) *api.Cluster {
		return clusterOf(name, func(c *api.Cluster) {
			c.Status.ResourceSummary = &api.ResourceSummary{Allocatable: resource.List{
				resource.CPU: resource.MustParse(cpu), resource.Pods: resource.MustParse("110"),
			}}
		})
	}
	w := &multicluster.Workload{
		Replicas: 4, Replica: &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("1")}},
		Placement: multicluster.Placement{ReplicaScheduling: dynamic()},
	}
	d, err := multicluster.Scheduler{}.Schedule([]*api.Cluster{of("bad", "-4"), of("good", "4")}, w)
	if diff := cmp.Diff(targets("good", 4), d.Targets); diff != "" || err != nil {
		t.Errorf("Schedule: %v; Targets differ (-want +got):\n%s", err, diff)
	}
	const text = `estimator general-estimator: cluster bad: status.resourceSummary.allocatable[cpu]: "-4": must not be negative`
	var invalid *api.InvalidError
	if len(d.EstimateErrors) != 1 || d.EstimateErrors[0].Error() != text || !errors.As(d.EstimateErrors[0], &invalid) {
		t.Errorf("EstimateErrors = %v, want %s", d.EstimateErrors, text)
	}
}

func TestScheduleRefuses(t *testing.T) {
	m := []*api.Cluster{clusterOf("m")}
	for _, c := range []struct {
		name      string
		scheduler multicluster.Scheduler
		workload  *multicluster.Workload
		want      string
	}{
		{"no workload", multicluster.Scheduler{}, nil, `workload: "null": is nil`},
		{"no filter", multicluster.Scheduler{Filters: []multicluster.Filter{multicluster.Affinity{}, nil}}, &multicluster.Workload{}, `scheduler: filters[1]: "null": is nil`},
		{"no scorer", multicluster.Scheduler{Scorers: []multicluster.Scorer{nil}}, &multicluster.Workload{}, `scheduler: scorers[0]: "null": is nil`},
		{"a nil pointer for a filter", multicluster.Scheduler{Filters: []multicluster.Filter{(*multicluster.Affinity)(nil)}}, &multicluster.Workload{}, `scheduler: filters[0]: "null": is nil`},
		{"a nil pointer for a scorer", multicluster.Scheduler{Scorers: []multicluster.Scorer{(*multicluster.Locality)(nil)}}, &multicluster.Workload{}, `scheduler: scorers[0]: "null": is nil`},
		{"a nil pointer for an estimator", multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{(*capacity.General)(nil)}}, &multicluster.Workload{}, `scheduler: estimators[0]: "null": is nil`},
		{"no estimator", multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{nil}}, &multicluster.Workload{}, `scheduler: estimators[0]: "null": is nil`},
		{"spread rule", multicluster.Scheduler{Spread: 7}, &multicluster.Workload{}, `scheduler: spread: "7": is not a known value`},
		{
			"method",
			multicluster.Scheduler{Method: 7},
			&multicluster.Workload{Name: "a/b", Replicas: 1},
			`workload a/b: method: "Method(7)": unknown method`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.scheduler.Schedule(m, c.workload); fmt.Sprint(err) != c.want {
				t.Errorf("Schedule: %v, want %s", err, c.want)
			}
			if x := c.scheduler.Explain(m, c.workload); x.Error != c.want {
				t.Errorf("Explain: %s, want %s", x.Error, c.want)
			}
		})
	}
}

func TestExplanation(t *testing.T) {
	table := fixed{}
	clusters := []*api.Cluster{
		table.add("m1", "", "", 100, 4), table.add("m2", "", "", 0, 8), table.add("m3", "", "", 0, 9),
		clusterOf("m4", func(c *api.Cluster) { c.Spec.Taints = []api.Taint{{Key: "k", Effect: "NoSchedule"}} }),
	}
	w := &multicluster.Workload{Name: "default/web", Replicas: 15, Placement: multicluster.Placement{
		ReplicaScheduling: dynamic(), SpreadConstraints: []multicluster.SpreadConstraint{constraint("cluster", 1, 2)},
	}}
	x := scheduler(table).Explain(clusters, w)
	data, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"workload":"default/web","replicas":15,"targets":[{"name":"m2","replicas":7},{"name":"m3","replicas":8}],"clusters":[` +
		`{"cluster":"m1","feasible":true,"scores":[{"plugin":"fixed","score":100}],"score":100,"available":4,"availableBy":"fixed"},` +
		`{"cluster":"m2","feasible":true,"scores":[{"plugin":"fixed","score":0}],"score":0,"available":8,"availableBy":"fixed"},` +
		`{"cluster":"m3","feasible":true,"scores":[{"plugin":"fixed","score":0}],"score":0,"available":9,"availableBy":"fixed"},` +
		`{"cluster":"m4","feasible":false,"plugin":"TaintToleration","reasons":["cluster(s) had untolerated taint {k:NoSchedule}"],"score":0,"available":0}],` +
		`"selection":{"clusters":["m2","m3"],"by":"cluster","swaps":[{"out":"m1","in":"m2"}]},` +
		`"division":{"targets":[{"name":"m2","replicas":7},{"name":"m3","replicas":8}],"step":"scale up","divided":15,` +
		`"weights":[{"name":"m3","weight":9},{"name":"m2","weight":8}]}}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("JSON differs (-want +got):\n%s", diff)
	}
	var table2 strings.Builder
	if err := x.WriteTable(&table2); err != nil {
		t.Fatal(err)
	}
	wantTable := `CLUSTER  SCORE  AVAILABLE  REPLICAS  REASON
m1       100    4          0         not chosen
m2       0      8          7         chosen
m3       0      9          8         chosen
m4       -      -          -         cluster(s) had untolerated taint {k:NoSchedule}
m1 made room for m2
scale up: 15 divided by 2 weights
`
	if diff := cmp.Diff(wantTable, table2.String()); diff != "" {
		t.Errorf("table differs (-want +got):\n%s", diff)
	}
}

// A workload of several components goes as a whole to a cluster with room for a set.
func TestScheduleComponents(t *testing.T) {
	var clusters []*api.Cluster
	for name, cpu := range map[string]string{"small": "4", "large": "8"} {
		clusters = append(clusters, clusterOf(name, func(c *api.Cluster) {
			c.Status.ResourceSummary = &api.ResourceSummary{Allocatable: resource.List{
				resource.CPU: resource.MustParse(cpu), resource.Pods: resource.MustParse("110"),
			}}
		}))
	}
	w := &multicluster.Workload{
		Components: []capacity.Component{
			{Name: "manager", Replicas: 1, Request: resource.List{resource.CPU: resource.MustParse("1")}},
			{Name: "worker", Replicas: 2, Request: resource.List{resource.CPU: resource.MustParse("2")}},
		},
		Placement: multicluster.Placement{
			SpreadConstraints: []multicluster.SpreadConstraint{constraint("cluster", 1, 1)}, ReplicaScheduling: dynamic(),
		},
	}
	d, err := multicluster.Scheduler{}.Schedule(clusters, w)
	if want := targets("large", 0); err != nil || !cmp.Equal(want, d.Targets) {
		t.Errorf("Schedule = %v, %v, want %v", d.Targets, err, want)
	}
	w.Components[0].Replicas = -1
	if _, err := (multicluster.Scheduler{}).Schedule(clusters, w); fmt.Sprint(err) != `workload : spec.components[0].replicas: "-1": must not be negative` {
		t.Errorf("Schedule: %v", err)
	}
}

// An object without replicas goes to every selected cluster.
func TestScheduleWithoutReplicas(t *testing.T) {
	d, err := multicluster.Karmada118().Schedule([]*api.Cluster{clusterOf("b"), clusterOf("a")}, &multicluster.Workload{})
	if want := targets("a", 0, "b", 0); err != nil || !cmp.Equal(want, d.Targets) {
		t.Errorf("Schedule = %v, %v, want %v", d.Targets, err, want)
	}
}

// Weights are stated for clusters. If several rules apply, the greatest counts.
// Clusters without a weight get nothing.
func TestScheduleStaticWeights(t *testing.T) {
	rule := func(weight int64, names ...string) multicluster.StaticClusterWeight {
		return multicluster.StaticClusterWeight{TargetCluster: multicluster.ClusterAffinity{ClusterNames: names}, Weight: weight}
	}
	w := &multicluster.Workload{Replicas: 8, Placement: multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{
		ReplicaDivisionPreference: multicluster.PreferWeighted,
		WeightPreference:          &multicluster.WeightPreference{StaticWeightList: []multicluster.StaticClusterWeight{rule(1, "a", "b"), rule(3, "b")}},
	}}}
	clusters := []*api.Cluster{clusterOf("a"), clusterOf("b"), clusterOf("c")}
	for _, s := range []multicluster.Scheduler{{}, multicluster.Karmada113()} {
		d, err := s.Schedule(clusters, w)
		if want := targets("a", 2, "b", 6); err != nil || !cmp.Equal(want, d.Targets) {
			t.Errorf("Schedule = %v, %v, want %v", d.Targets, err, want)
		}
	}
}

func BenchmarkSchedule(b *testing.B) {
	table := fixed{}
	var clusters []*api.Cluster
	for i := range 50 {
		clusters = append(clusters, table.add(fmt.Sprintf("m%02d", i), fmt.Sprint("r", i%5), "p", 0, int64(100+7*i%40)))
	}
	w := &multicluster.Workload{Replicas: 1000, Placement: multicluster.Placement{
		ReplicaScheduling: dynamic(), SpreadConstraints: []multicluster.SpreadConstraint{constraint("cluster", 1, 20), constraint("region", 2, 3)},
	}}
	s := scheduler(table)
	b.Run("clusters=50/replicas=1000", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Schedule(clusters, w); err != nil {
				b.Fatal(err)
			}
		}
	})
}

type nameless struct{ odd }

func (nameless) Name() string { panic("no name") }

// A plugin whose own name panics is named after its type.
func TestNamelessPlugin(t *testing.T) {
	s := multicluster.Scheduler{Filters: []multicluster.Filter{nameless{odd{panics: true}}}}
	const want = "plugin multicluster_test.nameless: cluster m: panic: oh"
	if _, err := s.Schedule([]*api.Cluster{clusterOf("m")}, &multicluster.Workload{}); fmt.Sprint(err) != want {
		t.Errorf("Schedule: %v, want %s", err, want)
	}
}

// If there are more groups than replicas, the share of a group is one replica,
// however many groups there are.
func TestScoreOfManyGroups(t *testing.T) {
	table := fixed{}
	clusters := []*api.Cluster{table.add("m1", "r1", "", 7, 4), table.add("m2", "r2", "", 0, 0)}
	w := &multicluster.Workload{Replicas: 2, Placement: multicluster.Placement{
		ReplicaScheduling: dynamic(), SpreadConstraints: []multicluster.SpreadConstraint{{SpreadByField: "region", MinGroups: math.MaxInt}},
	}}
	x := scheduler(table).Explain(clusters, w)
	want := []multicluster.Group{{Name: "r1", Score: 1007, Clusters: []string{"m1"}}, {Name: "r2", Clusters: []string{"m2"}}}
	if diff := cmp.Diff(want, x.Selection.Groups["region"]); diff != "" {
		t.Errorf("Groups differ (-want +got):\n%s", diff)
	}
}
