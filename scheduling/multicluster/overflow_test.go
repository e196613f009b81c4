//go:build full

package multicluster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

func TestDivideTiers(t *testing.T) {
	tiers := []multicluster.Candidate{
		{Name: "a", Available: 4}, {Name: "b", Available: 8}, {Name: "c", Available: 0, Tier: 1}, {Name: "d", Available: 5, Tier: 2}, {Name: "e", Available: 5, Tier: 2},
	}
	for _, c := range []struct {
		name     string
		replicas int64
		previous []multicluster.Target
		strategy multicluster.Strategy
		fresh    bool
		want     string
	}{
		{"in the first tier", 6, nil, multicluster.DynamicWeight, false, "[{a 2} {b 4}]"},
		{"over two tiers", 16, nil, multicluster.DynamicWeight, false, "[{a 4} {b 8} {d 2} {e 2}]"},
		{"as few as possible in each", 16, nil, multicluster.Aggregated, false, "[{a 4} {b 8} {d 4}]"},
		{"too many", 23, nil, multicluster.DynamicWeight, false, "Clusters available replicas are not enough to schedule."},
		// The last tier shrinks first; the first one keeps all its replicas.
		{"down", 5, targets("a", 4, "e", 3), multicluster.DynamicWeight, false, "[{a 4} {b 1}]"},
		{"up", 20, targets("a", 4, "e", 3), multicluster.DynamicWeight, false, "[{a 8} {b 8} {d 1} {e 3}]"},
		{"anew", 20, targets("e", 3), multicluster.DynamicWeight, true, "[{a 4} {b 8} {d 3} {e 5}]"},
		{"not with weights", 5, nil, multicluster.StaticWeight, false, `strategy: "StaticWeight": overflowAffinities can only be used together with dynamic weight or aggregated scheduling`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := multicluster.Divide(multicluster.Demand{
				Replicas: c.replicas, Strategy: c.strategy, Previous: c.previous, Fresh: c.fresh, Overflow: true,
			}, tiers)
			got := fmt.Sprint(d.Targets)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("Divide = %s, want %s", got, c.want)
			}
		})
	}
	_, err := multicluster.Divide(multicluster.Demand{Replicas: 1, Strategy: multicluster.DynamicWeight, Overflow: true}, []multicluster.Candidate{{Name: "a", Tier: -1}})
	if want := `cluster a: tier: "-1": must not be negative`; fmt.Sprint(err) != want {
		t.Errorf("Divide: %v, want %s", err, want)
	}
}

// A tier has replicas only if the tiers before it are full. All replicas are given
// out, and no cluster gets more than it can take.
func TestDivideTiersProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var candidates []multicluster.Candidate
		d := multicluster.Demand{
			Replicas: rapid.Int64Range(1, 60).Draw(t, "replicas"), Overflow: true, Fresh: rapid.Bool().Draw(t, "fresh"),
			Strategy: rapid.SampledFrom([]multicluster.Strategy{multicluster.DynamicWeight, multicluster.Aggregated}).Draw(t, "strategy"),
			Method:   rapid.SampledFrom([]multicluster.Method{multicluster.Webster, multicluster.Floor}).Draw(t, "method"),
		}
		can, total := map[string]int64{}, int64(0)
		for i := range rapid.IntRange(1, 6).Draw(t, "clusters") {
			c := multicluster.Candidate{Name: fmt.Sprint("m", i), Available: rapid.Int64Range(0, 20).Draw(t, "available"), Tier: rapid.IntRange(0, 3).Draw(t, "tier")}
			has := rapid.Int64Range(0, 9).Draw(t, "has")
			d.Previous = append(d.Previous, multicluster.Target{Name: c.Name, Replicas: has})
			candidates = append(candidates, c)
			can[c.Name] = c.Available + has
			total += can[c.Name]
		}
		got, err := multicluster.Divide(d, candidates)
		if (err == nil) != (total >= d.Replicas) {
			t.Fatalf("Divide: %v, there is room for %d", err, total)
		}
		if err != nil {
			return
		}
		has, sum := map[string]int64{}, int64(0)
		for _, x := range got.Targets {
			has[x.Name] = x.Replicas
			sum += x.Replicas
		}
		if sum != d.Replicas {
			t.Fatalf("%d given out, want %d", sum, d.Replicas)
		}
		for _, c := range candidates {
			if has[c.Name] > can[c.Name] {
				t.Fatalf("%s gets %d and can take %d", c.Name, has[c.Name], can[c.Name])
			}
			for _, later := range candidates {
				if later.Tier > c.Tier && has[later.Name] > 0 && has[c.Name] < can[c.Name] {
					t.Fatalf("%s has replicas, and %s of an earlier tier room", later.Name, c.Name)
				}
			}
		}
	})
}

func TestScheduleOverflow(t *testing.T) {
	table := fixed{}
	clusters := []*api.Cluster{
		table.add("own", "", "", 0, 5), table.add("near", "", "", 100, 5), table.add("far", "", "", 0, 50), table.add("other", "", "", 0, 99),
	}
	of := func(names ...string) multicluster.ClusterAffinity {
		return multicluster.ClusterAffinity{ClusterNames: names}
	}
	w := &multicluster.Workload{Placement: multicluster.Placement{
		ReplicaScheduling: dynamic(),
		ClusterAffinities: []multicluster.ClusterAffinityTerm{{
			AffinityName: "home", ClusterAffinity: of("own"), OverflowAffinities: []multicluster.OverflowClusterAffinity{
				{AffinityName: "n", ClusterAffinity: of("near", "own")}, {AffinityName: "f", ClusterAffinity: of("far", "near")},
			},
		}},
	}}
	for _, c := range []struct {
		replicas int64
		want     string
	}{
		{4, "[{own 4}]"},
		{8, "[{near 3} {own 5}]"},
		{30, "[{far 20} {near 5} {own 5}]"},
		{61, "Clusters available replicas are not enough to schedule."},
		{0, "[{own 0}]"}, // without pods there is no overflow
	} {
		w.Replicas = c.replicas
		d, err := scheduler(table).Schedule(clusters, w)
		got := fmt.Sprint(d.Targets)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("Schedule of %d = %s, want %s", c.replicas, got, c.want)
		}
	}
	w.Replicas = 8
	x := scheduler(table).Explain(clusters, w)
	got := map[string]int{}
	for _, c := range x.Clusters {
		got[c.Cluster] = c.Tier
	}
	if diff := cmp.Diff(map[string]int{"own": 0, "near": 1, "far": 2, "other": 0}, got); diff != "" || len(x.Division.Tiers) != 2 {
		t.Errorf("%d tiers were divided, want 2; Tier differs (-want +got):\n%s", len(x.Division.Tiers), diff)
	}
	var text strings.Builder
	if err := x.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	if want := "tier 0, scale up: 5 divided by 1 weights\ntier 1, scale up: 3 divided by 1 weights\n"; !strings.HasSuffix(text.String(), want) {
		t.Errorf("table:\n%s\nwant the end %s", text.String(), want)
	}
}

func TestValidateOverflow(t *testing.T) {
	home := multicluster.ClusterAffinity{ClusterNames: []string{"a"}}
	p := multicluster.Placement{
		ClusterAffinities: []multicluster.ClusterAffinityTerm{
			{AffinityName: "x", OverflowAffinities: []multicluster.OverflowClusterAffinity{{AffinityName: "y"}, {AffinityName: "y"}}},
			{AffinityName: "x", ClusterAffinity: home},
		},
		WorkloadAffinity: &multicluster.WorkloadAffinity{
			Affinity: &multicluster.WorkloadAffinityTerm{GroupByLabelKey: "a b"}, AntiAffinity: &multicluster.WorkloadAffinityTerm{GroupByLabelKey: "a b"},
		},
	}
	want := `spec.placement.clusterAffinities[0].overflowAffinities: "2 affinities": overflowAffinities can only be used together with dynamic weight or aggregated scheduling
spec.placement.clusterAffinities[0].overflowAffinities: "2 affinities": overflowAffinities can only be used together with the inline ClusterAffinity
spec.placement.clusterAffinities[0].overflowAffinities[1].affinityName: "y": overflow affinity name must be unique and must not duplicate the primary group's affinityName
spec.placement.clusterAffinities[1].affinityName: "x": each affinity term in a policy must have a unique name
spec.placement.workloadAffinity.affinity.groupByLabelKey: "a b": is not a valid label key
spec.placement.workloadAffinity.antiAffinity.groupByLabelKey: "a b": is not a valid label key
spec.placement.workloadAffinity: "a b": affinity and antiAffinity must not use the same groupByLabelKey`
	if diff := cmp.Diff(want, fmt.Sprint(p.Validate())); diff != "" {
		t.Errorf("Validate differs (-want +got):\n%s", diff)
	}
	nameless := multicluster.ClusterAffinityTerm{ClusterAffinity: home, OverflowAffinities: []multicluster.OverflowClusterAffinity{{}}}
	p = multicluster.Placement{ReplicaScheduling: dynamic(), ClusterAffinities: []multicluster.ClusterAffinityTerm{nameless, {}}}
	want = `spec.placement.clusterAffinities[0].overflowAffinities[0].affinityName: must not be empty
spec.placement.clusterAffinities[1].affinityName: must not be empty`
	if diff := cmp.Diff(want, fmt.Sprint(p.Validate())); diff != "" {
		t.Errorf("Validate of names that are empty differs (-want +got):\n%s", diff)
	}
}

func TestWorkloadAffinity(t *testing.T) {
	term := func(key string) *multicluster.WorkloadAffinityTerm {
		return &multicluster.WorkloadAffinityTerm{GroupByLabelKey: key}
	}
	both := multicluster.Placement{WorkloadAffinity: &multicluster.WorkloadAffinity{Affinity: term("with"), AntiAffinity: term("not")}}
	of := func(name string, labels map[string]string, on ...any) *multicluster.Workload {
		return &multicluster.Workload{Name: name, Kind: "Deployment", Labels: labels, Placement: both, Clusters: targets(on...)}
	}
	x := map[string]string{"with": "x", "not": "x"}
	for _, c := range []struct {
		name           string
		workload       *multicluster.Workload
		others         []*multicluster.Workload
		together, anti bool // whether cluster m passes
	}{
		{"no others", of("n/w", x), nil, true, true},
		{"one here", of("n/w", x), []*multicluster.Workload{of("n/o", x, "m", 0)}, true, false},
		{"one elsewhere", of("n/w", x), []*multicluster.Workload{of("n/o", x, "k", 1)}, false, true},
		{"one here, one elsewhere", of("n/w", x), []*multicluster.Workload{of("n/o", x, "m", 1), of("n/p", x, "k", 1)}, false, false},
		{"one nowhere yet", of("n/w", x), []*multicluster.Workload{of("n/o", x)}, true, true},
		{"in another namespace", of("n/w", x), []*multicluster.Workload{of("o/o", x, "k", 1, "m", 1)}, true, true},
		{"of another group", of("n/w", x), []*multicluster.Workload{of("n/o", map[string]string{"with": "", "not": ""}, "k", 1)}, true, true},
		{"of no group", of("n/w", nil), []*multicluster.Workload{of("n/o", nil, "k", 1)}, true, true},
		{"itself", of("n/w", x), []*multicluster.Workload{of("n/w", x, "k", 1)}, true, true},
		{"it is here", of("n/w", x, "m", 1), []*multicluster.Workload{of("n/o", x, "k", 1), of("n/p", x, "m", 1)}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (multicluster.AffinityToWorkloads{Others: c.others}).Filter(c.workload, clusterOf("m")).IsSuccess(); got != c.together {
				t.Errorf("affinity passes: %v, want %v", got, c.together)
			}
			if got := (multicluster.AntiAffinityToWorkloads{Others: c.others}).Filter(c.workload, clusterOf("m")).IsSuccess(); got != c.anti {
				t.Errorf("anti-affinity passes: %v, want %v", got, c.anti)
			}
		})
	}
	s := multicluster.Scheduler{Filters: []multicluster.Filter{multicluster.AffinityToWorkloads{Others: []*multicluster.Workload{nil}}}}
	const want = `plugin WorkloadAffinity: cluster m: answered Error: others[0]: "null": is nil`
	if _, err := s.Schedule([]*api.Cluster{clusterOf("m")}, of("n/w", x)); fmt.Sprint(err) != want {
		t.Errorf("Schedule: %v, want %s", err, want)
	}
}

// Assumed workloads leave less room on the nodes where they may run.
func TestNodesBesideAssumed(t *testing.T) {
	m := withNodes(t, "m", api.MakeNode("", "4", "16Gi").Taint("k:NoSchedule"), api.MakeNode("", "4", "16Gi"), api.MakeNode("", "4", "16Gi"))
	n := multicluster.Nodes{Snapshots: map[string]*framework.Snapshot{"m": m.Snapshot}, Filter: profile().Filter}
	one := &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("1")}}
	set := []capacity.Component{{Replicas: 3, Request: one.Request}}
	n.Assumed = map[string][]capacity.Assumed{"m": {{Components: []capacity.Component{{Replicas: 5, Request: one.Request}}}}}
	r, err := n.Explain(m.Cluster, one)
	if err != nil || r.Replicas != 3 || r.AssumedPods != 5 { // 4 on the second node and 1 on the third
		t.Errorf("Explain = %+v, %v, want 3 beside 5", r, err)
	}
	if e, err := n.EstimateSets(m.Cluster, set); err != nil || e.Replicas != 1 {
		t.Errorf("EstimateSets = %v, %v, want 1", e, err)
	}
	n.Assumed["m"][0].Components[0].Replicas = -1
	const want = `cluster m: assumed[0].components[0].replicas: "-1": must not be negative`
	if _, err := n.Estimate(m.Cluster, one); fmt.Sprint(err) != want {
		t.Errorf("Estimate: %v, want %s", err, want)
	}
	if _, err := n.EstimateSets(nil, set); fmt.Sprint(err) != `cluster: "null": is nil` {
		t.Errorf("EstimateSets of nil: %v", err)
	}
	if _, err := n.Estimate(nil, one); fmt.Sprint(err) != `cluster: "null": is nil` {
		t.Errorf("Estimate of nil: %v", err)
	}
}

// The search ends in time if many combinations of regions do not suffice.
func TestSelectionAmongManyRegions(t *testing.T) {
	table := fixed{}
	var clusters []*api.Cluster
	for i := range 15 {
		clusters = append(clusters, table.add(fmt.Sprint("m", i), fmt.Sprint("r", i), "", 0, 2))
	}
	w := &multicluster.Workload{Replicas: 100, Placement: multicluster.Placement{
		ReplicaScheduling: dynamic(), SpreadConstraints: []multicluster.SpreadConstraint{constraint("region", 2, 0), constraint("cluster", 7, 0)},
	}}
	if _, err := scheduler(table).Schedule(clusters, w); fmt.Sprint(err) == "<nil>" {
		t.Error("Schedule finds room for 100 in 30")
	}
}
