package multicluster_test

import (
	"errors"
	"fmt"
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
