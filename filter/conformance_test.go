package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
)

// TestConformance runs the conformance kit on every plugin that needs only pods and
// nodes, in its zero value and with every field set.
func TestConformance(t *testing.T) {
	for _, test := range []struct {
		name   string
		plugin framework.Plugin
	}{
		{"NodeName", filter.NodeName{}},
		{"NodeUnschedulable", filter.NodeUnschedulable{}},
		{"NodeUnschedulable comparing", filter.NodeUnschedulable{CompareNumbers: true}},
		{"TaintToleration", filter.TaintToleration{}},
		{"TaintToleration comparing", filter.TaintToleration{CompareNumbers: true}},
		{"NodeAffinity", filter.NodeAffinity{}},
		{"NodeAffinity added", filter.NodeAffinity{AddedAffinity: demanding(has(api.LabelTopologyZone), isNamed("n1"))}},
		{"NodePorts", filter.NodePorts{}},
		{"NodeResourcesFit", filter.NodeResourcesFit{}},
		{"NodeResourcesFit ignoring", filter.NodeResourcesFit{IgnoredResources: []resource.Name{gpu}, IgnoredResourceGroups: []string{"nvidia.com"}}},
		{"NodeLabel", filter.NodeLabel{Present: []string{api.LabelTopologyZone}, Absent: []string{"gpu"}}},
		{"PodTopologySpread", filter.PodTopologySpread{}},
		{"PodTopologySpread by list", filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.DoNotSchedule},
		}}},
		{"InterPodAffinity", filter.InterPodAffinity{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			frameworktest.Run(t, test.plugin, frameworktest.Config{Clusters: 8, Quick: !effort.Full()})
		})
	}
}
