package multicluster_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// TestWorkIsBounded: a placement whose affinities or weights would cost minutes is refused before
// anything is asked. Each kind of part counts.
func TestWorkIsBounded(t *testing.T) {
	const clusters = 100
	var list []*api.Cluster
	for i := range clusters {
		list = append(list, &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("m", i)}})
	}
	labels := &api.LabelSelector{MatchLabels: map[string]string{"a": "1"}}
	affinity := func(n int, a multicluster.ClusterAffinity) multicluster.Placement {
		p := multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}}
		for i := range n {
			p.ClusterAffinities = append(p.ClusterAffinities, multicluster.ClusterAffinityTerm{AffinityName: fmt.Sprint(i), ClusterAffinity: a})
		}
		return p
	}
	weights := func(n int, preference multicluster.DivisionPreference) multicluster.Placement {
		w := &multicluster.WeightPreference{}
		for range n {
			w.StaticWeightList = append(w.StaticWeightList, multicluster.StaticClusterWeight{TargetCluster: multicluster.ClusterAffinity{LabelSelector: labels}, Weight: 1})
		}
		return multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: preference, WeightPreference: w}}
	}
	overflow := affinity(1, multicluster.ClusterAffinity{ClusterNames: []string{"m1"}})
	for i := range 110_000 {
		overflow.ClusterAffinities[0].OverflowAffinities = append(overflow.ClusterAffinities[0].OverflowAffinities, multicluster.OverflowClusterAffinity{AffinityName: fmt.Sprint("o", i), ClusterAffinity: multicluster.ClusterAffinity{LabelSelector: labels}})
	}
	names, values := strings.Split(strings.Repeat("m,", 1_700_000), ","), strings.Split(strings.Repeat("m,", 210_000), ",")
	for name, tt := range map[string]struct {
		placement multicluster.Placement
		refused   bool
	}{
		"no affinity":           {multicluster.Placement{}, false},
		"some affinities":       {affinity(100, multicluster.ClusterAffinity{LabelSelector: labels}), false},
		"many affinities":       {affinity(20_000, multicluster.ClusterAffinity{}), true},
		"some weights":          {weights(1000, multicluster.PreferWeighted), false},
		"many weights":          {weights(110_000, multicluster.PreferWeighted), true},
		"weights without use":   {weights(110_000, multicluster.PreferAggregated), false},
		"many overflow tiers":   {overflow, true},
		"an affinity of names":  {affinity(1, multicluster.ClusterAffinity{ClusterNames: names}), true},
		"an affinity of others": {affinity(1, multicluster.ClusterAffinity{ExcludeClusters: names}), true},
		"an affinity of values": {affinity(1, multicluster.ClusterAffinity{FieldSelector: &multicluster.FieldSelector{MatchExpressions: []api.NodeSelectorRequirement{{Key: "region", Operator: api.NodeSelectorOpIn, Values: values}}}}), true},
		"an affinity of labels": {affinity(1, multicluster.ClusterAffinity{LabelSelector: &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: "a", Operator: api.LabelSelectorOpIn, Values: values}}}}), true},
	} {
		w := &multicluster.Workload{Name: "a/b", Replicas: 1, Placement: tt.placement}
		_, err := multicluster.Scheduler{}.Schedule(list, w)
		var invalid *api.InvalidError
		refused := errors.As(err, &invalid) && invalid.Field == "spec.placement"
		if refused != tt.refused {
			t.Errorf("%s: %.200v, want refused to be %v", name, err, tt.refused)
		}
		if refused && (invalid.Object != "workload a/b" || !strings.Contains(invalid.Value, "for 100 clusters, more than 20000000")) {
			t.Errorf("%s: %v, want an error that names the workload and the steps", name, err)
		}
	}
	components := &multicluster.Workload{Name: "a/b", Placement: affinity(500, multicluster.ClusterAffinity{})}
	for range 500 {
		components.Components = append(components.Components, capacity.Component{Replicas: 1, Request: resource.List{resource.CPU: resource.MustParse("1")}})
	}
	var invalid *api.InvalidError
	if _, err := (multicluster.Scheduler{}).Schedule(list, components); !errors.As(err, &invalid) || invalid.Field != "spec.placement" {
		t.Errorf("500 affinities for 500 components: %v, want an error", err)
	}
}

// TestPlaceLeavesOutHopelessAffinities: an affinity that selects no cluster changes nothing for the
// others in Federation.Place, and its cost does not come again in each round.
func TestPlaceLeavesOutHopelessAffinities(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for _, clusters := range []int{10, 40} {
		for _, spread := range []bool{false, true} {
			var members []multicluster.Member
			for i := range clusters {
				members = append(members, withNodes(t, fmt.Sprintf("c%02d", i), api.MakeNode("", "64", "256Gi")))
			}
			place := func(affinities ...multicluster.ClusterAffinity) *multicluster.Placed {
				t.Helper()
				f, err := multicluster.NewFederation(multicluster.Scheduler{}, profile(), members)
				if err != nil {
					t.Fatal(err)
				}
				p := multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}}
				for i, a := range affinities {
					p.ClusterAffinities = append(p.ClusterAffinities, multicluster.ClusterAffinityTerm{AffinityName: fmt.Sprint(i), ClusterAffinity: a})
				}
				if spread {
					p.SpreadConstraints = []multicluster.SpreadConstraint{{SpreadByField: multicluster.SpreadByCluster, MinGroups: 1, MaxGroups: clusters}}
				}
				replica := capacity.ReplicaOf(api.MakePod("p").Requests("1m", "1Mi").HostPort(80).Obj()) // one for each node
				placed, err := f.Place(&multicluster.Workload{Name: "x/p", Replicas: 500, Replica: replica, Placement: p})
				if err != nil {
					t.Fatal(err)
				}
				for _, pod := range placed.Pods {
					for _, m := range members {
						if m.Cluster.Name == pod.Cluster {
							if err := m.Snapshot.RemovePod(pod.Pod, pod.Node); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				return placed
			}
			nothing := multicluster.ClusterAffinity{ClusterNames: []string{"nowhere"}}
			many := []multicluster.ClusterAffinity{{}}
			for range 20_000_000 / (20 * clusters) {
				many = append(many, nothing) // the steps of a decision, if it fails
			}
			many[0], many[len(many)-1] = many[len(many)-1], many[0]
			want := place()
			for name, got := range map[string]*multicluster.Placed{"one more": place(nothing, multicluster.ClusterAffinity{}), "many more": place(many...)} {
				if len(want.Pods) != clusters || len(got.Pods) != clusters || got.Unplaced != want.Unplaced || got.Reason != want.Reason {
					t.Errorf("%d clusters, spread %v, %s: %d pods, %d left, %q; want %d, %d, %q", clusters, spread, name, len(got.Pods), got.Unplaced, got.Reason, len(want.Pods), want.Unplaced, want.Reason)
				}
			}
		}
	}
}

// TestPlaceWorkIsBounded: the rounds of Federation.Place share a bound. Beyond it nothing is placed.
func TestPlaceWorkIsBounded(t *testing.T) {
	const clusters = 40
	var members []multicluster.Member
	names := make([]string, 0, 3_900_000) // a list of names is a step for eight of them
	for i := range clusters {
		names = append(names, fmt.Sprintf("c%02d", i))
		members = append(members, withNodes(t, names[i], api.MakeNode("", "64", "256Gi")))
	}
	for len(names) < cap(names) {
		names = append(names, "nowhere")
	}
	f, err := multicluster.NewFederation(multicluster.Scheduler{}, profile(), members)
	if err != nil {
		t.Fatal(err)
	}
	p := multicluster.Placement{ClusterAffinity: &multicluster.ClusterAffinity{ClusterNames: names}, ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}}
	replica := capacity.ReplicaOf(api.MakePod("p").Requests("1m", "1Mi").HostPort(80).Obj())
	_, err = f.Place(&multicluster.Workload{Name: "x/p", Replicas: 500, Replica: replica, Placement: p})
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(invalid.Value, "more than 100000000") {
		t.Errorf("%v, want an error about the steps of all rounds", err)
	}
	for _, m := range members {
		for i := range m.Snapshot.Len() {
			if n := len(m.Snapshot.At(i).Pods); n > 0 {
				t.Errorf("%d pods are left on cluster %s", n, m.Cluster.Name)
			}
		}
	}
}

// askedEstimator counts how often it is asked.
type askedEstimator struct{ asked *int }

func (askedEstimator) Name() string { return "asked" }

func (e askedEstimator) Estimate(*api.Cluster, *capacity.Replica) (capacity.Estimate, error) {
	*e.asked++
	return capacity.Estimate{Replicas: 1}, nil
}

// TestEstimatesAreSharedByAffinities: estimators are asked about a cluster once for a decision,
// however many affinities are short of room, and with the same answer for each.
func TestEstimatesAreSharedByAffinities(t *testing.T) {
	asked := 0
	s := multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{askedEstimator{&asked}}}
	var list []*api.Cluster
	for i := range 7 {
		list = append(list, &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("m", i)}})
	}
	p := multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}}
	for i := range 5 { // the first i+1 clusters; only the last affinity has room for five
		term := multicluster.ClusterAffinityTerm{AffinityName: fmt.Sprint(i)}
		for k := range i + 1 {
			term.ClusterNames = append(term.ClusterNames, fmt.Sprint("m", 2*k%7))
		}
		p.ClusterAffinities = append(p.ClusterAffinities, term)
	}
	w := &multicluster.Workload{Name: "a/b", Replicas: 5, Placement: p, Replica: &capacity.Replica{}}
	d, err := s.Schedule(list, w)
	if err != nil || d.Affinity != "4" || len(d.Targets) != 5 {
		t.Errorf("%+v, %v; want five targets of the last affinity", d, err)
	}
	if asked != 5 {
		t.Errorf("asked %d times about five clusters", asked)
	}
	x := s.Explain(list, w)
	for _, c := range x.Clusters {
		if want := int64(1); c.Feasible && (c.Available != want || c.AvailableBy != "asked") {
			t.Errorf("cluster %s: %+v, want what the estimator said", c.Cluster, c)
		}
	}
}

// TestComponentsAreBounded: a workload of too many components is refused.
func TestComponentsAreBounded(t *testing.T) {
	w := &multicluster.Workload{Name: "a/b", Components: make([]capacity.Component, 1001)}
	_, err := multicluster.Scheduler{}.Schedule([]*api.Cluster{{ObjectMeta: api.ObjectMeta{Name: "m"}}}, w)
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || invalid.Field != "spec.components" || invalid.Value != "1001 components" {
		t.Errorf("%v, want an error that names the components", err)
	}
}

// A decision compiles the selectors of an affinity once, not for each cluster.
func TestAffinitiesAreCompiledOnce(t *testing.T) {
	labels := map[string]string{}
	for i := range 5000 {
		labels[fmt.Sprint("k", i)] = ""
	}
	w := &multicluster.Workload{Name: "w", Replicas: 1}
	w.Placement.ReplicaScheduling = &multicluster.ReplicaScheduling{ReplicaSchedulingType: multicluster.TypeDivided, ReplicaDivisionPreference: multicluster.PreferAggregated}
	w.Placement.ClusterAffinities = []multicluster.ClusterAffinityTerm{{
		AffinityName:       "a",
		ClusterAffinity:    multicluster.ClusterAffinity{LabelSelector: &api.LabelSelector{MatchLabels: labels}},
		OverflowAffinities: []multicluster.OverflowClusterAffinity{{ClusterAffinity: multicluster.ClusterAffinity{LabelSelector: &api.LabelSelector{MatchLabels: labels}}}},
	}}
	bytesFor := func(n int) uint64 {
		var clusters []*api.Cluster
		for i := range n {
			clusters = append(clusters, &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("c", i)}})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var unfit *multicluster.FitError
		if _, err := (multicluster.Scheduler{}).Schedule(clusters, w); !errors.As(err, &unfit) {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, many := bytesFor(1), bytesFor(400); many > 3*one {
		t.Errorf("a decision takes %d bytes for one cluster and %d for 400", one, many)
	}
}
