package scoring_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scoring"
)

// TestConformance runs the conformance kit on every plugin that needs only pods and
// nodes, in its zero value and with every field set.
func TestConformance(t *testing.T) {
	several := []scoring.ResourceSpec{{Name: "memory", Weight: 1}, {Name: gpu}, {Name: "cpu"}, {Name: "ephemeral-storage"}}
	shape := scoring.Shape{{0, 3}, {40, 10}, {100, 0}}
	avoiding := []string{
		`{"preferAvoidPods": [{"podSignature": {"podController": {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1", "controller": true}}}]}`,
		`{"preferAvoidPods": 7}`,
	}
	for _, test := range []struct {
		name   string
		plugin framework.Plugin
	}{
		{"LeastAllocated", scoring.NodeResourcesFit{}},
		{"MostAllocated", scoring.NodeResourcesFit{Strategy: scoring.MostAllocated, Resources: several}},
		{"RequestedToCapacityRatio", scoring.NodeResourcesFit{Strategy: scoring.RequestedToCapacityRatio, Resources: several, Shape: shape}},
		{"LeastAllocated 1.18", scoring.NodeResourcesFit{Rules: scoring.Kubernetes118}},
		{"RequestedToCapacityRatio 1.18", scoring.NodeResourcesFit{Rules: scoring.Kubernetes118, Strategy: scoring.RequestedToCapacityRatio, Resources: several, Shape: shape}},
		{"Balanced delta", scoring.NodeResourcesBalancedAllocation{Resources: several}},
		{"Balanced std", scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes134}},
		{"Balanced 1.18", scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118}},
		{"TaintToleration", scoring.TaintToleration{}},
		{"TaintToleration comparing", scoring.TaintToleration{CompareNumbers: true}},
		{"NodeAffinity", scoring.NodeAffinity{}},
		{"NodeAffinity added", scoring.NodeAffinity{AddedAffinity: prefers(5, api.LabelHostname, "n1")}},
		{"ImageLocality", scoring.ImageLocality{}},
		{"ImageLocality 1.18", scoring.ImageLocality{Rules: scoring.Kubernetes118}},
		{"NodeResourcesLeastAllocated", scoring.NodeResourcesLeastAllocated{}},
		{"NodeResourcesMostAllocated", scoring.NodeResourcesMostAllocated{}},
		{"ImageLocality 1.34", scoring.ImageLocality{Rules: scoring.Kubernetes134}},
		{"NodeResourcesMostAllocated 1.22", scoring.NodeResourcesMostAllocated{Rules: scoring.Kubernetes137, Resources: several}},
		{"RequestedToCapacityRatio alone", scoring.NodeResourcesRequestedToCapacityRatio{Resources: several, Shape: shape}},
		{"NodePreferAvoidPods", scoring.NodePreferAvoidPods{}},
		{"NodeLabel", scoring.NodeLabel{Present: []string{api.LabelTopologyZone}, Absent: []string{api.LabelHostname}}},
		{"PodTopologySpread", scoring.PodTopologySpread{}},
		{"PodTopologySpread by list", scoring.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
			{MaxSkew: 2, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.ScheduleAnyway},
		}}},
		{"EvenPodsSpread", scoring.EvenPodsSpread{}},
		{"EvenPodsSpread by list", scoring.EvenPodsSpread{DefaultConstraints: []api.TopologySpreadConstraint{
			{MaxSkew: 2, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.ScheduleAnyway},
		}}},
		{"InterPodAffinity", scoring.InterPodAffinity{}},
		{"InterPodAffinity hard", scoring.InterPodAffinity{HardPodAffinityWeight: new(int32(100)), IgnorePreferredTermsOfExistingPods: true, RangeWithZero: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			config := frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Annotations: map[string][]string{scoring.PreferAvoidPodsAnnotation: avoiding}}
			frameworktest.Run(t, test.plugin, config)
		})
	}
}
